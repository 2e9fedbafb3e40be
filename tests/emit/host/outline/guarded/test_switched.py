"""A region that asks nothing but the switch: what is in it asks for itself, and updates come first."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.emit.host.outline.guarded.guards import guards_of
from warpsmith.emit.host.outline.guarded.once import merge
from warpsmith.emit.host.outline.guarded.switched import ask_inside
from warpsmith.emit.host.outline.runs import Runs
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.in_place.versioned import SWITCHED
from warpsmith.tree.nodes import (
    Block,
    DeclStmt,
    Expr,
    For,
    Function,
    If,
    Launch,
    Literal,
    Name,
    Node,
    Stmt,
    Unary,
    Update,
    VarDecl,
    replace,
)
from warpsmith.tree.types import INT, Pointer, Symbol
from warpsmith.tree.walk import walk

_TEXT = """
void work(void);
void f(int n, double *a)
{
    for (int k = 0; k < n; k++)
        a[k] = 0;
    for (int k = 0; k < n; k++)
        work();
}
"""
_M = Symbol("m", "f:m", INT, "local")


@pytest.fixture
def function(tmp_path: Path) -> Function:
    path = tmp_path / "f.c"
    path.write_text(_TEXT)
    return next(f for _, f in load_program([str(path)], FrontOptions()).program.functions() if f.symbol.name == "f")


def _name(at: Node, symbol: Symbol) -> Name:
    return Name(span=at.span, type=symbol.type, symbol=symbol)


def _launch(at: Node) -> Stmt:
    return Launch(span=at.span, kernel="k", arguments=(), region="f")


def _choice(stmt: Stmt, condition: Expr) -> If:
    then, other = (Block(span=stmt.span, statements=(one,)) for one in (_launch(stmt), stmt))
    return If(span=stmt.span, condition=condition, then=then, other=other, reasons=("why",))


def _update(at: Node, symbol: Symbol) -> Update:
    address = Unary(span=at.span, type=Pointer(INT), op="&", operand=_name(at, symbol))
    size = Literal(span=at.span, type=INT, text="4", value=4)
    return Update(span=at.span, to_device=False, variable=None, address=address, bytes=size, cause=at.span)


def _declared(at: Node, value: Symbol) -> DeclStmt:
    return DeclStmt(span=at.span, declarations=(VarDecl(span=at.span, symbol=_M, init=_name(at, value)),))


def test_choices_ask_for_the_switch_and_updates_stand_first(function: Function) -> None:
    first, second = function.body.statements
    n = function.parameters[0]
    choice = _choice(first, _name(first, _M))
    asking = ask_inside((_declared(first, n), _update(first, n), choice, second), Runs.of(function))
    assert asking is not None and [type(stmt) for stmt in asking] == [Update, DeclStmt, If, For]
    made = asking[2]
    assert isinstance(made, If) and made.reasons == (SWITCHED, "why")
    assert [guard.condition for guard in guards_of(made)] == [None, choice.condition]
    assert made.then is choice.then and made.other is choice.other and asking[3] is second


def test_an_update_of_what_the_port_declares_stays_behind_it(function: Function) -> None:
    first, _ = function.body.statements
    asking = ask_inside((_declared(first, function.parameters[0]), _update(first, _M)), Runs.of(function))
    assert asking is not None and [type(stmt) for stmt in asking] == [DeclStmt, Update]


def test_a_choice_in_a_loop_of_the_users_asks_as_well(function: Function) -> None:
    _, loop = function.body.statements
    assert isinstance(loop, For)
    choice = _choice(loop.body, _name(loop, function.parameters[0]))
    asking = ask_inside((replace(loop, body=choice),), Runs.of(function))
    assert asking is not None
    (made,) = [part for stmt in asking for part in walk(stmt) if isinstance(part, If)]
    assert made.reasons == (SWITCHED, "why")


def test_what_runs_in_place_of_statements_becomes_a_choice_of_the_switch(function: Function) -> None:
    first, second = function.body.statements
    merged = merge((_launch(first), second), (first, second), Runs.of(function))
    asking = ask_inside(merged, Runs.of(function))
    assert asking is not None and isinstance(asking[0], If) and asking[0].reasons == (SWITCHED,)


def test_a_launch_beside_the_choices_needs_the_test_of_the_region(function: Function) -> None:
    first, second = function.body.statements
    assert ask_inside((_launch(first), second), Runs.of(function)) is None
    assert isinstance(second, For)
    assert ask_inside((replace(second, body=_launch(second)),), Runs.of(function)) is None


def test_a_buffer_that_one_choice_hands_to_another_needs_the_test_of_the_region(function: Function) -> None:
    first, second = function.body.statements
    merged = merge((_launch(first), second), (first, second), Runs.of(function))
    (either,) = (stmt for stmt in merged if isinstance(stmt, If))
    own = replace(either, then=Block(span=first.span, statements=(_declared(first, function.parameters[0]),)))
    assert ask_inside((own, second), Runs.of(function)) is not None
    assert ask_inside((own, _choice(second, _name(second, _M))), Runs.of(function)) is None
