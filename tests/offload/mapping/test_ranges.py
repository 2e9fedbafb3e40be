"""Launch ranges and final values against running the loops: every iteration is one thread whose guard holds."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.offload.hand import head, load
from warpsmith.offload.mapping.ranges import guard, launch_ranges, most_trips, trip_count
from warpsmith.offload.selection.finals import final_statement
from warpsmith.tree.nodes import Assign, Binary, Cast, Conditional, Expr, ExprStmt, For, If, Literal, Name, Unary
from warpsmith.tree.walk import peel

Values = dict[str, int]

NESTS = [
    ("i = 0; i < n; i++", "j = 0; j < m; j++"),
    ("i = 0; i < n; i++", "j = i; j < m - i; j++"),
    ("i = 0; i <= n; i++", "j = 2 * i - 3; j <= n - i; j++"),
    ("i = n; i > 0; i--", "j = i; j >= 0; j--"),
    ("i = n; i >= m; i -= 3", "j = m; j > -i; j--"),
    ("i = 1; i < n; i += 2", "j = 0; j < (i + m) / 2; j++"),
    ("i = -m; i != n; i++", "j = 0; j < (i < m ? i : m); j++"),
    ("i = 0; i < n; i++", "j = 3; j < 3 * i - m; j += 4"),
    ("i = 0; i < n; i++", "j = n - i; j > m; j -= 2"),
]


def value(expr: Expr, values: Values) -> int:
    match peel(expr):
        case Literal(value=int() as number):
            return number
        case Name(symbol=symbol):
            return values[symbol.name]
        case Unary(op="-", operand=operand):
            return -value(operand, values)
        case Cast(operand=operand):
            return value(operand, values)
        case Conditional(condition=condition, then=then, other=other):
            return value(then if value(condition, values) else other, values)
        case Binary(op=op, left=left, right=right):
            return arithmetic(op, value(left, values), value(right, values))
        case other:
            raise AssertionError(f"not expected here: {type(other).__name__}")


def arithmetic(op: str, a: int, b: int) -> int:
    match op:
        case "+" | "-" | "*":
            return {"+": a + b, "-": a - b, "*": a * b}[op]
        case "/":
            return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        case _:
            table = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "!=": a != b, "&&": bool(a and b)}
            return int(table[op])


def run(loop: For, values: Values) -> list[int]:
    """Return the values that the counter takes; it leaves its final value in `values`."""
    seen = []
    name = loop.variable.name
    values[name] = value(loop.lower, values)
    while arithmetic(loop.relation, values[name], value(loop.bound, values)):
        seen.append(values[name])
        values[name] += loop.step
    return seen


def nest(directory: Path, outer: str, inner: str) -> tuple[For, For]:
    text = f"void f(int n, int m, double *A) {{ int i, j; for ({outer}) for ({inner}) A[i * 9 + j] = 1.0; }}"
    program = load(text, directory)
    return head(program, "f/i"), head(program, "f/i/j")


def sizes(outer: str) -> list[tuple[int, int]]:
    some = [-2, 0, 1, 2, 5, 6]
    pairs = [(n, m) for n in some for m in some]
    return [(n, m) for n, m in pairs if n >= -m] if "!=" in outer else pairs


@pytest.mark.parametrize(("outer", "inner"), NESTS)
def test_each_iteration_is_exactly_one_thread(outer: str, inner: str, tmp_path: Path) -> None:
    loops = nest(tmp_path, outer, inner)
    ranges = launch_ranges(loops)
    mapped = 2 if ranges is not None else 1
    assert (ranges is None) == (inner in ("j = n - i; j > m; j -= 2",))
    ranges = ranges or launch_ranges(loops[:1])
    assert ranges is not None
    for n, m in sizes(outer):
        given = {"n": n, "m": m}
        expected = [
            (i, j)[:mapped]
            for i in run(loops[0], dict(given))
            for j in (run(loops[1], {**given, "i": i}) if mapped == 2 else [0])
        ]
        assert sorted(threads(loops[:mapped], ranges, given)) == sorted(expected)


def threads(loops: tuple[For, ...], ranges: tuple[tuple[Expr, Expr], ...], given: Values) -> list[tuple[int, ...]]:
    axes = [(value(lower, given), max(0, value(count, given))) for lower, count in ranges]
    found = []
    for place in product(*(range(count) for _, count in axes)):
        counters = tuple(lower + loop.step * t for (lower, _), loop, t in zip(axes, loops, place, strict=True))
        values = given | {loop.variable.name: c for loop, c in zip(loops, counters, strict=True)}
        outer = [loop.variable for loop in loops]
        if all(value(guard(loop, outer[:k]), values) for k, loop in enumerate(loops)):
            found.append(counters)
    return found


@pytest.mark.parametrize(("outer", "inner"), NESTS)
def test_final_values_are_what_the_loops_leave(outer: str, inner: str, tmp_path: Path) -> None:
    loops = nest(tmp_path, outer, inner)
    statements = [s for s in (final_statement(loops[:1]), final_statement(loops)) if s is not None]
    moves = (outer.split(";")[2].strip(), "i" in inner.replace("i++", ""))
    steps = moves in (("i += 2", True), ("i -= 3", True)) or ("!=" in outer and moves[1])
    assert len(statements) == (1 if steps else 2)
    for n, m in sizes(outer):
        before = {"n": n, "m": m, "i": 77, "j": 88}
        expected = dict(before)
        for i in run(loops[0], dict(before)):
            run(loops[1], expected | {"i": i})
            expected["j"] = final_j(loops[1], before | {"i": i})
        run(loops[0], expected)
        actual = dict(before)
        for statement in statements:
            execute(statement, actual)
        assert actual["i"] == expected["i"]
        if len(statements) == 2:
            assert actual["j"] == expected["j"]


def final_j(loop: For, values: Values) -> int:
    run(loop, values)
    return values["j"]


def execute(statement: object, values: Values) -> None:
    match statement:
        case If(condition=condition, then=then):
            if value(condition, values):
                execute(then, values)
        case ExprStmt(expr=Assign(target=Name(symbol=symbol), value=new)):
            values[symbol.name] = value(new, values)
        case _:
            raise AssertionError("a final is an assignment, perhaps under a condition")


@pytest.mark.parametrize(
    ("loop", "trips"),
    [("i = 0; i < 10; i++", 10), ("i = 0; i < n; i += 3", 4), ("i = 9; i >= n; i--", 0), ("i = 0; i < m; i++", None)],
)
def test_trip_counts(loop: str, trips: int | None, tmp_path: Path) -> None:
    program = load(f"void f(int n, int m, double *A) {{ for (int {loop}) A[i] = 1.0; }}", tmp_path)
    assert trip_count(head(program, "f/i"), {"n": 10}) == trips


@pytest.mark.parametrize(
    ("inner", "trips"),
    [("j = 0; j < m; j++", (10, 7)), ("j = 0; j <= i; j++", (10, 10)), ("j = i; j < l; j++", (10, None))],
)
def test_a_grid_covers_the_most_iterations_of_a_triangle(
    inner: str, trips: tuple[int | None, ...], tmp_path: Path
) -> None:
    text = f"void f(int n, int m, int l, double *A) {{ for (int i = 0; i < n; i++) for (int {inner}) A[i] = 1.0; }}"
    program = load(text, tmp_path)
    assert most_trips([head(program, "f/i"), head(program, "f/i/j")], {"n": 10, "m": 7}) == trips


def test_a_nest_that_no_grid_covers_has_no_trips(tmp_path: Path) -> None:
    text = "void f(int n, double *A) { for (int i = 0; i < n; i++) for (int j = i; j < n; j += 3) A[i] = 1.0; }"
    program = load(text, tmp_path)
    assert most_trips([head(program, "f/i"), head(program, "f/i/j")], {"n": 10}) == (None, None)
