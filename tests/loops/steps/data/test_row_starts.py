"""Rows reached from one of them: only where nothing in the loop changes a row pointer, and behind a question."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.poly.programs import load
from warpsmith.base.verdict import Proved, Unknown, Verdict
from warpsmith.loops.steps.data.row_starts import RowStarts
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import If
from warpsmith.tree.walk import walk

HEAD = "#include <stdlib.h>\nvoid g(double *); void f(int n, const int *at, double **a, double *restrict y) {"


def verdict(body: str, folder: Path, step: RowStarts | None = None, *, guards: bool = True) -> Verdict:
    program = load(f"{HEAD} for (int i = 0; i < n; i++) {{ {body} }} }}", folder)
    return (step or RowStarts("f/i")).check(program, Facts.about(program, PolyOptions(guards=guards)))


@pytest.mark.parametrize(
    "body", ["y[i] = a[at[i]][i % 3];", "a[i][0] = 1; y[i] = a[i][1];", "*a[i] = a[i][2];", "y[i] = a[i] == y;"]
)
def test_rows_that_stay_are_reached(body: str, tmp_path: Path) -> None:
    assert isinstance(verdict(body, tmp_path), Proved)


@pytest.mark.parametrize(
    "body",
    [
        "a[i] = y;",
        "y[i] = a[i][0]; a[i]++;",
        "y[i] = a[i][0]; free(a[i]);",
        "y[i] = a[i][0]; free(y);",
        "double *p = malloc(8); y[i] = a[i][0]; free(p);",
        "a[i] = realloc(a[i], 8); y[i] = a[i][0];",
        "double **b = a; b[i][0] = a[i][1];",
        "y[i] = *(a + i)[0]; g(a[i]);",
        "double **p = &a[i]; *p = y; y[i] = a[i][0];",
    ],
)
def test_rows_that_may_change_or_are_used_otherwise_stay(body: str, tmp_path: Path) -> None:
    found = verdict(body, tmp_path)
    assert isinstance(found, Unknown)
    assert found.reasons[0].rule == "STP002"


def test_a_variable_that_is_named_must_be_one_of_rows(tmp_path: Path) -> None:
    assert not isinstance(verdict("y[i] = a[i][0];", tmp_path, RowStarts("f/i", ("y",))), Proved)


def test_without_tests_before_a_loop_there_is_no_question(tmp_path: Path) -> None:
    assert not isinstance(verdict("y[i] = a[i][0];", tmp_path, guards=False), Proved)


def test_the_loop_as_it_was_runs_where_a_row_lies_in_no_known_block(tmp_path: Path) -> None:
    program = load(f"{HEAD} for (int i = 0; i < n; i++) y[i] = a[at[i]][0]; }}", tmp_path)
    (function,) = RowStarts("f/i").apply(program).units[0].functions
    (test,) = (node for node in walk(function.body) if isinstance(node, If))
    assert test.other is not None
    assert "y[i] = a[at[i]][0]" in " ".join(node.span.text for node in walk(test.other))
