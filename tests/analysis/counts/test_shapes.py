"""Which kernels may have other blocks, and which blocks these are."""

from __future__ import annotations

import pytest

from tests.simt.test_interpreter import kernel
from warpsmith.analysis.counts.shapes import covering, other_blocks, why_bound_to_block
from warpsmith.base.findings import Finding
from warpsmith.kernels.units import KernelFile, read_unit
from warpsmith.ssa.nodes import Function

GLOBAL = """__global__ void k(float *out, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {body}
}}"""


def _function(body: str) -> Function:
    unit = read_unit(KernelFile("k.cu", "cuda", text=GLOBAL.format(body=body)))
    assert not isinstance(unit, Finding)
    return unit.module.functions[0]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("if (i < n) out[i] = i;", ""),
        ("out[threadIdx.x] = i;", "it uses tid.x by itself"),
        ("out[i] = blockDim.x;", "it uses ntid.x by itself"),
        ("for (; i < n; i += gridDim.x) out[i] = i;", "it reads the size of its grid"),
        ("__shared__ float s[256]; s[i & 255] = i; out[i] = s[0];", "it uses shared memory"),
        ("__syncthreads(); out[i] = i;", "its threads work together"),
    ],
)
def test_who_reads_more_than_its_number_keeps_its_block(body: str, why: str) -> None:
    assert why_bound_to_block(_function(body)) == why


def test_blocks_use_the_axes_that_a_launch_uses() -> None:
    assert other_blocks((256, 1, 1), (100, 1, 1)) == ((32, 1, 1), (64, 1, 1), (128, 1, 1), (256, 1, 1), (512, 1, 1),
                                                      (1024, 1, 1))  # fmt: skip
    flat = other_blocks((32, 8, 1), (10, 10, 1))
    assert (32, 1, 1) in flat and (1, 1024, 1) in flat and all(z == 1 for _, _, z in flat)
    assert all(32 <= x * y * z <= 1024 for x, y, z in other_blocks((8, 8, 4), (2, 2, 2)))
    assert covering((1000, 30, 1), (64, 8, 1)) == (16, 4, 1)


def test_threads_of_ptx_that_use_their_place_keep_it() -> None:
    assert "by itself" in why_bound_to_block(kernel("st.global.u32 [%rd3], %r1; ret;").functions[0])
