"""Random runs of statements with schedules, and what they mean: rendered to C for the analysis, executed here.

    Run = one or two loops, each a tree of Loop and Assign; a cut through the trees gives the statements
    Order = rows over the counters for every statement, made from the original ones by a few edits

The oracle knows nothing of polyhedra: it lists the instances at small sizes, sorts them by their new schedules, runs
both orders on hash values, and compares.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

Form = tuple[tuple[tuple[str, int], ...], int]
Env = Mapping[str, int]
Cell = tuple[str, tuple[int, ...]]


class Ref(Struct, frozen=True, eq=False):
    array: str
    subscripts: tuple[Form, ...]

    def text(self) -> str:
        return self.array + "".join(f"[{form_text(s)}]" for s in self.subscripts)

    def cell(self, env: Env) -> Cell:
        return self.array, tuple(value(s, env) for s in self.subscripts)


class Assign(Struct, frozen=True, eq=False):
    """write = reads; under `condition`: form > 0, form % 2 == 0, or a comparison of data."""

    write: Ref
    reads: tuple[Ref, ...]
    condition: tuple[str, Form | Ref] | None = None


class Loop(Struct, frozen=True, eq=False):
    """Counts from `first` up to or down to `last`, both included."""

    var: str
    first: Form
    last: Form
    step: int
    declares: bool
    body: tuple[Part, ...]

    def values(self, env: Env) -> range:
        past = 1 if self.step > 0 else -1
        return range(value(self.first, env), value(self.last, env) + past, self.step)


Part = Loop | Assign


class Line(Struct, frozen=True):
    """floor((form) / divisor): one dimension of a schedule."""

    form: Form
    divisor: int = 1


class ScheduledStatement(Struct, frozen=True):
    """A part, or a whole body (`parts`), under `loops`; `inside`: what stands under the part's condition only."""

    parts: tuple[Part, ...]
    loops: tuple[Loop, ...]
    schedule: tuple[Line, ...]
    inside: bool = False


class Run(Struct, frozen=True):
    name: str
    parts: tuple[Part, ...]
    statements: tuple[ScheduledStatement, ...]
    orders: tuple[tuple[tuple[Line, ...], ...], ...]
    live: bool
    plain: bool


class Event(Struct, frozen=True):
    """One access: the statement instance that makes it, all counters around it, and the cell."""

    instance: int
    at: tuple[int, ...]
    cell: Cell
    write: bool


class Execution(Struct):
    """Memory as it is changed by statement instances; values are hashes of what they were made from."""

    memory: dict[Cell, int] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    instance: int = 0

    def read(self, cell: Cell, at: tuple[int, ...]) -> int:
        self.events.append(Event(self.instance, at, cell, False))
        return self.memory.get(cell, hash((ord(cell[0]), *cell[1])))

    def do(self, part: Part, env: dict[str, int], at: tuple[int, ...]) -> None:
        if isinstance(part, Loop):
            for count in part.values(env):
                for inner in part.body:
                    self.do(inner, {**env, part.var: count}, (*at, count))
            return
        if not self.holds(part, env, at):
            return
        found = tuple(self.read(r.cell(env), at) for r in part.reads)
        cell = part.write.cell(env)
        self.events.append(Event(self.instance, at, cell, True))
        self.memory[cell] = hash((zlib.crc32(part.write.text().encode()), len(part.reads), *found))

    def holds(self, part: Assign, env: Env, at: tuple[int, ...]) -> bool:
        match part.condition:
            case None:
                return True
            case (_, Ref() as ref):
                return self.read(ref.cell(env), at) % 2 == 0
            case (kind, form):
                number = value(form, env)
                return number > 0 if kind == ">" else number % 2 == 0


def value(form: Form, env: Env) -> int:
    return form[1] + sum(factor * env[name] for name, factor in form[0])


def form_text(form: Form) -> str:
    pieces = [f"{factor} * {name}" if factor != 1 else name for name, factor in form[0]]
    if form[1] or not pieces:
        pieces.append(str(form[1]))
    return " + ".join(pieces).replace("+ -", "- ")


def instances(run: Run, n: int, m: int) -> list[tuple[int, dict[str, int]]]:
    """Return (statement number, counters and sizes) of every statement instance in the original order."""
    found: list[tuple[int, dict[str, int]]] = []
    for part in run.parts:
        _instances(run, part, {"n": n, "m": m}, found)
    return found


def _instances(run: Run, part: Part, env: dict[str, int], found: list[tuple[int, dict[str, int]]]) -> None:
    number = next((k for k, statement in enumerate(run.statements) if part is statement.parts[0]), None)
    if number is not None:
        found.append((number, env))
        return
    if isinstance(part, Loop) and not any(part in statement.parts for statement in run.statements):
        for count in part.values(env):
            for inner in part.body:
                _instances(run, inner, {**env, part.var: count}, found)


def execute(run: Run, which: list[tuple[int, dict[str, int]]], order: list[int]) -> Execution:
    """Run the instances in the given order."""
    done = Execution()
    for index in order:
        number, env = which[index]
        statement = run.statements[number]
        done.instance = index
        at = tuple(env[loop.var] for loop in statement.loops)
        for part in statement.parts:
            done.do(part, env, at)
    return done


def when(lines: tuple[Line, ...], env: Env, length: int) -> tuple[int, ...]:
    dimensions = tuple(value(line.form, env) // line.divisor for line in lines)
    return dimensions + (0,) * (length - len(dimensions))


def new_times(run: Run, which: list[tuple[int, dict[str, int]]], order: int) -> list[tuple[int, ...]]:
    schedules = run.orders[order]
    length = max(len(t) for t in schedules)
    return [when(schedules[number], env, length) for number, env in which]


def sizes() -> Iterator[tuple[int, int]]:
    for n in (0, 1, 2, 3, 5):
        for m in (1, 2, 4):
            yield n, m


# --- C


def render(run: Run) -> str:
    lines = [f"void {run.name}(int n, int m, double *restrict out) {{", "  double s = 0, t = 0; int i, j, k;"]
    for part in run.parts:
        lines += _render(part, "  ")
    if run.live:
        lines.append("  *out = s + t;")
    return "\n".join([*lines, "}"])


def _render(part: Part, indent: str) -> list[str]:
    if isinstance(part, Assign):
        text = f"{part.write.text()} = {' + '.join(r.text() for r in part.reads) or '1.0'};"
        match part.condition:
            case None:
                return [indent + text]
            case (_, Ref() as ref):
                return [f"{indent}if ({ref.text()} > 0.5) {text}"]
            case (kind, form):
                test = f"{form_text(form)} > 0" if kind == ">" else f"({form_text(form)}) % 2 == 0"
                return [f"{indent}if ({test}) {text}"]
    relation = "<=" if part.step > 0 else ">="
    kind = "int " if part.declares else ""
    v = part.var
    head = f"for ({kind}{v} = {form_text(part.first)}; {v} {relation} {form_text(part.last)}; {v} += {part.step}) {{"
    return [indent + head, *(line for p in part.body for line in _render(p, indent + "  ")), indent + "}"]


# --- random runs


def make(rng: random.Random, name: str) -> Run:
    plain = rng.random() < 0.8
    parts = tuple(_loop(rng, rng.choice([1, 2, 2, 3]), (), plain) for _ in range(rng.choice([1, 1, 2])))
    cut: list[ScheduledStatement] = []
    for position, part in enumerate(parts):
        _cut(rng, part, (), (Line(((), position)),), cut)
    orders = tuple(_order(rng, cut) for _ in range(4))
    return Run(name, parts, tuple(cut), orders, rng.random() < 0.3, plain)


def _loop(rng: random.Random, depth: int, outer: tuple[str, ...], plain: bool) -> Loop:
    var = "ijk"[len(outer)]
    low: Form = ((), rng.choice([0, 0, 1]))
    if outer and rng.random() < 0.25:
        low = (((outer[-1], 1),), rng.choice([0, 1]))
    high: Form = (((rng.choice(["n", "n", "m"]), 1),), rng.choice([-1, -1, -2]))
    if outer and rng.random() < 0.15:
        high = (((outer[-1], 1),), 0)
    step = rng.choice([1, 1, 1, 1, -1, 2, -2])
    first, last = (low, high) if step > 0 else (high, low)
    inner = (*outer, var)
    body: list[Part] = [_assign(rng, inner, plain) for _ in range(rng.choice([1, 2, 2]) if depth == 1 else 0)]
    if depth > 1:
        body.append(_loop(rng, depth - 1, inner, plain))
        if rng.random() < 0.5:
            body.insert(rng.choice([0, 1]), _assign(rng, inner, plain))
    return Loop(var, first, last, step, rng.random() < 0.5, tuple(body))


def _assign(rng: random.Random, counters: tuple[str, ...], plain: bool) -> Assign:
    write = _ref(rng, counters)
    reads = [_ref(rng, counters) for _ in range(rng.choice([0, 1, 1, 2]))]
    if rng.random() < 0.5:
        near = tuple((form[0], form[1] + rng.choice([0, 0, 1])) for form in write.subscripts)
        reads.append(Ref(write.array, near))
    condition: tuple[str, Form | Ref] | None = None
    if rng.random() < 0.2:
        condition = (rng.choice([">", "%"]), (tuple((c, 1) for c in counters), rng.choice([-1, 0])))
    if not plain and rng.random() < 0.5:
        condition = ("data", _ref(rng, counters))
    return Assign(write, tuple(reads), condition)


def _ref(rng: random.Random, counters: tuple[str, ...]) -> Ref:
    kind = rng.choice(["a", "b", "a", "A", "A", "A", "s", "t"]) if len(counters) > 1 else rng.choice("aaabbst")
    if kind in "st":
        return Ref(kind, ())
    if kind == "A":
        first, second = rng.sample(counters, 2) if rng.random() < 0.8 else rng.choices(counters, k=2)
        return Ref("A", ((((first, 1),), rng.choice([0, 0, -1, 1])), (((second, 1),), rng.choice([0, 0, 1]))))
    if len(counters) > 1 and rng.random() < 0.2:
        return Ref(kind, ((tuple((c, 1) for c in counters[:2]), 0),))
    if rng.random() < 0.1:
        return Ref(kind, (((), rng.choice([0, 1])),))
    return Ref(kind, ((((rng.choice(counters), rng.choice([1, 1, 1, 2])),), rng.choice([0, 0, 1])),))


def _cut(
    rng: random.Random, part: Part, around: tuple[Loop, ...], schedule: tuple[Line, ...], cut: list[ScheduledStatement]
) -> None:
    if isinstance(part, Assign) or (around and rng.random() < 0.25):
        inside = isinstance(part, Assign) and part.condition is not None and rng.random() < 0.5
        cut.append(ScheduledStatement((part,), around, schedule, inside))
        return
    here = (*schedule, Line((((part.var, 1 if part.step > 0 else -1),), 0)))
    if rng.random() < 0.3:
        cut.append(ScheduledStatement(part.body, (*around, part), here))
        return
    for position, inner in enumerate(part.body):
        _cut(rng, inner, (*around, part), (*here, Line(((), position))), cut)


def _order(rng: random.Random, statements: list[ScheduledStatement]) -> tuple[tuple[Line, ...], ...]:
    """Return new schedules, made from the original ones by up to two edits."""
    schedules = [list(statement.schedule) for statement in statements]
    for _ in range(rng.choice([0, 1, 1, 2])):
        _edit(rng, statements, schedules)
    return tuple(tuple(dimensions) for dimensions in schedules)


def _edit(rng: random.Random, statements: list[ScheduledStatement], schedules: list[list[Line]]) -> None:
    kind = rng.choice(["swap", "swap", "reverse", "skew", "shift", "strip", "distribute", "distribute", "fuse", "drop"])
    chosen = rng.choice(statements).loops or statements[0].loops
    picked = rng.randrange(len(statements))
    for number, (statement, dimensions) in enumerate(zip(statements, schedules, strict=True)):
        counts = [k for k, dimension in enumerate(dimensions) if dimension.form[0]]
        variables = [loop.var for loop in statement.loops]
        if kind == "distribute":
            dimensions.insert(1, Line(((), number)))
        elif kind == "fuse":
            dimensions[0] = Line(((), 0))
            dimensions.insert(len(dimensions), Line(((), number)))
        elif kind == "shift" and counts and number == picked:
            dimension = dimensions[counts[0]]
            dimensions[counts[0]] = replace(
                dimension, form=(dimension.form[0], dimension.form[1] + rng.choice([-1, 1]))
            )
        elif kind == "drop" and counts and number == picked:
            del dimensions[counts[-1]]
        elif kind == "swap" and len(counts) > 1:
            a, b = counts[0], counts[1]
            dimensions[a], dimensions[b] = dimensions[b], dimensions[a]
        elif kind == "reverse" and counts and chosen and chosen[0].var in variables:
            dimensions[:] = [_negated(dimension, chosen[-1].var) for dimension in dimensions]
        elif kind == "skew" and len(variables) > 1:
            dimensions[:] = [_skewed(dimension, variables) for dimension in dimensions]
        elif kind == "strip" and counts:
            dimension = dimensions[counts[-1]]
            dimensions.insert(counts[0], Line(dimension.form, 2))


def _negated(dimension: Line, var: str) -> Line:
    terms = tuple((name, -factor if name == var else factor) for name, factor in dimension.form[0])
    return replace(dimension, form=(terms, dimension.form[1]))


def _skewed(dimension: Line, variables: list[str]) -> Line:
    if dimension.form[0] != ((variables[1], 1),):
        return dimension
    return replace(dimension, form=((*dimension.form[0], (variables[0], 1)), dimension.form[1]))
