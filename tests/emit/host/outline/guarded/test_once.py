"""Two branches of a guarded region become one run, in which the user's statements stand once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from warpsmith.emit.host.outline.guarded.once import branches, is_either, merge
from warpsmith.emit.host.outline.model import ApartError
from warpsmith.emit.host.outline.runs import Runs
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import (
    Block,
    DeviceFree,
    For,
    Function,
    If,
    Launch,
    Node,
    Stmt,
    Switch,
    Update,
    While,
    replace,
)
from warpsmith.tree.types import INT, Pointer, Symbol
from warpsmith.tree.walk import rebuild, walk

_TEXT = """
int c, d;
void work(void);
void f(int n)
{
    if (c)
        work();
    for (int k = 0; k < n; k++)
        work();
    while (d)
        work();
    switch (c) {
    case 1:
        work();
    }
    int local = 3;
    work();
}
"""


@pytest.fixture
def function(tmp_path: Path) -> Function:
    path = tmp_path / "f.c"
    path.write_text(_TEXT)
    return next(f for _, f in load_program([str(path)], FrontOptions()).program.functions() if f.symbol.name == "f")


def _launch(at: Node) -> Stmt:
    return Launch(span=at.span, kernel="k", arguments=(), region="f")


def _with_launches(inside: type[Node]) -> Callable[[Node], Node]:
    """Replace every statement by itself that stands in a construct of a class."""

    def change(node: Node) -> Node:
        if isinstance(node, inside) and isinstance(node, For | While):
            return replace(node, body=_launch(node.body))
        if isinstance(node, inside) and isinstance(node, If):
            return replace(node, then=_launch(node.then))
        if isinstance(node, inside) and isinstance(node, Switch):
            (case,) = node.cases
            return replace(node, cases=(replace(case, body=(_launch(case.body[0]), *case.body[1:])),))
        return node

    return change


@pytest.mark.parametrize("inside", [If, For, While, Switch])
def test_a_launch_in_place_of_a_statement_becomes_a_choice(inside: type[Node], function: Function) -> None:
    original = function.body.statements
    ported = rebuild(function, _with_launches(inside)).body.statements
    merged = merge(ported, original, Runs.of(function))
    assert len(merged) == len(original)
    choices = [part for stmt in merged for part in walk(stmt) if isinstance(part, If) and is_either(part)]
    assert len(choices) == 1
    come, gone = branches(choices[0])
    assert [type(stmt) for stmt in come] == [Launch] and gone[0] in {part for s in original for part in walk(s)}
    assert sum(a is b for a, b in zip(merged, original, strict=True)) == len(original) - 1


def test_what_only_the_device_needs_stands_between(function: Function) -> None:
    original = function.body.statements
    free = DeviceFree(span=original[-1].span, buffer=Symbol("b", "b", Pointer(INT), "device"))
    assert merge((*original, free), original, Runs.of(function)) == (*original, free)


def test_branches_that_differ_stay_apart(function: Function) -> None:
    original = function.body.statements
    loop = next(stmt for stmt in original if isinstance(stmt, For))
    empty = replace(loop, relation="<=", body=Block(span=loop.span, statements=()))
    other = tuple(empty if s is loop else s for s in original)
    without = tuple(_launch(s) if s is original[-2] else s for s in original)
    for ported in (other, without, (_launch(original[0]),), (Block(span=loop.span, statements=()),)):
        with pytest.raises(ApartError):
            merge(ported, original, Runs.of(function))


def test_what_steps_made_of_a_statement_on_the_host_is_the_statement(function: Function) -> None:
    original = function.body.statements
    made = tuple(replace(s, relation="<=") if isinstance(s, For) else s for s in original)
    launch = _launch(original[0])
    assert merge((launch, *made[1:]), original, Runs.of(function))[1:] == original[1:]


def test_what_the_host_branch_asks_of_the_device_keeps_the_branches_apart(function: Function) -> None:
    original = function.body.statements
    update = Update(
        span=original[0].span, to_device=False, variable=None, address=None, bytes=None, cause=original[0].span
    )
    with pytest.raises(ApartError):
        merge((_launch(original[0]), *original), (update, *original), Runs.of(function))
    assert merge((_launch(original[0]), *original), original, Runs.of(function))
