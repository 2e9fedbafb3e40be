"""One shape for the references to one object: subscripts are equal exactly where elements are, or there are none."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.regions.modelled import modelled
from warpsmith.poly.isl.polynomial import Polynomial
from warpsmith.poly.regions.region import Access, Element, Region, Statement
from warpsmith.poly.regions.state import State
from warpsmith.poly.regions.subscripts.delinearize import layout, shape, stride_monomials
from warpsmith.tree.program import Program

LOOPS = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < w; k++)"
# the references to A in three loops (i < n, j < m, k < w), their subscripts, the guards
CASES: list[tuple[str, list[str], list[str]]] = [
    ("A[i * m + j] = 0;", ["(i, j)"], []),
    ("A[(i * m + j) * w + k] = 0;", ["(i, j, k)"], []),
    ("A[k * n * m + j * n + i] = 0;", ["(k, j, i)"], []),
    ("A[i * v + j] = 0;", ["(i, j)"], ["m <= v"]),
    ("A[i * m + j + 1] = A[i * m + j];", ["(i, j)", "?"], []),
    ("A[i * m + m - 1 - j] = 0;", ["(i, -j + m - 1)"], []),
    ("A[j * 8 + k] = 0;", ["(8*j + k)"], []),
    ("A[i + j] = 0;", ["(i + j)"], []),
    ("A[i] = A[j];", ["(j)", "(i)"], []),
    ("A[i + 3] = A[j + 5];", ["(j + 2)", "(i)"], []),
    ("A[i * m + j] = A[i];", ["(0, i)", "(i, j)"], ["n <= m"]),
    ("A[i * j] = 0;", ["?"], []),
    ("A[p[i]] = A[j];", ["(j)", "?"], []),
    ("A[2 * i * m + j] = 0;", ["(i, j)"], []),
    # a remainder that all add
    ("A[v % w + 2 * m * i + j] = A[2 * m * i + j + m + v % w];", ["(2*i + 1, j)", "(2*i, j)"], ["v >= 0"]),
    ("A[i] = A[v * n + i] + A[2 * v * n + i];", [], []),
    ("G[i][j] = 0;", [], []),
]


@functools.cache
def _program() -> Program:
    texts = (
        f"void f{number}(int n, int m, int w, int v, int *restrict p, double *restrict A, double G[][6])"
        f" {{ {LOOPS} {{ {body} }} }}"
        for number, (body, _, _) in enumerate(CASES)
    )
    return program_of("\n".join(texts))


def _references(
    number: int, base: str = "A", *, guards: bool = True
) -> tuple[Region, State, list[tuple[Statement, Access]]]:
    region, state = modelled(_program(), f"f{number}/i", guards=guards)
    found = [(s, a) for s in region.statements for a in s.accesses if a.base.name == base and a.path]
    return region, state, found


def _shown(state: State, element: Element | None) -> str:
    if element is None:
        return "?"
    parts = [state.vocabulary.text(p) if isinstance(p, Polynomial) else "@" for p in element]
    return f"({', '.join(parts)})"


@pytest.mark.parametrize("number", range(len(CASES) - 2), ids=[case[0] for case in CASES[:-2]])
def test_subscripts(number: int) -> None:
    _, state, references = _references(number)
    found = [_shown(state, element) for element in shape(state, references)]
    _, expected, guards = CASES[number]
    assert found == expected
    assert [a.text for a in state.assumptions] == guards
    _, alone, same = _references(number, guards=False)
    unguarded = [_shown(alone, element) for element in shape(alone, same)]
    assert ("?" in unguarded) == (bool(guards) or "?" in expected), "without a guard it may be any element"


def test_whole_rows_are_told_apart_without_a_counter_beside_them() -> None:
    _, state, references = _references(len(CASES) - 2)
    found = [_shown(state, element) for element in shape(state, references)]
    assert found == ["(1, i)", "(2, i)", "(0, i)"]


def test_inner_extents_are_linearized_where_they_are_overrun() -> None:
    text = (
        "void f(double a[8][4], int n) { for (int i = 0; i < 3; i++) for (int j = 0; j < 9; j++) a[i][j] = a[i][0]; }"
    )
    region, state = modelled(program_of(text), "f/i")
    references = [(s, a) for s in region.statements for a in s.accesses if a.base.name == "a" and a.path]
    assert sorted(_shown(state, e) for e in shape(state, references)) == ["(4*i + j)", "(4*i)"]


def test_an_extent_that_is_kept_stays_a_dimension() -> None:
    body = "for (int j = 0; j < 4; j++) a[i + 1][j] = a[i][0];"
    text = f"void f(double a[][4], int n) {{ for (int i = 0; i < n; i++) {body} }}"
    region, state = modelled(program_of(text), "f/i")
    references = [(s, a) for s in region.statements for a in s.accesses if a.base.name == "a" and a.path]
    assert sorted(_shown(state, e) for e in shape(state, references)) == ["(i + 1, j)", "(i, 0)"]


def test_members_stand_between_subscripts() -> None:
    text = (
        "struct s { int x[4]; int n; }; void f(struct s *s, int n) { for (int i = 0; i < n; i++) s[i].x[2] = s[i].n; }"
    )
    region, state = modelled(program_of(text), "f/i")
    references = [(s, a) for s in region.statements for a in s.accesses if a.base.name == "s" and a.path]
    assert sorted(_shown(state, e) for e in shape(state, references)) == ["(i, @)", "(i, @, 0)"]


@pytest.mark.parametrize(
    ("number", "strides"),
    [(0, ["m", "1"]), (1, ["m*w", "w", "1"]), (6, ["1"]), (13, ["2*m", "1"]), (12, None), (11, None)],
)
def test_strides_in_elements(number: int, strides: list[str] | None) -> None:
    _, state, references = _references(number)
    found = layout(state, references)
    assert (None if found is None else [state.vocabulary.text(s) for s in found[1]]) == strides


def test_strides_of_declared_dimensions() -> None:
    _, state, references = _references(len(CASES) - 1, "G")
    found = layout(state, references)
    assert found is not None and [state.vocabulary.text(s) for s in found[1]] == ["6", "1"]
    assert [[state.vocabulary.text(p) for p in parts] for parts in found[0]] == [["i", "j"]]


def test_what_decides_the_strides() -> None:
    def asked(number: int) -> object:
        _, state, references = _references(number)
        return {stride_monomials(state, access) for _, access in references}

    assert len(asked(4)) == 1, "both references ask for rows of m"  # type: ignore[arg-type]
    assert len(asked(10)) == 2, "one asks for rows, the other for none"  # type: ignore[arg-type]
