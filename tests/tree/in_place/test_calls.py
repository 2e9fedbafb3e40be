"""A function with calls, written as additions between the user's statements."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tree.in_place.test_edits import BRANCH, DONOR, ONE_LINE, PLAIN, Words, parsed, printed
from warpsmith.tree.in_place.calls import call_additions, can_call
from warpsmith.tree.in_place.edits import Heads, in_place_text
from warpsmith.tree.in_place.pairs import NeedsCopyError
from warpsmith.tree.in_place.versioned import Run, WithCalls
from warpsmith.tree.in_place.writer import InPlaceWriter
from warpsmith.tree.nodes import Block, Call, Expr, Function, If, Launch, Name, Pragma, Stmt, Unary, replace
from warpsmith.tree.program import Unit
from warpsmith.tree.text.additions import remove_additions
from warpsmith.tree.types import INT, FunctionType, Symbol
from warpsmith.tree.walk import rebuild

_ON = Symbol("on", "on", FunctionType(INT, ()), "function")


def _use(stmt: Stmt) -> Expr:
    return Call(span=stmt.span, type=INT, function=Name(span=stmt.span, type=_ON.type, symbol=_ON), arguments=())


def _unless(run: Run, instead: Run | None = None) -> If:
    """Return `if (!on()) run`."""
    test = Unary(span=run[0].span, type=INT, op="!", operand=_use(run[0]))
    block = Block(span=run[0].span, statements=run if instead is None else instead)
    return If(span=run[0].span, condition=test, then=block, other=None, reasons=("device",))


def _launch(stmt: Stmt) -> Launch:
    return Launch(span=stmt.span, kernel="k", arguments=(), region="r")


def _with(function: Function, old: Stmt, *new: Stmt) -> WithCalls:
    """Return the function with statements in place of one; those of an unbraced body are a block without braces."""

    def change(node: object) -> object:
        if isinstance(node, Block) and any(stmt is old for stmt in node.statements):
            at = next(n for n, stmt in enumerate(node.statements) if stmt is old)
            return replace(node, statements=(*node.statements[:at], *new, *node.statements[at + 1 :]))
        if isinstance(node, If) and node.then is old:
            return replace(node, then=Block(span=old.span, statements=new))
        return node

    return WithCalls(function, rebuild(function, change))  # type: ignore[arg-type]


def _text(unit: Unit, called: WithCalls) -> str:
    return in_place_text(unit, [], [], Words(), Heads(), called=[called])


@pytest.mark.parametrize("text", [BRANCH, PLAIN, ONE_LINE], ids=["branch", "plain", "one line"])
def test_a_loop_runs_where_the_device_does_not(text: str, tmp_path: Path) -> None:
    unit, function, loop, _ = parsed(text, tmp_path)
    made = _text(unit, _with(function, loop, _unless((loop,))))
    assert remove_additions(made) == DONOR + text
    assert made.count("if (!on())") == made.count("a[i] = i;") == 1
    assert printed(made, tmp_path) == ["57", "01", "57", "77"]


def test_what_is_added_stands_in_front_of_the_choice(tmp_path: Path) -> None:
    unit, function, loop, _ = parsed(PLAIN, tmp_path)
    made = _text(unit, _with(function, loop, _launch(loop), _unless((loop,)), _launch(loop)))
    assert remove_additions(made) == DONOR + PLAIN
    assert printed(made, tmp_path) == ["57", "device 4 device 4 01", "57", "device 4 device 4 77"]


def test_several_statements_get_braces(tmp_path: Path) -> None:
    text = "void f(int x, int n, int *a)\n{\n    for (int i = 0; i < n; i++)\n        a[i] = i;\n    a[1] = x;\n}\n"
    unit, function, loop, _ = parsed(text, tmp_path)
    both = function.body.statements
    body = replace(function.body, statements=(_unless(both, (both[0], _launch(loop), both[1])),))
    called = WithCalls(function, replace(function, body=body))
    made = _text(unit, called)
    assert remove_additions(made) == DONOR + text
    assert "    if (!on()) {\n#endif\n    for (int i" in made
    assert printed(made, tmp_path) == ["device 4 00", "device 4 01", "77", "77"]


def test_what_cannot_stand_once_is_not_written(tmp_path: Path) -> None:
    unit, function, loop, _ = parsed(PLAIN, tmp_path)
    lost = _with(function, loop, _launch(loop))
    assert not can_call(InPlaceWriter(unit, Words()), lost)
    with pytest.raises(NeedsCopyError):
        call_additions(InPlaceWriter(unit, Words()), lost)
    assert can_call(InPlaceWriter(unit, Words()), _with(function, loop, _unless((loop,))))


@pytest.mark.parametrize(
    ("above", "braces"),
    [
        ("#pragma omp parallel for\n", False),
        ("#ifdef _OPENMP\n    #pragma omp parallel for\n#endif\n", False),
        # gcc takes this pragma for the body of an `if` above it
        ("#pragma GCC ivdep\n", True),
    ],
)
@pytest.mark.parametrize("flags", [(), ("-fopenmp",)])
def test_a_loop_with_a_pragma_of_openmp_needs_no_braces(
    above: str, braces: bool, flags: tuple[str, ...], tmp_path: Path
) -> None:
    body = f"{above}    for (int i = 0; i < n; i++)\n        a[i] = i;\n    a[0] += x;\n"
    text = f"void f(int x, int n, int *a)\n{{\n{body}}}\n"
    unit, function, loop, _ = parsed(text, tmp_path)
    own = (stmt for stmt in function.body.statements if isinstance(stmt, Pragma) or stmt is loop)
    run = (loop,) if "#ifdef" in above else tuple(own)
    called = replace(function.body, statements=_between(function.body.statements, run, _unless(run)))
    made = _text(unit, WithCalls(function, replace(function, body=called)))
    assert remove_additions(made) == DONOR + text
    assert ("if (!on()) {" in made, "WARPSMITH_ONLY(if (!on()))" in made) == (braces, not braces)
    assert printed(made, tmp_path, *flags) == ["01", "11", "77", "87"]


def _between(statements: Run, old: Run, new: Stmt) -> Run:
    at = next(n for n, stmt in enumerate(statements) if stmt is old[0])
    return (*statements[:at], new, *statements[at + len(old) :])


@pytest.mark.parametrize("behind", [False, True], ids=["alone", "and something behind it"])
def test_a_loop_whose_pragma_shares_a_conditional_may_have_something_behind_it(behind: bool, tmp_path: Path) -> None:
    text = (
        "void f(int x, int n, int *a)\n{\n#ifndef ONE\n    ++n;\n    #pragma omp parallel for\n#endif\n"
        "    for (int i = 0; i < n; i++)\n        a[i] = i;\n    a[0] += x;\n}\n"
    )
    unit, function, loop, _ = parsed(text, tmp_path)
    run: Run = (loop,)
    instead = (*run, _launch(loop)) if behind else run
    called = replace(function.body, statements=_between(function.body.statements, run, _unless(run, instead)))
    made = _text(unit, WithCalls(function, replace(function, body=called)))
    assert remove_additions(made) == DONOR + text
    assert made.count("#error") == 1 and ("        device(4);\n    }\n#endif\n    a[0]" in made) == behind
    assert printed(made, tmp_path) == [f"{'device 4 ' * behind}01", "77", "87"]
