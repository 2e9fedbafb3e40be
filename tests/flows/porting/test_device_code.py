"""A candidate's device code is read as such: what reads a variable of the host is rejected before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.flows.verify import verify_candidate
from warpsmith.front.load import FrontOptions
from warpsmith.run.verification import VerifyOptions

_ORIGINAL = """#include <stdio.h>
static double scale = 2.0;
int main(void) {
    double a[8];
    for (int i = 0; i < 8; i++) a[i] = scale * i;
    printf("%g\\n", a[7]);
}
"""
_CANDIDATE = """#include <cstdio>
#include "scale.cuh"
__global__ void k(double *a) { a[threadIdx.x] = SCALE * threadIdx.x; }
int main() {
    double a[8], *d;
    cudaMalloc(&d, sizeof a);
    k<<<1, 8>>>(d);
    cudaMemcpy(a, d, sizeof a, cudaMemcpyDeviceToHost);
    printf("%g\\n", a[7]);
}
"""


@pytest.mark.parametrize(("qualifier", "status"), [("static double", "fail"), ("static __device__ double", "pass")])
def test_a_kernel_that_reads_a_variable_of_the_host(qualifier: str, status: str, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(_ORIGINAL)
    (tmp_path / "a.cu").write_text(_CANDIDATE)
    (tmp_path / "scale.cuh").write_text(f"{qualifier} scale = 2.0;\n#define SCALE scale\n")
    original, candidate = [str(tmp_path / "a.c")], [str(tmp_path / "a.cu")]
    got = verify_candidate(original, candidate, FrontOptions(), VerifyOptions(timeout_s=30))
    assert got.status == status
    if status == "fail":
        (reason,) = got.reasons
        assert reason.rule == "VER049" and "`scale`" in reason.message
        assert reason.span is not None and reason.span.line == 3
