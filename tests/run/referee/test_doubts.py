"""A comparison that says little is no proof: what was left out, never ran, or could not have differed is undecided."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.sampling import one_in
from warpsmith.emit.files import OutputFile
from warpsmith.run.referee.doubts import Shown, find_doubts
from warpsmith.run.referee.referee import verify
from warpsmith.run.verification import LiveOut, PortedRegion, Sources, Verification, VerifyOptions

QUICK = VerifyOptions(timeout_s=20)
REGION = PortedRegion("main/i", "scale", guards=("n*n <= n",))
ROW = LiveOut("main/i", 1, "a", 1024, "allocation", 0.0, 0.0, 0, None, 1024)

_HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <time.h>
#ifdef __cplusplus
extern "C"
#endif
void ws_capture(const char *region, const char *name, const void *object, long long declared_bytes, int kind,
                int element_size, long long lower, long long upper, const void *device);
#define N 200
"""
# w is never written, and what is computed depends on it
_MAIN = """int main(void)
{
    double *a = (double *)malloc(N * sizeof *a), *w = (double *)malloc(N * sizeof *w), s = 0;
    for (int i = 0; i < N; i++)
        a[i] = START;
    scale(a, w, N);
    for (int i = 0; i < N; i++)
        s += a[i];
    PRINT;
    return 0;
}
"""
_LOOP = """static void scale(double *a, const double *w, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = (a[i] + w[i]) / 3;
    ws_capture("main/i", "a", a, -1, 3, 8, 0, n, 0);
}
"""
_PORT = """#include <cuda_runtime.h>
__global__ void scale_kernel(double *a, const double *w, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = (a[i] + w[i]) / 3;
}
static void scale(double *a, const double *w, int n)
{
    double *a_gpu, *w_gpu;
    cudaMalloc((void **)&a_gpu, n * sizeof *a);
    cudaMalloc((void **)&w_gpu, n * sizeof *w);
    cudaMemcpy(a_gpu, a, n * sizeof *a, cudaMemcpyHostToDevice);
    cudaMemcpy(w_gpu, w, n * sizeof *w, cudaMemcpyHostToDevice);
    scale_kernel<<<(n + 63) / 64, 64>>>(a_gpu, w_gpu, n);
    ws_capture("main/i", "a", a, -1, 3, 8, 0, n, a_gpu);
    cudaMemcpy(a, a_gpu, n * sizeof *a, cudaMemcpyDeviceToHost);
}
"""


def judge(
    *changed: tuple[str, str],
    start: str = "i",
    output: str = 'printf("%.12g\\n", s)',
    captured: bool = True,
    everywhere: tuple[tuple[str, str], ...] = (),
) -> Verification:
    """Judge the port with these replacements made in it, those `everywhere` in the original too."""
    main = _MAIN.replace("START", start).replace("PRINT", output)
    texts = _HEAD + _LOOP + main, _HEAD + _PORT + main
    original, port = texts if captured else (t.replace("    ws_capture(", "    if (0) ws_capture(") for t in texts)
    for old, new in everywhere:
        original, port = original.replace(old, new), port.replace(old, new)
    for old, new in changed:
        assert port.count(old) == 1
        port = port.replace(old, new)
    regions = (REGION,) if captured else ()
    candidate = Sources((OutputFile("a.cu", port),), captured=captured, regions=regions)
    return verify(Sources((OutputFile("a.c", original),), captured=captured), candidate, QUICK)


def rules(verification: Verification) -> list[str]:
    return [reason.rule for reason in verification.reasons]


WRONG = ("a[i] = (a[i] + w[i]) / 3;", "a[i] = a[i] + w[i]; // / 3")


@pytest.mark.parametrize("captured", one_in(2, [True, False]))
def test_what_nobody_wrote_is_the_same_in_both_programs(captured: bool) -> None:
    good = judge(captured=captured)
    assert (good.status, good.reasons, good.output_equal) == ("pass", (), True)
    assert [(row.compared, row.masked) for row in good.live_out] == [(200, 0)] * captured
    assert good.launches == {"scale_kernel": 1} and good.launches_of("scale") == 1
    bad = judge(WRONG, captured=captured)
    assert bad.status == "fail" and rules(bad)[0] == ("VER007" if captured else "VER009")


def test_an_object_that_differs_between_runs_of_the_original_is_undecided() -> None:
    changing = "(double)(size_t)&s * (i + 1)"
    for change in ((), (WRONG,)):
        got = judge(*change, start=changing, output='puts("end")')
        assert got.status == "undecided" and "VER033" in rules(got)
        assert "200 of 200 elements of a after region main/i" in got.reasons[0].message
        (row,) = got.live_out
        assert (row.compared, row.masked) == (0, 200)
        assert got.tolerance == "not needed: equal where it is compared"


def test_a_few_elements_that_differ_are_left_out_and_counted() -> None:
    got = judge(start="i == 7 ? (double)(size_t)&s : i", output='puts("end")')
    assert got.status == "pass" and rules(got) == ["VER022"]
    assert "1 of 200 elements of a" in got.reasons[0].message
    assert (got.live_out[0].compared, got.live_out[0].masked) == (199, 1)


def test_an_object_of_which_any_value_is_allowed_is_undecided() -> None:
    for change in ((), (WRONG,)):
        got = judge(*change, start="NAN")
        assert (got.status, rules(got)) == ("undecided", ["VER029"])
    assert "other values in what the kernels of region main/i write" in got.reasons[0].message


def test_a_program_whose_output_does_not_depend_on_its_kernels_is_undecided() -> None:
    for change in ((), (WRONG,)):
        got = judge(*change, output='puts("end")', captured=False)
        # what came back is wrong, and nobody sees it
        assert (got.status, rules(got)) == ("undecided", ["VER036", "VER029"] if change else ["VER029"])
    assert "changed nothing that is compared: output, files, exit code" in got.reasons[-1].message


def test_a_kernel_whose_results_nobody_sees_is_named() -> None:
    unseen = ("__global__ void scale_kernel", "__global__ void unseen(double *w) { w[threadIdx.x] *= 0.5; }\n"
              "__global__ void scale_kernel")  # fmt: skip
    launch = ("    if (0) ws_capture(", "    unseen<<<1, 64>>>(w_gpu);\n    if (0) ws_capture(")
    got = judge(unseen, launch, captured=False)
    assert (got.status, rules(got)) == ("undecided", ["VER029"])
    assert "what unseen wrote" in got.reasons[0].message


@pytest.mark.parametrize("captured", one_in(2, [True, False]))
def test_kernels_that_write_nothing_are_told_from_those_whose_results_nobody_sees(captured: bool) -> None:
    never = ("a[i] = (a[i] + w[i]) / 3;", "if (a[i] < 0) a[i] = w[i];")
    got = judge(everywhere=(never,), captured=captured)
    assert (got.status, rules(got)) == ("undecided", ["VER035"])
    assert got.launches == {"scale_kernel": 1}
    # shared memory ends with its block
    shared = ("    if (i < n)\n", "    __shared__ double kept[64];\n    kept[threadIdx.x] = i;\n    if (i < n)\n")
    assert rules(judge(shared, everywhere=(never,), captured=captured)) == ["VER035"]


def test_a_kernel_that_nobody_waits_for_may_write() -> None:
    freed = "static void tidy(void) { cudaFree(held); }\n"
    unseen = ("__global__ void scale_kernel", "__global__ void unseen(double *w) { w[threadIdx.x] *= 0.5; }\n"
              f"static double *held;\n{freed}__global__ void scale_kernel")  # fmt: skip
    launch = ("    cudaMemcpy(a, a_gpu, n * sizeof *a, cudaMemcpyDeviceToHost);\n",
              "    cudaMemcpy(a, a_gpu, n * sizeof *a, cudaMemcpyDeviceToHost);\n    cudaMalloc((void **)&held, 512);\n"
              "    atexit(tidy);\n    unseen<<<1, 64>>>(held);\n")  # fmt: skip
    got = judge(unseen, launch, captured=False)
    assert (got.status, rules(got)) == ("undecided", ["VER029"])


def test_a_kernel_that_writes_only_zeros_is_seen_to_matter() -> None:
    # the sums start at what it wrote
    zero = ("__global__ void scale_kernel", "__global__ void start(double *a) { a[threadIdx.x] = 0.0; }\n"
            "__global__ void scale_kernel")  # fmt: skip
    launch = ("    scale_kernel<<<", "    start<<<1, N>>>(a_gpu);\n    scale_kernel<<<")
    zeroed = ("a[i] = START;".replace("START", "i"), "a[i] = 0;")
    got = judge(zero, launch, captured=False, everywhere=(zeroed,), output='printf("%.12g %g\\n", s, a[N - 1])')
    assert (got.status, rules(got)) == ("pass", [])
    assert got.launches == {"start": 1, "scale_kernel": 1}


def test_a_region_that_was_not_launched_is_undecided() -> None:
    got = judge(everywhere=(("scale(a, w, N);", "if (s) scale(a, w, N);"),))
    assert (got.status, rules(got)) == ("undecided", ["VER028", "VER034"])
    assert got.launches == {}


def test_each_doubt_says_why() -> None:
    def said(row: LiveOut, shown: Shown) -> str:
        return " ".join(f"{doubt.rule} {doubt.message}" for doubt in find_doubts([row], (REGION,), shown))

    ran = Shown({"scale_kernel": 3, "scaled": 9}, {}, frozenset({"main/i"}))
    assert said(ROW, ran) == ""
    assert said(replace(ROW, compared=513, masked=511), ran) == ""
    assert said(replace(ROW, compared=512, masked=512), ran).startswith("VER033 512 of 1,024 elements of a")
    assert (
        said(ROW, Shown({"scaled": 9}, {}))
        == "VER034 no kernel of region main/i was launched: the run never came to the end of the region"
    )
    launched = {"scale_kernel": 3}
    assert said(ROW, Shown(launched, launched)).startswith("VER029 other values")
    assert said(ROW, Shown(launched, {"scaled": 1})).startswith("VER035 the kernels of region main/i were launched")
    failed = said(ROW, Shown({"scaled": 9}, {}, reached={"main/i": 2}))
    assert "the run came there 2 times, and its test failed (n*n <= n), or it had no iterations" in failed


def test_the_least_share_of_all_instances_is_kept() -> None:
    row = LiveOut("r", 1, "a", 10, "type", 0.0, 0.0, 0, None)
    for counts in ((10, 0), (0, 0), (6, 4), (8, 2)):
        row = row.cover(*counts)
    assert (row.compared, row.masked) == (6, 4)
