"""A parallel region whose port one thread runs, in the user's own text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.place import LoopContext
from warpsmith.loops.steps.order.unthread import Unthread
from warpsmith.offload.regions.one_thread import within_region
from warpsmith.tree.in_place.versioned import SWITCHED, InsertedText, Run, Versioned
from warpsmith.tree.nodes import (
    Block,
    DataEnter,
    DataExit,
    DataRegionBoundary,
    DeclStmt,
    For,
    Function,
    If,
    Launch,
    Literal,
    Name,
    Node,
    Pragma,
    Stmt,
    Update,
    VarDecl,
    While,
    replace,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import INT, Pointer, Symbol
from warpsmith.tree.walk import rebuild, walk

_TEXT = """\
void f(int n, double *a, double *b)
{
#pragma omp parallel CLAUSES
    {
        int k = 0;
#pragma omp master
        a[0] = 1;
        while (k < 3) {
#pragma omp for
            for (int i = 0; i < n; i++)
                a[i] = i;
#pragma omp barrier
            k++;
        }
#pragma omp for nowait
        for (int j = 0; j < n; j++)
            b[j] = 2;
#pragma omp single
        a[1] = 2;
#pragma omp for
        for (int m = 0; m < n; m++)
            b[m] += 1;
    }
}
"""
_BUFFER = Symbol("a_gpu", "a_gpu", Pointer(INT), "local")


def _program(folder: Path, clauses: str = "") -> tuple[Program, Function]:
    path = folder / "a.c"
    path.write_text(_TEXT.replace(" CLAUSES", clauses))
    program = load_program([str(path)], FrontOptions()).program
    return program, program.units[0].functions[0]


def _launch(at: Stmt) -> Launch:
    return Launch(span=at.span, kernel="k", arguments=(), region="r")


def _test(at: Stmt, run: Run) -> If:
    """Return the choice of a port whose guard fails for the statements `run`."""
    update = Update(span=at.span, to_device=False, variable=None, address=None, bytes=None, cause=at.span)
    condition = Literal(span=at.span, type=INT, text="n", value=2)
    then, other = Block(span=at.span, statements=(_launch(at),)), Block(span=at.span, statements=(update, *run, update))
    return If(span=at.span, condition=condition, then=then, other=other, reasons=("n is two",))


Change = Callable[[tuple[Pragma, For]], Sequence[Stmt]]


def _guarded(run: tuple[Pragma, For]) -> Sequence[Stmt]:
    return (_test(run[1], run),)


def _plain(run: tuple[Pragma, For]) -> Sequence[Stmt]:
    return (_launch(run[1]),)


def _ported(program: Program, loops: dict[str, Change]) -> Run:
    """Return the region without threads, with other statements for the loops that have these counters."""
    body = Unthread("f/j").apply(program).units[0].functions[0].body

    def change(node: Node) -> Node:
        if not isinstance(node, Block):
            return node
        made: list[Stmt] = []
        for stmt in node.statements:
            use = loops.get(stmt.variable.name) if isinstance(stmt, For) else None
            if use is not None and isinstance(stmt, For):
                pragma = made.pop()
                assert isinstance(pragma, Pragma)
                made += use((pragma, stmt))
            else:
                made.append(stmt)
        return replace(node, statements=tuple(made))

    return tuple(rebuild(stmt, change) for stmt in body.statements)


def _made(folder: Path, loops: dict[str, Change], clauses: str = "", inserted: Run = ()) -> tuple[Function, Run | None]:
    program, function = _program(folder, clauses)
    version = Versioned(function, function.body.statements, _ported(program, loops), None)
    assert LoopContext.of(program, "f/j").function is function
    around = [InsertedText(function, "after", function.body.statements[1], inserted)] if inserted else []
    return function, within_region(version, around)


def _texts(run: Run) -> list[str]:
    return [part.text for stmt in run for part in walk(stmt) if isinstance(part, Pragma)]


def test_the_users_pragmas_are_there_again(tmp_path: Path) -> None:
    function, made = _made(tmp_path, {"i": _guarded, "j": _plain, "m": _guarded})
    assert made is not None and _texts(made) == _texts(function.body.statements)
    assert [part.alone for part in made if isinstance(part, Pragma)] == [True]
    assert sum(part.alone for stmt in made for part in walk(stmt) if isinstance(part, Pragma)) == 1
    first, second, third = (part for stmt in made for part in walk(stmt) if isinstance(part, If))
    assert first.reasons == (SWITCHED, "n is two") and second.reasons == (SWITCHED,)
    assert third.reasons == first.reasons
    assert isinstance(first.other, Block) and isinstance(second.other, Block)
    assert [type(stmt) for stmt in first.other.statements] == [Update, Pragma, For, Update]
    assert [type(stmt) for stmt in second.other.statements] == [Pragma, For]
    # the barrier stands where it was, behind the loop
    (loop,) = (part for stmt in made for part in walk(stmt) if isinstance(part, While))
    assert isinstance(loop.body, Block) and [type(stmt).__name__ for stmt in loop.body.statements] == [
        "If",
        "Pragma",
        "ExprStmt",
    ]


def test_a_data_region_stands_between_the_users_statements(tmp_path: Path) -> None:
    def held(run: tuple[Pragma, For]) -> Sequence[Stmt]:
        return DataRegionBoundary(span=run[1].span, opens=True, cause=run[1].span), *_guarded(run)

    _, made = _made(tmp_path, {"i": _guarded, "j": held, "m": _plain})
    assert made is not None and isinstance(made[1], Block)
    assert [type(stmt).__name__ for stmt in made[1].statements][-5:-2] == ["DataRegionBoundary", "If", "Pragma"]


def _stays(run: tuple[Pragma, For]) -> Sequence[Stmt]:
    return run


def _changes(run: tuple[Pragma, For]) -> Sequence[Stmt]:
    pragma, loop = run
    other = replace(loop, bound=Literal(span=loop.span, type=INT, text="7", value=7))
    return (_test(loop, (pragma, other)),)


def _declares(run: tuple[Pragma, For]) -> Sequence[Stmt]:
    symbol = Symbol("t", "t", INT, "local")
    declared = VarDecl(span=run[1].span, symbol=symbol, init=None)
    return DeclStmt(span=run[1].span, declarations=(declared,)), *_guarded(run)


@pytest.mark.parametrize("use", [_stays, _changes, _declares])
def test_what_has_to_stand_beside_the_region(use: Change, tmp_path: Path) -> None:
    _, made = _made(tmp_path, {"i": use, "j": _plain, "m": _plain})
    assert made is None


def test_a_buffer_of_one_loop_may_not_be_used_behind_it(tmp_path: Path) -> None:
    def enters(run: tuple[Pragma, For]) -> Sequence[Stmt]:
        at = run[1].span
        host = next(part for part in walk(run[1].body) if isinstance(part, Name))
        bytes = Literal(span=at, type=INT, text="8", value=8)
        made = {"variable": host.symbol, "address": host, "bytes": bytes, "copy": True, "keep": True, "cause": at}
        return DataEnter(span=at, buffer=_BUFFER, **made), _launch(run[1])  # type: ignore[arg-type]

    def exits(run: tuple[Pragma, For]) -> Sequence[Stmt]:
        return _launch(run[1]), DataExit(span=run[1].span, buffer=_BUFFER, written=True)

    assert _made(tmp_path, {"i": _plain, "j": enters, "m": exits})[1] is None
    assert _made(tmp_path, {"i": _plain, "j": enters, "m": _plain})[1] is not None


@pytest.mark.parametrize(("clauses", "named", "within"), [
    (" firstprivate(n)", "n", False), (" firstprivate(n)", "a", True), (" shared(n)", "n", True),
    (" if(n > 4)", "a", False), (" num_threads(3)", "a", True),
])  # fmt: skip
def test_clauses_of_the_region(clauses: str, named: str, within: bool, tmp_path: Path) -> None:
    _, function = _program(tmp_path, clauses)
    symbol = next(s for s in function.parameters if s.name == named)
    at = function.body.statements[1].span
    name = Name(span=at, type=symbol.type, symbol=symbol)
    update = Update(span=at, to_device=True, variable=None, address=name, bytes=None, cause=at)
    _, made = _made(tmp_path, {"i": _guarded, "j": _plain, "m": _guarded}, clauses, (update,))
    assert (made is not None) == within


def test_other_versions_are_none_of_a_region(tmp_path: Path) -> None:
    program, function = _program(tmp_path)
    ported = _ported(program, {"i": _guarded, "j": _plain, "m": _guarded})
    condition = Literal(span=function.span, type=INT, text="1", value=1)
    assert within_region(Versioned(function, function.body.statements, ported, condition), []) is None
    loop = function.body.statements[1]
    assert within_region(Versioned(function, (loop,), (_launch(loop),), None), []) is None
