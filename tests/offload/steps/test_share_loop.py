"""Share loop: what it says of loops, and what it notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.steps.asked import answer, decided, refused
from warpsmith.base.verdict import Proved
from warpsmith.offload.steps.share_loop import ShareLoop

ROWS = (
    "void f(int n, int m, double A[restrict n][m], double *restrict y, const double *restrict x,"
    " const int *restrict r) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i] += A[i][j] * x[j]; }"
)


def test_rows_may_be_shared_or_not(tmp_path: Path) -> None:
    for step in (ShareLoop("f/i/j"), ShareLoop("f/i/j", "block"), ShareLoop("f/i/j", "none")):
        assert isinstance(answer(ROWS, step, tmp_path), Proved)


def test_rows_whose_lengths_are_in_memory_may_be_shared(tmp_path: Path) -> None:
    sparse = ROWS.replace("j = 0; j < m; j++", "j = r[i]; j < r[i + 1]; j++")
    assert isinstance(answer(sparse, ShareLoop("f/i/j"), tmp_path), Proved)


@pytest.mark.parametrize(
    ("change", "step", "why"),
    [
        (("m; j++", "m; j++"), ShareLoop("f/i/j", "grid"), "not by 'grid'"),
        (("m; j++", "m; j++"), ShareLoop("f/i"), "no kernel has threads that go through this loop"),
        (("y[i] += A[i][j]", "y[0] += A[i][j]"), ShareLoop("f/i/j"), "none of the loops around it becomes threads"),
        (("j = 0; j < m; j++", "j = m - 1; j >= 0; j--"), ShareLoop("f/i/j"), "does not count up"),
        (("y[i] += A[i][j] * x[j]", "y[i] = y[i] * 0.5 + x[j]"), ShareLoop("f/i/j"), "goes on"),
        (("y[i] += A[i][j] * x[j]", "A[i][j] = A[i][0]"), ShareLoop("f/i/j"), "not known to be independent"),
    ],
)
def test_what_lanes_cannot_share(change: tuple[str, str], step: ShareLoop, why: str, tmp_path: Path) -> None:
    assert why in refused(ROWS.replace(*change), step, tmp_path).text


def test_threads_of_a_block_must_all_come(tmp_path: Path) -> None:
    some = ROWS.replace("for (int j = 0", "if (r[i] > 2) for (int j = 0")
    assert isinstance(answer(some, ShareLoop("f/i/j"), tmp_path), Proved)
    reason = refused(some, ShareLoop("f/i/j", "block"), tmp_path)
    assert "here they may part before" in reason.text and reason.legal_if == ("by=warp",)


def test_the_later_decision_counts(tmp_path: Path) -> None:
    steps = (ShareLoop("f/i/j"), ShareLoop("f/i/j", "none"))
    assert [(one.kind, one.width) for one in decided(ROWS, tmp_path, *steps)] == [("shares", 1)]
