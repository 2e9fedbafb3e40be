"""Random sequences of steps, applied where they are proved, and what gcc's programs say of them.

source ── up to five steps, each Proved under conditions that hold at all sizes ──► rewritten source
  └──────────────────────── gcc, run at all sizes: the same memory ──────────────────────┘
"""

from __future__ import annotations

import os
import random
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct, field

from tests.poly.host_value import value
from tests.random_programs.steps_programs import SIZES, Source, declarations, runner
from warpsmith.base.errors import WarpsmithError
from warpsmith.base.verdict import Proved
from warpsmith.catalogue import STEPS, Argument, Step, make
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.step import step_text
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import Block, Call, Expr, For, Function, Loop, Name, Stmt, VarDecl
from warpsmith.tree.printing.patch import unit_text
from warpsmith.tree.printing.printer import DeviceStmt
from warpsmith.tree.program import Program
from warpsmith.tree.types import Array
from warpsmith.tree.walk import loop_names, loops, names, walk

__all__ = ["EXEMPT", "SANITIZED", "Outcome", "differences", "proposable", "rewrite"]

Arguments = dict[str, Argument]
Proposal = Callable[[random.Random, Function, Loop], Arguments]

SANITIZED = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
# steps that change what is ported, not the C text; and those that need structs, row pointers, vectors, pragmas or loops
# that are not counted, which these programs do not have: tests/loops/steps and tests/offload/memory/test_allocations.py
# run their own
EXEMPT = frozenset(
    {
        "map",
        "offload",
        "shared-tile",
        "halo-tile",
        "time-tile",
        "register-tile",
        "one-thread",
        "constant-memory",
        "split-structs",
        "double-buffer",
        "vector-load",
        "share-loop",
        "keep",
        "recognize-reduction",
        "recognize-scan",
        "localize",
        "promote",
        "hoist-allocation",
        "flatten",
        "row-starts",
        "vector-rows",
        "unmap",
        "unthread",
        "normalize",
        "canonicalize",
    }
)


class NoWords:
    """A target for programs without device statements."""

    def lines(self, node: DeviceStmt, expr: Callable[[Expr], str]) -> tuple[str, ...]:
        raise AssertionError(f"a step made {node} with {expr}")


class Outcome(Struct):
    """A rewritten unit: its text, the steps that each function went through, and how often each was asked for."""

    text: str
    steps: dict[str, list[str]]
    asked: Counter[str] = field(default_factory=Counter)
    applied: Counter[str] = field(default_factory=Counter)


# --- what to ask for


def _counters(loop: Loop) -> list[str]:
    """Return the counters of the perfect nest that starts at a loop."""
    found: list[str] = []
    while isinstance(loop, For):
        found.append(loop.variable.name)
        body = loop.body
        inner = [n for n, around in loops(body) if not around]
        if len(inner) != 1:
            break
        loop = inner[0]
    return found


def _variables(function: Function, loop: Loop, *, arrays: bool = False) -> list[str]:
    """Return the local variables of a function that a loop names, its counters left out."""
    counters = {n.variable for n in walk(function) if isinstance(n, For)}
    made = {n.symbol for n in walk(function) if isinstance(n, VarDecl)} - counters
    used = {n.symbol for n in names(loop)} & made
    return sorted({s.name for s in used if isinstance(s.type, Array) or not arrays})


def _body(loop: Loop) -> tuple[Stmt, ...]:
    return loop.body.statements if isinstance(loop.body, Block) else (loop.body,)


def _called(loop: Loop) -> list[str]:
    """Return the functions that a loop calls."""
    called = [n.function for n in walk(loop) if isinstance(n, Call)]
    return sorted({f.symbol.name for f in called if isinstance(f, Name)})


def _is_followed(function: Function, loop: Loop) -> bool:
    """Whether another loop stands right behind a loop."""
    blocks = [n.statements for n in walk(function) if isinstance(n, Block)]
    return any(a is loop and isinstance(b, For) for run in blocks for a, b in pairwise(run))


def _fits(name: str, function: Function, loop: Loop) -> bool:
    """Whether it makes any sense to ask for a step here: most loops are no nests, and few run once."""
    match name:
        case "interchange" | "tile" | "wavefront":
            return [type(s) for s in _body(loop)] == [For]
        case "nest":
            return len(_body(loop)) > 1 and sum(isinstance(s, For) for s in _body(loop)) == 1
        case "fuse":
            return _is_followed(function, loop)
        case "remove-header":
            return isinstance(loop, For) and loop.bound.span.text == f"{loop.lower.span.text} + 1"
        case "contract":
            return bool(_variables(function, loop, arrays=True))
        case "expand" | "privatize" | "forward-substitute" | "eliminate-recurrence" | "index-pointer":
            return bool(_variables(function, loop))
        case "inline":
            return bool(_called(loop))
        case _:
            return True


def _order(rng: random.Random, function: Function, loop: Loop) -> Arguments:
    counters = _counters(loop)
    if len(counters) < 3 or rng.random() < 0.5:
        return {}
    return {"order": tuple(rng.sample(counters, len(counters)))}


def _tile(rng: random.Random, function: Function, loop: Loop) -> Arguments:
    depth = min(len(_counters(loop)), rng.choice([1, 2, 2, 3]))
    return {"sizes": tuple(rng.choice([2, 3, 4]) for _ in range(depth))}


def _distribute(rng: random.Random, function: Function, loop: Loop) -> Arguments:
    given: Arguments = {}
    if rng.random() < 0.3:
        given["groups"] = (rng.choice([1, 2]),)
    if rng.random() < 0.2:
        given["order"] = tuple(rng.sample(range(2), 2))
    return given


def _split(rng: random.Random, function: Function, loop: Loop) -> Arguments:
    at = rng.choice(["2", "n - 2", "m", "0", "n + 3", "-4", *_counters_around(function, loop)])
    return {"at": at, "single": rng.random() < 0.5}


def _counters_around(function: Function, loop: Loop) -> list[str]:
    around = dict(loops(function.body))[loop]
    return [outer.variable.name for outer in around if isinstance(outer, For)]


def _named(*, arrays: bool = False, deep: bool = False) -> Proposal:
    def propose(rng: random.Random, function: Function, loop: Loop) -> Arguments:
        given: Arguments = {"variable": rng.choice(_variables(function, loop, arrays=arrays))}
        return {**given, "depth": rng.choice([1, 2])} if deep and rng.random() < 0.5 else given

    return propose


def _skew(rng: random.Random, function: Function, loop: Loop) -> Arguments:
    around = _counters_around(function, loop)
    given: Arguments = {"by": rng.choice(around)} if around and rng.random() < 0.5 else {}
    return {**given, "factor": rng.choice([1, 1, 2, -1])}


def _times(rng: random.Random, function: Function, loop: Loop) -> Arguments:
    """Leave the order to the step, or give the loops of one statement's nest in another order."""
    counters = _counters(loop)
    if rng.random() < 0.5:
        return {}
    return {"times": (" ".join(rng.sample(counters, len(counters))),)}


def _plain(rng: random.Random, function: Function, loop: Loop) -> Arguments:
    return {}


PROPOSALS: dict[str, Proposal] = {
    "interchange": _order,
    "distribute": _distribute,
    "tile": _tile,
    "strip-mine": lambda rng, f, loop: {"size": rng.choice([1, 2, 3, 4])},
    "unroll": lambda rng, f, loop: {"factor": rng.choice([0, 2, 3, 4])},
    "peel": lambda rng, f, loop: rng.choice([{"first": 1}, {"last": 1}, {"first": 2}, {"first": 1, "last": 1}]),
    "split": _split,
    "expand": _named(deep=True),
    "privatize": _named(),
    "contract": _named(arrays=True),
    "forward-substitute": _named(),
    "remove-header": _plain,
    "inline": lambda rng, f, loop: {"function": rng.choice(_called(loop))},
    "outline": lambda rng, f, loop: {"function": f"{f.symbol.name}_part{rng.randrange(99)}"},
    "expand-expression": _plain,
    "fuse": _plain,
    "nest": _plain,
    "reverse": _plain,
    "shift": lambda rng, f, loop: {"by": rng.choice([-2, -1, 1, 3])},
    "skew": _skew,
    "wavefront": lambda rng, f, loop: rng.choice([{}, {"depth": 2}, {"factors": (1, 1)}, {"factors": (2, 1)}]),
    "reschedule": _times,
    "eliminate-recurrence": _named(),
    "index-pointer": _named(),
    "scalar-replace": _plain,
    "find-first": _plain,
    "find-last": _plain,
}


def proposable() -> tuple[str, ...]:
    """Return the names of all steps that rewrite C text; raises KeyError where this file does not know one."""
    wanted = tuple(cls.name for cls in STEPS if cls.name not in EXEMPT)
    for name in wanted:
        PROPOSALS[name]
    return wanted


# --- doing it


def rewrite(
    sources: Sequence[Source], rng: random.Random, folder: Path, steps: Sequence[str], done: Counter[str]
) -> Outcome:
    """Apply up to five steps to every function, each drawn from `steps` until one is proved (or patience ends); those
    that are seldom `done` are asked for more often."""
    path = folder / "unit.c"
    path.write_text("\n".join([declarations(), *(s.text for s in sources), ""]))
    loaded = load_program([str(path)], FrontOptions())
    assert not loaded.findings, loaded.findings
    work = _Work(loaded.program, Facts.about(loaded.program, PolyOptions()), rng, Outcome("", {}), done)
    for source in sources:
        work.outcome.steps[source.name] = []
        for _ in range(rng.choice([1, 2, 3, 4, 5])):
            work.one(source, steps)
    work.outcome.text = unit_text(loaded.program.units[0], work.program.units[0], NoWords())
    return work.outcome


class _Work(Struct):
    program: Program
    facts: Facts
    rng: random.Random
    outcome: Outcome
    done: Counter[str]

    def one(self, source: Source, steps: Sequence[str]) -> None:
        """Try steps on a function until one is applied."""
        weights = [1 / (1 + self.done[name] + self.outcome.applied[name]) for name in steps]
        for name in self.rng.choices(steps, weights, k=6):
            step = self.drawn(source, name)
            self.outcome.asked[name] += 1
            if step is not None and self.holds(step, source):
                self.program = step.apply(self.program)
                self.facts = self.facts.after(self.program)
                self.outcome.applied[name] += 1
                self.outcome.steps[source.name].append(step_text(step))
                return

    def drawn(self, source: Source, name: str) -> Step | None:
        """Return the step at a loop of the function, or of what was outlined of it."""
        found: list[tuple[Function, Loop, str]] = []
        for _, function in self.program.functions():
            if function.symbol.name == source.name or function.symbol.name.startswith(f"{source.name}_part"):
                found += [(function, loop, at) for loop, at in loop_names(function).items()]
        fitting = [place for place in found if _fits(name, place[0], place[1])]
        if not fitting:
            return None
        function, loop, address = self.rng.choice(fitting)
        return make(name, {"loop": address, **PROPOSALS[name](self.rng, function, loop)})

    def holds(self, step: Step, source: Source) -> bool:
        """Whether a step is proved under conditions that hold at all sizes."""
        try:
            verdict = step.check(self.program, self.facts)
        except WarpsmithError:
            return False
        return isinstance(verdict, Proved) and all(_always(a, source) for a in verdict.assumptions)


def _always(assumption: object, source: Source) -> bool:
    condition = getattr(assumption, "condition", None)
    sizes = [size for size in SIZES if source.size != "unsigned" or size[0] >= 0]
    try:
        return condition is not None and all(value(condition, dict(zip("nm", size, strict=True))) for size in sizes)
    except (AssertionError, KeyError):
        return False


def differences(
    sources: Sequence[Source], outcome: Outcome, folder: Path, options: tuple[str, ...] = SANITIZED
) -> Iterator[str]:
    """Build and run both programs; yield every function whose memory or result differs, with its steps and text."""
    (folder / "main.c").write_text(runner(list(sources)))
    (folder / "rewritten.c").write_text(outcome.text)
    before = _printed(folder, "unit.c", ())
    after = _printed(folder, "rewritten.c", options)
    told: set[str] = set()
    for index, line in enumerate(before):
        name = line.split()[0]
        if (index >= len(after) or after[index] != line) and name not in told:
            told.add(name)
            said = after[index] if index < len(after) else "nothing"
            text = next(s.text for s in sources if s.name == name)
            yield f"{outcome.steps[name]}\n{text}\n{_function(outcome.text, name)}\nexpected {line}\nfound    {said}"
            if said == "nothing":
                return


def _function(text: str, name: str) -> str:
    start = text.index(f"double {name}(")
    return text[start : text.index("\n}", start) + 2]


def _printed(folder: Path, unit: str, options: tuple[str, ...]) -> list[str]:
    program = folder / unit.removesuffix(".c")
    command = ["gcc", "-w", "-ffp-contract=off", *options, unit, "main.c", "-o", str(program)]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1"}
    try:
        done = subprocess.run([str(program)], capture_output=True, text=True, check=False, env=environment, timeout=10)
    except subprocess.TimeoutExpired:
        return ["it does not end"]
    lines = done.stdout.splitlines()
    return [*lines, *done.stderr.splitlines()[:12]] if done.returncode else lines
