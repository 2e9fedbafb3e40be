"""Offload regions that share the device with their callers: entered and left through the present table, with no copy
between.

    u_gpu = enter u, copy            present already (a data region of the caller's): nothing moves
    v_gpu = enter v, copy
    launch; launch                   no host code in here touches u or v, or anything else that may be present
    exit u; exit v, written          copied back only where nobody else holds it

Invariant: at the entry the device copy is valid (just copied, or present), the host's may be stale; so it is at the
exit. An offload region with host code that needs its data is no such offload region: it is made smaller, and updates
stand between (coherence.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.offload.fragments import Draft, OffloadRegion, OffloadRequest
from warpsmith.offload.memory.places import evaluate_expressions
from warpsmith.offload.memory.rows import is_table
from warpsmith.offload.plan import DeviceBuffer, Transfer
from warpsmith.offload.transfers.accesses import HostAccess, ProgramAccess, point_accesses
from warpsmith.offload.transfers.flow import Flow, build_flow
from warpsmith.offload.transfers.insertion import Edits, rewritten_run
from warpsmith.offload.transfers.placement import PointAccess
from warpsmith.offload.transfers.transfer_check import check_transfers
from warpsmith.offload.transfers.transfers import (
    MovedStatements,
    host_address,
    loops_around,
    section_bytes,
    section_texts,
)
from warpsmith.poly.facts import statement_spans
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.poly.pointers.pointers import is_persistent
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Conditional,
    DataEnter,
    DataExit,
    DeviceAlloc,
    DeviceFree,
    Empty,
    ExprStmt,
    For,
    If,
    Literal,
    Name,
    Node,
    Pragma,
    Stmt,
)
from warpsmith.tree.types import Pointer, Scalar
from warpsmith.tree.walk import children, walk

__all__ = ["WAITS", "host_between", "resident_copies"]

WAITS: Final = "it may be on the device already, and moves where it is entered or left"


def host_between(request: OffloadRequest, offload_region: OffloadRegion) -> Reason | None:
    """Return why host code between the kernels of `offload_region` keeps it from being entered as a whole."""
    host = ProgramAccess(request, offload_region)
    drafts = {draft.statements[0]: draft for draft in offload_region.drafts}
    changed = {use.symbol for draft in offload_region.drafts for use in draft.uses if use.written}
    block = next((b for b in offload_region.buffers if b.allocation and b.host in changed), None)
    whole = offload_region.scope == offload_region.drafts[0].statements
    if block is not None and not whole and not _only_counts(offload_region, host):
        # What host code writes into a block beside what kernels touch is only distinguished while the block is held.
        text = f"host code between the kernels may touch the block of memory of '{block.host.name}'"
        return Reason("POR008", text, statement_spans(offload_region.scope))
    if request.options.data == "managed" and not whole and not _only_counts(offload_region, host):
        text = "host code between the kernels may touch memory that it shares with the device"
        return Reason("POR008", text, statement_spans(offload_region.scope))
    for buffer in offload_region.buffers:
        flow = build_flow(buffer.scope, drafts)
        for point, access in zip(flow.points, _inside(flow, offload_region, buffer, host), strict=True):
            if access.host_use or access.host_write:
                span = point.nodes[0].span if point.nodes else statement_spans(offload_region.scope)
                return Reason("POR008", f"host code between the kernels touches '{buffer.host.name}'", span)
    return _other_code(request, offload_region)


def _only_counts(offload_region: OffloadRegion, host: ProgramAccess) -> bool:
    """Whether host code between the kernels touches nothing but variables to which nothing points: no block of memory
    has a part in those."""
    ported = {stmt for draft in offload_region.drafts for stmt in draft.statements}
    pending: list[Node] = [*offload_region.scope]
    while pending:
        part = pending.pop()
        if part in ported:
            continue
        match part:
            case For(variable=symbol) | Name(symbol=symbol):
                if is_persistent(symbol) or symbol in host.escaped or not isinstance(symbol.type, Scalar):
                    return False
            case Pragma(directive=directive):
                if directive is not None:
                    return False
            case Block() | If() | Assign() | Binary() | Conditional() | Cast() | Literal() | ExprStmt() | Empty():
                pass
            case _:
                return False
        pending += children(part)
    return True


def _inside(
    flow: Flow, offload_region: OffloadRegion, buffer: DeviceBuffer, host: HostAccess
) -> tuple[PointAccess, ...]:
    return point_accesses(flow, offload_region, buffer, _Ending(host))


class _Ending:
    """Host code as it is, with nobody who looks at the data after the scope."""

    def __init__(self, host: HostAccess) -> None:
        self.access = host.access

    def lives_on(self, buffer: DeviceBuffer) -> bool:
        """The end of the scope is no use."""
        return False


def _other_code(request: OffloadRequest, offload_region: OffloadRegion) -> Reason | None:
    """Return why other present memory may be touched between the kernels."""
    assert request.resident is not None
    presence, function = request.resident.presence, request.facts.function
    ported = {part for draft in offload_region.drafts for stmt in draft.statements for part in walk(stmt)}
    flow = build_flow(offload_region.scope, {draft.statements[0]: draft for draft in offload_region.drafts})
    for point in flow.points:
        done = evaluate_expressions(*(node for node in point.nodes if node not in ported))
        calls = [c for c in done.calls if direct_call(c) in presence.summaries.definitions or not _harmless(request, c)]
        met = [t.place for t in done.accesses if presence.may_meet(function, t.place, frozenset())]
        bad = next(iter([*done.opaque, *calls, *met]), None)
        if bad is not None:
            return Reason("POR008", "host code between the kernels may touch what is on the device", bad.span)
    return None


def _harmless(request: OffloadRequest, call: Call) -> bool:
    """Whether a function of the library touches nothing but the values of its arguments."""
    assert request.resident is not None
    known = request.resident.presence.summaries.library(call)
    return known is not None and known.pure and not known.reads


def resident_copies(
    request: OffloadRequest, offload_region: OffloadRegion, launches: Mapping[Draft, tuple[Stmt, ...]]
) -> MovedStatements:
    """Return the scope with enters, launches and exits. Raises RuntimeError where the check of the result fails."""
    assert request.resident is not None
    function, host = request.facts.function, ProgramAccess(request, offload_region)
    drafts = {draft.statements[0]: draft for draft in offload_region.drafts}
    edits = Edits({d.statements[0]: (len(d.statements), launches[d]) for d in offload_region.drafts})
    around = loops_around(function)
    transfers: list[Transfer] = []
    # a variable whose declaration has moved into a kernel has no place on the host
    moved = {use.symbol for draft in offload_region.drafts for use in draft.uses if use.device_only}
    for buffer in offload_region.buffers:
        flow = build_flow(buffer.scope, drafts)
        if buffer.host in moved:
            _keep_on_device(buffer, flow, edits)
            continue
        accesses = point_accesses(flow, offload_region, buffer, host)
        keep = not buffer.cell and request.resident.keeps(function, buffer.host)
        written = any(a.device_write for a in accesses) and host.lives_on(buffer)
        copy = _needs_content(flow, accesses)
        entry = flow.points[0].place
        assert entry is not None
        span = buffer.scope[0].span
        cause = _first(flow, accesses) or span
        enter = DataEnter(
            span=span, buffer=buffer.symbol, variable=buffer.host, address=host_address(buffer, span),
            bytes=section_bytes(buffer), copy=copy, keep=keep, cause=cause,
            allocation=buffer.allocation, changes=written and request.resident.presence.allocations,
            watch=request.resident.watches(function, buffer), starts=buffer.starts,
        )  # fmt: skip
        edits.at(entry, [enter])
        if is_table(buffer):
            continue
        for point in flow.points:
            for pred in point.preds if point.kind == "exit" else ():
                place = flow.points[pred].place
                assert place is not None
                left = DataExit(span=place.node.span, buffer=buffer.symbol, written=written, starts=buffer.starts)
                edits.at(place, [left])
        for to_device in (*([True] if copy else []), *([False] if written else [])):
            made = _transfer(buffer, enter, to_device, around.get(entry.node))
            possibly = request.options.data == "managed" and isinstance(buffer.host.type, Pointer) and not buffer.cell
            waits = WAITS if request.options.overlap else ""
            transfers.append(replace(made, unless_shared=possibly, waits=waits))
    statements = rewritten_run(offload_region.scope, edits)
    findings = check_transfers(statements, offload_region, host)
    if findings:
        raise RuntimeError("the transfer check found: " + "; ".join(findings))
    return MovedStatements(statements, tuple(transfers))


def _keep_on_device(buffer: DeviceBuffer, flow: Flow, edits: Edits) -> None:
    """Give a buffer memory of its own for the scope: nothing is there to copy from, or to."""
    entry, span = flow.points[0].place, buffer.scope[0].span
    assert entry is not None
    edits.at(entry, [DeviceAlloc(span=span, buffer=buffer.symbol, host=buffer.host, bytes=section_bytes(buffer))])
    for point in flow.points:
        for pred in point.preds if point.kind == "exit" else ():
            place = flow.points[pred].place
            assert place is not None
            edits.at(place, [DeviceFree(span=place.node.span, buffer=buffer.symbol)])


def _needs_content(flow: Flow, accesses: tuple[PointAccess, ...]) -> bool:
    """Whether a path from the entry meets a use, or the end, before a kernel has certainly written all."""
    seen, pending = {0}, [0]
    while pending:
        point = pending.pop()
        access = accesses[point]
        if access.device_use or flow.points[point].kind == "exit":
            return True
        if not access.device_write:
            more = [p for p in flow.points[point].succs if p not in seen]
            seen.update(more)
            pending += more
    return False


def _first(flow: Flow, accesses: tuple[PointAccess, ...]) -> Span | None:
    for point, access in zip(flow.points, accesses, strict=True):
        if point.draft is not None and (access.device_use or access.device_write):
            return statement_spans(point.draft.statements)
    return None


def _transfer(buffer: DeviceBuffer, enter: DataEnter, to_device: bool, in_loop: str | None) -> Transfer:
    section, bytes = section_texts(buffer, enter.bytes)
    variable = buffer.host.label or buffer.host.name
    return Transfer(variable, to_device, section, bytes, in_loop, enter.cause, held=enter.keep)
