"""Kernels of a few lines, lowered."""

from __future__ import annotations

import pytest

from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.ssa.nodes import Function, Module
from warpsmith.targets.llvm.machines import Amd, Machine
from warpsmith.targets.llvm.scalar import write_thread
from warpsmith.targets.llvm.vector import write_vectors

__all__ = ["ir_of", "kernel_of", "refusal", "refused_by_vectors"]


def kernel_of(text: str) -> tuple[Module, Function]:
    """Return the first kernel of a text of CUDA."""
    unit = read_unit(KernelFile("k.cu", text=text))
    assert isinstance(unit, KernelUnit)
    return unit.module, next(one for one in unit.module.functions if one.kernel)


def ir_of(text: str, machine: Machine | None = None) -> str:
    """Return the LLVM IR of one thread of it, for wave64 by default."""
    return str(write_thread(*kernel_of(text), machine or Amd(64)).module)


def refusal(text: str, machine: Machine | None = None) -> Finding:
    """Return why it is refused."""
    with pytest.raises(InputError) as caught:
        ir_of(text, machine)
    (finding,) = caught.value.findings
    return finding


def refused_by_vectors(text: str) -> Finding:
    """Return why it is refused as vectors."""
    with pytest.raises(InputError) as caught:
        write_vectors(kernel_of(text)[1])
    (finding,) = caught.value.findings
    return finding
