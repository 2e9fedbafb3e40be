"""What is said of one kernel in CUDA."""

from __future__ import annotations

from pathlib import Path

from warpsmith.analysis.kernel import examine
from warpsmith.analysis.patterns.kernel import KernelSpace, kernel_accesses
from warpsmith.analysis.uniformity.facts import Dim, LaunchShape
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.machine.devices import device

__all__ = ["spaces"]


def spaces(body: str, folder: Path, block: Dim = (16, 8, 1), parameters: str = "") -> tuple[KernelSpace, ...]:
    """Return the spaces of a kernel with parameters x, y, idx, n, m and a body."""
    path = folder / "one.cu"
    given = parameters or "float *x, float *y, const int *idx, int n, size_t m"
    path.write_text(f'extern "C" __global__ void one({given}) {{ {body} }}\n')
    unit = read_unit(KernelFile(str(path)))
    assert isinstance(unit, KernelUnit)
    return kernel_accesses(examine(unit.module, "one", LaunchShape(block=block), device("a100")))
