"""Random reorderings against brute force: what is Proved keeps every conflict's order and the results, and the witness
of what is Refuted is a real pair of accesses that changes places. Bugs seeded into the test are noticed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from tests.poly.host_value import value
from tests.poly.legality import runs
from tests.poly.legality.runs import (
    Line,
    Loop,
    Part,
    Run,
    ScheduledStatement,
    execute,
    instances,
    new_times,
    render,
    sizes,
)
from tests.poly.programs import function, load
from tests.sampling import one_in
from warpsmith.base.verdict import Dependence, Proved, Refuted, Unknown, Verdict
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import Map, make_schedule_map, shallow
from warpsmith.poly.legality import legality, order, statements
from warpsmith.poly.legality.legality import keeps_order
from warpsmith.poly.legality.schedules import Schedule, ScheduleDimension, at, counter
from warpsmith.tree.nodes import Block, For, Function, If, Stmt
from warpsmith.tree.types import Symbol

COUNT, SEED = 110, 20261121
WITNESS = re.compile(r"(?:(.*): )?S\d?\((.*?)\) (writes|reads) (\w+)((?:\[-?\d+\])*), S\d?\((.*?)\) (writes|reads) it")


class Question(Struct, frozen=True):
    """One order of one run, as the analysis sees it."""

    run: Run
    order: int
    function: Function
    statements: tuple[Stmt, ...]
    schedules: dict[Stmt, Schedule]


class Bench(Struct, frozen=True):
    facts: Facts
    questions: tuple[Question, ...]

    def answers(self) -> Iterator[tuple[Question, Verdict]]:
        for q in self.questions:
            yield q, keeps_order(self.facts, q.function, q.statements, q.schedules)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(COUNT, SEED, tmp_path_factory.mktemp("runs"))


def make_bench(count: int, seed: int, folder: Path) -> Bench:
    rng = random.Random(seed)
    made = [runs.make(rng, f"f{k}") for k in range(count)]
    head = "double a[64], b[64], A[48][48];\n"
    program = load(head + "\n".join(render(run) for run in made), folder)
    facts = Facts.about(program, PolyOptions())
    return Bench(facts, tuple(q for run in made for q in questions(run, function(program, run.name))))


def questions(run: Run, f: Function) -> Iterator[Question]:
    """Match the parts of a run with the statements of its C text."""
    body = tuple(s for s in f.body.statements if isinstance(s, For))
    pairs: dict[int, Stmt] = {}
    for part, stmt in zip(run.parts, body, strict=True):
        match_up(part, stmt, pairs)
    for number, schedules in enumerate(run.orders):
        named = {
            statement_of(statement, pairs): dimensions(statement, lines, pairs)
            for statement, lines in zip(run.statements, schedules, strict=True)
        }
        yield Question(run, number, f, body, named)


def match_up(part: Part, stmt: Stmt, pairs: dict[int, Stmt]) -> None:
    pairs[id(part)] = stmt
    if isinstance(part, Loop):
        assert isinstance(stmt, For) and isinstance(stmt.body, Block)
        for inner, below in zip(part.body, stmt.body.statements, strict=True):
            match_up(inner, below, pairs)


def statement_of(statement: ScheduledStatement, pairs: dict[int, Stmt]) -> Stmt:
    """A schedule that ends with a counter is that of a whole body."""
    stmt = pairs[id(statement.parts[0])]
    if statement.schedule[-1].form[0]:
        body = pairs[id(statement.loops[-1])]
        assert isinstance(body, For)
        return body.body
    if statement.inside:
        assert isinstance(stmt, If)
        return stmt.then
    return stmt


def dimensions(statement: ScheduledStatement, lines: tuple[Line, ...], pairs: dict[int, Stmt]) -> Schedule:
    symbols: dict[str, Symbol] = {}
    for around in statement.loops:
        stmt = pairs[id(around)]
        assert isinstance(stmt, For)
        symbols[around.var] = stmt.variable
    return tuple(
        ScheduleDimension(tuple((symbols[name], factor) for name, factor in line.form[0]), line.form[1], line.divisor)
        for line in lines
    )


# --- the truth


def wrongly_proved(q: Question, verdict: Proved) -> str | None:
    """Return what is wrong with a proof, at some size at which its assumptions hold."""
    for n, m in sizes():
        names = {"n": n, "m": m}
        if not all(holds(a, names) for a in verdict.assumptions):
            continue
        which = instances(q.run, n, m)
        schedules = new_times(q.run, which, q.order)
        before = execute(q.run, which, list(range(len(which))))
        after = execute(q.run, which, sorted(range(len(which)), key=lambda k: schedules[k]))
        if turned(before.events, schedules):
            return f"n = {n}, m = {m}: a conflict is turned around"
        if seen(q.run, before.memory) != seen(q.run, after.memory):
            return f"n = {n}, m = {m}: another result"
    return None


def holds(assumption: object, names: dict[str, int]) -> bool:
    condition = getattr(assumption, "condition", None)
    assert condition is not None, "a guarded assumption has a host condition"
    return bool(value(condition, names))


def turned(events: list[runs.Event], schedules: list[tuple[int, ...]]) -> bool:
    """Whether two accesses to one array element, one of them a write, change places."""
    cells: dict[runs.Cell, list[runs.Event]] = {}
    for event in events:
        if event.cell[1]:
            cells.setdefault(event.cell, []).append(event)
    for found in cells.values():
        for k, first in enumerate(found):
            for second in found[k + 1 :]:
                if (first.write or second.write) and schedules[second.instance] < schedules[first.instance]:
                    return True
    return False


def seen(run: Run, memory: dict[runs.Cell, int]) -> dict[runs.Cell, int]:
    return {cell: number for cell, number in memory.items() if cell[1] or run.live}


def wrongly_refuted(q: Question, verdict: Refuted) -> str | None:
    for reason in verdict.reasons:
        assert reason.rule == "STP001"
        assert reason.dependence is not None
        if (text := false_witness(q, reason.dependence)) is not None:
            return text
    return None


def false_witness(q: Question, dependence: Dependence) -> str | None:
    """Replay the run at the witness's sizes: both accesses happen, in this order, and would change places."""
    found = WITNESS.fullmatch(dependence.witness)
    assert found is not None, dependence.witness
    head, first, verb, array, subscripts, second, other = found.groups()
    values = {k: int(v) for k, v in re.findall(r"(\w+) = (-?\d+)", head or "")}
    which = instances(q.run, values.get("n", 3), values.get("m", 3))
    schedules = new_times(q.run, which, q.order)
    done = execute(q.run, which, list(range(len(which))))
    cell = array, tuple(int(x) for x in re.findall(r"-?\d+", subscripts))
    one, two = (tuple(int(x) for x in part.split(",")) for part in (first, second))
    sources = {e.instance for e in done.events if (e.at, e.cell, e.write) == (one, cell, verb == "writes")}
    sinks = {e.instance for e in done.events if (e.at, e.cell, e.write) == (two, cell, other == "writes")}
    if any(s < e and schedules[e] < schedules[s] for s in sources for e in sinks):
        return None
    return f"{dependence.witness} is not turned around"


def mistakes(bench: Bench) -> Iterator[str]:
    for q, verdict in bench.answers():
        text = None
        if isinstance(verdict, Proved):
            text = wrongly_proved(q, verdict)
        elif isinstance(verdict, Refuted):
            text = wrongly_refuted(q, verdict)
        if text is not None:
            yield f"{render(q.run)}\n{q.run.orders[q.order]}\n{text}"


def test_proofs_and_witnesses_are_real(bench: Bench) -> None:
    wrong = next(mistakes(bench), "")
    assert not wrong, wrong


def test_most_affine_runs_are_decided(bench: Bench) -> None:
    answers = [(q, v) for q, v in bench.answers() if q.run.plain]
    kinds = [type(v) for _, v in answers]
    assert kinds.count(Proved) > len(kinds) / 4
    assert kinds.count(Refuted) > len(kinds) / 8
    assert kinds.count(Unknown) <= len(kinds) / 10


def test_the_original_order_is_proved(bench: Bench) -> None:
    for q in bench.questions:
        same = [statement.schedule for statement in q.run.statements] == list(q.run.orders[q.order])
        if same and q.run.plain:
            verdict = keeps_order(bench.facts, q.function, q.statements, q.schedules)
            shared = isinstance(verdict, Unknown) and "is used outside it too" in verdict.reasons[0].text
            assert shared or verdict == Proved(()), render(q.run)


# --- seeded bugs: each makes a mistake that the brute force notices


def ties_turn(first: Map, second: Map) -> Map:
    return first.lex_le_map(second)


def no_anti(self: order.Ordered) -> Iterator[tuple[order.Placed, order.Placed]]:
    return ((a, b) for a, b in PAIRS(self) if a.reference.access.write)


def no_output(self: order.Ordered) -> Iterator[tuple[order.Placed, order.Placed]]:
    return ((a, b) for a, b in PAIRS(self) if not (a.reference.access.write and b.reference.access.write))


def always_up(symbol: Symbol, factor: int = 1) -> ScheduleDimension:
    return counter(symbol, abs(factor))


def first_round_only(relation: Map, depth: int) -> Map:
    """Take the first iteration of the loops inside a statement for all of them."""
    inner = relation.domain().lexmin()
    return SHALLOW(relation.intersect_domain(inner), depth)


def whole_rows(dimension: ScheduleDimension) -> ScheduleDimension:
    return ScheduleDimension(dimension.terms, dimension.constant)


PAIRS = order.Ordered.pairs
SHALLOW = shallow
DIMENSION_VALUE = order.Ordered.dimension_value
SCHEDULE_MAP = make_schedule_map


class Bug(Struct, frozen=True):
    """`seed`: of programs that show it, where those of the others do not."""

    name: str
    where: object
    what: str
    instead: object
    seed: int = 0


BUGS = (
    Bug("<= for <: ties turn", legality, "lexicographic", ties_turn),
    Bug("anti dependences forgotten", order.Ordered, "pairs", no_anti),
    Bug("output dependences forgotten", order.Ordered, "pairs", no_output),
    Bug("loops that count down taken for others", statements, "counter", always_up),
    Bug("positions in the text forgotten", statements, "at", lambda _: at(0)),
    Bug("loops inside a statement run once", order, "shallow", first_round_only),
    Bug(
        "strips forgotten",
        order,
        "make_schedule_map",
        lambda dims, given: SCHEDULE_MAP(dims, [(value, 1) for value, _ in given]),
    ),
    Bug(
        "shifts forgotten",
        order.Ordered,
        "dimension_value",
        lambda self, statement, dimension: DIMENSION_VALUE(
            self, statement, ScheduleDimension(dimension.terms, 0) if dimension.terms else dimension
        ),
    ),
    Bug("equal references of two statements taken for one", order, "_name", lambda *_: "", SEED + 1),
    Bug("every scalar private", statements._Scalars, "_is_alone", lambda *_: True),
    Bug("statements in one iteration cannot touch", order, "common_steps", lambda *_: None),
)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    # the first of the runs without a bug
    return make_bench(70, SEED, tmp_path_factory.mktemp("bugs"))


@pytest.mark.parametrize("bug", one_in(3, BUGS), ids=lambda bug: bug.name)
def test_a_seeded_bug_is_caught(bug: Bug, small: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # what other bugs left in the memo would hide this one
    fresh = Bench(Facts.about(small.facts.program, small.facts.options), small.questions)
    own = make_bench(40, bug.seed, tmp_path) if bug.seed else fresh
    monkeypatch.setattr(bug.where, bug.what, bug.instead)
    assert next(mistakes(own), "")


def test_questions_whose_refusals_nobody_reads_prove_the_same_with_fewer_attempts(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = []
    real = vars(legality)["_Question"]._attempt

    def attempt(question: object, **how: bool) -> object:
        attempts.append(how["guards"])
        return real(question, **how)

    monkeypatch.setattr(vars(legality)["_Question"], "_attempt", attempt)
    brief = Bench(bench.facts.briefly(), bench.questions)
    proved: list[list[bool]] = []
    guarded: list[int] = []
    for one in (bench, brief):
        attempts.clear()
        proved.append([isinstance(verdict, Proved) for _, verdict in one.answers()])
        guarded.append(sum(attempts))
    assert proved[0] == proved[1] and any(proved[0]) and not all(proved[0])
    assert guarded[1] <= guarded[0] < len(bench.questions)
