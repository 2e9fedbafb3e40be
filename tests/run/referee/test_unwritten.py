"""Memory that nobody wrote: each run of the candidate finds other content there, and only one of them NaN.

A program that only compares numbers does not notice NaN: no comparison with it holds, and fmax drops it.
"""

from __future__ import annotations

import pytest

from tests.run.referee.test_doubts import QUICK
from tests.sampling import one_in
from warpsmith.emit.files import OutputFile
from warpsmith.run.referee.referee import verify
from warpsmith.run.verification import Sources, Verification

# `end`: how many elements are copied to the device; `best`: what one element does
_ORIGINAL = """#include <stdio.h>
#define N 100
int main(void)
{
    TYPE a[N], best = START;
    for (int i = 0; i < N; i++)
        a[i] = (i * 37) % N - 50;
    for (int i = 0; i < N; i++)
        BEST(a[i]);
    printf("%g\\n", (double)best);
    return 0;
}
"""
_PORT = """#include <cuda_runtime.h>
#include <stdio.h>
#define N 100
__global__ void find(const TYPE *a, TYPE *result)
{
    TYPE best = START;
    for (int i = 0; i < N; i++)
        BEST(a[i]);
    *result = best;
}
int main()
{
    TYPE a[N], best, *a_gpu, *best_gpu;
    for (int i = 0; i < N; i++)
        a[i] = (i * 37) % N - 50;
    cudaMalloc((void **)&a_gpu, sizeof a);
    cudaMalloc((void **)&best_gpu, sizeof best);
    cudaMemcpy(a_gpu, a, END * sizeof *a, cudaMemcpyHostToDevice);
    find<<<1, 1>>>(a_gpu, best_gpu);
    cudaMemcpy(&best, best_gpu, sizeof best, cudaMemcpyDeviceToHost);
    printf("%g\\n", (double)best);
    return 0;
}
"""
_MAXIMUM = "#define BEST(x) if (x > best) best = x"
_MINIMUM = "#define BEST(x) if (x < best) best = x"
_CLAMPED = "#define BEST(x) best += x > 1 ? 1 : 0"


def judge(type: str, best: str, start: str, end: str) -> Verification:
    head = f"#define TYPE {type}\n#define START {start}\n#define END {end}\n{best}\n"
    files = [OutputFile(name, head + text) for name, text in (("p.c", _ORIGINAL), ("p.cu", _PORT))]
    original, candidate = (Sources((file,)) for file in files)
    return verify(original, candidate, QUICK)


@pytest.mark.parametrize("type", one_in(3, ["double", "float", "int"]))
@pytest.mark.parametrize(("best", "start"), one_in(2, [(_MAXIMUM, "-1000"), (_MINIMUM, "1000")]))
def test_an_element_that_was_not_copied_shows_in_a_comparison(type: str, best: str, start: str) -> None:
    assert judge(type, best, start, "N").status == "pass"
    # the last element is neither the largest nor the smallest
    got = judge(type, best, start, "(N - 1)")
    assert got.status == "fail" and got.reasons[0].rule == "VER009"


@pytest.mark.parametrize("type", one_in(3, ["int", "float", "double"]))
def test_an_element_that_was_not_copied_shows_in_a_test(type: str) -> None:
    assert judge(type, _CLAMPED, "0", "N").status == "pass"
    assert judge(type, _CLAMPED, "0", "(N - 1)").status == "fail"
