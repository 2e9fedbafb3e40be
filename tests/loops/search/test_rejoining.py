"""Kernels that the search made of one nest are joined where no thread is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.verdict import Proved
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.prepared import Applied, Prepared
from warpsmith.loops.search.prepare import prepare
from warpsmith.loops.search.rejoining import rejoin_pieces
from warpsmith.loops.step import Step, check_step, rewrite_program
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import Function, Stmt
from warpsmith.tree.walk import statements_of

HEAD = (
    "void f(int n, int m, double C[restrict n][n], double A[restrict n][n], double B[restrict n][n],"
    " double *restrict x, double *restrict y)\n"
)
SCALE = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) C[i][j] *= 2;"
PRODUCT = (
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];"
)
ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i] += A[i][j] * x[j];"


def _read(body: str, folder: Path) -> Facts:
    path = folder / "a.c"
    path.write_text(f"{HEAD}{{ {body} }}\n")
    return Facts.about(load_program([str(path)], FrontOptions()).program, PolyOptions())


def steps_for(body: str, folder: Path) -> list[str]:
    """Return the steps that join the kernels of a function."""

    def try_step(facts: Facts, step: Step) -> tuple[Facts, Applied] | None:
        verdict = check_step(step, facts.program, facts)
        if not isinstance(verdict, Proved):
            return None
        function = next(f for _, f in facts.program.functions())
        return facts.after(rewrite_program(step, facts.program)), Applied(step, verdict, function.symbol, function.span)

    def place(facts: Facts) -> tuple[Function, tuple[Stmt, ...]]:
        function = next(f for _, f in facts.program.functions())
        return function, tuple(statements_of(function.body))

    return [one.text for one in rejoin_pieces(_read(body, folder), (), place, try_step)[1]]


@pytest.mark.parametrize(
    ("body", "steps"),
    [
        (f"{SCALE} {PRODUCT}", ["fuse=f/i", "fuse=f/i/j"]),
        (f"{PRODUCT} {SCALE}", ["fuse=f/i", "fuse=f/i/j"]),
        (f"for (int i = 0; i < n; i++) y[i] = 0; {ROWS}", ["fuse=f/i"]),
        # three in a row; kernels in a host loop
        (f"for (int i = 0; i < n; i++) y[i] = 0; {ROWS} for (int i = 0; i < n; i++) y[i] /= 3;", ["fuse=f/i"] * 2),
        (f"for (int t = 0; t < m; t++) {{ {SCALE} {PRODUCT} }}", ["fuse=f/t/i", "fuse=f/t/i/j"]),
    ],
)
def test_a_kernel_with_little_to_do_is_joined(body: str, steps: list[str], tmp_path: Path) -> None:
    assert steps_for(body, tmp_path) == steps


@pytest.mark.parametrize(
    "body",
    [
        # both have loops of their own: threads of one might be placed otherwise than those of the other
        f"{PRODUCT} {PRODUCT}",
        # one has fewer loops of threads
        f"{SCALE} {ROWS}",
        f"{SCALE} for (int i = 0; i < n; i++) y[i] = 0;",
        # other ranges, an order that is needed, something between
        f"for (int i = 1; i < n; i++) y[i] = 0; {ROWS}",
        f"for (int i = 0; i < n; i++) x[i] = 1; {ROWS}",
        f"for (int i = 0; i < n; i++) y[i] = 0; x[0] = 1; {ROWS}",
        # the outer loops fuse, the inner ones do not
        f"for (int i = 0; i < n; i++) for (int j = 0; j < n - 1; j++) C[i][j] *= 2; {PRODUCT}",
    ],
)
def test_others_stay_apart(body: str, tmp_path: Path) -> None:
    assert steps_for(body, tmp_path) == []


def test_the_search_joins_what_it_took_apart(tmp_path: Path) -> None:
    nest = (
        "for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) C[i][j] *= 2;"
        " for (int k = 0; k < n; k++) for (int j = 0; j < n; j++) C[i][j] += A[i][k] * B[k][j]; }"
    )
    read = _read(nest, tmp_path)
    found = prepare(Prepared(read, read), None, frozenset())
    texts = [one.text for one in found.applied]
    assert texts[-2:] == ["fuse=f/i", "fuse=f/i/j"] and len(texts) == 4, texts


def test_loops_that_the_user_wrote_stay_apart(tmp_path: Path) -> None:
    read = _read(f"{SCALE} {PRODUCT}", tmp_path)
    assert not prepare(Prepared(read, read), None, frozenset()).applied
