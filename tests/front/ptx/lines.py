"""One instruction of PTX as the ops that it becomes."""

from __future__ import annotations

from warpsmith.base.source import SourceFile
from warpsmith.front.ptx.read import read_ptx
from warpsmith.ssa.text import print_function
from warpsmith.ssa.verify import faults

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
REGISTERS = (
    ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .pred %p<9>; .reg .b16 %rs<9>;"
    " .shared .align 4 .b8 tile[64];"
)


def ops(body: str) -> tuple[list[str], list[str]]:
    """Return the op and the detail of each line that a kernel's body becomes, and what is said of it."""
    text = f"{HEADER}.visible .entry k(.param .u64 a, .param .u32 n) {{ {REGISTERS}\n{body}\nret; }}"
    module, findings = read_ptx(SourceFile("k.ptx", text))
    (kernel,) = module.functions
    assert faults(kernel) == ()
    lines = [line.strip() for line in print_function(kernel).splitlines()]
    starts = ("%", "store", "atomic", "barrier", "fence", "warp_barrier", "unmodeled")
    kept = [line.partition(" = ")[2] or line for line in lines if line.startswith(starts)]
    return kept, [finding.message for finding in findings]
