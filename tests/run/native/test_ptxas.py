"""The reading of ptxas's output."""

from __future__ import annotations

from warpsmith.analysis.resources.resources import CompilerFigures
from warpsmith.base.findings import Finding
from warpsmith.run.native.ptxas import _read, assemble_ptx

SAID = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1kPf' for 'sm_80'
ptxas info    : Function properties for _Z1kPf
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 22 registers, used 1 barriers, 4224 bytes smem, 376 bytes cmem[0]
ptxas info    : Compiling entry function 'plain' for 'sm_80'
ptxas info    : Function properties for plain
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, 372 bytes cmem[0]
"""


def test_registers_spills_and_shared_memory_of_each_kernel() -> None:
    assert _read(SAID) == {"_Z1kPf": CompilerFigures(22, 20, 4224), "plain": CompilerFigures(10, 0, 0)}


def test_what_ptxas_does_not_take_is_said() -> None:
    told = assemble_ptx(b"this is no PTX", "sm_80")
    assert isinstance(told, Finding)
    assert told.severity == "warning"
