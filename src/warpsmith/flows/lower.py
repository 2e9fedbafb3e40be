"""LOWER, a straight line: a file with kernels goes in, one of them comes out as a program of another machine."""

from __future__ import annotations

from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.kernels.chosen import named_kernel
from warpsmith.kernels.units import KernelFile, read_unit
from warpsmith.targets.mask.export import Exported, export_kernel

__all__ = ["lower_kernel"]


def lower_kernel(file: KernelFile, kernel: str) -> Exported:
    """Return a kernel as a program of the mask ISA; raises InputError where it cannot be one, UsageError where no
    kernel is meant."""
    # text → kernels → SSA
    unit = read_unit(file)
    if isinstance(unit, Finding):
        raise InputError(unit)
    # the one that is meant → text
    function, _ = named_kernel(unit, kernel, file.path)
    return export_kernel(function)
