"""Headers for other ranges: the user's bounds where they are the same, and nothing that could overflow."""

from __future__ import annotations

import pytest

from tests.offload.analyzed import Analyzed, analyzed
from warpsmith.loops.analysis.ends import fits, form_expr, over, typed_facts
from warpsmith.loops.analysis.shape import CounterRange, range_of
from warpsmith.loops.linear import Linear
from warpsmith.tree.nodes import For
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.types import DOUBLE, INT, LONG, LONG_LONG, UNSIGNED, Symbol

LOOPS = {
    "up": "int i = 0; i < n; i++", "down": "int i = n - 1; i >= 0; i--", "natural": "unsigned i = 0; i < 9; i++",
}  # fmt: skip


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    text = "".join(f"void {k}(int n, int m, double *a) {{ for ({h}) a[i] = m; }}\n" for k, h in LOOPS.items())
    return analyzed(text, tmp_path_factory.mktemp("ends"))


def loop(program: Analyzed, name: str) -> For:
    found = program.facts[name].loops[0].loop
    assert isinstance(found, For)
    return found


def header(program: Analyzed, name: str, low: int, past: int, *, facts: tuple[Linear, ...] | None = None) -> str | None:
    """Return the header over the loop's own range, moved at both ends."""
    mine = loop(program, name)
    own = range_of(mine)
    assert own is not None
    n = Linear(((program.symbol("n", name), 1),))
    # n is a small number: nothing overflows
    known = (n, n.scale(-1).shift(1000)) if facts is None else facts
    made = over(mine, own, CounterRange(own.low.shift(low), own.past.shift(past)), known)
    return None if made is None else f"i = {print_expr(made.lower)}; i {made.relation} {print_expr(made.bound)}"


@pytest.mark.parametrize(
    ("name", "low", "past", "text"),
    [
        ("up", 0, 0, "i = 0; i < n"),
        ("up", 2, 0, "i = 2; i < n"),
        ("up", 0, -1, "i = 0; i < n - 1"),
        ("up", 0, 1, "i = 0; i <= n"),
        ("up", 1, 3, "i = 1; i < n + 3"),
        ("down", 0, 0, "i = n - 1; i >= 0"),
        ("down", 1, 0, "i = n - 1; i >= 1"),
        ("down", 0, -1, "i = n - 2; i >= 0"),
        ("natural", 0, -2, "i = 0; i < 7"),
        ("natural", -1, 0, None),
    ],
)
def test_the_header_of_another_range(name: str, low: int, past: int, text: str | None, program: Analyzed) -> None:
    facts: tuple[Linear, ...] | None = () if name == "natural" else None
    if name == "natural":
        mine = loop(program, name)
        own = range_of(mine)
        assert own is not None
        made = over(mine, own, CounterRange(own.low.shift(low), own.past.shift(past)), facts or ())
        assert (
            None if made is None else f"i = {print_expr(made.lower)}; i {made.relation} {print_expr(made.bound)}"
        ) == text
    else:
        assert header(program, name, low, past) == text


def test_what_may_overflow_is_computed_in_long_long_or_not_at_all(program: Analyzed) -> None:
    assert header(program, "up", 0, 3, facts=()) == "i = 0; i < (long long)n + 3"
    # the counter itself would leave its type
    assert header(program, "down", 0, 3, facts=()) is None


def test_the_same_header_is_the_same_loop(program: Analyzed) -> None:
    mine = loop(program, "up")
    own = range_of(mine)
    assert own is not None and over(mine, own, own, ()) is mine


X, Y = (Symbol(name, name, INT, "local") for name in "xy")
FAR = Symbol("far", "far", LONG, "local")


def test_what_types_tell() -> None:
    low, high = typed_facts([Linear(((X, 1),))])
    assert (low.constant, high.constant) == (2**31, 2**31 - 1)
    assert typed_facts([Linear((), 3)]) == ()
    assert not fits(Linear(((X, 1),)), DOUBLE, ()) and fits(Linear((), 7), UNSIGNED, ())
    assert fits(Linear(((X, 2),)), LONG_LONG, ()) and not fits(Linear(((X, 2),)), INT, ())


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (Linear((), -4), "-4"),
        (Linear(((X, 1),)), "x"),
        (Linear(((X, 1),), 1), "(long long)x + 1"),
        (Linear(((X, 1), (Y, -1))), "(long long)x - (long long)y"),
        (Linear(((FAR, 1),), 1), None),
        (Linear(((X, 2**25),), 1), None),
    ],
)
def test_expressions_that_do_not_overflow(form: Linear, text: str | None, program: Analyzed) -> None:
    made = form_expr(form, (), loop(program, "up").span)
    assert (None if made is None else print_expr(made)) == text


def test_every_partial_sum_has_to_fit(program: Analyzed) -> None:
    """x + y - y fits, x + y may not."""
    x, y = Linear(((X, 1),)), Linear(((Y, 1),))
    small = (x, x.scale(-1).shift(10), y, y.scale(-1).shift(10))
    span = loop(program, "up").span
    made = form_expr(x.plus(y).shift(1), small, span)
    assert made is not None and print_expr(made) == "x + y + 1"
    large = (x.plus(y), x.plus(y).scale(-1).shift(10))
    made = form_expr(x.plus(y).shift(1), large, span)
    assert made is not None
