"""Final values of counters: which can be written at all. Those that are written run in mapping/test_ranges.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.hand import head, load
from warpsmith.offload.selection.finals import final_statement
from warpsmith.tree.printing.printer import print_stmt


@pytest.mark.parametrize(
    ("outer", "inner", "final"),
    [
        ("i = 0; i < n; i++", "j = 0; j < m; j++", "if (0 < n) j = 0 < m ? m : 0;"),
        ("i = 0; i < n; i += 2", "j = 0; j < m; j++", "if (0 < n) j = 0 < m ? m : 0;"),
        ("i = 0; i < n; i++", "j = i; j < 9; j++", "if (0 < n) j = (int)((long long)n - 1) < 9 ? 9 : LAST;"),
        ("i = 0; i <= n; i++", "j = i; j < 9; j++", "if (0 <= n) j = n < 9 ? 9 : n;"),
        ("i = n; i > 0; i--", "j = 0; j < i; j++", "if (n > 0) j = 0 < 1 ? 1 : 0;"),
        ("i = n; i >= m; i--", "j = i; j < 9; j++", "if (n >= m) j = m < 9 ? 9 : m;"),
        # the last iteration is not known
        ("i = 0; i < n; i += 2", "j = 0; j < i; j++", None),
        ("i = 0; i != n; i++", "j = 0; j < i; j++", None),
    ],
)
def test_a_counter_inside_another_loop(outer: str, inner: str, final: str | None, tmp_path: Path) -> None:
    text = f"void f(int n, int m, double *A) {{ int i, j; for ({outer}) for ({inner}) A[i * 9 + j] = 1.0; }}"
    program = load(text, tmp_path)
    made = final_statement((head(program, "f/i"), head(program, "f/i/j")))
    written = final and final.replace("LAST", "(int)((long long)n - 1)")
    assert (None if made is None else " ".join(print_stmt(made).split())) == written


def test_only_its_own_bounds_may_depend_on_the_loops_around(tmp_path: Path) -> None:
    text = """void f(int n, double *A) { int i, j, k;
        for (i = 0; i < n; i++) for (j = 0; j < i; j++) for (k = 0; k < 4; k++) A[i * 9 + j + k] = 1.0; }"""
    program = load(text, tmp_path)
    i, j, k = (head(program, address) for address in ("f/i", "f/i/j", "f/i/j/k"))
    assert final_statement((i, j, k)) is None
    assert final_statement((i, j)) is not None
    made = final_statement((j, k))
    assert made is not None and "if (0 < i)" in print_stmt(made)
