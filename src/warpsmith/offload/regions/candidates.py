"""Which statements are worth a data region: loops that run kernels again and again, and stages that hand data on.

    {
        read(&o, argv);
        gray = to_gray(color);       ─┐
        report(gray);                 │  a run: the first and the last statement that come to kernels and share memory
        gamma(gray);                  │  with another one
        edges(gray, lines);          ─┘
        write(lines);
    }

Invariant: candidates of one function do not overlap. A run is cut where a statement may not stand in a data region;
what is left of it on both sides is tried again, and so are the loops and blocks in it that are no part of a run.

Which runs share memory decides only whether a data region is of use: the run time knows what is where.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from warpsmith.offload.fragments import OffloadRegion
from warpsmith.offload.memory.host_calls import HostCalls, calls_in, device_call
from warpsmith.offload.plan import DataRegion, RefusedDataRegion
from warpsmith.offload.transfers.flow import statement_runs
from warpsmith.poly.pointers.accesses import bases, direct_call, is_pointer
from warpsmith.poly.pointers.pointers import UNKNOWN, Root, is_persistent
from warpsmith.tree.nodes import (
    Block,
    Call,
    DeclStmt,
    For,
    Function,
    Pragma,
    Return,
    Stmt,
    Switch,
    VerbatimExpr,
    While,
)
from warpsmith.tree.types import Array, Record, Symbol
from warpsmith.tree.walk import walk

__all__ = ["candidates"]


def candidates(
    function: Function,
    offload_regions: tuple[OffloadRegion, ...],
    calls: HostCalls,
    refused: Sequence[RefusedDataRegion],
    hosts: Mapping[Function, frozenset[Symbol]],
) -> Iterator[DataRegion]:
    """Yield the outermost loops and runs of `function` that come to kernels; none inside a kernel's own statements, and
    none that is `refused`. `hosts`: the variables of static storage that the offload regions of each function put on
    the device."""
    cuts = frozenset(stmt for one in refused for stmt in one.cuts)
    loops = frozenset(stmt for one in refused if one.data_region.loop is not None for stmt in one.cuts)
    with_data = tuple(offload_region for offload_region in offload_regions if offload_region.buffers)
    split = frozenset(offload_region for offload_region in with_data if _is_split(offload_region, calls))
    search = _Search(
        function, offload_regions, calls, cuts, loops, hosts, frozenset(h.scope[0] for h in with_data), split
    )
    yield from search.inside(function.body.statements)


class _Search(Struct, frozen=True):
    """`cuts`: the statements that may be in no run; `loops`: those that may be no data region; `scopes`: the first
    statements of offload regions with data; `split`: the offload regions that fall apart in a data region."""

    function: Function
    offload_regions: tuple[OffloadRegion, ...]
    calls: HostCalls
    cuts: frozenset[Stmt]
    loops: frozenset[Stmt]
    hosts: Mapping[Function, frozenset[Symbol]]
    scopes: frozenset[Stmt]
    split: frozenset[OffloadRegion]

    def inside(self, run: tuple[Stmt, ...]) -> Iterator[DataRegion]:
        """Yield the candidates in the statements of a block."""
        held: set[Stmt] = set()
        for stages in self.runs(run):
            held.update(stages)
            yield DataRegion(self.function, stages, own=all(device_call(s, self.calls.device) is None for s in stages))
        for before, stmt in zip((None, *run), run, strict=False):
            if stmt not in held and not (isinstance(stmt, Block) and _starts_threads(before)):
                yield from self.below(stmt)

    def below(self, stmt: Stmt) -> Iterator[DataRegion]:
        """Yield the candidates in one statement that is in no run."""
        if any(stmt in draft.statements for offload_region in self.offload_regions for draft in offload_region.drafts):
            return
        if isinstance(stmt, For | While) and stmt not in self.loops and self.comes_to_kernels(stmt.body):
            yield DataRegion(self.function, (stmt,), own=device_call(stmt.body, self.calls.device) is None)
            return
        for run in statement_runs(stmt):
            yield from self.inside(run) if not isinstance(stmt, Switch) else self.alone(run)

    def alone(self, run: tuple[Stmt, ...]) -> Iterator[DataRegion]:
        """Yield the candidates in a case of a switch, between whose statements control may enter."""
        for stmt in run:
            yield from self.below(stmt)

    def comes_to_kernels(self, stmt: Stmt) -> bool:
        """Whether a statement calls what leads to kernels, or has offload regions with data of their own in it."""
        return device_call(stmt, self.calls.device) is not None or any(part in self.scopes for part in walk(stmt))

    # --- runs

    def runs(self, run: tuple[Stmt, ...]) -> Iterator[tuple[Stmt, ...]]:
        """Yield the longest runs of stages that share memory, between the cuts."""
        start = 0
        for position, stmt in enumerate([*run, None]):
            if stmt is None or stmt in self.cuts or isinstance(stmt, Return):
                yield from self.stages(run[start:position])
                start = position + 1

    def stages(self, run: tuple[Stmt, ...]) -> Iterator[tuple[Stmt, ...]]:
        """Yield the run from the first to the last stage that shares memory with another one."""
        found = [(first, last, self.memory(run[first : last + 1])) for first, last in self.items(run)]
        paired = [i for i, one in enumerate(found) if any(one[2] & other[2] for other in found if other is not one)]
        if paired:
            yield _with_pragmas(run, found[paired[0]][0], found[paired[-1]][1])

    def items(self, run: tuple[Stmt, ...]) -> Iterator[tuple[int, int]]:
        """Yield the first and the last index of each statement, or offload region, of `run` that comes to kernels."""
        whole = [
            offload_region
            for offload_region in self.offload_regions
            if offload_region.buffers and offload_region not in self.split
        ]
        scopes = {offload_region.scope[0]: len(offload_region.scope) for offload_region in whole}
        kernels = self.loose_kernels()
        position = 0
        while position < len(run):
            stmt = run[position]
            count = scopes.get(stmt, 1)
            if stmt in scopes or self.comes_to_kernels(stmt) or any(part in kernels for part in walk(stmt)):
                yield position, position + count - 1
            position += count

    def loose_kernels(self) -> frozenset[Stmt]:
        """Return the first statements of the kernels of offload regions that fall apart."""
        return frozenset(draft.statements[0] for offload_region in self.split for draft in offload_region.drafts)

    def memory(self, run: Sequence[Stmt]) -> frozenset[Root]:
        """Return where the memory comes from that a stage has on the device."""
        where = self.calls.summaries.provenance(self.function)
        found: set[Root] = set()
        parts = {part for stmt in run for part in walk(stmt)}
        for offload_region in self.offload_regions:
            inside = any(draft.statements[0] in parts for draft in offload_region.drafts)
            for buffer in offload_region.buffers if inside else ():
                if isinstance(buffer.host.type, Array):
                    found.add(Root("object", buffer.host))
                elif not buffer.cell:
                    found |= where.roots.get(buffer.host, frozenset({UNKNOWN}))
        for function in self.calls.find_reached(run):
            found |= {Root("object", symbol) for symbol in self.hosts.get(function, ())}
        for part in parts:
            if isinstance(part, Call) and direct_call(part) in self.calls.device:
                found |= {root for a in part.arguments if is_pointer(a) for base in bases(a) for root in where.of(base)}
            elif isinstance(part, VerbatimExpr) and device_call(part, self.calls.device) is not None:
                found |= {Root("object", symbol) for symbol in part.reads}
            elif isinstance(part, DeclStmt):
                made = (d.symbol for d in part.declarations if isinstance(d.symbol.type, Record))
                found |= {Root("object", symbol) for symbol in made}
        return frozenset(_plain(root) for root in found)


def _is_split(offload_region: OffloadRegion, calls: HostCalls) -> bool:
    """Whether an offload region falls apart in a data region: what is called between its kernels comes to some as
    well. What its kernels call runs in their threads."""
    run = (stmt for draft in offload_region.drafts for stmt in draft.statements)
    own = {id(call) for stmt in run for call in calls_in(stmt)}
    found = (call for stmt in offload_region.scope for call in calls_in(stmt) if id(call) not in own)
    return any(direct_call(call) in calls.device for call in found)


def _plain(root: Root) -> Root:
    """A pointer of static storage and what it points to count as one."""
    symbol = root.symbol
    return Root("object", symbol) if symbol is not None and is_persistent(symbol) else root


def _starts_threads(stmt: Stmt | None) -> bool:
    return isinstance(stmt, Pragma) and stmt.directive is not None and stmt.directive.starts_threads


def _with_pragmas(run: tuple[Stmt, ...], first: int, last: int) -> tuple[Stmt, ...]:
    """Return run[first … last] with the pragmas in front of it."""
    while first > 0 and isinstance(run[first - 1], Pragma):
        first -= 1
    return run[first : last + 1]
