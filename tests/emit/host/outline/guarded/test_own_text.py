"""The user's statements in the fallbacks of steps: where all of their text went there, and nothing else."""

from __future__ import annotations

from pathlib import Path

from warpsmith.emit.host.outline.guarded.own_text import restore
from warpsmith.emit.host.outline.runs import Runs
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.in_place.versioned import SWITCHED
from warpsmith.tree.nodes import Block, For, Function, If, Launch, Literal, Node, Stmt, replace
from warpsmith.tree.types import INT
from warpsmith.tree.walk import rebuild, walk

_TEXT = """
double g(double x) { return x + 1; }
void f(int n, double *a, double *b)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        a[i] = g(b[i]);
    for (int i = 0; i < n; i++)
        b[i] = 0;
}
"""


def _function(folder: Path) -> Function:
    path = folder / "f.c"
    path.write_text(_TEXT)
    functions = load_program([str(path)], FrontOptions()).program.functions()
    return next(f for _, f in functions if f.symbol.name == "f")


def _rewritten(stmt: Stmt) -> Stmt:
    """Return a loop as a step has made it: with another subscript."""

    def change(node: Node) -> Node:
        return replace(node, text="1", value=1) if isinstance(node, Literal) and node.text == "0" else node

    assert isinstance(stmt, For)
    return replace(rebuild(stmt, change), relation="!=")


def _choice(stmt: Stmt, fallback: tuple[Stmt, ...], reason: str = "rows") -> If:
    launch = Launch(span=stmt.span, kernel="k", arguments=(), region="f")
    then, other = (Block(span=stmt.span, statements=run) for run in ((launch,), fallback))
    one = Literal(span=stmt.span, type=INT, text="1", value=1)
    return If(span=stmt.span, condition=one, then=then, other=other, reasons=(reason,))


def _with(function: Function, *run: Stmt) -> Function:
    return replace(function, body=replace(function.body, statements=run))


def _fallbacks(function: Function) -> list[tuple[Stmt, ...]]:
    choices = [part for part in walk(function.body) if isinstance(part, If)]
    return [choice.other.statements for choice in choices if isinstance(choice.other, Block)]


def test_the_users_statement_is_put_back_with_its_pragma(tmp_path: Path) -> None:
    function = _function(tmp_path)
    pragma, first, second = function.body.statements
    ported = _with(function, _choice(first, (_rewritten(first),)), _choice(second, (_rewritten(second),)))
    assert _fallbacks(restore(function, ported, Runs.of(function))) == [(pragma, first), (second,)]


def test_text_that_went_to_two_places_stays_as_the_steps_made_it(tmp_path: Path) -> None:
    function = _function(tmp_path)
    _, _, second = function.body.statements
    rewritten = _rewritten(second)
    choice = _choice(second, (rewritten,))
    launch = Launch(span=second.span, kernel="k", arguments=(), region="f")
    for more in (launch, replace(rewritten, relation="<="), _choice(second, (rewritten,))):
        restored = restore(function, _with(function, choice, more), Runs.of(function))
        assert second not in [stmt for run in _fallbacks(restored) for stmt in run]


def test_a_switch_keeps_its_other_branch(tmp_path: Path) -> None:
    function = _function(tmp_path)
    ported = _with(function, _choice(function.body.statements[2], (_rewritten(function.body.statements[2]),), SWITCHED))
    assert restore(function, ported, Runs.of(function)) is ported
