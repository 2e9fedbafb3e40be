"""Possible races of a shared loop with what stands beside it, against all instances, threads and rounds of small
loops."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator

import islpy as isl
import pytest
from msgspec import Struct

from tests.poly.analysis import program_of
from tests.poly.openmp.concurrency.assignments import SCHEDULES, THREADS, assignments
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import claims_of
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import budget, later_round, remove_points
from warpsmith.poly.openmp.concurrency import concurrent
from warpsmith.poly.openmp.concurrency.concurrent import Asked, PhaseModel, find_phases
from warpsmith.poly.openmp.concurrency.schedules import Runner
from warpsmith.tree.nodes import Function

ROUNDS = 3
ITERATIONS = 4
CASES = 32
# what stands beside the loop, who runs it, whether all wait behind it
BESIDE = {
    "": ("all", False),
    "single": ("one", True),
    "single nowait": ("one", False),
    "master": ("first", False),
    "critical": ("all", False),
    "for": ("shared", True),
    "for nowait": ("shared", False),
}


class Case(Struct, frozen=True):
    """In each round t a loop that writes a[p[0] * i + p[1] * t + p[2]], and a statement that reads (writes) the element
    that `q` says; `wait`: a barrier stands there, in a round."""

    p: tuple[int, int, int]
    q: tuple[int, int, int]
    schedules: tuple[str, str]
    beside: str
    writes: bool
    wait: str
    before: bool

    def text(self, name: str) -> str:
        """Return a function in C."""
        at = ["{} * i + {} * t + {}".format(*numbers) for numbers in (self.p, self.q)]
        said = [f"schedule({schedule})" if schedule else "" for schedule in self.schedules]
        header = f"for (int i = 0; i < {ITERATIONS}; i++)"
        loop = f"\n#pragma omp for nowait {said[0]}\n{header} a[{at[0]}] = t;\n"
        touch = f"a[{at[1]}] = 2;" if self.writes else f"b[0] = a[{at[1]}];"
        inner = f"{header} {touch}" if self.kind == "shared" else "{ int i = 0; " + touch + " }"
        pragma = f"\n#pragma omp {self.beside} {said[1] if self.kind == 'shared' else ''}\n" if self.beside else ""
        barrier = "\n#pragma omp barrier\n"
        other = pragma + inner
        parts = [other, loop] if self.before else [loop, other]
        body = {"": "".join(parts), "end": "".join(parts) + barrier, "between": barrier.join(parts)}[self.wait]
        return f"""
void {name}(int *restrict a, int *restrict b)
{{
#pragma omp parallel
    for (int t = 0; t < {ROUNDS}; t++) {{ {body}
    }}
}}
"""

    @property
    def kind(self) -> str:
        """Who runs what stands beside the loop."""
        return BESIDE[self.beside][0]

    def steps(self) -> list[tuple[str, int]]:
        """Return what every thread comes to, in order, with the rounds; and where it waits."""
        waits = BESIDE[self.beside][1]
        other = ["other", "wait"] if waits else ["other"]
        parts = [other, ["loop"]] if self.before else [["loop"], other]
        parts.insert({"": 0, "end": 2, "between": 1}[self.wait], ["wait"] if self.wait else [])
        return [(step, t) for t in range(ROUNDS) for step in itertools.chain(*parts)]


# --- all instances, in all ways


Pair = tuple[tuple[int, ...], tuple[int, ...]]


def _concurrent(case: Case, other: str) -> Iterator[tuple[int, int]]:
    """Yield the round of the loop and that of the other one, where no wait lies in between."""
    steps = case.steps()
    for k, (step, t) in enumerate(steps):
        if step != "loop":
            continue
        for what, round_of in steps[k + 1 :] if not case.before else steps[:k][::-1]:
            if what == "wait":
                break
            if what == other:
                yield t, round_of


def _meet(case: Case, other: str) -> set[Pair]:
    """Return the pairs of instances that touch one element on two threads, in some way that OpenMP allows."""
    q, kind = (case.p, "shared") if other == "loop" else (case.q, case.kind)
    rounds = set(_concurrent(case, other))
    found: set[Pair] = set()
    for (t, u), i, j in itertools.product(rounds, range(ITERATIONS), range(ITERATIONS)):
        if kind != "shared" and j:
            continue
        same = case.p[0] * i + case.p[1] * t + case.p[2] == q[0] * j + q[1] * u + q[2]
        if same and _on_two_threads(case, other, i, j):
            found.add(((t, i), (u, j) if kind == "shared" else (u,)))
    return found


def _on_two_threads(case: Case, other: str, i: int, j: int) -> bool:
    kind = "shared" if other == "loop" else case.kind
    mine = case.schedules[0]
    if kind in ("all", "one"):
        return True
    if kind == "first":
        return any(ways[i] != 0 for n in THREADS for ways in assignments(ITERATIONS, mine, n))
    yours = mine if other == "loop" else case.schedules[1]
    static = "dynamic" not in (mine, yours)
    agreed = static and mine.removeprefix("static") == yours.removeprefix("static")
    for n in THREADS:
        left, right = (list(assignments(ITERATIONS, schedule, n)) for schedule in (mine, yours))
        chosen = zip(left, right, strict=True) if agreed else itertools.product(left, right)
        if any(one[i] != two[j] for one, two in chosen):
            return True
    return False


# --- what the model says


def _points(relation: isl.Map) -> set[Pair]:
    """Return the pairs of a relation, for any parameters."""
    depth, found = relation.dim(isl.dim_type.in_), set[Pair]()
    pairs = relation.project_out_all_params().wrap().flatten()

    def note(point: isl.Point) -> None:
        values = tuple(
            point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(pairs.dim(isl.dim_type.set))
        )
        found.add((values[:depth], values[depth:]))

    pairs.foreach_point(note)
    return found


class Found(Struct):
    """Races with one thing, in the same round or in others: pairs that certainly race, and whether some may."""

    certain: set[Pair]
    possible: bool = False


def _find(facts: Facts, one: Function, case: Case) -> dict[tuple[str, bool], Found]:
    """Return what the model says of a case: for `loop` and `other`, and for other rounds or the same one."""
    claim = claims_of(one)[-1 if case.before else 0]
    asked = Asked(facts, one, claim, frozenset())
    found = {(what, apart): Found(set()) for what in ("loop", "other") for apart in (False, True)}
    for phase in find_phases(asked, forward=not case.before)[0]:
        around = PhaseModel.of(asked, phase, forward=not case.before)
        for race in around.meetings():
            assert race.loop_side.access.base.name == "a"
            what = "loop" if around.is_in_loop(race.other_side.statement) else "other"
            told = found[what, phase.rounds is not None]
            told.possible = True
            if race.conflict is not None:
                assert race.conflict.relation is not None
                told.certain |= _points(race.conflict.relation)
    return found


def _complaints(cases: list[Case]) -> tuple[list[str], dict[str, int]]:
    """Return what is said wrongly; and of how many something is certain, open, or fine."""
    program = program_of("\n".join(case.text(f"f{k}") for k, case in enumerate(cases)))
    facts = Facts.about(program, PolyOptions())
    wrong: list[str] = []
    said = {"certain": 0, "open": 0, "fine": 0}
    for (_, one), case in zip(program.functions(), cases, strict=True):
        with budget(facts.options.max_operations):
            found = _find(facts, one, case)
        for (what, apart), told in found.items():
            real = {(a, b) for a, b in _meet(case, what) if (a[0] != b[0]) == apart}
            real = real if apart else {(a[1:], b[1:]) for a, b in real}
            said["certain" if told.certain else "open" if told.possible else "fine"] += 1
            if told.certain - real:
                wrong.append(f"{what} {apart}: {min(told.certain - real)} do not race in {case.text('f')}")
            if real and not told.possible:
                wrong.append(f"{what} {apart}: {min(real)} race in {case.text('f')}")
    return wrong, said


def _random_cases(count: int) -> list[Case]:
    pick = random.Random(3)
    numbers = [[(pick.choice((1, 1, 2, 3)), pick.choice((0, 0, 1, 4)), pick.choice((0, 0, 1, 3))) for _ in range(2)]
               for _ in range(count)]  # fmt: skip
    schedules = [(pick.choice(SCHEDULES), pick.choice(SCHEDULES)) for _ in range(count)]
    return [
        Case(p, q, (s[0], s[0]) if pick.random() < 0.5 else s, pick.choice(list(BESIDE)), pick.random() < 0.3,
             pick.choice(("", "", "end", "between")), pick.random() < 0.4)
        for (p, q), s in zip(numbers, schedules, strict=True)
    ]  # fmt: skip


def test_every_instance_is_thought_of() -> None:
    wrong, said = _complaints(_random_cases(CASES))
    assert not wrong
    assert said["certain"] > 12 and said["fine"] > 60 and said["open"] < 10


@pytest.mark.slow
def test_every_instance_of_many_is_thought_of() -> None:
    assert not _complaints(_random_cases(1000))[0]


# --- bugs are seen

BUGS: dict[str, tuple[object, str, Callable[..., object]]] = {
    "rounds are not told apart": (PhaseModel, "_in_rounds", lambda _self, relation, *_: relation),
    "rounds that come are looked at where one looks back": (
        concurrent, "later_round", lambda one, other, _, next_only: later_round(one, other, 1, next_only=next_only)
    ),
    "all threads run what the first one does": (PhaseModel, "runner", lambda *_: Runner("any")),
    "the loop is one thread's": (
        concurrent, "on_other_threads", lambda _, pairs, *__: (remove_points(pairs, pairs), remove_points(pairs, pairs))
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_a_seeded_bug_is_seen(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, instead = BUGS[bug]
    monkeypatch.setattr(owner, name, instead)
    assert _complaints(_random_cases(CASES))[0]


# --- by hand

PROTECTED = """
void f(int *restrict a, int n)
{{
#pragma omp parallel
    {{
        int own = omp_get_thread_num();
#pragma omp for nowait
        for (int i = 0; i < 9; i++) {{
#pragma omp {first}
            a[i] += 1;
        }}
#pragma omp {second}
        a[{index}] += 1;
    }}
}}
"""


@pytest.mark.parametrize(
    ("first", "second", "index", "said"),
    [
        ("critical", "critical", "3", "kept apart"),
        ("atomic", "atomic", "3", "kept apart"),
        ("critical(one)", "critical(two)", "3", "certain"),
        ("atomic", "critical", "3", "certain"),
        ("critical(one)", "critical(two)", "own", "possible"),
        ("critical", "critical", "9", ""),
    ],
)
def test_what_protects_both_keeps_them_apart(first: str, second: str, index: str, said: str) -> None:
    program = program_of("int omp_get_thread_num(void);" + PROTECTED.format(first=first, second=second, index=index))
    facts = Facts.about(program, PolyOptions())
    ((_, one),) = program.functions()
    with budget(facts.options.max_operations):
        asked = Asked(facts, one, claims_of(one)[0], frozenset())
        found = [race for phase in find_phases(asked, forward=True)[0]
                 for race in PhaseModel.of(asked, phase, forward=True).meetings()]  # fmt: skip
    words = {"kept apart" if r.kept_apart else "certain" if r.conflict is not None else "possible" for r in found}
    assert words == ({said} if said else set())
