"""How long a program takes, as its text tells: on the host as it is written, and with what a port puts in its place.

    main ── walked once, each statement with how often it runs ──► seconds on the host, by loop
         └─ launches and copies on the way                     ──► seconds on the device, by kernel and by buffer

A region behind a guard is taken to run on the device. Inside a data region an object is copied once for each time that
the region is entered, and comes back once. An OpenMP construct is shared by the threads of the host. A loop that a run
has counted is entered as often as it was there, and so is the arm of an `if` that holds it (frequency.py).
Limits: of an `if` whose condition is not known half of each arm counts; recursion is not followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.machine.devices import Device, HostProcessor
from warpsmith.machine.time import HostWork, copy_seconds, host_seconds, kernel_seconds
from warpsmith.offload.gain.frequency import (
    Counted,
    Run,
    entries_at,
    is_directive,
    is_guard,
    list_certain_runs,
    list_runs,
)
from warpsmith.offload.gain.sizes import DEFAULT_TRIPS, Size, Sizes, find_changed, find_doubtful
from warpsmith.offload.gain.work import (
    Operations,
    count_operations,
    find_moving,
    footprint,
    has_loop,
    is_cached,
    kernel_work,
)
from warpsmith.offload.plan import Fragment
from warpsmith.poly.facts import LoopFacts, ReferenceFact
from warpsmith.tree.effects.file import house_effects
from warpsmith.tree.nodes import (
    Block,
    Call,
    Copy,
    DataEnter,
    DataExit,
    DataRegionBoundary,
    DataSuspension,
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
    Update,
    While,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import children, loops, peel, root_symbol, walk

__all__ = ["GainEstimate", "KernelTime", "LoopTime", "RunKnowledge", "estimate_program"]

_LARGE: Final = 4 << 20
_CACHED: Final = 256 << 10
_NEAR: Final = 1 << 20
_LINE: Final = 64
_BESIDE: Final = 12.0
_MOST_STATEMENTS: Final = 40_000
_TEXT_WORDS: Final = ("writes output", "reads input")
_UNKNOWN_BYTES: Final = 8.0 * DEFAULT_TRIPS


class KernelTime(Struct):
    """All launches of one kernel."""

    seconds: float = 0.0
    launches: float = 0.0
    threads: float = 0.0
    certain: bool = True


class LoopTime(Struct):
    """All runs of one loop on the host, `own` without the loops in it; `certain`: so are the counts of the loops in it,
    and its own. `threads` of the host run it at once."""

    seconds: float = 0.0
    own: float = 0.0
    entries: float = 0.0
    certain: bool = True
    threads: float = 1.0


class GainEstimate(Struct):
    """Seconds of a program's one run: `host` of what the processor does, `device` of launches and copies, `start` until
    the device is ready; `bytes` are copied in `copies`. `kernels` by name, `moving` (seconds of copies) by buffer,
    `loops` by their nodes. `complete`: all of the program's text was read."""

    host: float = 0.0
    device: float = 0.0
    start: float = 0.0
    launches: float = 0.0
    copies: float = 0.0
    bytes: float = 0.0
    kernels: dict[str, KernelTime] = field(default_factory=dict)
    moving: dict[Symbol, float] = field(default_factory=dict)
    loops: dict[Loop, LoopTime] = field(default_factory=dict)
    complete: bool = True

    @property
    def seconds(self) -> float:
        """The whole run."""
        return self.host + self.device + self.start


class RunKnowledge(Struct, frozen=True):
    """What an estimate rests on: the machines, what the user gave or a run has shown (`sizes`), the facts of the
    program's loops, and the fragments whose kernels it launches, each with its nest's facts. `inferred`: the variables
    whose values the counts of loops tell."""

    device: Device
    host: HostProcessor
    sizes: Sizes
    loops: Mapping[Loop, LoopFacts]
    references: Mapping[int, ReferenceFact]
    fragments: Mapping[str, tuple[Fragment, LoopFacts | None]] = field(default_factory=dict)
    inferred: Mapping[Symbol, Size] = field(default_factory=dict)


class _Region(Struct, eq=False):
    """A data region on the way: how often it is entered, and what is on the device."""

    entries: float
    present: set[Symbol] = field(default_factory=set)
    written: set[Symbol] = field(default_factory=set)


class _Place(Struct, frozen=True):
    """Where a statement stands: how often it runs, what variables are worth there, the loops around it (those of its
    function), all loops on the way, the functions on the way, cores, the data region, and whose objects parameters
    are. `team`: threads are started for the statement. `body`: how often the body of the innermost of the loops around
    it runs, or that of the function."""

    times: float
    sizes: Sizes
    body: float = 1.0
    team: bool = False
    around: tuple[tuple[Loop, float], ...] = ()
    outer: tuple[Loop, ...] = ()
    calls: tuple[Symbol, ...] = ()
    threads: float = 1.0
    region: _Region | None = None
    objects: Mapping[Symbol, Symbol] = field(default_factory=dict)


def estimate_program(program: Program, known: RunKnowledge) -> GainEstimate:
    """Return the estimated time of one run of a program: of `main`, or of every function that no other calls."""
    functions = {f.symbol: f for _, f in program.functions()}
    walker = _Walker(known, functions)
    values = {**_globals(program, known.sizes), **known.inferred}
    start = _Place(1.0, known.sizes.with_values(values))
    for function in _roots(program):
        walker.enter(function, start)
    if walker.found.launches:
        walker.found.start = known.device.start_us * 1e-6
    return walker.found


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
    found: GainEstimate = field(default_factory=GainEstimate)
    changed: dict[Symbol, frozenset[Symbol]] = field(default_factory=dict)
    doubtful: dict[Symbol, frozenset[Symbol]] = field(default_factory=dict)
    buffers: dict[Symbol, tuple[Symbol, float]] = field(default_factory=dict)
    operations: dict[Node, Operations] = field(default_factory=dict)
    moving: dict[Loop, frozenset[Symbol]] = field(default_factory=dict)
    left: int = _MOST_STATEMENTS

    def enter(self, function: Function, place: _Place) -> None:
        """Walk the body of a function that is called."""
        if function.symbol in place.calls:
            return
        if function.symbol not in self.changed:
            self.changed[function.symbol] = find_changed(function.body)
            self.doubtful[function.symbol] = find_doubtful(function.body)
        times = self._find_times(list_certain_runs(function.body), place)
        place = replace(place, times=min(place.times, times), around=(), calls=(*place.calls, function.symbol))
        self.run((function.body,), replace(place, body=place.times))

    def run(self, statements: Sequence[Stmt], place: _Place) -> None:
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
                place = self._border(stmt, place)
                continue
            self.statement(stmt, replace(place, threads=threads, team=threads > place.threads))
            threads = place.threads
            if isinstance(stmt, DeclStmt):
                place = replace(place, sizes=place.sizes.with_values(self._declared(stmt, place)))

    def statement(self, stmt: Stmt, place: _Place) -> None:
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
            case DeviceNode():
                self.on_device(stmt, place)
            case _:
                self.plain(stmt, place)

    def loop(self, loop: Loop, place: _Place) -> None:
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
        )
        self._count(HostWork(operations=2.0), inner)
        self.run((loop.body,), inner)

    def _trips(self, loop: Loop, place: _Place) -> Size:
        """Return how often a loop runs an entry; one that was not counted itself, as often as a counted loop in it."""
        counts = [count for run in list_certain_runs(loop.body) if (count := self._count_of(run, place.sizes))]
        if place.sizes.count(loop.header) is not None or not counts or not place.times:
            return place.sizes.trips(loop)
        return Size(max(count.entries for _, count in counts) / place.times)

    def branch(self, stmt: If, place: _Place) -> None:
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
        for arm in arms:
            times = self._find_times(list_runs(arm), place, otherwise=half)
            self.run((arm,), replace(place, times=times))

    def plain(self, node: Node, place: _Place) -> None:
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

    def _in_innermost(self, node: Node, work: HostWork, loop: Loop, place: _Place) -> HostWork:
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

    def _find_times(self, runs: Iterable[Run], place: _Place, *, otherwise: float | None = None) -> float:
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

    def _call(self, call: Call, place: _Place) -> None:
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

    def _declared(self, stmt: DeclStmt, place: _Place) -> dict[Symbol, Size]:
        """Return the values of variables that are declared with one and never changed."""
        function = place.calls[-1]
        changed, doubtful = self.changed[function], self.doubtful[function]
        values = {d.symbol: place.sizes.value(d.init) for d in stmt.declarations if d.init is not None}
        return {
            symbol: Size(value.value, value.certain and (place.sizes.measured is not None or symbol not in doubtful))
            for symbol, value in values.items()
            if value is not None and symbol not in changed and symbol not in self.known.inferred
        }

    def _count(self, work: HostWork, place: _Place) -> None:
        seconds = host_seconds(self.known.host, work.times(place.times), place.threads)
        self.found.host += seconds
        for loop in place.outer:
            self.found.loops[loop].seconds += seconds
        if place.outer:
            self.found.loops[place.outer[-1]].own += seconds

    # --- what a port adds

    def on_device(self, stmt: Stmt, place: _Place) -> None:
        """Count a device statement."""
        match stmt:
            case Launch(kernel=kernel):
                self._launch(kernel, replace(place, times=self._find_times([stmt], place)))
            case Copy(buffer=buffer, bytes=bytes):
                self._move(buffer, self._bytes(bytes, place), place.times)
            case DataEnter():
                self._enter_data(stmt, place)
            case DataExit(buffer=buffer, written=True):
                self._leave_data(buffer, place)
            case Update(variable=variable, bytes=bytes):
                if bytes is None:
                    self._move_all(place.times)
                else:
                    self._move(variable, self._bytes(bytes, place), place.times)
            case DataSuspension(ends=False):
                self._move_all(2 * place.times)
            case _:
                pass

    def _launch(self, kernel: str, place: _Place) -> None:
        fragment, facts = self.known.fragments[kernel]
        threads, certain, seconds = 1.0, True, self.known.device.launch_ns * 1e-9
        if facts is not None and fragment.kernel.mapped:
            heads = _heads(facts.loop, len(fragment.kernel.mapped))
            sectors = fragment.model.sectors_per_request if fragment.model is not None else 1.0
            work, certain = kernel_work(heads, facts.accesses, sectors, place.sizes, self.functions)
            threads, seconds = work.threads, kernel_seconds(self.known.device, work)
        # a reduction is two kernels, a scan three
        launches = place.times * (3 if fragment.kernel.scans else 2 if fragment.kernel.reductions else 1)
        total = self.found.kernels.setdefault(kernel, KernelTime())
        spent = place.times * seconds + (launches - place.times) * self.known.device.launch_ns * 1e-9
        total.seconds += spent
        total.launches += launches
        total.threads = max(total.threads, threads)
        total.certain = total.certain and certain
        self.found.launches += launches
        self.found.device += spent

    def _bytes(self, expr: Expr, place: _Place) -> float:
        value = place.sizes.value(expr)
        return _UNKNOWN_BYTES if value is None else max(0.0, value.value)

    def _move(self, buffer: Symbol | None, bytes: float, times: float) -> None:
        if times <= 0:
            return
        seconds = copy_seconds(self.known.device, bytes * times, times)
        self.found.copies += times
        self.found.bytes += bytes * times
        self.found.device += seconds
        if buffer is not None:
            self.found.moving[buffer] = self.found.moving.get(buffer, 0.0) + seconds

    def _move_all(self, times: float) -> None:
        """Count copies of all that has been on the device so far."""
        objects = dict(self.buffers.values())
        for bytes in objects.values():
            self._move(None, bytes, times)

    def _border(self, stmt: DataRegionBoundary, place: _Place) -> _Place:
        return replace(place, region=(place.region or _Region(place.times)) if stmt.opens else None)

    def _enter_data(self, stmt: DataEnter, place: _Place) -> None:
        host = place.objects.get(stmt.variable, stmt.variable)
        bytes = self._bytes(stmt.bytes, place)
        self.buffers[stmt.buffer] = (host, bytes)
        if place.region is None:
            self._move(stmt.buffer, bytes if stmt.copy else 0.0, place.times if stmt.copy else 0.0)
        elif host not in place.region.present:
            place.region.present.add(host)
            self._move(stmt.buffer, bytes, min(place.region.entries, place.times) if stmt.copy else 0.0)

    def _leave_data(self, buffer: Symbol, place: _Place) -> None:
        host, bytes = self.buffers.get(buffer, (buffer, _UNKNOWN_BYTES))
        if place.region is None:
            self._move(buffer, bytes, place.times)
        elif host not in place.region.written:
            place.region.written.add(host)
            self._move(buffer, bytes, min(place.region.entries, place.times))


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


def _heads(loop: Loop, count: int) -> list[For]:
    """Return the perfectly nested loops that are threads, from `loop` on."""
    found: list[For] = []
    pending: list[Node] = [loop]
    while pending and len(found) < count:
        node = pending.pop(0)
        if isinstance(node, For):
            found.append(node)
            pending = [node.body]
        else:
            pending += [child for child in children(node) if isinstance(child, Block | For)]
    return found
