"""Results that a program does not print, or prints with few digits.

What comes back from the device must be what the original leaves in memory."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.run.referee.test_doubts import QUICK
from tests.sampling import one_in
from warpsmith.emit.files import OutputFile
from warpsmith.run.referee.referee import verify
from warpsmith.run.verification import Sources, Verification

# `kept` is a result that nobody prints
_HEAD = """#include <stdio.h>
#include <stdlib.h>
#define N 80
double table[N];
"""
_ORIGINAL = """int main(void)
{
    double *a = (double *)malloc(N * sizeof *a), *kept = (double *)malloc(N * sizeof *a), sum = 0;
    for (int i = 0; i < N; i++)
        a[i] = i / 7.0;
    for (int i = 0; i < N; i++) {
        kept[i] = 3 * a[i];
        table[i] = kept[i] + 1;
        a[i] = kept[i] + a[i];
    }
    for (int i = 0; i < N; i++)
        sum += a[i];
    printf("%.1f\\n", sum);
    END
    return 0;
}
"""
_PORT = """#include <cuda_runtime.h>
__global__ void work(double *a, double *kept, double *table)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        kept[i] = 3 * a[i];
        table[i] = kept[i] + 1;
        a[i] = kept[i] + a[i];
    }
}
int main(void)
{
    double *a = (double *)malloc(N * sizeof *a), *kept = (double *)malloc(N * sizeof *a), sum = 0;
    double *a_gpu, *kept_gpu, *table_gpu;
    for (int i = 0; i < N; i++)
        a[i] = i / 7.0;
    cudaMalloc((void **)&a_gpu, N * sizeof *a);
    cudaMalloc((void **)&kept_gpu, N * sizeof *a);
    cudaMalloc((void **)&table_gpu, N * sizeof *a);
    cudaMemcpy(a_gpu, a, N * sizeof *a, cudaMemcpyHostToDevice);
    work<<<3, 32>>>(a_gpu, kept_gpu, table_gpu);
    cudaMemcpy(a, a_gpu, N * sizeof *a, cudaMemcpyDeviceToHost);
    cudaMemcpy(kept, kept_gpu, N * sizeof *a, cudaMemcpyDeviceToHost);
    cudaMemcpy(table, table_gpu, N * sizeof *a, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++)
        sum += a[i];
    printf("%.1f\\n", sum);
    END
    return 0;
}
"""
_FREED = "free(a); free(kept);"
_KEPT_BACK = "cudaMemcpy(kept, kept_gpu, N * sizeof *a, cudaMemcpyDeviceToHost);"


def judge(old: str, new: str, end: str = _FREED, *, shown: bool = False) -> Verification:
    assert old in _PORT
    texts = {"p.c": _HEAD + _ORIGINAL, "p.cu": _HEAD + _PORT.replace(old, new)}
    files = [OutputFile(name, text.replace("END", end)) for name, text in texts.items()]
    original, candidate = (Sources((file,)) for file in files)
    return verify(original, replace(candidate, shown=shown), QUICK)


@pytest.mark.parametrize("end", [_FREED, "", "kept = (double *)realloc(kept, 9000);"])
def test_what_is_the_same_in_memory_passes(end: str) -> None:
    assert judge("3 * a[i]", "a[i] * 3", end).status == "pass"


@pytest.mark.parametrize("end", one_in(3, [_FREED, "", "kept = (double *)realloc(kept, 9000);"]))
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (_KEPT_BACK, _KEPT_BACK.replace("N * sizeof", "(N - 1) * sizeof")),
        (_KEPT_BACK, _KEPT_BACK.replace("kept_gpu", "a_gpu + 1").replace("N *", "(N - 1) *")),
        ("table[i] = kept[i] + 1;", "table[i] = kept[i] + 2;"),
        ("a[i] = kept[i] + a[i];", "a[i] = kept[i] + (float)a[i];"),
    ],
    ids=["part", "another array", "variable", "digits"],
)
def test_what_comes_back_with_other_values_is_undecided(old: str, new: str, end: str) -> None:
    got = judge(old, new, end)
    assert (got.status, got.reasons[0].rule) == ("undecided", "VER036")


def test_a_result_that_stays_on_the_device_is_named() -> None:
    """Nothing shows it: the program does not read the array again. Once it does, the candidate is rejected."""
    got = judge(_KEPT_BACK, "")
    assert (got.status, [reason.rule for reason in got.reasons]) == ("pass", ["VER037"])
    assert "640 bytes that kernels wrote are never copied from the device" in got.reasons[0].message
    lost = judge(_KEPT_BACK, "cudaMemcpy(kept_gpu, kept, N * sizeof *a, cudaMemcpyHostToDevice);")
    assert lost.reasons[0].message == got.reasons[0].message
    assert judge(_KEPT_BACK, "", 'printf("%g\\n", kept[7]);').status == "fail"


@pytest.mark.parametrize("new", [_KEPT_BACK.replace("N * sizeof", "(N - 1) * sizeof"), ""], ids=["part", "nothing"])
def test_dead_memory_of_a_port_whose_kernels_were_compared_is_not_asked_for(new: str) -> None:
    got = judge(_KEPT_BACK, new, shown=True)
    assert (got.status, got.reasons) == ("pass", ())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (_KEPT_BACK, _KEPT_BACK),
        ("work<<<", "double *own; cudaMalloc((void **)&own, 8 * N); work<<<1, 32>>>(own, own, own); work<<<"),
        (_KEPT_BACK, f"{_KEPT_BACK} cudaFree(kept_gpu);"),
    ],
    ids=["as it is", "scratch", "copied and freed"],
)
def test_what_comes_back_or_is_scratch_does_not_stay(old: str, new: str) -> None:
    got = judge(old, new)
    assert (got.status, [reason.rule for reason in got.reasons]) == ("pass", [])


def test_what_the_original_does_not_have_is_no_result() -> None:
    """The parts of a sum, say: no block of the original has their size."""
    parts = "double *parts = (double *)malloc(8 * sizeof *a); cudaMemcpy(parts, a_gpu, 64, cudaMemcpyDeviceToHost);"
    assert judge("    cudaMemcpy(a, a_gpu", f"    {parts}\n    cudaMemcpy(a, a_gpu").status == "pass"


def test_a_copy_back_past_the_end_of_a_block_is_an_error() -> None:
    """The device's array may be longer; the host's is not."""
    long = "cudaMalloc((void **)&table_gpu, 2 * N * sizeof *a);\n    cudaMemcpy(a_gpu, a"
    old = _PORT[_PORT.index("cudaMalloc((void **)&table_gpu") : _PORT.index("a_gpu, a, N") + len("a_gpu, a")]
    kept = "kept_gpu, N * sizeof *a, cudaMemcpyDeviceToHost);"
    texts = {"p.c": _HEAD + _ORIGINAL, "p.cu": _HEAD + _PORT.replace(old, long)}
    texts["p.cu"] = texts["p.cu"].replace(kept, "table_gpu, (N + 1) * sizeof *a, cudaMemcpyDeviceToHost);")
    files = [OutputFile(name, text.replace("END", _FREED)) for name, text in texts.items()]
    original, candidate = (Sources((file,)) for file in files)
    got = verify(original, candidate, QUICK)
    assert (got.status, got.reasons[0].rule) == ("fail", "VER041")
    assert "cudaMemcpy writes 8 bytes past the end of a block of host memory, which has 640" in got.reasons[0].message
