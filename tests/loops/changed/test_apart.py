"""Changes with statements between them that stayed are taken apart where they have nothing to do with each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.analysis.substitute import with_symbols
from warpsmith.loops.changed.apart import split_apart
from warpsmith.loops.changed.changes import changed_runs
from warpsmith.loops.steps.data.localize import Localize
from warpsmith.tree.nodes import Block, DeclStmt, For, Function, Stmt, VarDecl, replace
from warpsmith.tree.program import Program

TEXT = """
struct g { int n; double *x; };
void f(struct g *g, double *restrict y, int *calls)
{
    for (int i = 0; i < g->n; i++)
        g->x[i] = i;
    ++*calls;
    for (int k = 0; k < g->n; k++)
        y[k] = g->x[k];
    for (int m = 0; m < g->n; m++)
        y[m] += g->x[m];
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    path = tmp_path / "given.c"
    path.write_text(TEXT)
    return load_program([str(path)], FrontOptions()).program


def only(program: Program) -> Function:
    return next(function for _, function in program.functions())


def counters(run: tuple[Stmt, ...]) -> list[str]:
    return [stmt.variable.name for stmt in run if isinstance(stmt, For)]


def test_changes_around_a_statement_that_stayed_and_side_by_side(program: Program) -> None:
    new = program
    for address in ("f/m", "f/k", "f/i"):
        new = Localize(address).apply(new)
    runs = changed_runs(only(program), only(new))
    assert [counters(old) for old, _ in runs] == [["i"], ["k"], ["m"]]
    # each with its own variables in front of it
    assert [counters(changed) for _, changed in runs] == [["i"], ["k"], ["m"]]
    assert all(isinstance(changed[0], DeclStmt) for _, changed in runs)


def test_what_one_part_declares_and_another_names_is_one_change(program: Program) -> None:
    old = only(program).body.statements
    stepped = Localize("f/i").apply(Localize("f/k").apply(program))
    first, second = (run for _, run in changed_runs(only(program), only(stepped)))
    kept = old[1]
    assert split_apart(old[:3], (*first, kept, *second)) == [(old[:1], first), (old[2:3], second)]
    # the second loop now takes the variables of the first
    shared = {mine.symbol: other.symbol for mine, other in zip(_declared(second), _declared(first), strict=True)}
    taken = (*first, kept, with_symbols(second[-1], shared))
    assert split_apart(old[:3], taken) == [(old[:3], taken)]


def test_text_that_went_from_one_part_to_another_is_one_change(program: Program) -> None:
    first, between, second, third = only(program).body.statements
    assert isinstance(first, For) and isinstance(second, For) and isinstance(third, For)
    fused = replace(second, body=Block(span=second.body.span, statements=(second.body, first.body)))
    less = replace(first, body=Block(span=first.body.span, statements=()))
    assert split_apart((first, between, second), (less, between, fused)) == [
        ((first, between, second), (less, between, fused))
    ]
    # in its own place it is two
    same = replace(second, body=Block(span=second.body.span, statements=(second.body,)))
    assert split_apart((first, between, second), (less, between, same)) == [((first,), (less,)), ((second,), (same,))]


def test_statements_that_change_places_are_one_change(program: Program) -> None:
    first, between, second, third = only(program).body.statements
    assert split_apart((first, between, second), (between, first, second)) == [
        ((first, between, second), (between, first, second))
    ]
    assert split_apart((first, second, third), (third, second)) == [((first, second, third), (third, second))]


def _declared(run: tuple[Stmt, ...]) -> list[VarDecl]:
    return [one for stmt in run if isinstance(stmt, DeclStmt) for one in stmt.declarations]
