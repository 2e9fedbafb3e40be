"""Access matrices and reuse, against the iterations themselves."""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
from itertools import product

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import loop
from warpsmith.poly.analyze import Facts, analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.patterns.lattice import rank
from warpsmith.poly.patterns.model import Space
from warpsmith.poly.patterns.nest import nest_accesses
from warpsmith.poly.patterns.sample import SIZE
from warpsmith.tree.nodes import For

_NAMES = "ijk"


def spaces(text: str, address: str) -> tuple[Space, ...]:
    """Return the spaces of the loop at an address."""
    program = program_of(text)
    found = loop(program, address)
    assert isinstance(found, For)
    return nest_accesses(analyze(program, PolyOptions()), found).spaces


PRODUCT = """void mm(int n, double A[n][n], double B[n][n], double C[n][n]) {
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j]; }
"""


def test_the_matrix_product() -> None:
    (space,) = spaces(PRODUCT, "mm/i")
    assert {r.text: [row.counters for row in r.rows] for r in space.references} == {
        "A[i][k]": [(1, 0, 0), (0, 0, 1)],
        "B[k][j]": [(0, 0, 1), (0, 1, 0)],
        "C[i][j]": [(1, 0, 0), (0, 1, 0)],
    }
    assert (space.depth, [r.rank for r in space.references]) == (3, [2, 2, 2])
    assert [r.reuse for r in space.references] == [((0, 1, 0),), ((1, 0, 0),), ((0, 0, 1),)]
    assert [(r.reads, r.writes) for r in space.references] == [(True, False), (True, False), (True, True)]
    assert space.one_nest == () and [(a.first, a.second, a.rows) for a in space.alike] == [
        ("A", "C", ("i",)),
        ("B", "C", ("j",)),
    ]


def test_linear_subscripts_are_taken_apart() -> None:
    text = PRODUCT.replace("double A[n][n], double B[n][n], double C[n][n]", "double *A, double *B, double *C")
    text = text.replace("C[i][j]", "C[i*n+j]").replace("A[i][k]", "A[i*n+k]").replace("B[k][j]", "B[k*n+j]")
    (space,) = spaces(text, "mm/i")
    assert [[row.counters for row in r.rows] for r in space.references] == [
        [(1, 0, 0), (0, 0, 1)],
        [(0, 0, 1), (0, 1, 0)],
        [(1, 0, 0), (0, 1, 0)],
    ]


def test_a_nest_that_is_not_perfect_has_several_spaces() -> None:
    text = """void lu(int n, double A[n][n]) { for (int k = 0; k < n; k++) {
      for (int i = k + 1; i < n; i++) A[i][k] /= A[k][k];
      for (int i = k + 1; i < n; i++) for (int j = k + 1; j < n; j++) A[i][j] -= A[i][k] * A[k][j]; } }"""
    first, second = spaces(text, "lu/k")
    assert [[c.loop for c in s.counters] for s in (first, second)] == [
        ["lu/k", "lu/k/i"],
        ["lu/k", "lu/k/i#2", "lu/k/i#2/j"],
    ]
    assert {r.text: r.reuse for r in second.references} == {
        "A[i][k]": ((0, 0, 1),),
        "A[k][j]": ((0, 1, 0),),
        "A[i][j]": ((1, 0, 0),),
    }
    # the loops around the one that is asked for are held: k is a parameter then
    (inner,) = spaces(text, "lu/k/i")
    assert [c.name for c in inner.counters] == ["i"] and inner.parameters == ("k",)


@pytest.mark.parametrize(
    ("subscript", "follows"),
    [
        ("idx[j]", (1,)),
        ("i * j", (0, 1)),
        ("i / 2", (0,)),
        ("idx[q]", ()),
        # what the nest changes may change with every iteration
        ("t", (0, 1)),
        ("out[i]", (0, 1)),
        ("idx[t]", (0, 1)),
    ],
)
def test_subscripts_that_are_no_sums(subscript: str, follows: tuple[int, ...]) -> None:
    text = f"""void f(int n, int q, const int *idx, double *x, int *out) {{ int t = 0;
      for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {{ t = idx[t]; out[j] = t; x[{subscript}] = 1; }} }}"""
    (space,) = spaces(text, "f/i")
    (found,) = (r for r in space.references if r.array == "x")
    (row,) = found.rows
    assert row.irregular and row.follows == follows and found.classes == ("irregular",)
    assert found.rank == len(follows) and len(found.reuse) == 2 - len(follows)


def _subscript(source: random.Random, depth: int) -> list[int]:
    """Return a coefficient for each counter, and a number."""
    return [*(source.choice((0, 0, 1, 1, -1, 2)) for _ in range(depth)), source.randint(-1, 1)]


def _text(entries: Sequence[int]) -> str:
    return " + ".join(f"{c}*{n}" for c, n in zip(entries, (*_NAMES[: len(entries) - 1], "1"), strict=True))


def _named(number: int, rows: list[list[int]]) -> str:
    return f"{'g' if number < 2 else 'h'}[{_text(rows[0])}][{_text(rows[1])}]"


Case = tuple[int, list[list[list[int]]]]


def _cases(seed: int, count: int) -> list[Case]:
    """Return nests: how deep, and the subscripts of each reference, of which the second differs from the first by
    numbers."""
    source = random.Random(seed)
    found: list[Case] = []
    for _ in range(count):
        depth = source.randint(1, 3)
        first = [_subscript(source, depth) for _ in range(2)]
        near = [[*row[:-1], row[-1] + source.randint(-2, 2)] for row in first]
        found.append((depth, [first, near, [_subscript(source, depth) for _ in range(2)]]))
    return found


@functools.cache
def _facts(seed: int, count: int) -> Facts:
    texts = []
    for number, (depth, references) in enumerate(_cases(seed, count)):
        loops = "".join(f"for (int {c} = 0; {c} < n; {c}++) " for c in _NAMES[:depth])
        named = "".join(f"{_named(k, rows)} = {k}; " for k, rows in enumerate(references))
        texts.append(f"void f{number}(int n, double g[][900], double h[][900]) {{ {loops}{{ {named}}} }}")
    return analyze(program_of("\n".join(texts)), PolyOptions())


def _touched(subscripts: list[list[int]], point: Sequence[int]) -> tuple[int, ...]:
    return tuple(sum(c * p for c, p in zip(row, (*point, 1), strict=True)) for row in subscripts)


@pytest.mark.parametrize("number", range(4))
def test_random_nests(number: int) -> None:
    _check(number, 4)


@pytest.mark.slow
def test_more_random_nests() -> None:
    for number in range(60):
        _check(number, 60)


def _check(number: int, count: int) -> None:
    depth, references = _cases(3, count)[number]
    facts = _facts(3, count)
    found = loop(facts.program, f"f{number}/i")
    assert isinstance(found, For)
    (space,) = nest_accesses(facts, found).spaces
    points = list(product(range(SIZE), repeat=depth))
    # equal references are one
    by_text = {_named(k, rows): rows for k, rows in enumerate(references)}
    subscripts = {r: by_text[r.text] for r in space.references}
    assert len(subscripts) == len(space.references)
    for reference, rows in subscripts.items():
        assert reference.rank == depth - len(reference.reuse)
        assert reference.visits == tuple(dict.fromkeys(_touched(rows, point) for point in points))
        by_element: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        for point in points:
            by_element.setdefault(_touched(rows, point), []).append(point)
        for meeting in by_element.values():
            steps = [tuple(b - a for a, b in zip(meeting[0], other, strict=True)) for other in meeting]
            assert all(rank([*reference.reuse, step]) == len(reference.reuse) for step in steps)
        for direction in reference.reuse:
            assert _touched(rows, direction) == _touched(rows, (0,) * depth)
    for group in space.groups:
        earlier, later = (subscripts[space.references[k]] for k in (group.earlier, group.later))
        assert group.direction >= (0,) * depth
        assert _touched(later, group.direction) == _touched(earlier, (0,) * depth)
    for direction in space.one_nest:
        again = [rows for reference, rows in subscripts.items() if reference.reuse]
        assert all(_touched(rows, direction) == _touched(rows, (0,) * depth) for rows in again)
