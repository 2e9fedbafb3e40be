"""The two programs that the referee compares: the original and the port, each recording objects after every region.

    for (i …) y[i] = …;                     ws_k1(…);
    capture y                               capture y from y_gpu      (else branch of the guards: as on the left)

Invariant: both programs record the same objects of the same regions in the same order, also where a guard fails and in
every iteration of a loop around a region. A region's objects are those behind its buffers, and the scalars that the
host sets after the launch. An object that the kernel wrote is read from the device, which also tells the referee that
the host copy is stale from here on; one that it only reads is read on the host: it must be unchanged.

Limits: what a fragment owns (counters, private temporaries, variables that moved to the device) is not recorded; nor
is anything in a function that kernels call as well: what the original does there, the port may do on the device.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from warpsmith.offload.expressions import number
from warpsmith.offload.fragments import Draft, OffloadRegion
from warpsmith.offload.memory.rows import is_table
from warpsmith.offload.plan import DeviceBuffer
from warpsmith.offload.transfers.flow import ProgramPoint, statement_runs
from warpsmith.offload.transfers.insertion import Edits, rewritten_run
from warpsmith.poly.facts import statement_spans
from warpsmith.poly.regions.sections import known_extent
from warpsmith.tree.nodes import CaptureStmt, Expr, Function, Launch, Stmt, replace
from warpsmith.tree.program import Program
from warpsmith.tree.types import Array, Pointer, Symbol
from warpsmith.tree.walk import walk, written_symbols

__all__ = ["with_captures"]

_OffloadRegions = Mapping[Draft, OffloadRegion]


def with_captures(
    original: Program, ported: Program, offload_regions: tuple[OffloadRegion, ...]
) -> tuple[Program, Program]:
    """Return (reference, candidate): both programs with captures after each region of `offload_regions` (of all
    functions)."""
    reference, candidate = original, ported
    on_device = {symbol for kernel in ported.kernels for symbol in kernel.functions}
    for (_, function), (_, new) in zip(original.functions(), ported.functions(), strict=True):
        inside = set(walk(function.body)) if offload_regions else set()
        mine = {d: h for h in offload_regions if h.scope[0] in inside for d in h.drafts}
        if not mine or function.symbol in on_device:
            continue
        plain = _host_captures(original, function, mine)
        reference = reference.with_function(function, _edit_function(function, plain))
        both = _host_captures(original, function, mine)
        _add_device_captures(new, both, mine, original, function)
        candidate = candidate.with_function(new, _edit_function(new, both))
    return reference, candidate


def _edit_function(function: Function, edits: Edits) -> Function:
    body = replace(function.body, statements=rewritten_run(function.body.statements, edits))
    return replace(function, body=body)


def _host_captures(program: Program, function: Function, offload_regions: _OffloadRegions) -> Edits:
    """Return the captures that follow the regions where they still are the user's loops."""
    edits = Edits()
    for draft, offload_region in offload_regions.items():
        made = _captures(program, function, draft, offload_region)
        edits.at(ProgramPoint("after", draft.statements[-1]), [replace(c, buffer=None) for c in made])
    return edits


def _add_device_captures(
    ported: Function, edits: Edits, offload_regions: _OffloadRegions, program: Program, function: Function
) -> None:
    """Add the captures that follow launches, behind the host statements that belong to them."""
    regions = {draft.region: draft for draft in offload_regions}
    for run in _runs(ported.body):
        for position, stmt in enumerate(run):
            if not isinstance(stmt, Launch):
                continue
            draft = regions[stmt.region]
            last = position
            while last + 1 < len(run) and any(run[last + 1] is final for final in draft.finals):
                last += 1
            made = _captures(program, function, draft, offload_regions[draft])
            edits.at(ProgramPoint("after", run[last]), (*_ahead(made), *made))


def _ahead(made: tuple[CaptureStmt, ...]) -> tuple[CaptureStmt, ...]:
    """Return what makes known which parts of the host's memory are stale, where two objects may lie in one block."""
    pointed = [c for c in made if c.extent is None]
    return tuple(replace(c, ahead=True) for c in pointed if c.buffer is not None) if len(pointed) > 1 else ()


def _runs(stmt: Stmt) -> Iterator[tuple[Stmt, ...]]:
    for run in statement_runs(stmt):
        yield run
        for inner in run:
            yield from _runs(inner)


def _captures(
    program: Program, function: Function, draft: Draft, offload_region: OffloadRegion
) -> tuple[CaptureStmt, ...]:
    """Return what is recorded after a launch of `draft`."""
    result: list[CaptureStmt] = []
    buffers = {buffer.host: buffer for buffer in offload_region.buffers}
    written_somewhere = {u.symbol for d in offload_region.drafts for u in d.uses if u.written}
    for use in draft.uses:
        if use.kind == "value" or use.device_only or (use.symbol in written_somewhere and not use.written):
            continue
        buffer = buffers[use.symbol]
        if is_table(buffer) or (offload_region.resident and not use.written):
            continue  # its newest values may be on the device, from a kernel of a caller's: they are recorded there
        extent = _extent(program, function, buffer.host, draft.statements[0])
        result.append(_capture(draft, buffer, extent, newest_on_device=use.written))
    for symbol in dict.fromkeys(s for final in draft.finals for s in sorted(written_symbols(final), key=_key)):
        span = statement_spans(draft.statements)
        zero, one = number(0, span), number(1, span)
        result.append(
            CaptureStmt(
                span=span, region=draft.region, symbol=symbol, element=symbol.type, lower=zero, upper=one, extent=one,
                buffer=None,
            )
        )  # fmt: skip
    return tuple(result)


def _key(symbol: Symbol) -> str:
    return symbol.key


def _capture(draft: Draft, buffer: DeviceBuffer, extent: Expr | None, *, newest_on_device: bool) -> CaptureStmt:
    type = buffer.symbol.type
    return CaptureStmt(
        span=statement_spans(draft.statements),
        region=draft.region,
        symbol=buffer.host,
        element=type.to if isinstance(type, Pointer) else type,
        lower=buffer.lower,
        upper=buffer.upper,
        extent=extent,
        buffer=buffer.symbol if newest_on_device else None,
        starts=buffer.starts,
    )


def _extent(program: Program, function: Function, symbol: Symbol, at: Stmt) -> Expr | None:
    """Return the element count of a declared object; None for a pointer: its allocation tells."""
    if isinstance(symbol.type, Pointer):
        return None
    return known_extent(program, function, symbol, at) if isinstance(symbol.type, Array) else number(1, at.span)
