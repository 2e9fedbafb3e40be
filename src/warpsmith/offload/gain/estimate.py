"""How long a program takes, as its text tells: on the host as it is written, and with what a port puts in its place.

    main ── walked once, each statement with how often it runs ──► seconds on the host, by loop
         └─ launches and copies on the way                     ──► seconds on the device, by kernel and by buffer

A region behind a guard is taken to run on the device (device_time.py). An OpenMP construct is shared by the threads of
the host. A loop that a run has counted is entered as often as it was there, and so is the arm of an `if` that holds it
(frequency.py).
Limits: of an `if` whose condition is not known half of each arm counts; recursion is not followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.machine.time.coarse import HostWork, host_seconds
from warpsmith.offload.gain.device_time import DeviceTime
from warpsmith.offload.gain.frequency import (
    Counted,
    Run,
    entries_at,
    is_directive,
    is_guard,
    list_certain_runs,
    list_runs,
)
from warpsmith.offload.gain.model import GainEstimate, LoopTime, RunKnowledge
from warpsmith.offload.gain.occurrence import Occurrence
from warpsmith.offload.gain.sizes import Size, Sizes, find_changed, find_doubtful
from warpsmith.offload.gain.work import (
    Operations,
    count_operations,
    find_moving,
    footprint,
    has_loop,
    is_cached,
)
from warpsmith.poly.facts import LoopFacts
from warpsmith.tree.effects.file import house_effects
from warpsmith.tree.nodes import (
    Block,
    Call,
    DataRegionBoundary,
    DeclStmt,
    DeviceNode,
    Expr,
    For,
    Function,
    GlobalDecl,
    If,
    Launch,
    Loop,
    Name,
    Node,
    Pragma,
    Stmt,
    Switch,
    While,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loops, peel, root_symbol, walk

__all__ = ["estimate_program"]

_LARGE: Final = 4 << 20
_CACHED: Final = 256 << 10
_NEAR: Final = 1 << 20
_LINE: Final = 64
_BESIDE: Final = 12.0
_MOST_STATEMENTS: Final = 40_000
_TEXT_WORDS: Final = ("writes output", "reads input")


def estimate_program(program: Program, known: RunKnowledge) -> GainEstimate:
    """Return the estimated time of one run of a program: of `main`, or of every function that no other calls."""
    functions = {f.symbol: f for _, f in program.functions()}
    found = GainEstimate()
    walker = _Walker(known, functions, found, DeviceTime(known, functions, found))
    values = {**_globals(program, known.sizes), **known.inferred}
    start = Occurrence(1.0, known.sizes.with_values(values))
    for function in _roots(program):
        walker.enter(function, start)
    walker.on_device.hide()
    if found.launches:
        found.start = known.device.start_us * 1e-6
    return found


def _roots(program: Program) -> list[Function]:
    functions = list({f.symbol: f for _, f in program.functions()}.values())
    main = [f for f in functions if f.symbol.name == "main"]
    called = {p.symbol for f in functions for p in walk(f.body) if isinstance(p, Name) and p.symbol != f.symbol}
    return main or [f for f in functions if f.symbol not in called] or functions


def _globals(program: Program, sizes: Sizes) -> dict[Symbol, Size]:
    """Return the values of the variables of files that nothing changes."""
    changed: set[Symbol] = set()
    for _, function in program.functions():
        changed |= find_changed(function.body) | find_doubtful(function.body)
    found: dict[Symbol, Size] = {}
    for unit in program.units:
        for item in unit.items:
            for declared in item.declarations if isinstance(item, GlobalDecl) else ():
                value = sizes.value(declared.init) if declared.init is not None else None
                if value is not None and declared.symbol not in changed:
                    found[declared.symbol] = value
    return found


class _Walker(Struct):
    known: RunKnowledge
    functions: Mapping[Symbol, Function]
    found: GainEstimate
    on_device: DeviceTime
    changed: dict[Symbol, frozenset[Symbol]] = field(default_factory=dict)
    doubtful: dict[Symbol, frozenset[Symbol]] = field(default_factory=dict)
    operations: dict[Node, Operations] = field(default_factory=dict)
    moving: dict[Loop, frozenset[Symbol]] = field(default_factory=dict)
    left: int = _MOST_STATEMENTS

    def enter(self, function: Function, place: Occurrence) -> None:
        """Walk the body of a function that is called."""
        if function.symbol in place.calls:
            return
        if function.symbol not in self.changed:
            self.changed[function.symbol] = find_changed(function.body)
            self.doubtful[function.symbol] = find_doubtful(function.body)
        times = self._find_times(list_certain_runs(function.body), place)
        place = replace(place, times=min(place.times, times), around=(), calls=(*place.calls, function.symbol))
        self.run((function.body,), replace(place, body=place.times))

    def run(self, statements: Sequence[Stmt], place: Occurrence) -> None:
        """Walk consecutive statements: declarations and the borders of data regions count for those behind them."""
        threads = place.threads
        for stmt in statements:
            self.left -= 1
            if self.left < 0:
                self.found.complete = False
                return
            if isinstance(stmt, Pragma):
                starts = stmt.directive is not None and stmt.directive.starts_threads
                threads = float(self.known.host.cores) if starts else threads
                continue
            if is_directive(stmt):
                continue  # the #endif between a pragma and its loop
            if isinstance(stmt, DataRegionBoundary):
                place = self.on_device.border(stmt, place)
                continue
            self.statement(stmt, replace(place, threads=threads, team=threads > place.threads))
            threads = place.threads
            if isinstance(stmt, DeclStmt):
                place = replace(place, sizes=place.sizes.with_values(self._declared(stmt, place)))

    def statement(self, stmt: Stmt, place: Occurrence) -> None:
        """Walk one statement."""
        if place.team and not isinstance(stmt, For | While):
            self._count(HostWork(teams=float(isinstance(stmt, Block))), place)
            place = replace(place, team=False)
        match stmt:
            case Block(statements=inner):
                self.run(inner, place)
            case For() | While():
                self.loop(stmt, place)
            case If():
                self.branch(stmt, place)
            case Switch(value=value, cases=cases):
                self.plain(value, place)
                for case in cases:
                    self.run(case.body, replace(place, times=place.times / max(1, len(cases))))
            case Launch():
                self.on_device.count(stmt, replace(place, times=self._find_times([stmt], place)))
            case DeviceNode():
                self.on_device.count(stmt, place)
            case _:
                self.plain(stmt, place)

    def loop(self, loop: Loop, place: Occurrence) -> None:
        """Walk a loop on the host."""
        place = replace(place, times=self._find_times([loop], place))
        trips = self._trips(loop, place)
        outer = (*place.outer, loop)
        for each in outer:
            self.found.loops.setdefault(each, LoopTime())
        self._count(HostWork(teams=float(place.team)), replace(place, outer=outer))
        self.found.loops[loop].entries += place.times
        self.found.loops[loop].threads = max(self.found.loops[loop].threads, place.threads)
        if not trips.certain:
            for each in outer:
                self.found.loops[each].certain = False
        inner = replace(
            place,
            times=place.times * trips.value,
            body=place.times * trips.value,
            sizes=place.sizes.inside(loop),
            around=(*place.around, (loop, trips.value)),
            outer=outer,
            team=False,
            guessed=place.guessed or trips.guessed,
        )
        self._count(HostWork(operations=2.0), inner)
        self.run((loop.body,), inner)

    def _trips(self, loop: Loop, place: Occurrence) -> Size:
        """Return how often a loop runs an entry; one that was not counted itself, as often as a counted loop in it."""
        counts = [count for run in list_certain_runs(loop.body) if (count := self._count_of(run, place.sizes))]
        if place.sizes.count(loop.header) is not None or not counts or not place.times:
            return place.sizes.trips(loop)
        return Size(max(count.entries for _, count in counts) / place.times)

    def branch(self, stmt: If, place: Occurrence) -> None:
        """Walk the arms of an `if`: that of a guard which a port has put there, the one that is known to be taken, or
        half of each."""
        self.plain(stmt.condition, place)
        arms = [stmt.then, *([stmt.other] if stmt.other is not None else [])]
        half = place.times
        if is_guard(stmt):
            arms = [stmt.then]
        else:
            taken = place.sizes.value(stmt.condition)
            if taken is not None and taken.certain and not place.around:
                arms = arms[:1] if taken.value else arms[1:]
            else:
                half /= 2
        guessed = place.guessed or (half < place.times and place.sizes.measured is None)
        for arm in arms:
            times = self._find_times(list_runs(arm), place, otherwise=half)
            self.run((arm,), replace(place, times=times, guessed=guessed))

    def plain(self, node: Node, place: Occurrence) -> None:
        """Count a statement or an expression without loops, and walk what it calls."""
        innermost = place.around[-1][0] if place.around else None
        if innermost is not None and has_loop(innermost.body):
            innermost = None
        if node not in self.operations:
            if innermost is not None and innermost not in self.moving:
                self.moving[innermost] = find_moving(innermost)
            self.operations[node] = count_operations(node, None if innermost is None else self.moving[innermost])
        found = self.operations[node]
        work = HostWork(operations=found.count, divisions=found.divisions)
        if innermost is not None:
            work = self._in_innermost(node, work, innermost, place)
        self._count(work, place)
        for call in found.calls:
            self._call(call, place)

    def _in_innermost(self, node: Node, work: HostWork, loop: Loop, place: Occurrence) -> HostWork:
        """Return the work of a statement of an innermost loop, whose references are known."""
        facts = self.known.loops.get(loop)
        # a compiler finds most of what has no chain, also where it takes a test at run time
        chained = facts is None or _is_chained(facts)
        strided, touched = 0.0, dict[Symbol, int]()
        for part in walk(node):
            access = self.known.references.get(id(part)) if isinstance(part, Expr) else None
            if access is None or not isinstance(loop, For) or loop.variable not in access.strides:
                continue
            stride, size = access.strides[loop.variable], footprint(access, place.around)
            element = max(1, footprint(access, ()))
            far = stride is None or abs(stride) * element >= _LINE
            strided += far and size > _CACHED
            if not far and size > _LARGE and not is_cached(access, place.around, _NEAR):
                touched[access.base] = max(touched.get(access.base, 0), int(element) * (3 if access.write else 1))
        return HostWork(
            # what does not wait is done while a step of the chain waits
            operations=max(0.0, work.operations - _BESIDE) if chained else work.operations,
            vector=0.0 if chained else work.operations,
            chain=float(chained),
            divisions=work.divisions / (1 if chained else 2),
            strided=strided,
            bytes=float(sum(touched.values())),
        )

    def _find_times(self, runs: Iterable[Run], place: Occurrence, *, otherwise: float | None = None) -> float:
        """Return how often a text runs in which these stand; `otherwise`: where no run has counted them."""
        counts = [count for run in runs if (count := self._count_of(run, place.sizes)) is not None]
        if not counts:
            return place.times if otherwise is None else otherwise
        outer = place.around[-1][0].header if place.around else None
        around = place.sizes.count(outer) if outer is not None else None
        return max(entries_at(count, place.times, (place.body, outer, around)) for count in counts)

    def _count_of(self, run: Run, sizes: Sizes) -> Counted | None:
        """Return where a loop stands, or the first of those that a launch stands for, and what was counted of it."""
        if isinstance(run, Launch):
            statements = self.known.fragments[run.kernel][0].statements
            headers = [loop.header for statement in statements for loop, _ in loops(statement)]
        else:
            headers = [run.header]
        first = min(headers, key=lambda header: header.start, default=None)
        count = sizes.count(first) if first is not None else None
        return None if first is None or count is None else (first, count)

    def _call(self, call: Call, place: Occurrence) -> None:
        callee = peel(call.function)
        function = self.functions.get(callee.symbol) if isinstance(callee, Name) else None
        if function is None:
            # half of an arm that nobody has seen run would be too much
            moves = place.sizes.measured is not None and isinstance(callee, Name) and _moves_text(callee)
            self._count(HostWork(calls=1.0, io=float(moves)), place)
            return
        bound, objects = dict[Symbol, Size](), dict(place.objects)
        changed = self.changed.get(function.symbol, frozenset())
        for parameter, argument in zip(function.parameters, call.arguments, strict=False):
            value = place.sizes.value(argument)
            if value is not None and parameter not in changed and parameter not in self.known.inferred:
                # tomorrow's call may pass another number; that of a counted run has passed this one
                bound[parameter] = Size(value.value, value.certain and place.sizes.measured is not None)
            root = root_symbol(peel(argument))
            if root is not None:
                objects[parameter] = objects.get(root, root)
        self.enter(function, replace(place, sizes=place.sizes.with_values(bound), objects=objects))

    def _declared(self, stmt: DeclStmt, place: Occurrence) -> dict[Symbol, Size]:
        """Return the values of variables that are declared with one and never changed."""
        function = place.calls[-1]
        changed, doubtful = self.changed[function], self.doubtful[function]
        values = {d.symbol: place.sizes.value(d.init) for d in stmt.declarations if d.init is not None}
        return {
            symbol: Size(value.value, value.certain and (place.sizes.measured is not None or symbol not in doubtful))
            for symbol, value in values.items()
            if value is not None and symbol not in changed and symbol not in self.known.inferred
        }

    def _count(self, work: HostWork, place: Occurrence) -> None:
        seconds = host_seconds(self.known.host, work.times(place.times), place.threads)
        self.found.host += seconds
        for loop in place.outer:
            self.found.loops[loop].seconds += seconds
        if place.outer:
            self.found.loops[place.outer[-1]].own += seconds


def _moves_text(callee: Name) -> bool:
    """Whether a library function reads or writes a file."""
    effects = house_effects().of(callee.symbol.name)
    return effects is not None and effects.reason.endswith(_TEXT_WORDS)


def _is_chained(facts: LoopFacts) -> bool:
    """Whether an iteration waits for the one before: it is combined with it, or reads what that one has written."""
    if facts.category in ("reduction", "scan"):
        return True
    found = (reason.dependence for reason in facts.reasons if reason.dependence is not None)
    return any(d.kind == "flow" and d.distance[-1:] == (1,) for d in found)
