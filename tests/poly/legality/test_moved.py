"""Where references read that are moved, against all iterations of small nests."""

from __future__ import annotations

import random
from itertools import product

import pytest

from tests.poly.analysis import program_of
from tests.poly.host_value import value
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.legality.moved import Box, Distance, cover
from warpsmith.poly.legality.read_where import ReadQuestion, ReadWhere, find_read_where
from warpsmith.tree.nodes import For, Index
from warpsmith.tree.types import LONG_LONG, Symbol
from warpsmith.tree.walk import loops, walk

SIZES = ((0, 3), (3, 3), (4, 6), (7, 5), (8, 8))
NESTS = (
    ("for (int i = 2; i < n - 2; i++) for (int j = 2; j < m - 2; j++)",
     lambda n, m: product(range(2, n - 2), range(2, m - 2))),
    ("for (int i = 2; i < n - 2; i++) for (int j = i; j < m - 2; j++)",
     lambda n, m: ((i, j) for i in range(2, n - 2) for j in range(i, m - 2))),
    ("for (int i = 2; i < n - 2; i++) for (int j = 2; j <= n - i; j++) if (i + j < m)",
     lambda n, m: ((i, j) for i in range(2, n - 2) for j in range(2, n - i + 1) if i + j < m)),
)  # fmt: skip


@pytest.mark.parametrize("between", [False, True])
@pytest.mark.parametrize("nest", range(len(NESTS)))
def test_the_condition_holds_where_some_iteration_reads(nest: int, between: bool) -> None:
    chosen = random.Random(f"{nest}")
    known = 0
    for _ in range(4):
        vectors = [(chosen.randint(-2, 2), chosen.randint(-2, 2)) for _ in range(chosen.randint(2, 4))]
        found = _ask(NESTS[nest][0], vectors, between=between)
        if not isinstance(found, ReadWhere):
            continue
        known += 1
        for n, m in SIZES:
            read = {(i + a, j + b) for i, j in NESTS[nest][1](n, m) for a, b in vectors}
            holds = {at for at in product(range(-3, 12), repeat=2) if _holds(found, at, n, m)}
            assert holds == read or (between and read < holds and all(_lies_between(at, read) for at in holds - read))
    assert known


def _ask(nest: str, vectors: list[tuple[int, int]], *, between: bool) -> object:
    reads = " + ".join(f"A[i + {a}][j + {b}]" for a, b in vectors)
    program = program_of(
        f"void f(int n, int m, double *restrict s, double A[restrict n][m])\n{{ {nest} *s += {reads}; }}\n"
    )
    _, function = next(iter(program.functions()))
    heads = tuple(loop for loop, _ in loops(function.body) if isinstance(loop, For))
    inside = {id(node.base) for node in walk(heads[0]) if isinstance(node, Index)}
    nodes = tuple(n for n in walk(heads[0]) if isinstance(n, Index) and id(n) not in inside)
    moved = {
        id(node): {head: Distance(number) for head, number in zip(heads, vector, strict=True)}
        for node, vector in zip(nodes, vectors, strict=True)
    }
    own = {
        one.variable: Symbol(f"{one.variable.name}_at", f"at:{one.variable.key}", LONG_LONG, "local") for one in heads
    }
    return find_read_where(
        ReadQuestion(
            Origin.of(program, function), (heads[0],), nodes, (), heads, own, frozenset(), (), PolyOptions(),
            moved=moved, between=between,
        )
    )  # fmt: skip


def _holds(found: ReadWhere, at: tuple[int, ...], n: int, m: int) -> bool:
    if found.condition is None:
        return True
    return bool(value(found.condition, {"n": n, "m": m, "i_at": at[0], "j_at": at[1]}))


def _lies_between(at: tuple[int, ...], read: set[tuple[int, int]]) -> bool:
    """Whether a place lies in a box whose corners are read."""
    return any(
        min(a, c) <= at[0] <= max(a, c) and min(b, d) <= at[1] <= max(b, d) and (a, d) in read and (c, b) in read
        for (a, b), (c, d) in product(read, repeat=2)
    )


def test_a_cross_is_covered_by_two_boxes() -> None:
    cross = {(0, 0), (-1, 0), (1, 0), (0, -2), (0, 1)}
    assert set(cover(cross)) == {((-1, 1), (0, 0)), ((0, 0), (-2, 1))}
    assert cover(set(product(range(3), repeat=3))) == [((0, 2), (0, 2), (0, 2))]


def test_boxes_have_all_vectors_and_only_corners_that_are_there() -> None:
    chosen = random.Random(3)
    for _ in range(100):
        depth = chosen.randint(1, 3)
        vectors = {tuple(chosen.randint(-2, 2) for _ in range(depth)) for _ in range(chosen.randint(1, 9))}
        boxes: list[Box] = cover(vectors)
        inside = {at for box in boxes for at in product(*(range(low, high + 1) for low, high in box))}
        assert vectors <= inside
        assert all(corner in vectors for box in boxes for corner in product(*box))
