"""Questions to the port's run time: distinguished from other calls, and made for rows where rows are meant."""

from __future__ import annotations

from pathlib import Path

from warpsmith.base.source import SourceFile, Span
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.allocations import (
    ROW_ZERO,
    allocation_bytes,
    allocation_lower,
    allocation_size,
    allocation_upper,
    allocations_apart,
    apart_pair,
    asks,
    asks_allocations,
    asks_rows,
    blocks_apart,
    is_apart,
    is_question,
    is_vector_question,
    names_allocations,
    row_starts,
    row_tables,
    row_zero,
    rows_apart,
    rows_clear,
    rows_distinct,
    vector_rows,
    vector_sizes,
)
from warpsmith.tree.nodes import Call, Cast, DeclStmt, Expr, Function, Literal, Name, Update, VarDecl, replace
from warpsmith.tree.types import DOUBLE, INT, LONG_LONG, Pointer, Symbol

HERE = Span(SourceFile("a.c", ""), 0, 0)
P, Q = (Symbol(n, n, Pointer(DOUBLE), "local") for n in "pq")
ROWS, STARTS, OTHER = Symbol("rows", "rows", Pointer(DOUBLE), "local"), *(
    Symbol(n, n, Pointer(LONG_LONG), "local") for n in ("starts", "other")
)  # fmt: skip
SIZE = Literal(span=HERE, type=INT, text="8", value=8)


def use(symbol: Symbol) -> Name:
    return Name(span=HERE, type=symbol.type, symbol=symbol)


def function_of(call: Expr) -> str:
    assert isinstance(call, Call) and isinstance(call.function, Name)
    return call.function.symbol.name


def with_rows(folder: Path) -> Function:
    (folder / "a.c").write_text("void f(double **r) { r[0][0] = 1; }\n")
    (unit,) = load_program([str(folder / "a.c")], FrontOptions()).program.units
    made = unit.functions[0]
    value = Cast(span=HERE, type=Pointer(DOUBLE), operand=row_zero(use(STARTS), HERE))
    declared = DeclStmt(span=HERE, declarations=(VarDecl(span=HERE, symbol=ROWS, init=value),))
    return replace(made, body=replace(made.body, statements=(declared, *made.body.statements)))


def test_questions_are_told_from_other_calls() -> None:
    questions = (
        allocations_apart(use(P), use(Q), HERE), allocation_bytes(use(P), HERE), allocation_lower(use(P), SIZE, HERE),
        allocation_upper(use(P), SIZE, HERE), allocation_size(use(P), SIZE, HERE), rows_distinct(use(STARTS), HERE),
        rows_apart(use(STARTS), use(P), HERE), rows_clear(use(STARTS), SIZE, SIZE, HERE),
    )  # fmt: skip
    assert all(asks_allocations(call) and asks(call) and names_allocations(call) for call in questions)
    assert [is_apart(call) for call in questions] == [True, False, False, False, False, False, True, False]
    made = row_starts(use(ROWS), SIZE, HERE), row_zero(use(STARTS), HERE)
    assert not any(map(asks_allocations, made)) and all(map(asks, made))
    some = row_starts(use(ROWS), SIZE, HERE, (SIZE, SIZE))
    assert function_of(some) == "ws_row_starts_of" and len(some.arguments) == 4
    other = Call(span=HERE, type=INT, function=use(P), arguments=())
    assert not (asks_allocations(other) or asks(other) or names_allocations(other) or is_apart(other))
    assert asks_rows(made[1].function) and not asks_rows(use(P)) and not asks_rows(other)
    assert asks_rows(use(ROW_ZERO)) and not asks_rows(questions[1].function)


def test_vectors_are_asked_in_their_own_types() -> None:
    rows, sizes = vector_rows(use(P), SIZE, Pointer(DOUBLE), HERE), vector_sizes(use(P), SIZE, HERE)
    assert [function_of(call) for call in (rows, sizes)] == ["ws_vector_rows", "ws_vector_sizes"]
    assert rows.type == Pointer(Pointer(DOUBLE)) and isinstance(sizes.type, Pointer)
    for call in (rows, sizes):
        assert is_vector_question(call) and is_question(call) and asks(call) and asks_rows(call.function)
        assert not asks_allocations(call)
    assert not is_vector_question(row_zero(use(STARTS), HERE)) and not is_vector_question(use(P))


def test_of_rows_all_blocks_are_meant(tmp_path: Path) -> None:
    function = with_rows(tmp_path)
    assert row_tables(function) == {ROWS: STARTS}
    plain = blocks_apart(function, use(P), use(Q), HERE)
    first, second = blocks_apart(function, use(ROWS), use(P), HERE), blocks_apart(function, use(P), use(ROWS), HERE)
    both = blocks_apart(function, use(ROWS), use(ROWS), HERE)
    assert [function_of(c) for c in (plain, first, second, both)] == ["ws_allocations_apart", *["ws_rows_apart"] * 3]
    names = [[a.symbol.name for a in c.arguments if isinstance(a, Name)] for c in (first, second, both)]
    assert names == [["starts", "p"], ["starts", "p"], ["starts", "starts"]]
    assert apart_pair(function, first) == (ROWS, P) and apart_pair(function, plain) == (P, Q)


def test_nodes_that_ask_by_themselves() -> None:
    update = Update(span=HERE, to_device=False, variable=None, address=None, bytes=None, cause=HERE)
    assert not asks(update) and asks(replace(update, block=True))
    assert not asks(use(P))
