"""Which loops threads share by themselves, when, and how the thread's body reads then."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.analyzed import analyzed
from tests.offload.hand import build_all
from warpsmith.offload.plan import Fragment
from warpsmith.tree.printing.printer import print_expr, print_stmt

HEAD = (
    "void f(int n, int m, long l, double A[restrict n][m], double *restrict y, const double *restrict x,"
    " const int *restrict c)\n"
)
SUM = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i] += A[i][j] * x[j];"


def built(text: str, folder: Path) -> list[Fragment]:
    program = analyzed(f"{HEAD}{{\n{text}\n}}\n", folder)
    return [one.fragment for one in build_all(program.request(), program.choice()).values()]


def conditions(text: str, folder: Path) -> list[str]:
    """Return what a launch tests before a warp shares loops."""
    (found,) = built(text, folder)
    assert found.kernel.sharing is not None
    return [print_expr(one) for one in found.kernel.sharing.long]


def body(text: str, folder: Path) -> str:
    (found,) = built(text, folder)
    return " ".join(print_stmt(found.kernel.body).split())


def test_rows_of_a_matrix_are_shared(tmp_path: Path) -> None:
    (found,) = built(SUM, tmp_path)
    assert found.shared == ("f/i/j",) and found.kernel.reordered and "f/i/j sums up" in found.notes[0]
    assert conditions(SUM, tmp_path) == ["m >= 64", "m <= 2147483615"]
    assert body(SUM, tmp_path).endswith("if (lane == 0) y_gpu[i] = y_value; }")


@pytest.mark.parametrize(
    "text",
    [
        # many columns
        "for (int i = 0; i < 40000; i++) for (int j = 0; j < n; j++) y[i] += A[j][i] * x[j];",
        # columns whose threads do not all come to the loop
        "for (int i = 0; i < m; i++) if (c[i]) for (int j = 0; j < n; j++) y[i] += A[j][i] * x[j];",
        # known to be short
        "for (int i = 0; i < n; i++) for (int j = 0; j < 40; j++) y[i] += A[i][j];",
        # nobody knows how long
        "for (int i = 0; i < n; i++) for (int j = c[i]; j < c[i + 1]; j++) y[i] += A[i][j];",
        # lanes would do a loop all over again
        "for (int i = 0; i < n; i++) { double s = 0, t = 1; for (int j = 0; j < m; j++) s += A[i][j];"
        " for (int k = 0; k < m; k++) t = 0.5 * t + x[k]; y[i] = s + t; }",
        # two loops are threads
        "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) for (int j = 0; j < m; j++) A[i][k] += A[i][j];",
    ],
)
def test_what_each_thread_does_alone(text: str, tmp_path: Path) -> None:
    assert not any(one.shared for one in built(text, tmp_path))


@pytest.mark.parametrize(
    ("loop", "tested"),
    [
        ("j = 0; j < 70; j++", []),
        ("j = 3; j < m; j++", ["m >= 67", "m <= 2147483615"]),
        ("j = 0; j < m; j += 2", ["m >= 128", "m <= 2147483583"]),
        # half of a triangle's rows are long where there are twice as many
        ("j = 0; j <= i; j++", ["n >= 128"]),
    ],
)
def test_when_a_launch_has_long_loops(loop: str, tested: list[str], tmp_path: Path) -> None:
    text = f"for (int i = 0; i < n; i++) for (int {loop}) y[i] += A[i][j];"
    assert conditions(text, tmp_path) == tested


def test_wide_counters_need_no_room(tmp_path: Path) -> None:
    text = "for (int i = 0; i < n; i++) for (long j = 0; j < l; j++) y[i] += x[i * l + j];"
    assert conditions(text, tmp_path) == ["l >= 64"]


def test_a_counter_that_could_run_over_its_end_is_wide(tmp_path: Path) -> None:
    text = "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) y[i] += A[i][j];"
    assert "for (long long j_at = lane; j_at < i; j_at += Lanes) { int j = (int)j_at;" in body(text, tmp_path)


def test_few_columns_are_shared_by_threads_of_a_block(tmp_path: Path) -> None:
    text = "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) y[i] += A[j][i] * x[j];"
    (found,) = built(text, tmp_path)
    sharing = found.kernel.sharing
    assert sharing is not None and sharing.column and (sharing.width, sharing.count.name) == (16, "Rows")
    assert conditions(text, tmp_path) == ["n >= 64", "m < 32768", "n <= 2147483615"]
    assert "row == 0 && inside" in body(text, tmp_path) and "block_sync(Rows)" in body(text, tmp_path)


def test_conditions_that_others_say_are_left_out(tmp_path: Path) -> None:
    text = (
        "for (int i = 0; i < n; i++) { double s = 0, t = 0; for (int j = 2; j < m; j++) s += A[i][j];"
        " for (int j = 0; j < m; j++) t += A[i][j] * x[j]; y[i] = s * t; }"
    )
    assert conditions(text, tmp_path) == ["m >= 66", "m <= 2147483615"]
