"""Choices one behind the other as one in front of the user's region, and where a later test waits for a kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.emit.host.outline.guarded.once import branches
from warpsmith.emit.host.outline.guarded.sequence import Bounded, join_sequence
from warpsmith.emit.host.outline.runs import Runs
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.in_place.versioned import SWITCHED
from warpsmith.tree.nodes import (
    Binary,
    Block,
    CaptureStmt,
    Cast,
    DataRegionBoundary,
    DeclStmt,
    Expr,
    ExprStmt,
    Function,
    If,
    Launch,
    Literal,
    Node,
    Stmt,
    Update,
    VarDecl,
    replace,
)
from warpsmith.tree.types import INT, Pointer, Symbol
from warpsmith.tree.walk import children, walk

_TEXT = """
struct grid { double *u, *v; int n; };
double root(double x);
int count;
void f(struct grid *g, int *a)
{
    {
        for (int i = 0; i < 9; i++)
            g->u[i] = 0;
        for (int i = 0; i < 9; i++)
            g->v[i] = 1;
    }
    {
        for (int i = 0; i < 9; i++)
            a[i] = 0;
        for (int i = 0; i < 9; i++)
            g->v[i] = 1;
    }
    {
        for (int i = 0; i < 9; i++)
            g->u[i] = root(i);
        for (int i = 0; i < 9; i++)
            g->v[i] = 1;
    }
    {
        count = 0;
        for (int i = 0; i < 9; i++)
            g->v[i] = 1;
    }
    (void)g->v;
    (void)g->n;
    (void)count;
    (void)root(1);
}
"""
_OF_DOUBLES, _OF_INTS, _CALLING, _COUNTING = range(4)


@pytest.fixture
def function(tmp_path: Path) -> Function:
    path = tmp_path / "f.c"
    path.write_text(_TEXT)
    return next(f for _, f in load_program([str(path)], FrontOptions()).program.functions() if f.symbol.name == "f")


def _asked(function: Function, text: str) -> Expr:
    """Return an expression of the text, as a test or a declaration of the port's own reads it."""
    stmts = (stmt for stmt in function.body.statements if isinstance(stmt, ExprStmt))
    cast = next(stmt.expr for stmt in stmts if stmt.span.text == f"(void){text};")
    assert isinstance(cast, Cast)
    return cast.operand


def _all(at: Node, *, to_device: bool) -> Update:
    return Update(span=at.span, to_device=to_device, variable=None, address=None, bytes=None, cause=at.span)


def _choice(stmt: Stmt, condition: Expr, *, updates: bool = True) -> If:
    other = (_all(stmt, to_device=False), stmt, _all(stmt, to_device=True)) if updates else (stmt,)
    launch = Launch(span=stmt.span, kernel="k", arguments=(), region="f")
    then, fallback = (Block(span=stmt.span, statements=run) for run in ((launch,), other))
    return If(span=stmt.span, condition=condition, then=then, other=fallback, reasons=("why",))


def _declare(at: Node, value: Expr) -> DeclStmt:
    symbol = Symbol("m", "f:m", value.type, "local")
    return DeclStmt(span=at.span, declarations=(VarDecl(span=at.span, symbol=symbol, init=value),))


def _bound(at: Node, *, opens: bool) -> DataRegionBoundary:
    return DataRegionBoundary(span=at.span, opens=opens, cause=at.span)


def _yes(at: Node) -> Expr:
    return Literal(span=at.span, type=INT, text="1", value=1)


def _region(function: Function, number: int) -> Block:
    region = function.body.statements[number]
    assert isinstance(region, Block)
    return region


def _switched(region: Block, *ported: Stmt) -> If:
    then = Block(span=region.span, statements=ported)
    other = Block(span=region.span, statements=(region,))
    return If(span=region.span, condition=_yes(region), then=then, other=other, reasons=(SWITCHED,))


def _joined(function: Function, number: int, value: Expr, *between: Stmt, typed: bool = True) -> Bounded | None:
    """Join two choices of a region, of which the second reads `value`."""
    region = _region(function, number)
    first, second = region.statements
    run = (_choice(first, _yes(first)), *between, _declare(second, value), _choice(second, _yes(second)))
    whole = (_bound(region, opens=True), *run, _bound(region, opens=False))
    return join_sequence(_switched(region, *whole), Runs.of(function, typed=typed))


def test_one_choice_stands_in_front_of_the_region(function: Function) -> None:
    bounded = _joined(function, _OF_DOUBLES, _asked(function, "g->v"))
    assert bounded is not None
    ported, original = branches(bounded.joined.choice)
    assert [[type(stmt) for stmt in children(part)] for part in ported] == [[Launch], [Launch]]
    assert [type(stmt) for stmt in original] == [Update, Block, Update]
    assert original[1] is _region(function, _OF_DOUBLES)
    assert bounded.joined.choice.reasons == (SWITCHED, "why", "why") and len(bounded.joined.guards) == 3
    declared = [part.symbol.name for stmt in bounded.joined.lead for part in walk(stmt) if isinstance(part, VarDecl)]
    assert declared == ["m"]
    bounds = [stmt.opens for stmt in (*bounded.begins, *bounded.ends) if isinstance(stmt, DataRegionBoundary)]
    assert bounds == [True, False]


def test_a_test_waits_for_a_kernel_that_may_write_what_it_reads(function: Function) -> None:
    v, n, count = (_asked(function, text) for text in ("g->v", "g->n", "count"))
    assert _joined(function, _OF_DOUBLES, n) is not None
    assert _joined(function, _OF_INTS, v) is not None
    assert _joined(function, _OF_INTS, n) is None, "an int may be an element of a"
    assert _joined(function, _OF_DOUBLES, v, typed=False) is None, "built with -fno-strict-aliasing"
    assert _joined(function, _OF_DOUBLES, count) is not None
    assert _joined(function, _COUNTING, count) is None, "the region sets it"
    assert _joined(function, _CALLING, n) is None, "what the region calls may store"
    assert _joined(function, _OF_DOUBLES, _asked(function, "root(1)")) is None, "what a test calls may read"


def test_tests_count_as_what_is_declared_for_them(function: Function) -> None:
    region = _region(function, _OF_INTS)
    first, second = region.statements
    asks = Binary(span=second.span, type=INT, op="<", left=_asked(function, "g->n"), right=_yes(second))
    whole = _switched(region, _choice(first, asks), _choice(second, _yes(second)))
    assert join_sequence(whole, Runs.of(function, typed=True)) is not None
    whole = _switched(region, _choice(first, _yes(first)), _choice(second, asks))
    assert join_sequence(whole, Runs.of(function, typed=True)) is None


def test_nothing_but_choices_is_joined(function: Function) -> None:
    region = _region(function, _OF_DOUBLES)
    first, second = region.statements
    runs = Runs.of(function, typed=True)
    choices = _choice(first, _yes(first)), _choice(second, _yes(second))
    assert join_sequence(_switched(region, *choices), runs) is not None
    assert join_sequence(replace(_switched(region, *choices), reasons=("why",)), runs) is None
    for between in (second, _bound(region, opens=False), _all(first, to_device=False)):
        assert join_sequence(_switched(region, choices[0], between, choices[1]), runs) is None
    assert join_sequence(_switched(region, *choices, second), runs) is None


def test_what_the_referee_records_stays_in_its_place(function: Function) -> None:
    region = _region(function, _OF_DOUBLES)
    first, second = region.statements
    zero = Literal(span=first.span, type=INT, text="0", value=0)
    capture = CaptureStmt(
        span=first.span, region="f", symbol=Symbol("a", "f:a", Pointer(INT), "parameter"), element=INT, lower=zero,
        upper=zero, extent=None, buffer=None,
    )  # fmt: skip
    captured = _choice(Block(span=first.span, statements=(first, capture)), _yes(first))
    assert any(isinstance(part, CaptureStmt) for part in walk(captured))
    whole = _switched(region, captured, _choice(second, _yes(second)))
    assert join_sequence(whole, Runs.of(function, typed=True)) is None


def test_updates_of_the_choices_are_one_and_the_same(function: Function) -> None:
    region = _region(function, _OF_DOUBLES)
    first, second = region.statements
    runs = Runs.of(function, typed=True)
    some = _choice(first, _yes(first)), _choice(second, _yes(second), updates=False)
    bounded = join_sequence(_switched(region, *some), runs)
    assert bounded is not None and [type(s) for s in branches(bounded.joined.choice)[1]] == [Update, Block, Update]
    none = tuple(_choice(one, _yes(one), updates=False) for one in (first, second))
    bounded = join_sequence(_switched(region, *none), runs)
    assert bounded is not None and branches(bounded.joined.choice)[1] == (region,)
    assert isinstance(some[0].other, Block)
    of_block = replace(_all(first, to_device=False), block=True)
    other = replace(some[0].other, statements=(of_block, *some[0].other.statements[1:]))
    mixed = replace(some[0], other=other), _choice(second, _yes(second))
    assert join_sequence(_switched(region, *mixed), runs) is None
