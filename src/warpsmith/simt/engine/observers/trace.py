"""The sectors of global memory that each request of a warp touches are written down (Trace, simt/memory.py).

Local memory is not written down. A request that has no room any more is left out, and TraceWords.CUT says so.
"""

from __future__ import annotations

from llvmlite import ir

from warpsmith.machine.requests import SECTOR
from warpsmith.simt.engine.lanes import I64, POINTER, VOID, Emit, Ir
from warpsmith.simt.engine.observers.races import Kind
from warpsmith.simt.engine.observers.requests import Space, each_sector, lowest_address
from warpsmith.simt.engine.words import LaunchWords
from warpsmith.simt.memory import KINDS, SHARED_WINDOW, TraceWords

__all__ = ["trace_function"]


def trace_function(e: Emit, kind: Kind, space: Space, size: int, aligned: int) -> Ir:
    """Return `trace(state, warp, addresses, mask)`: write down one request of `size` bytes a lane, addresses multiples
    of `aligned`; the mask has a lane."""
    name = f"trace.{kind}.{space}.{size}.{aligned}"
    found = e.module.globals.get(name)
    if found is not None:
        return found
    made = ir.Function(e.module, ir.FunctionType(VOID, [POINTER, I64, e.vector(I64), e.mask_type]), name)
    own = e.again()
    own.at(made.append_basic_block("entry"))
    state, warp, addresses, mask = made.args
    if space == "generic":
        lowest = lowest_address(own, addresses, mask)
        with own.b.if_then(own.b.icmp_unsigned("<", lowest, I64(SHARED_WINDOW))):
            _write_record(own, state, (warp, kind), (addresses, mask, size, aligned))
    else:
        _write_record(own, state, (warp, kind), (addresses, mask, size, aligned))
    own.b.ret_void()
    return made


def _write_record(e: Emit, state: Ir, who: tuple[Ir, Kind], asked: tuple[Ir, Ir, int, int]) -> None:
    """Write the code for one record."""
    b, (warp, kind), (addresses, mask, size, aligned) = e.b, who, asked
    trace = e.pointer(e.read(state, LaunchWords.TRACE))
    records, used = e.read(trace, TraceWords.RECORDS), e.read(trace, TraceWords.SECTORS)
    most = e.lanes * (size // SECTOR + 2)
    fits = b.icmp_unsigned("<=", b.add(used, I64(most)), e.read(trace, TraceWords.SECTOR_ROOM))
    fits = b.and_(fits, b.icmp_unsigned("<", records, e.read(trace, TraceWords.RECORD_ROOM)))
    with b.if_else(fits) as (there, other):
        with there:
            end = e.slot(I64)
            b.store(used, end)
            sectors = e.pointer(e.read(trace, TraceWords.SECTOR_PLACE))

            def body(sector: Ir, _: Ir) -> None:
                at = b.load(end, typ=I64)
                b.store(sector, b.gep(sectors, [at], source_etype=I64))
                b.store(b.add(at, I64(1)), end)

            each_sector(e, addresses, mask, (size, aligned), body)
            after = b.load(end, typ=I64)
            place = e.pointer(e.read(trace, TraceWords.RECORD_PLACE))
            block, epoch = e.read(state, LaunchWords.BLOCK), e.read(state, LaunchWords.EPOCH)
            what = b.or_(b.shl(warp, I64(16)), b.or_(I64(KINDS.index(kind) << 8), b.sub(after, used)))
            for word, value in enumerate((b.or_(b.shl(block, I64(32)), epoch), what)):
                at = b.add(b.mul(records, I64(2)), I64(word))
                b.store(value, b.gep(place, [at], source_etype=I64))
            e.write(trace, TraceWords.SECTORS, after)
            e.write(trace, TraceWords.RECORDS, b.add(records, I64(1)))
        with other:
            e.write(trace, TraceWords.CUT, I64(1))
