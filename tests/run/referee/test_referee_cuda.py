"""Functions of a CUDA file called by the harness, and races between equal writes."""

from __future__ import annotations

import pytest

from tests.sampling import one_in
from warpsmith.emit.files import OutputFile
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.run.referee.referee import verify
from warpsmith.run.verification import HarnessFunction, Sources, VerifyOptions
from warpsmith.tree.walk import names

ORIGINAL = """void saxpy(int n, float a, float *restrict x, const float *restrict y)
{
    for (int i = 0; i < n; i++)
        x[i] = a * x[i] + y[i];
}
"""
PORT = """#include <cuda_runtime.h>
__global__ void kernel(int n, float a, float *x, const float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = a * x[i] + y[i];
}
void saxpy(int n, float a, float *x, const float *y)
{
    float *dx, *dy;
    size_t bytes = n * sizeof *x;
    if (n <= 0)
        return;
    cudaMalloc(&dx, bytes);
    cudaMalloc(&dy, bytes);
    cudaMemcpy(dx, x, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y, bytes, cudaMemcpyHostToDevice);
    kernel<<<(n + 31) / 32, 32>>>(n, a, dx, dy);
    cudaMemcpy(x, dx, bytes, cudaMemcpyDeviceToHost);
    cudaFree(dx);
    cudaFree(dy);
}
"""
FLAG = """#include <stdio.h>
#include <cuda_runtime.h>
__global__ void any(const int *a, int *found) { if (a[threadIdx.x] > 2) *found = VALUE; }
int main(void)
{
    int a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, found = 0, *da, *df;
    cudaMalloc(&da, sizeof a);
    cudaMalloc(&df, sizeof found);
    cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(df, &found, sizeof found, cudaMemcpyHostToDevice);
    any<<<1, 8>>>(da, df);
    cudaMemcpy(&found, df, sizeof found, cudaMemcpyDeviceToHost);
    printf("%d\\n", found > 0);
    return 0;
}
"""
QUICK = VerifyOptions(timeout_s=30)


@pytest.fixture(scope="module")
def saxpy(tmp_path_factory: pytest.TempPathFactory) -> HarnessFunction:
    path = tmp_path_factory.mktemp("cuda") / "saxpy.c"
    path.write_text(ORIGINAL)
    ((_, function),) = load_program([str(path)], FrontOptions()).program.functions()
    count = next(use for use in names(function.body) if use.symbol.name == "n")
    return HarnessFunction(function, {p: count for p in function.parameters if p.name in "xy"})


@pytest.mark.parametrize(
    ("old", "new", "said"),
    one_in(
        2,
        [
            ("", "", None),
            ("i < n)", "i < n - 1)", "x differs after saxpy(n = 1): x[0]"),
            ("i < n)", "i <= n)", "out of bounds"),
            (
                "    cudaMemcpy(dy, y, bytes, cudaMemcpyHostToDevice);\n",
                "",
                "x differs after saxpy(n = 1): x[0] is nan",
            ),
            ("x, const float *y)\n{\n    float", "x, const float *y, int)\n{\n    float", "cannot be built"),
        ],
    ),
)
def test_a_cuda_file_without_main_is_called(saxpy: HarnessFunction, old: str, new: str, said: str | None) -> None:
    assert old in PORT
    candidate = Sources((OutputFile("other.cu", PORT.replace(old, new, 1) if old else PORT),))
    got = verify(Sources((OutputFile("saxpy.c", ORIGINAL),)), candidate, QUICK, (saxpy,))
    if said is None:
        assert (got.status, got.schedules, got.races) == ("pass", 3, ())
    else:
        assert got.status == "fail" and any(said in reason.message for reason in got.reasons), got.reasons


@pytest.mark.parametrize(
    ("value", "captured", "status", "rule"),
    [("1", False, "pass", "VER024"), ("1", True, "fail", "VER040"), ("threadIdx.x", False, "fail", "VER040")],
)
def test_equal_writes_are_a_race_of_our_ports_only(value: str, captured: bool, status: str, rule: str) -> None:
    original = Sources((OutputFile("any.c", '#include <stdio.h>\nint main(void) { printf("1\\n"); return 0; }'),))
    candidate = Sources((OutputFile("any.cu", FLAG.replace("VALUE", value)),), captured=captured)
    got = verify(original, candidate, QUICK)
    assert got.status == status and rule in {reason.rule for reason in got.reasons}


@pytest.mark.parametrize(("words", "rules"), [((), {"VER028"}), (("run",), set())])
def test_runs_without_a_launch_are_told(words: tuple[str, ...], rules: set[str]) -> None:
    begin = "int main(int argc, char **argv)\n{\n    if (argc < 2)\n        return 2;\n"
    original = f'#include <stdio.h>\n{begin}    printf("1\\n");\n    return 0;\n}}\n'
    candidate = FLAG.replace("threadIdx.x] > 2", "threadIdx.x] > 7")
    candidate = candidate.replace("VALUE", "1").replace("int main(void)\n{\n", begin)
    options = VerifyOptions(timeout_s=30, run_args=words)
    got = verify(Sources((OutputFile("a.c", original),)), Sources((OutputFile("a.cu", candidate),)), options)
    assert (got.status, {reason.rule for reason in got.reasons}) == ("undecided" if rules else "pass", rules), (
        got.reasons
    )
    assert all("ends with exit code 2" in reason.message for reason in got.reasons)
