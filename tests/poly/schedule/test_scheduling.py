"""New times for a run: hyperplanes that every dependence climbs, and what isl's scheduler proposes."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.base.verdict import Proved
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.legality.legality import keeps_order
from warpsmith.poly.legality.times import Row, Time
from warpsmith.poly.schedule.scheduling import hyperplane, proposals, wave_time
from warpsmith.tree.nodes import ExprStmt, Function, Stmt
from warpsmith.tree.types import INT, Symbol
from warpsmith.tree.walk import walk

NEST = "for (int i = 1; i < n; i++) for (int j = 1; j < n; j++)"
# a nest of one statement, and the factors of its counters whose sum grows along every dependence
PLANES: list[tuple[str, tuple[int, ...] | None]] = [
    (f"{NEST} A[i][j] = A[i - 1][j] + A[i][j - 1];", (1, 1)),
    (f"{NEST} A[i][j] = A[i - 1][j + 1] + A[i][j - 1];", (2, 1)),
    (f"{NEST} A[i][j] = A[i - 1][j];", (1, 0)),
    (f"{NEST} A[i][j] = A[i][j - 1];", (0, 1)),
    ("for (int i = n; i > 1; i--) for (int j = 1; j < n; j++) A[i][j] = A[i + 1][j] + A[i][j - 1];", (-1, 1)),
    (f"{NEST} A[i][j] = A[i - 1][j + 6] + A[i][j - 1];", None),
    (f"{NEST} A[0][0] = i + j;", None),
    (f"{NEST} A[i][j] = elsewhere();", None),
]
RUNS: list[str] = [
    f"{NEST} A[i][j] = A[i - 1][j] + A[i][j - 1];",
    f"{NEST} {{ A[i][j] = A[i - 1][j]; B[i][j] = A[i][j]; }}",
    "for (int i = 0; i < n; i++) { A[i][0] = i; for (int j = 1; j < n; j++) A[i][j] = A[i][j - 1]; }",
    "for (int k = 0; k < n; k++) for (int i = k + 1; i < n; i++) {"
    " A[i][i] -= A[i][k] * A[i][k]; for (int j = i + 1; j < n; j++) A[i][j] -= A[i][k] * A[j][k]; }",
]


@functools.cache
def _facts() -> Facts:
    texts = [f"void f{k}(int n) {{ {text} }}" for k, (text, _) in enumerate(PLANES)]
    texts += [f"void g{k}(int n) {{ {text} }}" for k, text in enumerate(RUNS)]
    return Facts.about(program_of("double A[99][99], B[99][99], elsewhere(void);\n" + "\n".join(texts)), PolyOptions())


def _run(name: str) -> tuple[Function, tuple[Stmt, ...], tuple[Stmt, ...]]:
    one = function(_facts().program, name)
    run = one.body.statements
    return one, run, tuple(n for stmt in run for n in walk(stmt) if isinstance(n, ExprStmt))


@pytest.mark.parametrize("number", range(len(PLANES)), ids=[case[0] for case in PLANES])
def test_hyperplanes(number: int) -> None:
    one, run, (leaf,) = _run(f"f{number}")
    assert hyperplane(_facts(), one, run, leaf) == PLANES[number][1]


def test_too_much_work_finds_none() -> None:
    text = "double A[99][99]; void f(int n) { " + PLANES[0][0] + " }"
    facts = Facts.about(program_of(text), PolyOptions(max_operations=30))
    one = function(facts.program, "f")
    run = one.body.statements
    (leaf,) = (n for n in walk(run[0]) if isinstance(n, ExprStmt))
    assert hyperplane(facts, one, run, leaf) is None and not list(proposals(facts, one, run, (leaf,)))


def _shown(time: Time) -> list[str]:
    return [" ".join([*(f"{f}{s.name}" for s, f in row.terms), str(row.constant)]) for row in time]


def test_the_time_of_a_wave() -> None:
    i, j, k = (Symbol(x, x, INT, "local") for x in "ijk")
    assert _shown(wave_time((i, j), (1, 1))) == ["1i 1j 0", "1i 0"], "the first row tells j"
    assert _shown(wave_time((i, j), (1, 2))) == ["1i 2j 0", "1j 0"]
    assert _shown(wave_time((i, j), (2, 2))) == ["2i 2j 0", "1i 0", "1j 0"]
    assert _shown(wave_time((i, j, k), (0, 1, 0))) == ["1j 0", "1i 0", "1k 0"]
    assert _shown(wave_time((i,), (-1,))) == ["-1i 0"]


@pytest.mark.parametrize("number", range(len(RUNS)), ids=RUNS)
def test_proposals_are_new_orders_that_keep_the_dependences(number: int) -> None:
    one, run, leaves = _run(f"g{number}")
    found = list(proposals(_facts(), one, run, leaves))
    assert found and all(set(times) == set(leaves) for times in found)
    assert all(found.count(times) == 1 for times in found), "each only once"
    verdicts = [keeps_order(_facts(), one, run, times) for times in found]
    assert sum(isinstance(v, Proved) for v in verdicts) >= len(found) // 2
    assert isinstance(verdicts[0], Proved)
    assert all(
        isinstance(row, Row) and abs(row.constant) <= 16 for times in found for time in times.values() for row in time
    )


def test_a_wave_comes_first() -> None:
    one, run, (leaf,) = _run("g0")
    first = next(iter(proposals(_facts(), one, run, (leaf,))))
    assert _shown(first[leaf])[0] == "1i 1j 0"


def test_a_statement_that_is_another_one_at_other_points_shares_its_loops() -> None:
    one, run, leaves = _run("g3")
    first, *_ = proposals(_facts(), one, run, leaves)
    diagonal, other = (_shown(first[leaf]) for leaf in leaves)
    assert len(diagonal) == len(other)
    assert any("j" in row for row in other) and not any("j" in row for row in diagonal)


def test_what_cannot_be_modelled_has_no_proposals() -> None:
    one, run, leaves = _run("f7")
    assert not list(proposals(_facts(), one, run, leaves))
