"""The values that counters take in a nest, as forms: against running the loops."""

from __future__ import annotations

import itertools

import pytest

from tests.offload.analyzed import Analyzed, analyzed
from warpsmith.loops.analysis.extremes import Cover, cover_of, extreme, is_writable, whole, wide_expr
from warpsmith.loops.linear import Linear
from warpsmith.tree.nodes import For
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.types import INT, LONG, Symbol

NESTS = {
    "plain": ("int i = 0; i < n; i++", "int j = 0; j <= m; j++"),
    "triangle": ("int i = 0; i < n; i++", "int j = i; j < m - i; j++"),
    "down": ("int i = n; i > 0; i--", "int j = i; j >= 0; j--"),
    "steps": ("int i = 1; i < n; i += 3", "int j = 2 * i - 3; j <= n - i; j++"),
}
# what C does not compare as integers, or is not linear
NONE = {
    "other": "int i = 0; i != n; i++", "product": "int i = 0; i < n * m; i++", "narrow": "short i = 0; i < n; i++",
    "mixed": "int i = -1; i < u; i++", "wraps": "unsigned i = u; i > 0; i--", "negative": "unsigned i = 0; i < n; i++",
}  # fmt: skip
UNSIGNED = {"natural": "unsigned i = 0; i < u; i++", "number": "unsigned i = 0; i < 9; i++"}
ARGS = "int n, int m, unsigned u, double *a"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    nests = "".join(f"void {k}({ARGS}) {{ for ({a}) for ({b}) a[i + j] = 1; }}\n" for k, (a, b) in NESTS.items())
    rest = "".join(f"void {k}({ARGS}) {{ for ({a}) a[i] = 1; }}\n" for k, a in {**NONE, **UNSIGNED}.items())
    return analyzed(nests + rest, tmp_path_factory.mktemp("extremes"))


def loops(program: Analyzed, name: str) -> list[For]:
    return [facts.loop for facts in program.facts[name].loops if isinstance(facts.loop, For)]


def value(form: Linear, values: dict[str, int]) -> int:
    return form.constant + sum(factor * values[symbol.name] for symbol, factor in form.terms)


def run(header: str, values: dict[str, int]) -> range:
    start, test, step = (part.strip() for part in header.split(";"))
    lower = eval(start.partition("=")[2], {}, values)
    op = next(o for o in ("<=", ">=", "<", ">") if o in test)
    bound = eval(test.partition(op)[2], {}, values)
    by = 3 if "+= 3" in step else 1 if "++" in step else -1
    return range(lower, bound + ((by > 0) - (by < 0)) * (len(op) == 2), by)


@pytest.mark.parametrize("name", NESTS)
def test_covers_hold_every_value_that_is_taken(name: str, program: Analyzed) -> None:
    outer, inner = loops(program, name)
    first = cover_of(outer, {})
    assert first is not None
    second = cover_of(inner, {outer.variable: first})
    assert second is not None
    for n, m in itertools.product((-2, 0, 1, 4, 7), repeat=2):
        given = {"n": n, "m": m}
        taken = [(i, j) for i in run(NESTS[name][0], given) for j in run(NESTS[name][1], {**given, "i": i})]
        for i, j in taken:
            assert value(first.low, given) <= i <= value(first.high, given)
            assert value(second.low, given) <= j <= value(second.high, given)


@pytest.mark.parametrize("name", NONE)
def test_what_is_not_compared_as_integers_has_none(name: str, program: Analyzed) -> None:
    assert all(cover_of(loop, {}) is None for loop in loops(program, name))


@pytest.mark.parametrize("name", UNSIGNED)
def test_an_unsigned_counter_from_zero_up_has_one(name: str, program: Analyzed) -> None:
    cover = cover_of(loops(program, name)[0], {})
    assert cover is not None and cover.low == Linear((), 0)


X, Y = (Symbol(name, name, INT, "local") for name in "xy")
FAR = Symbol("far", "far", LONG, "local")


def form(x: int, y: int, constant: int) -> Linear:
    return Linear(tuple((s, f) for s, f in ((X, x), (Y, y)) if f), constant)


def test_a_form_is_largest_where_its_terms_are() -> None:
    covers = {X: Cover(form(0, 0, 2), form(0, 1, 0))}
    assert extreme(form(3, 1, 5), covers, greatest=True) == form(0, 4, 5)
    assert extreme(form(3, 1, 5), covers, greatest=False) == form(0, 1, 11)
    assert extreme(form(-2, 0, 0), covers, greatest=True) == form(0, 0, -4)


def test_one_cover_of_several() -> None:
    one, other = Cover(form(1, 0, 0), form(1, 0, 4)), Cover(form(1, 0, -2), form(1, 0, 3))
    assert whole([one, other]) == whole([other, one]) == Cover(form(1, 0, -2), form(1, 0, 4))
    assert whole([one, Cover(form(0, 1, 0), form(1, 0, 4))]) is None
    assert whole([one]) == one


@pytest.mark.parametrize(
    ("asked", "writable", "text"),
    [
        (form(1, 0, 0), True, "x"),
        (form(0, 0, -3), True, "-3"),
        (form(1, 0, 2), True, "(long long)x + 2"),
        (form(2, -3, -1), True, "2 * (long long)x - 3 * (long long)y - 1"),
        (form(-1, 1, 0), True, "(long long)y - (long long)x"),
        (form(-1, 0, 0), True, "-1 * (long long)x"),
        (form(2**24, 0, 0), False, ""),
        (form(1, 0, 2**56), False, ""),
        (Linear(((FAR, 1),), 0), True, "far"),
        (Linear(((FAR, 1),), 1), False, ""),
    ],
)
def test_what_can_be_worked_out_in_64_bits(asked: Linear, writable: bool, text: str, program: Analyzed) -> None:
    assert is_writable(asked) == writable
    span = loops(program, "plain")[0].span
    assert not writable or print_expr(wide_expr(asked, span)) == text
