"""Subscripts taken apart and written again, against their values."""

from __future__ import annotations

from itertools import product

import pytest

from tests.poly.analysis import program_of
from tests.poly.host_value import value
from warpsmith.offload.mapping.halo.subscripts import (
    is_counter,
    is_narrow,
    read_subscript,
    split_distance,
    split_subscript,
    write_subscript,
)
from warpsmith.poly.isl.polynomial import ZERO, Polynomial
from warpsmith.tree.nodes import Expr, Index
from warpsmith.tree.walk import names, walk

HEAD = "void f(int n, int m, long i, int j, int w, unsigned u, short s, unsigned long z, double *A)\n"


def subscript(text: str) -> Expr:
    _, function = next(iter(program_of(f"{HEAD}{{ A[{text}] = 0; }}\n").functions()))
    return next(node.index for node in walk(function.body) if isinstance(node, Index))


@pytest.mark.parametrize(
    "text",
    [
        "i", "j - 1", "1 + j", "(i - 1) * n + j + 1", "(i + 2) * (n + 2) + (j - 3)", "(i * n + j - 1) * m + 4",
        "n - 1 - j", "2 * j + 1", "32 * i + j - 33", "i * n + j - n - 1", "-j + 3", "(long)j * n + i",
    ],
)  # fmt: skip
def test_a_subscript_is_its_distance_and_the_rest(text: str) -> None:
    expr = subscript(text)
    symbols = {name.symbol.name: name.symbol for name in names(expr)}
    keys = {symbols[name].key: name for name in symbols}
    counters = frozenset(symbols[name].key for name in "ij" if name in symbols)
    known = frozenset(symbols[name].key for name in "nm" if name in symbols)
    read = read_subscript(expr)
    assert read is not None
    split = split_subscript(read, counters, frozenset(), known)
    assert split is not None and not split.inner
    distances, rest = split_distance(split.rest, split.steps)
    at = {key: next(name for name in names(expr) if name.symbol.key == key) for key in counters}
    written = write_subscript(split, rest, at, {one.key: one for one in symbols.values()}, expr.span)
    for n, m, i, j in product((0, 3, 40), (2, 7), (-1, 5), (0, 4, 9)):
        given = {"n": n, "m": m, "i": i, "j": j}
        moved = given | {keys[key]: given[keys[key]] + number for key, number in distances.items()}
        assert value(written, moved) == value(expr, given), (text, given)


def test_elements_a_step_apart_leave_the_same_rest() -> None:
    texts = ("i * n + j", "(i - 1) * n + j + 1", "i * n + j - n - 1", "(i + 3) * n + (j - 2)")
    found: list[tuple[dict[str, int], Polynomial]] = []
    for text in texts:
        read = read_subscript(subscript(text))
        assert read is not None
        counters = frozenset(key for key in read.atoms() if key.rpartition(":")[2][0] in "ij" or key[-1] in "ij")
        split = split_subscript(read, counters, frozenset(), read.atoms() - counters)
        assert split is not None
        found.append(split_distance(split.rest, split.steps))
    assert all(rest == ZERO for _, rest in found)
    assert [sorted(distances.values()) for distances, _ in found] == [[0, 0], [-1, 1], [-1, -1], [-2, 3]]


@pytest.mark.parametrize("text", ["u + 1", "j / 2", "(short)j", "s + u", "j % n", "j & 3", "z + u", "(int)i"])
def test_what_may_wrap_around_or_is_rounded_is_not_read(text: str) -> None:
    assert read_subscript(subscript(text)) is None


def test_what_a_counter_adds_may_not_hang_on_another() -> None:
    read = read_subscript(subscript("i * j"))
    assert read is not None
    assert split_subscript(read, read.atoms(), frozenset(), frozenset()) is None
    assert split_subscript(read, frozenset(), frozenset(), frozenset()) is None


def test_a_counter_alone_is_an_int_or_not() -> None:
    narrow, wide = subscript("j - 1"), subscript("i - 1")
    assert is_narrow(narrow) and not is_narrow(wide)
    for expr, alone in ((narrow, True), (subscript("2 * j"), False), (subscript("-j"), False)):
        read = read_subscript(expr)
        assert read is not None
        split = split_subscript(read, read.atoms(), frozenset(), frozenset())
        assert split is not None
        assert is_counter(split, split_distance(split.rest, split.steps)[1]) == alone
