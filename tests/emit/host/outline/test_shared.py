"""Regions of a function that shares its text: each is a call, and nothing else of the text is the port's."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.emit.host.outline.shared import with_calls
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.in_place.versioned import Versioned
from warpsmith.tree.nodes import Block, Call, ExprStmt, Function, If, Stmt, Unary, Update, replace
from warpsmith.tree.types import INT

_TEXT = """
int ported(void);
void f(int n, double *a)
{
    ported();
    for (int k = 0; k < n; k++)
        a[k] = 0;
    for (int k = 0; k < n; k++)
        a[k] += 1;
}
"""


@pytest.fixture
def function(tmp_path: Path) -> Function:
    path = tmp_path / "f.c"
    path.write_text(_TEXT)
    return next(f for _, f in load_program([str(path)], FrontOptions()).program.functions() if f.symbol.name == "f")


def _call(function: Function) -> Call:
    first = function.body.statements[0]
    assert isinstance(first, ExprStmt) and isinstance(first.expr, Call)
    return first.expr


def _unless(function: Function, *run: Stmt) -> If:
    span, call = run[0].span, _call(function)
    condition = Unary(span=span, type=INT, op="!", operand=call)
    then = run[0] if len(run) == 1 else Block(span=span, statements=run)
    return If(span=span, condition=condition, then=then, other=None, reasons=("device",))


def _update(at: Stmt, *, to_device: bool) -> Update:
    return Update(span=at.span, to_device=to_device, variable=None, address=None, bytes=None, cause=at.span)


def _with(function: Function, *run: Stmt) -> Function:
    return replace(function, body=replace(function.body, statements=run))


def _version(function: Function, number: int) -> Versioned:
    return Versioned(function, (function.body.statements[number],), (), None)


def test_each_region_has_its_call(function: Function) -> None:
    first, one, other = function.body.statements
    text = _with(function, first, _unless(function, one), _unless(function, other))
    found = with_calls(function, text, [_version(function, 2), _version(function, 1)])
    assert found is not None and [v.call for v in found] == [_call(function)] * 2
    assert [v.written for v in found] == [(other,), (one,)]


def test_updates_around_the_users_statements_are_the_fallback(function: Function) -> None:
    first, one, other = function.body.statements
    before, after = _update(one, to_device=False), _update(one, to_device=True)
    text = _with(function, first, _unless(function, before, one, after), other)
    found = with_calls(function, text, [_version(function, 1)])
    assert found is not None and found[0].fallback == ((before,), (after,))


def test_a_text_with_something_else_is_not_said_by_calls(function: Function) -> None:
    first, one, other = function.body.statements
    choice = _unless(function, one)
    for run in (
        (first, choice, _update(one, to_device=True), other),  # something for the device beside the call
        (first, choice, _unless(function, other)),  # a region too many
        (first, one, other),  # none
        (first, replace(choice, other=one), other),  # the port in the text
        (first, _unless(function, other), one),  # another statement
        (first, choice),  # a statement is lost
    ):
        assert with_calls(function, _with(function, *run), [_version(function, 1)]) is None
