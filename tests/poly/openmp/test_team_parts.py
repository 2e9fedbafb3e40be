"""Combinations of what each thread has: a statement is one only where it does `target = target op local` alone."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.poly.openmp.team_parts import NEUTRAL, TeamUpdate, parts_in, starts_of
from warpsmith.tree.nodes import Stmt, VarDecl
from warpsmith.tree.program import Program
from warpsmith.tree.walk import walk

# the statements, and the combinations that they are; "-" is none
CASES: list[tuple[str, str]] = [
    ("s += t;", "s + t"),
    ("s *= t;", "s * t"),
    ("k |= j;", "k | j"),
    ("k ^= j;", "k ^ j"),
    ("a[2] += t;", "a + t"),
    ("s = s + t;", "s + t"),
    ("s = t * s;", "s * t"),
    ("s += t; k |= j;", "s + t, k | j"),
    ("{ s += t; { u *= t; } }", "s + t, u * t"),
    ("if (t > s) s = t;", "s max t"),
    ("if (s < t) { s = t; }", "s max t"),
    ("if (s > t) s = t;", "s min t"),
    ("if (t <= s) s = t;", "s min t"),
    ("if (s >= t) s = t;", "s min t"),
    ("", ""),
    ("s -= t;", "-"),
    ("s /= t;", "-"),
    ("k &= j;", "-"),
    ("s = t;", "-"),
    ("s = t + u;", "-"),
    ("s = s + s;", "-"),
    ("s += s;", "-"),
    ("s = s - t;", "-"),
    ("s += 2 * t;", "-"),
    ("s += 1;", "-"),
    ("a[k] += t;", "-"),
    ("if (t > s) s = t; else s = u;", "-"),
    ("if (t > u) s = t;", "-"),
    ("if (t == s) s = t;", "-"),
    ("if (t > s) s += t;", "-"),
    ("if (t > s) { s = t; k = j; }", "-"),
    ("if (t > s) s = u;", "-"),
    ("if (t > s) t = s;", "t min s"),
    ("k++;", "-"),
    ("s += t; k++;", "-"),
    ("{ s += t; k++; }", "-"),
    ("for (int i = 0; i < 3; i++) s += t;", "-"),
]
STARTS = """void g(int n) {
  double t = 0, u = -1.5, v; v = 3; v += 2; v = n; t = 1; { int w = 7; v = -(2); w = n + 1; } u = -n; int x = n; }"""


@functools.cache
def _program() -> Program:
    texts = (
        f"void f{number}(double s, double t, double u, int k, int j, double *a) {{ {body} }}"
        for number, (body, _) in enumerate(CASES)
    )
    return program_of("\n".join((*texts, STARTS)))


def _shown(parts: tuple[TeamUpdate, ...] | None) -> str:
    return "-" if parts is None else ", ".join(f"{p.target.name} {p.op} {p.local.name}" for p in parts)


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_combinations(number: int) -> None:
    found = parts_in(function(_program(), f"f{number}").body.statements)
    assert _shown(found) == CASES[number][1]


def test_where_variables_start() -> None:
    body: Stmt = function(_program(), "g").body
    symbols = {n.symbol.name: n.symbol for n in walk(body) if isinstance(n, VarDecl)}
    found = {name: [value for _, value in starts_of(body, symbol)] for name, symbol in symbols.items()}
    assert found["t"] == [0, 1] and found["u"] == [-1.5] and found["v"] == [3, -2]
    assert found["w"] == [7] and found["x"] == [None], "a declaration says that it is something else"


@pytest.mark.parametrize("op", NEUTRAL)
def test_neutral_elements_change_nothing(op: str) -> None:
    for value in (0, 1, 5, 12):
        assert eval(f"value {op} NEUTRAL[op]") == value
