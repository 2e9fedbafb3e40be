"""Extremes of bounds over the counters of outer loops, against C's own arithmetic on small types of sizes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from tests.offload.analyzed import Analyzed, analyzed
from tests.offload.hand import head, load
from tests.offload.mapping.test_ranges import value as plain
from warpsmith.base.source import SourceFile, Span
from warpsmith.offload.expressions import name, number, shift_expression
from warpsmith.offload.mapping.extremes import Range, extremes, is_far
from warpsmith.offload.mapping.ranges import launch_ranges
from warpsmith.tree.nodes import Binary, Cast, Conditional, Expr, For, Literal, Name, Unary
from warpsmith.tree.types import INT, Scalar, Type, common_type, integer_range
from warpsmith.tree.walk import loop_names, peel

Values = dict[str, int]
SEEDS = 150


class Undefined(Exception):
    """A signed operation overflows, or something is divided by zero."""


def converted(number: int, type: Type) -> int:
    """Return what C's conversion to an integer type makes of a number."""
    assert isinstance(type, Scalar)
    low, high = integer_range(type)
    return (number - low) % (high - low + 1) + low


def result(number: int, type: Type) -> int:
    assert isinstance(type, Scalar)
    if type.kind == "signed" and converted(number, type) != number:
        raise Undefined
    return converted(number, type)


def value(expr: Expr, values: Values) -> int:
    """Return the value of an expression in C, types and all."""
    expr = peel(expr)
    match expr:
        case Literal(value=int() as number):
            return number
        case Name(symbol=symbol):
            return values[symbol.name]
        case Unary(op="-", operand=operand):
            return result(-converted(value(operand, values), expr.type), expr.type)
        case Cast(operand=operand):
            return converted(value(operand, values), expr.type)
        case Conditional(condition=condition, then=then, other=other):
            return converted(value(then if value(condition, values) else other, values), expr.type)
        case Binary(op=op, left=left, right=right):
            shared = common_type(peel(left).type, peel(right).type)
            a, b = (converted(value(side, values), shared) for side in (left, right))
            return operation(op, a, b, expr.type)
        case _:
            raise AssertionError(f"not expected here: {type(expr).__name__}")


def operation(op: str, a: int, b: int, type: Type) -> int:
    match op:
        case "+" | "-" | "*":
            return result({"+": a + b, "-": a - b, "*": a * b}[op], type)
        case "/":
            if b == 0:
                raise Undefined
            return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        case _:
            table = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "&&": bool(a and b), "||": bool(a or b)}
            return int(table[op])


TYPES = ("int", "unsigned", "long long", "unsigned long", "short", "unsigned char")


def bound(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(("i", "i", "n", "m", "3", "1u"))
    one, other = bound(rng, depth - 1), bound(rng, depth - 1)
    match rng.randrange(8):
        case 0 | 1 | 2:
            return f"({one} {rng.choice('+-')} {other})"
        case 3:
            return f"({one} * {rng.choice(('2', '3u', '-1'))})"
        case 4:
            return f"({one} / {rng.choice(('2', '3u'))})"
        case 5:
            return f"(({rng.choice(TYPES)}){one})"
        case 6:
            return f"({one} {rng.choice(('<', '>'))} {other} ? {one} : {other})"
        case _:
            return f"(- {one})"


def nest(number: int) -> str:
    rng = random.Random(number)
    kinds = [rng.choice(TYPES) for _ in range(4)]
    return (
        f"void f{number}({kinds[0]} n, {kinds[1]} m, double *a) {{ for ({kinds[2]} i = 0; i < n; i++)"
        f" for ({kinds[3]} j = 0; j < {bound(rng, 3)}; j++) a[i] = 1; }}\n"
    )


def nests(directory: Path) -> Iterator[tuple[For, For]]:
    """Yield the loops of random nests, as far as both are counted."""
    made = load("".join(map(nest, range(SEEDS))), directory)
    for _, one in made.functions():
        loops = {address.partition("/")[2]: loop for loop, address in loop_names(one).items()}
        outer, inner = loops.get("i"), loops.get("i/j")
        if isinstance(outer, For) and isinstance(inner, For):
            yield outer, inner


def test_every_value_lies_between_the_ends(tmp_path: Path) -> None:
    asked = 0
    for outer, inner in nests(tmp_path):
        first = Literal(span=outer.span, type=INT, text="0", value=0)
        last = Binary(span=outer.span, type=outer.bound.type, op="-", left=outer.bound, right=outer.lower)
        shared = common_type(inner.variable.type, inner.bound.type)
        found = extremes(inner.bound, {outer.variable: (first, last)}, shared)
        if found is None:
            continue
        for n, m in product((0, 1, 2, 7), (0, 1, 5, 100)):
            try:
                ends = tuple(value(end, {"n": n, "m": m}) for end in found)
                values = [converted(value(inner.bound, {"n": n, "m": m, "i": i}), shared) for i in range(n + 1)]
            except Undefined:
                continue
            near = [v for v in values if v < 2**62 or not is_far(found[1])]
            assert all(ends[0] <= v <= ends[1] for v in near), (inner.bound.span.text, n, m, ends, values)
            asked += 1
    assert asked > 300


WRAPPING = [
    ("int n", "int i = 0; i < n; i++", "unsigned j = 4294967290u; j < (unsigned)(i - n); j++"),
    ("unsigned n", "unsigned i = 0; i < 8; i++", "unsigned j = 4294967290u; j < n - i - 9; j++"),
    ("int n", "int i = 0; i < 8; i++", "unsigned j = 4294967293u; j < n - 9; j++"),
    ("int n", "int i = 0; i < 8; i++", "unsigned char j = i - n; j < 254; j++"),
]


@pytest.mark.parametrize(("parameter", "outer", "inner"), WRAPPING)
def test_what_has_wrapped_around_is_covered(parameter: str, outer: str, inner: str, tmp_path: Path) -> None:
    made = load(f"void f({parameter}, double *a) {{ for ({outer}) for ({inner}) a[i] = 1; }}", tmp_path)
    loops = head(made, "f/i"), head(made, "f/i/j")
    assert all(isinstance(loop, For) for loop in loops)
    found = launch_ranges([loop for loop in loops if isinstance(loop, For)])
    if found is None:
        return
    taken = 0
    for n in range(9):
        first, count = (value(part, {"n": n}) for part in found[1])
        for i in range(n if "i < n" in outer else 8):
            j = converted(value(loops[1].lower, {"n": n, "i": i}), loops[1].variable.type)
            at = {"n": n, "i": i}
            shared = common_type(loops[1].variable.type, loops[1].bound.type)
            while converted(j, shared) < converted(value(loops[1].bound, at), shared):
                assert first <= j < first + count, (n, i, j)
                taken, j = taken + 1, converted(j + 1, loops[1].variable.type)
    assert taken > 5


def test_sizes_of_64_bits_keep_their_triangles(tmp_path: Path) -> None:
    text = "void f(unsigned long n, double *a) {{ for (unsigned long i = 0; i < n; i++) for ({}) a[i] = 1; }}"
    near = load(text.format("unsigned long j = i + 1; j < n - i; j++"), tmp_path)
    assert launch_ranges([head(near, "f/i"), head(near, "f/i/j")]) is not None
    far = load(text.format("unsigned long j = i - 9; j < n - i - 9; j++"), tmp_path)
    assert launch_ranges([head(far, "f/i"), head(far, "f/i/j")]) is None


SPAN = Span(SourceFile("a.c", " "), 0, 1)
BOUNDS = (
    "2 * i - j", "m - (i + j)", "-i * 3", "(i + j) / 2", "i < j ? i : j", "i > m ? i : m", "j - (i < m ? i : m)",
    "i - -j", "(long)i * -2", "(m <= i ? i : m) + 1", "i < 2 ? j : m",
)  # fmt: skip
UNSEEN = ("i * j", "i % 3", "i / m", "i / -2", "m / i", "i & 3", "b[i]", "i << 1")
BODY = "".join(f"    n = {expr};\n" for expr in (*BOUNDS, *UNSEEN))
TEXT = f"void f(int n, int m, const int *b, int i, int j) {{\n{BODY}}}"


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    return analyzed(TEXT, tmp_path_factory.mktemp("bounds"))


def ends_of(analysis: Analyzed, text: str) -> Range | None:
    """Return the extremes of an expression over i in [n, n + 2] and j in [-1, 2]."""
    i, j, n = (analysis.symbol(word) for word in "ijn")
    low = name(n, SPAN)
    ranges = {i: (low, shift_expression(low, 2)), j: (number(-1, SPAN), number(2, SPAN))}
    return extremes(analysis.expr(text), ranges)


@pytest.mark.parametrize("text", BOUNDS)
def test_extremes_bound_every_value_that_is_taken(text: str, analysis: Analyzed) -> None:
    found = ends_of(analysis, text)
    assert found is not None
    once = "?" not in text
    for n, m in product((-2, 0, 3), (-3, 1, 4)):
        taken = [plain(analysis.expr(text), {"i": i, "j": j, "m": m}) for i in range(n, n + 3) for j in range(-1, 3)]
        given = {"n": n, "m": m}
        low, high = (plain(end, given) for end in found)
        assert low <= min(taken) and max(taken) <= high
        # each variable stands there once: the bound is reached
        assert not once or (low, high) == (min(taken), max(taken))


@pytest.mark.parametrize("text", UNSEEN)
def test_what_is_not_seen_to_be_monotone_has_none(text: str, analysis: Analyzed) -> None:
    assert ends_of(analysis, text) is None


def test_what_names_no_counter_stays_as_it_is(analysis: Analyzed) -> None:
    part = analysis.expr("m")
    assert ends_of(analysis, "m") == (part, part)
