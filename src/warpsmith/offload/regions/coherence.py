"""Updates around the host code that runs inside a data region: what it reads is brought to the host, what it writes is
sent to the device.

    for (t …) {
        step(u, v);                        offload regions of its own: enters what is there already
                                       +   update the host: u[5], 8 bytes
        if (t % 100 == 0) printf(u[5]);
        u[0] = t;
                                       +   update the device: u[0], 8 bytes
    }

Invariant: between any two statements, every present byte is valid on the device, and host code never reads a present
byte that may be newer there. A write that may leave a part of its range as it was brings that range to the host first.
What cannot be named (an unknown call, memory that it frees) stands in a suspension: nothing is kept while it runs.

A host loop without kernels is one statement: its sections (poly) are what it touches, everything present where they
cannot be computed. Updates stand in front of what reads (under the same condition), and behind what writes.

Limits, each a reason against the data region: writes in a condition or in a `return`; kernels in an expression that
reads what they may write (disturbance.py); OpenMP threads around kernels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from warpsmith.offload.fragments import OffloadRegion
from warpsmith.offload.memory.host_calls import device_call
from warpsmith.offload.memory.places import evaluate_expressions
from warpsmith.offload.regions.host_loops import HostLoops
from warpsmith.offload.regions.needs import HostNeeds, MemoryRange, Need, Surroundings, incoherent
from warpsmith.offload.transfers.flow import ProgramPoint, statement_runs
from warpsmith.tree.nodes import (
    Block,
    Break,
    Continue,
    DataSuspension,
    DeclStmt,
    DeviceNode,
    Empty,
    ExprStmt,
    For,
    If,
    Loop,
    Pragma,
    Return,
    Stmt,
    Switch,
    Update,
    Verbatim,
    While,
)
from warpsmith.tree.walk import same, walk

__all__ = ["Coherent", "Insertions", "updates"]


Insertions = dict[ProgramPoint, list[Stmt]]


class Coherent(Struct):
    """What must be inserted around host statements; `frames`: where data regions begin and end; `fallbacks`: the
    offload regions whose own statements run on the host where a guard fails, each with what must then stand before and
    after them."""

    inserted: Insertions = field(default_factory=dict)
    frames: Insertions = field(default_factory=dict)
    fallbacks: dict[OffloadRegion, tuple[Stmt, Stmt]] = field(default_factory=dict)

    def all(self) -> Insertions:
        """Return all insertions. Behind a run, data are sent to the device before the data region ends: else what
        kernels wrote of them before would come back over what the host has."""
        places = dict.fromkeys((*self.inserted, *self.frames))
        return {at: [*self.inserted.get(at, ()), *self.frames.get(at, ())] for at in places}

    def is_needed(self) -> bool:
        """Whether the function's text must change."""
        return bool(self.inserted or self.fallbacks)

    def around(self, offload_region: OffloadRegion) -> tuple[tuple[Stmt, ...], tuple[Stmt, ...]]:
        """Return what must stand before and after an offload region's own statements where they run on the host."""
        pair = self.fallbacks.get(offload_region)
        return ((), ()) if pair is None else ((pair[0],), (pair[1],))


def updates(around: Surroundings, run: tuple[Stmt, ...], into: Coherent) -> None:
    """Add to `into` what must be inserted around the host statements of `run`. Raises IncoherentError."""
    needs, offload_regions = (
        HostNeeds(around),
        {offload_region.scope[0]: offload_region for offload_region in around.offload_regions},
    )
    _Writer(around, needs, HostLoops(around, needs), offload_regions, into.inserted, into.fallbacks).run(run)


class _Writer(Struct):
    around: Surroundings
    needs: HostNeeds
    loops: HostLoops
    offload_regions: Mapping[Stmt, OffloadRegion]
    inserted: Insertions
    fallbacks: dict[OffloadRegion, tuple[Stmt, Stmt]]

    # --- structure

    def run(self, run: tuple[Stmt, ...]) -> None:
        position, anchor = 0, None
        while position < len(run):
            stmt = run[position]
            offload_region = self.offload_regions.get(stmt)
            if isinstance(stmt, Pragma) and offload_region is None:
                anchor = anchor or stmt
                position += 1
                continue
            first = anchor or stmt
            anchor = None
            if offload_region is not None:
                self.offload_region(offload_region, first)
                position += len(offload_region.scope)
                continue
            if first is not stmt and self.leads_to_kernels(stmt) and _is_parallel(run, first, stmt):
                raise incoherent("OpenMP threads run the kernels inside this", stmt.span)
            self.statement(stmt, first)
            position += 1

    def statement(self, stmt: Stmt, first: Stmt) -> None:
        match stmt:
            case Block():
                self.run(stmt.statements)
            case If() | Switch():
                value = stmt.condition if isinstance(stmt, If) else stmt.value
                self.before(first, self.needs.header(value))
                for inner in statement_runs(stmt):
                    self.run(inner)
            case For() | While():
                self.loop(stmt, first)
            case Break() | Continue() | Empty():
                pass
            case ExprStmt() | DeclStmt() | Return() | Verbatim():
                self.simple(stmt, first)
            case Pragma() | DeviceNode():
                raise incoherent("a statement that is not understood", stmt.span)

    def simple(self, stmt: ExprStmt | DeclStmt | Return | Verbatim, first: Stmt) -> None:
        need = self.needs.need(evaluate_expressions(stmt, objects=self.around.objects), stmt)
        if isinstance(stmt, Return) and (need.after or need.suspended):
            text = "what a return computes is written or passed on: give it a variable of its own"
            raise incoherent(text, stmt.span)
        self.place(need, first, stmt)

    def loop(self, loop: Loop, first: Stmt) -> None:
        leaves = any(isinstance(part, Return) for part in walk(loop.body))
        if not self.leads_to_kernels(loop):
            need = self.loops.unit(loop)
            if not (leaves and (need.after or need.suspended)):
                self.place(need, first, loop)
                return
        values = (loop.lower, loop.bound) if isinstance(loop, For) else (loop.init, loop.condition, loop.advance)
        need = self.needs.header(*values)
        self.before(first, need)
        if need.before:
            self.at_end(loop.body, need)
        for inner in statement_runs(loop):
            self.run(inner)

    def at_end(self, body: Stmt, need: Need) -> None:
        """Put what a loop's condition needs at the end of its body, and before each `continue`."""
        made = [_update(r, to_device=False) for r in need.before]
        run = body.statements if isinstance(body, Block) else (body,)
        place = ProgramPoint("after", run[-1]) if run else ProgramPoint("within", body)
        self.inserted.setdefault(place, []).extend(made)
        for stmt in _continues(body):
            self.inserted.setdefault(ProgramPoint("before", stmt), []).extend(made)

    def offload_region(self, offload_region: OffloadRegion, first: Stmt) -> None:
        """What a launch reads on the host; and where a guard of an offload region fails, its statements run there."""
        self.before(first, self.needs.values(offload_region))
        if any(guard.kind == "guarded" and guard.condition is not None for guard in offload_region.guards):
            if any(isinstance(part, Return) for stmt in offload_region.scope for part in walk(stmt)):
                raise incoherent("the function may be left from inside ported code", offload_region.scope[0].span)
            span = offload_region.scope[0].span
            before, after = (
                Update(span=span, to_device=to_device, variable=None, address=None, bytes=None, cause=span)
                for to_device in (False, True)
            )
            self.fallbacks[offload_region] = (before, after)

    def leads_to_kernels(self, stmt: Stmt) -> bool:
        return any(part in self.offload_regions for part in walk(stmt) if isinstance(part, Stmt)) or (
            device_call(stmt, self.around.device) is not None
        )

    # --- insertion

    def before(self, first: Stmt, need: Need) -> None:
        if need.before:
            made = [_update(r, to_device=False) for r in _distinct(need.before)]
            self.inserted.setdefault(ProgramPoint("before", first), []).extend(made)

    def place(self, need: Need, first: Stmt, last: Stmt) -> None:
        if need.suspended is not None:
            self.inserted.setdefault(ProgramPoint("before", first), []).append(
                DataSuspension(span=need.suspended, ends=False, cause=need.suspended)
            )
            self.inserted.setdefault(ProgramPoint("after", last), []).append(
                DataSuspension(span=need.suspended, ends=True, cause=need.suspended)
            )
            return
        self.before(first, need)
        if need.after:
            made = [_update(r, to_device=True) for r in _distinct(need.after)]
            self.inserted.setdefault(ProgramPoint("after", last), []).extend(made)


def _continues(body: Stmt) -> Iterator[Continue]:
    """Yield the `continue` statements of the loop with this body."""
    if isinstance(body, Continue):
        yield body
    if not isinstance(body, For | While):
        for run in statement_runs(body):
            for stmt in run:
                yield from _continues(stmt)


def _is_parallel(run: tuple[Stmt, ...], first: Stmt, stmt: Stmt) -> bool:
    start = next(i for i, s in enumerate(run) if s is first)
    between = (s for s in run[start:] if isinstance(s, Pragma))
    return any("omp" in pragma.text.split()[:3] for pragma in between if pragma.span.start < stmt.span.start)


def _update(range: MemoryRange, *, to_device: bool) -> Update:
    return Update(
        span=range.cause, to_device=to_device, variable=range.variable, address=range.address, bytes=range.bytes,
        cause=range.cause, block=range.address is not None and range.bytes is None,
    )  # fmt: skip


def _distinct(ranges: list[MemoryRange]) -> list[MemoryRange]:
    """Return the ranges without repetitions; everything makes the others needless."""
    whole = next((r for r in ranges if r.address is None), None)
    if whole is not None:
        return [whole]
    kept: list[MemoryRange] = []
    for new in ranges:
        if not any(_equal(old, new) for old in kept):
            kept.append(new)
    return kept


def _equal(a: MemoryRange, b: MemoryRange) -> bool:
    if a.address is None or b.address is None or not same(a.address, b.address):
        return a.address is b.address
    return a.bytes is b.bytes if a.bytes is None or b.bytes is None else same(a.bytes, b.bytes)
