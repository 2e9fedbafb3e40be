"""A kernel of CUDA, read for export."""

from __future__ import annotations

from pathlib import Path

from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.ssa.nodes import Function

__all__ = ["kernel_of"]


def kernel_of(folder: Path, body: str, parameters: str = "int *a, float *b, int n") -> Function:
    """Return the kernel `k` with a body in which `i` is the number of the thread."""
    path = folder / "k.cu"
    path.write_text(
        f"__global__ void k({parameters}) {{\n int i = blockIdx.x * blockDim.x + threadIdx.x;\n{body}\n}}\n"
    )
    unit = read_unit(KernelFile(str(path)))
    assert isinstance(unit, KernelUnit), unit
    return unit.module.function("k") or unit.module.functions[0]
