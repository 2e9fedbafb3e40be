"""The mappings of a nest as text."""

from __future__ import annotations

import pytest

from tests.flows.placing.test_mappings import PIXELS, SIZED, explained
from warpsmith.report.mappings.text import mappings_text


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_a_mistake_is_marked_with_the_right_number_and_winners_are_named() -> None:
    text = mappings_text(explained(PIXELS, "f/p"))
    table = [row for row in rows(text) if row[:2] in (["x", "y"], ["y", "x"])]
    assert len(table) == 18
    assert any("1 t32! (0.0312)" in line and line.endswith("chosen by lines; the port's") for line in text.splitlines())
    assert any(line.endswith("chosen by tables") for line in text.splitlines())
    assert "  r1  plane[n * c + p]  read\n  r2  pixel[4 * p + c]  written\n" in text
    assert "by tables p on x, c on y in 256 x 1 (3 others are as good); by lines p on y, c on x in 4 x 64" in text
    assert "where a request has 4 sectors in place of 10" in text
    assert "!: a mistake of the tables" in text and "restored by symmetry" not in text


@pytest.mark.slow
def test_of_three_loops_the_first_rows_are_shown_and_what_was_restored_is_marked() -> None:
    loops = "".join(f"for (int {v} = 0; {v} < n; {v}++) " for v in "ijl")
    source = (
        f"void f(int n, double *restrict B, const double *restrict C) {{ {loops}B[(i * n + j) * n + l] = C[2 * i]; }}"
    )
    text = mappings_text(explained(source, "f/i"))
    assert "252 ways to lay i, j, l on x, y, z" in text and "which --json has" in text
    assert " t112*" in text and " t332* " not in text
    assert "*: the scan has lost a part of the entry, which is restored by symmetry" in text


@pytest.mark.slow
def test_times_have_a_column_where_there_are_some() -> None:
    text = mappings_text(explained(SIZED, "turn/i"))
    (head,) = [row for row in rows(text) if row[:3] == ["i", "j", "block"]]
    assert head[-1] == "time" and text.count(" us ") >= 1


def test_one_loop_has_no_tables() -> None:
    text = mappings_text(explained("void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 1; }", "f/i"))
    assert "1 way to lay i on x" in text and "the printed tables are of two and three loops" in text
    assert "chosen by lines; the port's" in text


def test_a_refusal_is_told() -> None:
    text = "void f(int n, double *a) { for (int i = 1; i < n; i++) { double x = a[i-1]; a[i] = x * x + a[i]; } }"
    assert "nothing is mapped: it makes no kernel: " in mappings_text(explained(text, "f/i"))
