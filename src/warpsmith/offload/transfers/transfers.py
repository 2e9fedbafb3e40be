"""The transfers of an offload region: its scope, rewritten with allocations, copies, launches and frees.

    for (k …)                             A_gpu = alloc; copy A to A_gpu
        piv = A[k*N+k]; …          →      for (k …)
        for (i …) A[i*N+k] /= piv;            launch; launch
                                          copy A_gpu to A; free A_gpu

placement.py decides where the copies stand, one object at a time; this file knows what they look like. At one place the
order is: copies to the host, frees, allocations, copies to the device. The result is always checked by
transfer_check.py, which shares nothing with the placement.

Limits: a copy moves the whole section that its buffer stands for.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct, field

from warpsmith.base.source import Span
from warpsmith.offload.expressions import binary, name, number, shift_expression
from warpsmith.offload.fragments import Draft, OffloadRegion, OffloadRequest
from warpsmith.offload.plan import DeviceBuffer, Transfer, TransferScheme
from warpsmith.offload.transfers.accesses import HostAccess, HostCode, ProgramAccess, point_accesses
from warpsmith.offload.transfers.flow import Flow, ProgramPoint, build_flow
from warpsmith.offload.transfers.insertion import Edits, rewritten_run
from warpsmith.offload.transfers.overlap import CopyOutcome, overlap_copies
from warpsmith.offload.transfers.overlap_check import check_overlap
from warpsmith.offload.transfers.placement import Insertion, PointAccess, arrange
from warpsmith.offload.transfers.transfer_check import check_transfers
from warpsmith.poly.facts import statement_spans
from warpsmith.poly.isl.bound_values import constant, same_value
from warpsmith.tree.allocations import allocation_size
from warpsmith.tree.nodes import (
    Binary,
    Cast,
    Conditional,
    Copy,
    DeviceAlloc,
    DeviceFree,
    Expr,
    For,
    Function,
    Node,
    SizeOf,
    Stmt,
    Unary,
    While,
    replace,
)
from warpsmith.tree.printing.printer import print_expr, print_type
from warpsmith.tree.types import LONG_LONG, SIZE_T, Array, FunctionType, Opaque, Pointer, Record, Scalar, Type
from warpsmith.tree.walk import children, loop_names

__all__ = [
    "UNPROVED",
    "MovedStatements",
    "block_texts",
    "host_address",
    "insert",
    "insert_copies",
    "loops_around",
    "plain_text",
    "section_bytes",
    "section_texts",
]

UNPROVED: Final = "not proved:"


class MovedStatements(Struct, frozen=True):
    """The statements that take the place of `offload_region.scope` (when its guards hold), and the copies among
    them."""

    statements: tuple[Stmt, ...]
    transfers: tuple[Transfer, ...]


class _Text(Struct):
    """The statements that go to one place, in the order in which they must stand."""

    to_host: list[Stmt] = field(default_factory=list)
    frees: list[Stmt] = field(default_factory=list)
    allocations: list[Stmt] = field(default_factory=list)
    to_device: list[Stmt] = field(default_factory=list)

    def all(self) -> list[Stmt]:
        return [*self.to_host, *self.frees, *self.allocations, *self.to_device]


def insert(
    request: OffloadRequest, offload_region: OffloadRegion, launches: Mapping[Draft, tuple[Stmt, ...]]
) -> MovedStatements:
    """Return the scope with allocations, launches, copies and frees; `launches[draft]` is the Launch, then host
    statements. The scheme is `request.options.transfers`. Raises RuntimeError where the check of the result fails."""
    options = request.options
    host = ProgramAccess(request, offload_region)
    return insert_copies(
        request.facts.function,
        offload_region,
        launches,
        host,
        # several fragments of one region, which a step's guard or a declaration holds together, copy each for itself
        "fragment" if options.data == "per-call" else options.transfers,
        overlap=host if options.overlap else None,
    )


def insert_copies(
    function: Function,
    offload_region: OffloadRegion,
    launches: Mapping[Draft, tuple[Stmt, ...]],
    host: HostAccess,
    scheme: TransferScheme,
    *,
    overlap: HostCode | None = None,
) -> MovedStatements:
    """`insert`, with what the host does given by `host`; where `overlap` says it too, copies go on beside others."""
    drafts = {draft.statements[0]: draft for draft in offload_region.drafts}
    flows: dict[Stmt, Flow] = {}
    texts: dict[ProgramPoint, _Text] = {}
    made_for: list[tuple[int, Copy, DeviceBuffer, str | None]] = []
    around = loops_around(function)
    for buffer in offload_region.buffers:
        flow = build_flow(buffer.scope, drafts)
        flows[buffer.scope[0]] = flow
        accesses = point_accesses(flow, offload_region, buffer, host)
        _frame(buffer, flow, texts)
        for copy in sorted(arrange(flow, accesses, scheme)):
            made = _copy(buffer, flow, accesses, copy, offload_region)
            place = flow.points[copy[0]].place
            assert place is not None
            text = texts.setdefault(place, _Text())
            (text.to_device if made.to_device else text.to_host).append(made)
            made_for.append((place.node.span.start, made, buffer, around.get(place.node)))
    edits = Edits({d.statements[0]: (len(d.statements), launches[d]) for d in offload_region.drafts})
    for place, text in texts.items():
        edits.at(place, text.all())
    statements = rewritten_run(offload_region.scope, edits)
    outcomes: Mapping[Copy, CopyOutcome] = {}
    if overlap is not None:
        statements, outcomes = _overlapped(statements, offload_region, overlap)
    if findings := check_transfers(statements, offload_region, host):
        raise RuntimeError("the transfer check found: " + "; ".join(findings))
    ordered = sorted(made_for, key=lambda one: one[0])
    moved = (_transfer(buffer, made, around, outcomes.get(made, CopyOutcome())) for _, made, buffer, around in ordered)
    return MovedStatements(statements, tuple(moved))


def _overlapped(
    statements: tuple[Stmt, ...], offload_region: OffloadRegion, host: HostCode
) -> tuple[tuple[Stmt, ...], Mapping[Copy, CopyOutcome]]:
    """Return the scope with copies that go on beside others, and what became of each: none does so that is not proved
    by what looks at the result alone."""
    made = overlap_copies(statements, offload_region, host)
    if findings := check_overlap(made.statements, offload_region, host):
        return statements, {copy: CopyOutcome(waits=f"{UNPROVED} {findings[0]}") for copy in made.outcomes}
    return made.statements, made.outcomes


def _frame(buffer: DeviceBuffer, flow: Flow, texts: dict[ProgramPoint, _Text]) -> None:
    """Put the allocation at the scope's entry and a free on each of its exits."""
    entry = flow.points[0].place
    assert entry is not None
    span = buffer.scope[0].span
    texts.setdefault(entry, _Text()).allocations.append(
        DeviceAlloc(span=span, buffer=buffer.symbol, host=buffer.host, bytes=section_bytes(buffer))
    )
    for point in flow.points:
        if point.kind != "exit":
            continue
        for pred in point.preds:
            place = flow.points[pred].place
            assert place is not None
            texts.setdefault(place, _Text()).frees.append(DeviceFree(span=place.node.span, buffer=buffer.symbol))


def _copy(
    buffer: DeviceBuffer, flow: Flow, accesses: tuple[PointAccess, ...], copy: Insertion, offload_region: OffloadRegion
) -> Copy:
    cause = _cause(flow, accesses, copy) or statement_spans(offload_region.scope)
    return Copy(
        span=cause,
        to_device=copy[1] == "to device",
        buffer=buffer.symbol,
        variable=buffer.host,
        host=host_address(buffer, cause),
        offset=number(0, cause),
        bytes=section_bytes(buffer),
        cause=cause,
    )


def section_bytes(buffer: DeviceBuffer) -> Expr:
    """Return the size of the section in bytes, as a long long: zero or negative where the section is empty."""
    span = buffer.lower.span
    element = _element(buffer)
    size = SizeOf(span=span, type=SIZE_T, text=f"sizeof({print_type(element)})", value=_bytes_of(element))
    if buffer.allocation:
        return allocation_size(name(buffer.host, span), size, span)
    signed = Cast(span=span, type=LONG_LONG, operand=size)
    count = _count(buffer.lower, buffer.upper)
    return signed if constant(count) == 1 else binary("*", count, signed)


def _count(lower: Expr, upper: Expr) -> Expr:
    """Return how many elements a section has: zero or less where it is empty."""
    low, high = constant(lower), constant(upper)
    if low is not None and high is not None:
        return number(max(0, high - low), upper.span)
    if low == 0:
        return upper
    if isinstance(upper, Conditional) and same_value(upper.other, lower):
        zero = number(0, upper.span)
        return replace(upper, then=_count(lower, upper.then), other=zero)
    return binary("-", upper, lower) if low is None else _less(upper, low)


def _less(expr: Expr, amount: int) -> Expr:
    """Return `expr - amount`, a number at its end taken in."""
    if isinstance(expr, Binary) and expr.op in ("+", "-") and (last := constant(expr.right)) is not None:
        return shift_expression(expr.left, (last if expr.op == "+" else -last) - amount)
    return shift_expression(expr, -amount)


def _element(buffer: DeviceBuffer) -> Type:
    type = buffer.symbol.type
    return type.to if isinstance(type, Pointer) else type


def _bytes_of(type: Type) -> int | None:
    match type:
        case Scalar():
            return type.bits // 8
        case Record():
            return type.bytes or None
        case Pointer():
            return 8
        case Array() | FunctionType() | Opaque():
            return None


def host_address(buffer: DeviceBuffer, span: Span) -> Expr:
    """Return the address of the section's first element, as a pointer to the element."""
    host, pointer = buffer.host, buffer.symbol.type
    start: Expr = name(host, span)
    if not isinstance(host.type, Pointer | Array):
        return Unary(span=span, type=pointer, op="&", operand=start)
    inner = host.type.to if isinstance(host.type, Pointer) else host.type.of
    if isinstance(inner, Array):
        start = Cast(span=span, type=pointer, operand=start)
    return start if constant(buffer.lower) == 0 else binary("+", start, buffer.lower, pointer)


# --- the record of a copy


def _transfer(buffer: DeviceBuffer, copy: Copy, in_loop: str | None, outcome: CopyOutcome) -> Transfer:
    section, bytes = section_texts(buffer, copy.bytes)
    variable = buffer.host.label or buffer.host.name
    return Transfer(
        variable, copy.to_device, section, bytes, in_loop, copy.cause, beside=outcome.beside, waits=outcome.waits
    )


def block_texts(name: str) -> tuple[str, str]:
    """Return the block of memory behind a pointer, and its size, in words."""
    return f"the block of memory that holds {name}", "all of its block's"


def section_texts(buffer: DeviceBuffer, bytes: Expr) -> tuple[str, str]:
    """Return the section that a buffer stands for, and its size, in words."""
    name = buffer.host.name
    if buffer.starts is not None:
        return f"the blocks of memory that the rows of {name} lie in", "all of its rows' blocks'"
    if buffer.allocation:
        return block_texts(name)
    section = name if buffer.cell else f"{name}[{plain_text(buffer.lower)} .. {plain_text(buffer.upper)})"
    return section, plain_text(bytes)


def plain_text(expr: Expr) -> str:
    """Return an expression as a person would write it: without our conversions to 64 bits."""
    return print_expr(expr).replace("(long long)", "")


# each offload region of a function asks, in each of its plans
@functools.lru_cache(maxsize=16)
def loops_around(function: Function) -> Mapping[Stmt, str]:
    """Return the address of the innermost host loop around each statement of the original function."""
    ids = loop_names(function)
    result: dict[Stmt, str] = {}
    pending: list[tuple[Node, str | None]] = [(function.body, None)]
    for node, around in pending:
        if isinstance(node, Stmt) and around is not None:
            result[node] = around
        body = node.body if isinstance(node, For | While) else None
        inner = ids[node] if isinstance(node, For | While) else around
        pending += [(child, inner if child is body else around) for child in children(node)]
    return result


def _cause(flow: Flow, accesses: tuple[PointAccess, ...], copy: Insertion) -> Span | None:
    """Return what needs a copy: the first use that it serves; for a use behind the scope, the kernel's write."""
    start, direction = copy
    for point in _find_reached(flow, start, forward=True):
        if accesses[point].needs(direction) and (span := _span(flow, point)) is not None:
            return span
    for point in _find_reached(flow, start, forward=False):
        if accesses[point].device_write or accesses[point].host_write:
            return _span(flow, point)
    return None


def _find_reached(flow: Flow, start: int, forward: bool) -> Iterator[int]:
    """Yield the points that control passes after (before) `start`, nearest first."""
    seen, pending = {start}, [start]
    for point in pending:
        yield point
        more = flow.points[point].succs if forward else flow.points[point].preds
        pending += [p for p in dict.fromkeys(more) if p not in seen]
        seen.update(more)


def _span(flow: Flow, number_of_point: int) -> Span | None:
    point = flow.points[number_of_point]
    if point.draft is not None:
        return statement_spans(point.draft.statements)
    return point.nodes[0].span if point.nodes else None
