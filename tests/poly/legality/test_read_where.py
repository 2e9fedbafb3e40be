"""Where references read, as conditions on some counters, against all iterations of small nests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product

import pytest

from tests.poly.analysis import program_of
from tests.poly.host_value import value
from warpsmith.base.verdict import Reason
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.formula import And, Formula
from warpsmith.poly.isl.space import gist
from warpsmith.poly.isl.vocabulary import AtomVocabulary
from warpsmith.poly.legality import read_where
from warpsmith.poly.legality.read_where import ReadQuestion, ReadWhere, find_read_where
from warpsmith.tree.nodes import For, Index
from warpsmith.tree.printing.printer import print_expr, show_expression
from warpsmith.tree.types import LONG_LONG, Symbol
from warpsmith.tree.walk import loops, walk

HEAD = "void f(int n, int m, double C[restrict n][n], double A[restrict n][n], const int *restrict q)\n"
Iterations = Callable[[int, int], Iterator[tuple[int, int, int]]]
SIZES = ((0, 3), (1, 1), (4, 3), (5, 0), (3, 6))


def ask(body: str, element: str, by: str, *, entered: str = "", floors: str = "") -> ReadWhere | Reason:
    """Ask about an element by the counters `by`; the condition calls them i_at, j_at and so on."""
    program = program_of(f"{HEAD}{{\n    {body}\n}}\n")
    _, function = next(iter(program.functions()))
    found = [loop for loop, _ in loops(function.body) if isinstance(loop, For)]
    nodes = tuple(n for n in walk(found[0]) if isinstance(n, Index) and show_expression(n) == element)
    assert nodes
    chosen = tuple(loop for loop in found if loop.variable.name in by)
    names = {one.variable: f"{one.variable.name}_at" for one in chosen}
    own = {one: Symbol(name, f"at:{one.key}", LONG_LONG, "local") for one, name in names.items()}
    starting = frozenset(one.variable for one in found if one.variable.name in floors)
    heads = tuple(one for one in found if one.variable.name in entered)
    origin = Origin.of(program, function)
    return find_read_where(ReadQuestion(origin, (found[0],), nodes, (), chosen, own, starting, heads, PolyOptions()))


NESTS: list[tuple[str, str, str, Iterations]] = [
    ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < m; k++) C[i][j] += A[j][k];",
     "A[j][k]", "jk", lambda n, m: ((i, j, k) for i in range(n) for j in range(n) for k in range(m))),
    ("for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) for (int k = 0; k < m; k++) C[i][j] += A[j][k];",
     "A[j][k]", "jk", lambda n, m: ((i, j, k) for i in range(n) for j in range(i + 1) for k in range(m))),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = i + 1; k < n; k++) C[i][j] += A[k][j];",
     "A[k][j]", "jk", lambda n, m: ((i, j, k) for i in range(n) for j in range(n) for k in range(i + 1, n))),
    ("for (int i = 1; i < n; i++) for (int j = 2; j < i; j++) for (int k = j; k <= i; k++) C[i][j] += A[k][j];",
     "A[k][j]", "jk", lambda n, m: ((i, j, k) for i in range(1, n) for j in range(2, i) for k in range(j, i + 1))),
    ("for (int i = 0; i < n; i++) for (int j = i; j < n; j++) if (j > 2)"
     " for (int k = 0; k < m; k++) C[i][j] += A[i][k];",
     "A[i][k]", "ik", lambda n, m: ((i, j, k) for i in range(n) for j in range(i, n) if j > 2 for k in range(m))),
]  # fmt: skip


@pytest.mark.parametrize(("body", "element", "by", "iterations"), NESTS)
def test_the_condition_holds_exactly_where_it_is_read(body: str, element: str, by: str, iterations: Iterations) -> None:
    found = ask(body, element, by)
    assert isinstance(found, ReadWhere), found
    for n, m in SIZES:
        read = {tuple(dict(zip("ijk", one, strict=True))[name] for name in by) for one in iterations(n, m)}
        everywhere = product(range(-2, 8), repeat=len(by))
        holds = {at for at in everywhere if _holds(found, dict(zip(by, at, strict=True)), n, m)}
        assert holds == read, (n, m)


def _holds(found: ReadWhere, at: Mapping[str, int], n: int, m: int) -> bool:
    if found.condition is None:
        return True
    return bool(value(found.condition, {"n": n, "m": m, **{f"{name}_at": number for name, number in at.items()}}))


def test_what_is_known_is_left_out() -> None:
    body, element, by, _ = NESTS[1]
    found = ask(body, element, by, entered="ij", floors="jk")
    assert isinstance(found, ReadWhere) and found.condition is not None
    assert sorted(print_expr(found.condition).split(" && ")) == ["j_at < n", "k_at < m"]


REFUSED = [
    ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
     " for (int k = 0; k < m; k++) if (q[k]) C[i][j] += A[i][k];",
     "A[i][k]", "ik", "depends on data"),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < q[i]; k++) C[i][j] += A[i][k];",
     "A[i][k]", "ik", "depends on data"),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
     " for (int k = j % 2; k < n; k += 2) C[i][j] += A[i][k / 3];",
     "A[i][k / 3]", "j", "no simple bounds"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "element", "by", "why"), REFUSED)
def test_what_is_not_known_is_refused(body: str, element: str, by: str, why: str) -> None:
    found = ask(body, element, by)
    assert isinstance(found, Reason) and why in found.text, found


def test_a_condition_with_a_part_left_out_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def shorter(known: AtomVocabulary, formula: Formula, facts: Formula) -> Formula:
        found = gist(known, formula, facts)
        return And(found.parts[1:]) if isinstance(found, And) else found

    monkeypatch.setattr(read_where, "gist", shorter)
    for nest in NESTS:
        with pytest.raises(AssertionError):
            test_the_condition_holds_exactly_where_it_is_read(*nest)


def test_the_budget_is_kept() -> None:
    body, element, _by, _ = NESTS[0]
    program = program_of(f"{HEAD}{{\n    {body}\n}}\n")
    _, function = next(iter(program.functions()))
    found = [loop for loop, _ in loops(function.body) if isinstance(loop, For)]
    nodes = tuple(n for n in walk(found[0]) if isinstance(n, Index) and show_expression(n) == element)
    options = PolyOptions(loop_operations=1)
    question = ReadQuestion(Origin.of(program, function), (found[0],), nodes, (), (), {}, frozenset(), (), options)
    answer = find_read_where(question)
    assert isinstance(answer, Reason) and "work budget" in answer.text
