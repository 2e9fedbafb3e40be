"""What the host alone computes may differ from run to run; what a kernel or a step has to do with it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sampling import one_in
from warpsmith.flows.port import PortOptions, port
from warpsmith.flows.porting.host_only import not_in_kernels, not_in_steps
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Function
from warpsmith.tree.walk import loops

_TIMED = """
#include <chrono>
#include <cstdio>
int main()
{
    int a[64];
    for (int i = 0; i < 64; i++)
        a[i] = i;
    long time = 0;
    #pragma omp target data map(tofrom: a[0:64])
    for (int r = 0; r < 3; r++) {
        auto start = std::chrono::steady_clock::now();
        #pragma omp target teams distribute parallel for
        for (int i = 0; i < 64; i++)
            a[i] = 2 * a[i] + 1;
        time += std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
    }
    std::printf("%ld\\n%d\\n", time, a[5]);
}
"""


def _by_reference() -> str:
    """Return the same, where a function is given the variable by reference."""
    head, _, rest = _TIMED.partition("int main()\n{\n")
    own, _, printed = rest.partition("    std::printf(")
    body = own.replace("    long time = 0;\n", "").replace("    int a[64];\n", "")
    main = f"int main()\n{{\n    static int a[64];\n    long time = 0;\n    run(a, time);\n    std::printf({printed}"
    return f"{head}void run(int *a, long &time)\n{{\n{body}}}\n{main}"


@pytest.mark.parametrize("text", one_in(2, [_TIMED, _by_reference()]), ids=["own", "reference"])
def test_a_sum_of_clock_readings_is_no_doubt(text: str, tmp_path: Path) -> None:
    path = tmp_path / "timed.cpp"
    path.write_text(text)
    verified = port([str(path)], PortOptions()).verification
    assert verified is not None and verified.status == "pass", verified
    assert [row.masked for row in verified.live_out if row.name == "time"] == [1]


_FUNCTION = """
double now(void);
void keep(double *);
void f(int n, double *a)
{
    double plain = 0, read = 0, kept = 0, moved = 0, counted = 0, summed = 0;
    keep(&kept);
    for (int r = 0; r < 3; r++) {
        plain += now();
        read += now() + a[r];
        kept += now();
        if (MOVED)
            moved += now();
        counted += now() + summed;
        for (int i = 0; i < n; i++) {
            summed += OTHER;
            a[i] += 1;
        }
    }
    a[0] = plain + read + kept + moved + counted;
}
"""


def function_of(folder: Path, text: str) -> Function:
    path = folder / "given.c"
    path.write_text(text)
    program = load_program([str(path)], FrontOptions()).program
    return next(function for _, function in program.functions() if function.symbol.name == "f")


def test_numbers_that_kernels_write_or_may_reach_are_not_the_hosts(tmp_path: Path) -> None:
    function = function_of(tmp_path, _FUNCTION.replace("OTHER", "a[i]").replace("MOVED", "r"))
    inner = next(loop for loop, around in loops(function.body) if around)
    assert {symbol.name for symbol in not_in_kernels(function, [inner])} == {"plain", "read", "moved", "counted"}


def test_numbers_that_steps_may_have_changed_are_not_the_hosts(tmp_path: Path) -> None:
    old = function_of(tmp_path, _FUNCTION.replace("OTHER", "a[i]").replace("MOVED", "r"))
    new = function_of(tmp_path, _FUNCTION.replace("OTHER", "a[n]").replace("MOVED", "r"))
    assert {symbol.name for symbol in not_in_steps(old, new)} == {"plain", "moved"}
