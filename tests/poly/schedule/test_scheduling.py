"""New schedules for a run: hyperplanes that every dependence climbs, and what isl's scheduler proposes."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from contextlib import AbstractContextManager

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.base.verdict import Proved
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import Map, Set, budget
from warpsmith.poly.legality.legality import keeps_order
from warpsmith.poly.legality.order import Ordered
from warpsmith.poly.legality.schedules import Schedule, ScheduleDimension
from warpsmith.poly.schedule import scheduling
from warpsmith.poly.schedule.scheduling import _candidates, hyperplane, proposals, wavefront_schedule
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
    # instances that only quotients tell apart
    f"{NEST} if (j % 2) A[i][j] = A[i - 1][j] + B[i][j - 1]; else B[i][j] = A[i][j - 1];",
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
    one, run, (statement,) = _run(f"f{number}")
    assert hyperplane(_facts(), one, run, statement) == PLANES[number][1]


def test_too_much_work_finds_none() -> None:
    text = "double A[99][99]; void f(int n) { " + PLANES[0][0] + " }"
    facts = Facts.about(program_of(text), PolyOptions(max_operations=30))
    one = function(facts.program, "f")
    run = one.body.statements
    (statement,) = (n for n in walk(run[0]) if isinstance(n, ExprStmt))
    assert hyperplane(facts, one, run, statement) is None and not list(proposals(facts, one, run, (statement,)))


def test_isl_is_asked_about_few_hyperplanes_of_a_deep_nest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every iteration may depend on any other: no sum of counters grows, and each new difference refuses many."""
    heads = "".join(f"for (int i{k} = 0; i{k} < n; i{k}++) " for k in range(8))
    program = program_of(f"double A[99][99]; void f(int n) {{ {heads} A[i0][i1] += A[i6][i7] + A[i3][0]; }}")
    one = function(program, "f")
    (statement,) = (n for n in walk(one.body) if isinstance(n, ExprStmt))
    asked: list[tuple[int, ...]] = []
    real = scheduling._find_refusing

    def refuse(distance: Set, factors: Sequence[int]) -> tuple[int, ...] | None:
        asked.append(tuple(factors))
        found = real(distance, factors)
        assert found is None or sum(f * d for f, d in zip(factors, found, strict=True)) < 1
        return found

    monkeypatch.setattr(scheduling, "_find_refusing", refuse)
    facts = Facts.about(program, PolyOptions(max_operations=1 << 40))
    assert hyperplane(facts, one, one.body.statements, statement) is None
    assert 0 < len(set(asked)) < len(list(_candidates(8))) // 40


def _shown(schedule: Schedule) -> list[str]:
    return [
        " ".join([*(f"{f}{s.name}" for s, f in dimension.terms), str(dimension.constant)]) for dimension in schedule
    ]


def test_the_time_of_a_wave() -> None:
    i, j, k = (Symbol(x, x, INT, "local") for x in "ijk")
    assert _shown(wavefront_schedule((i, j), (1, 1))) == ["1i 1j 0", "1i 0"], "the first dimension tells j"
    assert _shown(wavefront_schedule((i, j), (1, 2))) == ["1i 2j 0", "1j 0"]
    assert _shown(wavefront_schedule((i, j), (2, 2))) == ["2i 2j 0", "1i 0", "1j 0"]
    assert _shown(wavefront_schedule((i, j, k), (0, 1, 0))) == ["1j 0", "1i 0", "1k 0"]
    assert _shown(wavefront_schedule((i,), (-1,))) == ["-1i 0"]


@pytest.mark.parametrize("number", range(len(RUNS)), ids=RUNS)
def test_proposals_are_new_orders_that_keep_the_dependences(number: int) -> None:
    one, run, statements = _run(f"g{number}")
    found = list(proposals(_facts(), one, run, statements))
    assert found and all(set(schedules) == set(statements) for schedules in found)
    assert all(found.count(schedules) == 1 for schedules in found), "each only once"
    verdicts = [keeps_order(_facts(), one, run, schedules) for schedules in found]
    assert sum(isinstance(v, Proved) for v in verdicts) >= len(found) // 2
    assert isinstance(verdicts[0], Proved)
    assert all(
        isinstance(dimension, ScheduleDimension) and abs(dimension.constant) <= 16
        for schedules in found
        for schedule in schedules.values()
        for dimension in schedule
    )


def test_a_wave_comes_first() -> None:
    one, run, (statement,) = _run("g0")
    first = next(iter(proposals(_facts(), one, run, (statement,))))
    assert _shown(first[statement])[0] == "1i 1j 0"


def test_a_statement_that_is_another_one_at_other_points_shares_its_loops() -> None:
    one, run, statements = _run("g3")
    first, *_ = proposals(_facts(), one, run, statements)
    diagonal, other = (_shown(first[statement]) for statement in statements)
    assert len(diagonal) == len(other)
    assert any("j" in dimension for dimension in other) and not any("j" in dimension for dimension in diagonal)


@pytest.mark.parametrize(("most", "wanted"), [("_DEEPEST", 1), ("_MOST_VARIABLES", 2), ("_MOST_COEFFICIENTS", 100)])
def test_isl_schedules_no_nest_that_is_deep_or_has_many_dependences(
    most: str, wanted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, run, statements = _run("g3")
    assert list(proposals(_facts(), one, run, statements))
    monkeypatch.setattr(scheduling, most, wanted)
    monkeypatch.setattr(scheduling, "_schedule_by_isl", lambda *_, whole: pytest.fail("isl is asked"))
    assert not list(proposals(_facts(), one, run, statements))


def test_isl_is_not_told_what_bounds_parameters_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """With it linear programs of few statements have entries of hundreds of digits, and the schedules are the same."""
    asked: list[str] = []
    found: list[list[list[list[str]]]] = []
    compute, forget = scheduling._schedule_by_isl, scheduling._forget_parameters

    def note(model: Ordered, problem: scheduling._Problem, *, whole: bool) -> dict[Stmt, Schedule] | None:
        asked.append(f"{problem.domain} {problem.order} {problem.flow}")
        return compute(model, problem, whole=whole)

    def keep(values: Set) -> Set:
        return values

    monkeypatch.setattr(scheduling, "_schedule_by_isl", note)
    for told in (forget, keep):
        monkeypatch.setattr(scheduling, "_forget_parameters", told)
        every = [proposals(_facts(), *_run(f"g{number}")) for number in range(len(RUNS))]
        found.append([[_shown(schedule) for one in schedules for schedule in one.values()] for schedules in every])
        assert any("<= 99" in question for question in asked) == (told is keep)
    assert found[0] == found[1]


def _chain(length: int, apart: int = 1) -> str:
    """Return a nest whose statements each need what the one before has made, in `apart` chains of one length."""
    parts = (
        f"A{c}_{k}[i][j] = A{c}_{(k - 1) % length}[i - 1][j + {k % 3}];" for c in range(apart) for k in range(length)
    )
    return f"for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) {{ {' '.join(parts)} }}"


@pytest.mark.parametrize("length", [2, 6])
def test_the_steps_of_isls_scheduler_are_the_fewer_the_larger_its_matrices_are(
    length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed: list[int] = []
    sizes: list[int] = []
    granted, pivoted = budget, scheduling._pivoted

    def counted(operations: int) -> AbstractContextManager[None]:
        allowed.append(operations)
        return granted(operations)

    def sized(model: Ordered, dependences: Sequence[Map]) -> int:
        sizes.append(pivoted(model, dependences))
        return sizes[-1]

    declared = ", ".join(f"A{c}_{k}[99][99]" for c in range(2) for k in range(length))
    texts = (f"void c{apart}(int n) {{ {_chain(length, apart)} }}" for apart in (1, 2))
    facts = Facts.about(program_of(f"double {declared};\n" + "\n".join(texts)), PolyOptions())
    monkeypatch.setattr(scheduling, "_pivoted", sized)
    monkeypatch.setattr(scheduling, "budget", counted)
    found: list[int] = []
    for times, apart in itertools.product((scheduling._TIMES_DUAL, 0), (1, 2)):
        monkeypatch.setattr(scheduling, "_TIMES_DUAL", times)
        monkeypatch.setattr(scheduling, "_MOST_ENTRIES", 20_000)
        one = function(facts.program, f"c{apart}")
        statements = tuple(n for n in walk(one.body) if isinstance(n, ExprStmt))
        found.append(len(list(proposals(facts, one, one.body.statements, statements))))
    # with what the dual takes it is enough, with what a few pivots take it is not
    assert found[0] and found[1] and found[2:] == [0, 0]
    # the model, then the first of the two ways that isl has
    assert allowed[-1] == 20_000 // sizes[-1] and allowed[-3] == 20_000 // sizes[-2]
    # statements that nothing connects are scheduled apart
    assert sizes[0] == sizes[1] > length**2


def test_what_cannot_be_modelled_has_no_proposals() -> None:
    one, run, statements = _run("f7")
    assert not list(proposals(_facts(), one, run, statements))


def test_a_run_whose_dependences_isls_scheduler_cannot_carry_has_no_proposals() -> None:
    text = "for (int r = 0; r < 32; r++) if (k > 0) for (int i = 0; i < 959; i++) a[i] = a[i + k] + b[i] * c[i];"
    facts = Facts.about(program_of(f"float a[960], b[960], c[960]; void f(int k) {{ {text} }}"), PolyOptions())
    one = function(facts.program, "f")
    statements = tuple(n for n in walk(one.body) if isinstance(n, ExprStmt))
    assert not list(proposals(facts, one, one.body.statements, statements))


def test_the_factors_of_a_deep_nest_are_not_all_tried() -> None:
    whole = [f for f in itertools.product(range(5), repeat=3) if any(f)]
    assert list(_candidates(3)) == sorted(whole, key=lambda f: (sum(f), max(f), f[::-1]))
    deep = list(_candidates(14))
    assert len(deep) == len(set(deep)) <= 5_000
    assert {f for f in deep if sum(f) == 1} == {tuple(int(k == one) for k in range(14)) for one in range(14)}
    assert [sum(f) for f in deep] == sorted(sum(f) for f in deep) and sum(deep[-1]) > 3
