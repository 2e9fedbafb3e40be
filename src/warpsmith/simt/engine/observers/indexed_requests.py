"""Costs of requests whose lanes are all in one region, given by offsets from its start: as requests.py counts them."""

from __future__ import annotations

from typing import Final

from llvmlite import ir

from warpsmith.machine.requests import SECTOR
from warpsmith.simt.engine.lanes import I1, I32, I64, POINTER, VOID, Emit, Ir
from warpsmith.simt.engine.observers.different import different_function
from warpsmith.simt.engine.observers.requests import Space, request_function
from warpsmith.simt.engine.words import RequestWords

__all__ = ["indexed_request_function"]

_SECTOR_BITS: Final = SECTOR.bit_length() - 1


def indexed_request_function(e: Emit, space: Space, size: int) -> Ir:
    """Return `request(sums, low, offsets, mask, together)`: one request of `size` bytes a lane, all aligned, at offsets
    below 2³¹ from the address `low`; `together`: each lane is known to stand behind the lane before it. The mask has a
    lane."""
    name = f"request.indexed.{space}.{size}"
    found = e.module.globals.get(name)
    if found is not None:
        return found
    full = request_function(e, space, size, size) if space == "shared" else None
    given = [POINTER, I64, e.vector(I32), e.mask_type, I1]
    made = ir.Function(e.module, ir.FunctionType(VOID, given), name)
    own = e.again()
    own.at(made.append_basic_block("entry"))
    if space == "global":
        _count_sectors(own, made.args, size)
    elif space == "shared":
        _count_banks(own, made.args, full)
    else:
        _count_lanes(own, made.args)
    own.b.ret_void()
    return made


def _add(e: Emit, sums: Ir, which: RequestWords, number: Ir) -> None:
    e.add_to(e.word(sums, which), number)


def _count_lanes(e: Emit, arguments: tuple[Ir, ...]) -> None:
    sums, _, _, mask, _ = arguments
    _add(e, sums, RequestWords.REQUESTS, I64(1))
    _add(e, sums, RequestWords.LANES, e.count(mask))


def _count_banks(e: Emit, arguments: tuple[Ir, ...], full: Ir) -> None:
    """Write: lanes side by side have no conflicts; of the rest, the passes are counted."""
    sums, low, offsets, mask, together = arguments
    with e.b.if_else(together) as (then, other):
        with then:
            _count_lanes(e, arguments)
        with other:
            addresses = e.b.add(e.splat(low), e.b.zext(offsets, e.vector(I64)))
            e.b.call(full, [sums, addresses, mask])


def _count_sectors(e: Emit, arguments: tuple[Ir, ...], size: int) -> None:
    """Write: sectors are counted, and those that the different bytes would fill."""
    sums, low, offsets, mask, together = arguments
    b = e.b
    _count_lanes(e, arguments)
    lanes, lowest = e.count(mask), e.lowest(mask)
    wide = mask if e.lanes == 64 else b.zext(mask, I64)
    run = b.lshr(wide, lowest)
    one_run = b.icmp_unsigned("==", b.and_(run, b.add(run, I64(1))), I64(0))
    near, far, ended = e.block("near"), e.block("far"), e.block("ended")
    b.cbranch(b.and_(together, one_run), near, far)
    e.at(near)
    slot = e.slot(offsets.type)
    b.store(offsets, slot)
    first = b.zext(b.load(b.gep(slot, [lowest], source_etype=I32), typ=I32), I64)
    start, bytes_ = b.add(low, first), b.mul(lanes, I64(size))
    last = b.sub(b.add(start, bytes_), I64(1))
    count = b.sub(b.lshr(last, I64(_SECTOR_BITS)), b.lshr(start, I64(_SECTOR_BITS)))
    counted = [(b.add(count, I64(1)), bytes_)]
    b.branch(ended)
    e.at(far)
    shift = (SECTOR // size).bit_length() - 1
    inner = e.splat(b.and_(b.trunc(low, I32), I32(SECTOR - 1)))
    pieces = b.lshr(b.add(offsets, inner), e.splat_constant(I32, size.bit_length() - 1))
    both = b.call(different_function(e, shift), [pieces, mask])
    counted.append((b.extract_value(both, 1), b.mul(b.extract_value(both, 0), I64(size))))
    b.branch(ended)
    e.at(ended)
    totals = []
    for one, other in zip(*counted, strict=True):
        total = b.phi(I64)
        total.add_incoming(one, near)
        total.add_incoming(other, far)
        totals.append(total)
    _add(e, sums, RequestWords.SECTORS, totals[0])
    _add(e, sums, RequestWords.IDEAL, b.udiv(b.add(totals[1], I64(SECTOR - 1)), I64(SECTOR)))
