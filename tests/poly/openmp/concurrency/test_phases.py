"""What may run while a loop runs, against random executions of random parallel regions, step by step."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterable, Iterator

import pytest
from msgspec import Struct
from msgspec.structs import replace

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.poly.claimed import regions_of
from warpsmith.poly.openmp.concurrency import phases as module
from warpsmith.poly.openmp.concurrency.phases import WaitPhase, Walls, phases, waiting_functions
from warpsmith.tree.nodes import Block, Break, Continue, ExprStmt, For, Function, If, Literal, Loop, Pragma, Stmt
from warpsmith.tree.walk import walk

LOOP = "#pragma omp for nowait\nfor (int asked = 0; asked < n; asked++) x[asked] = 1;"
PLACE = "HERE;"
EXECUTIONS = 30


# --- random regions


def _statement(pick: random.Random, depth: int, *, looped: bool) -> str:
    """Return one random statement; `PLACE` stands where the loop that is asked about may stand."""
    kinds = ["plain", "plain", "barrier", "for", "for nowait", "single", "single nowait", "master", "critical"]
    kinds += ["if", "if", "else", "rounds", "rounds", "few", "none"] if depth else []
    kinds += ["break", "continue"] if looped else []
    kind = pick.choice(kinds)
    test, inside = f"c[{pick.randrange(9)}]", functools.partial(_block, pick, depth - 1)
    match kind:
        case "plain":
            return PLACE
        case "barrier":
            return "\n#pragma omp barrier\n"
        case "for" | "for nowait":
            return f"\n#pragma omp {kind}\nfor (int i = 0; i < n; i++) x[i] = 1;"
        case "single" | "single nowait" | "master" | "critical":
            return f"\n#pragma omp {kind}\nx[1] = 1;"
        case "if":
            return f"if ({test}) {inside(looped=looped)}"
        case "else":
            return f"if ({test}) {inside(looped=looped)} else {inside(looped=looped)}"
        case "break" | "continue":
            return f"if ({test}) {kind};"
    count = {"rounds": "n", "few": "2", "none": "0"}[kind]
    return f"for (int t = 0; t < {count}; t++) {inside(looped=True)}"


def _block(pick: random.Random, depth: int, *, looped: bool) -> str:
    parts = [_statement(pick, depth, looped=looped) for _ in range(pick.randint(1, 4))]
    return "{ " + " ".join(parts) + "\n}"


def _region(pick: random.Random, name: str) -> str:
    """Return a function with one region, in which the loop that is asked about stands once."""
    body = ""
    while PLACE not in body:
        body = _block(pick, 3, looped=False)
    pieces = body.split(PLACE)
    at = pick.randrange(len(pieces) - 1)
    places = [f"\n{LOOP}\n" if k == at else "x[0] = 1;" for k in range(len(pieces) - 1)]
    body = "".join(a + b for a, b in zip(pieces, [*places, ""], strict=True))
    return f"void {name}(int n, int *restrict x, const int *restrict c)\n{{\n#pragma omp parallel\n{body}\n}}\n"


@functools.cache
def _functions(count: int) -> tuple[Function, ...]:
    pick = random.Random(11)
    program = program_of("\n".join(_region(pick, f"f{k}") for k in range(count)))
    return tuple(one for _, one in program.functions())


# --- what one thread does


class Step(Struct, frozen=True, eq=False):
    """A statement begins, or ends, or all threads wait (None). `around`: the loops around it, each with the number of
    this execution of it and of the round."""

    stmt: Stmt | None
    around: tuple[tuple[Loop, int, int], ...]
    ends: bool = False


class _ContinueError(Exception):
    """The round is over."""


class _BreakError(_ContinueError):
    """The loop is over."""


class Thread(Struct):
    """One thread, which decides every test at random."""

    pick: random.Random
    trace: list[Step]
    around: tuple[tuple[Loop, int, int], ...] = ()

    def run(self, stmt: Stmt) -> None:
        """Note what it does in a statement."""
        self.trace.append(Step(stmt, self.around))
        match stmt:
            case Block(statements=parts):
                self._run_parts(parts)
            case If(then=then, other=other):
                arm = then if self.pick.random() < 0.5 else other
                if arm is not None:
                    self.run(arm)
            case For():
                self._run_rounds(stmt)
            case Break():
                raise _BreakError
            case Continue():
                raise _ContinueError
            case _:
                assert isinstance(stmt, ExprStmt), stmt
        self.trace.append(Step(stmt, self.around, ends=True))

    def _run_parts(self, parts: tuple[Stmt, ...]) -> None:
        waits = False
        for part in parts:
            if not isinstance(part, Pragma):
                self.run(part)
            directive = part.directive if isinstance(part, Pragma) else None
            if waits or (directive is not None and directive.words == ("barrier",)):
                self.trace.append(Step(None, self.around))
            waits = directive is not None and directive.words in (("for",), ("single",)) and not directive.has("nowait")

    def _run_rounds(self, loop: For) -> None:
        around, started = self.around, len(self.trace)
        count = loop.bound.value if isinstance(loop.bound, Literal) else self.pick.randint(0, 2)
        assert isinstance(count, int)
        for number in range(count):
            self.around = (*around, (loop, started, number))
            try:
                self.run(loop.body)
            except _BreakError:
                break
            except _ContinueError:
                continue
        self.around = around


def _trace(pick: random.Random, body: Stmt) -> list[Step]:
    thread = Thread(pick, [])
    thread.run(body)
    return thread.trace


# --- both compared


class Execution(Struct, frozen=True):
    """One execution of the loop in a trace. `unwaited`: the steps behind it (before it) up to a wait; `all`: until the
    region ends (begins)."""

    loop: Step
    unwaited: tuple[Step, ...]
    all: tuple[Step, ...]

    @property
    def is_open(self) -> bool:
        """Whether the thread leaves the region without a wait."""
        return len(self.unwaited) == len(self.all)

    def other_round(self, step: Step) -> tuple[Loop | None, int]:
        """Return the outermost loop of which a step is in another round, and how many rounds lie between."""
        for (loop, started, mine), (_, other, yours) in zip(self.loop.around, step.around, strict=False):
            if started != other:
                break
            if mine != yours:
                return loop, abs(mine - yours)
        return None, 0


def _executions(trace: list[Step], loop: Loop, *, forward: bool) -> Iterator[Execution]:
    for at, step in enumerate(trace):
        if step.stmt is loop and step.ends == forward:
            rest = trace[at + 1 :] if forward else trace[:at][::-1]
            wait = next((k for k, other in enumerate(rest) if other.stmt is None), len(rest))
            yield Execution(step, tuple(rest[:wait]), tuple(rest))


def _is_within(stmt: Stmt, others: Iterable[Stmt]) -> bool:
    return any(node is stmt for other in others for node in walk(other))


def _covers(phase: WaitPhase, stmt: Stmt, outer: Loop | None, rounds: int) -> bool:
    """Whether a phase has a statement in that many other rounds of a loop."""
    covered = _is_within(stmt, phase.whole) or stmt in phase.heads
    near = phase.any_round or rounds < 2
    where = phase.rounds is outer or phase.rounds is stmt
    return covered and near and where and _is_within(stmt, phase.scope)


def _is_met(execution: Execution, phase: WaitPhase, stmt: Stmt) -> bool:
    """Whether the thread came to a statement that a phase is sure of, where there was another round."""
    beside = [s for s in execution.all if execution.other_round(s) in ((phase.rounds, 1), (phase.rounds, 0))]
    came = any(step in execution.unwaited for step in beside if step.stmt is stmt)
    return came or (phase.rounds is not None and not beside)


class Told(Struct):
    """What is wrong, in words; how often statements were said to run at the same time, and how many never did."""

    wrong: list[str]
    covered: int = 0
    unseen: int = 0


def _compare(count: int) -> Told:
    """Compare what phases say of random regions with executions of them."""
    told, pick = Told([]), random.Random(5)
    for one in _functions(count):
        (region,) = regions_of(one)
        loop = next(n for n in walk(one.body) if isinstance(n, For) and n.variable.name == "asked")
        traces = [_trace(pick, region.body) for _ in range(EXECUTIONS)]
        for forward in (True, False):
            found, left = phases(one, region.body, loop, Walls(False), forward=forward)
            executions = [e for trace in traces for e in _executions(trace, loop, forward=forward)]
            if not left and any(e.is_open for e in executions):
                told.wrong.append(f"{one.symbol.name}: the end is reached")
            _compare_phases(told, one, found, executions)
    return told


def _compare_phases(told: Told, one: Function, found: list[WaitPhase], executions: list[Execution]) -> None:
    met = {
        (step.stmt, *execution.other_round(step))
        for execution in executions
        for step in execution.unwaited
        if isinstance(step.stmt, ExprStmt | If | For) and not step.ends
    }
    for ran, outer, rounds in met:
        if not any(_covers(phase, ran, outer, rounds) for phase in found):
            told.wrong.append(f"{one.symbol.name}: line {ran.span.line} runs at the same time")
    seen = {(stmt, outer) for stmt, outer, _ in met}
    for phase in found:
        said = [n for part in phase.scope for n in walk(part) if isinstance(n, ExprStmt) and _is_within(n, phase.whole)]
        told.covered += len(said)
        told.unseen += sum((stmt, phase.rounds) not in seen for stmt in said)
        for stmt in phase.sure if phase.straight else ():
            if not all(_is_met(e, phase, stmt) for e in executions):
                told.wrong.append(f"{one.symbol.name}: line {stmt.span.line} is not sure")


def test_all_that_runs_at_the_same_time_is_in_a_phase() -> None:
    told = _compare(60)
    assert not told.wrong
    assert told.unseen * 2 < told.covered


@pytest.mark.slow
def test_all_that_runs_at_the_same_time_is_in_a_phase_of_many() -> None:
    assert not _compare(1500).wrong


# --- bugs are seen


def _without_past(*given: object, past: bool = False, **named: object) -> object:
    del past
    return ALONG(*given, **named)  # type: ignore[arg-type]


def _always_certain(*given: object, **named: object) -> object:
    cover, used = ALONG(*given, **named)  # type: ignore[arg-type]
    cover.certain = True
    return cover, used


def _without_heads(*given: object, **named: object) -> WaitPhase:
    return replace(PHASE(*given, **named), heads=frozenset())  # type: ignore[arg-type]


ALONG, PHASE = module._along, module._phase
BUGS: dict[str, tuple[object, str, Callable[..., object]]] = {
    "all threads wait behind nowait too": (Walls, "at_end", lambda _, directives: bool(directives)),
    "a barrier in a branch is always met": (module, "escapes", lambda _: False),
    "a jump ends with the block it stands in": (module, "_along", _without_past),
    "a wait that some come to is none": (module, "_along", _always_certain),
    "every loop is entered": (module, "_certainly_enters", lambda _: True),
    "conditions read nothing": (module, "_phase", _without_heads),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_seeded_bug_is_seen(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, instead = BUGS[bug]
    monkeypatch.setattr(owner, name, instead)
    assert _compare(60).wrong


# --- by hand

WAITING = """
void waits(int n) {
#pragma omp barrier
}
void calls(int n) { if (n) waits(n); }
void other(int n) { if (n) other(n - 1); }
void own(int n, int *x) {
#pragma omp parallel
    {
#pragma omp barrier
        x[n] = 1;
    }
}
void whole(int n, int *x) {
#pragma omp for
    for (int asked = 0; asked < n; asked++) x[asked] = 1;
#pragma omp barrier
    x[0] = 1;
}
"""


def test_a_function_waits_where_its_callers_threads_do() -> None:
    assert {s.name for s in waiting_functions(program_of(WAITING))} == {"waits", "calls", "whole"}


@pytest.mark.parametrize(("teams", "covered"), [(False, False), (True, True)])
def test_teams_never_wait_for_each_other(teams: bool, covered: bool) -> None:
    one = function(program_of(WAITING), "whole")
    loop = next(n for n in walk(one.body) if isinstance(n, For))
    found, left = phases(one, one.body, loop, Walls(teams), forward=True)
    assert left == teams and any(phase.whole for phase in found) == covered
