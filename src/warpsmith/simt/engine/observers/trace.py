"""Which sectors of global memory each request of a warp touches, written down one after the other.

    records   block << 32 | barriers that the block has passed,  warp << 16 | kind << 8 | sectors     two words each
    sectors   addresses / 32 of one record after the other, each once, in the order of the lanes

Local memory is not written down. A request that has no room any more is left out, and TraceWords.CUT says so.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from llvmlite import ir

from warpsmith.machine.requests import SECTOR
from warpsmith.simt.engine.lanes import I64, POINTER, VOID, Emit, Ir
from warpsmith.simt.engine.observers.races import Kind
from warpsmith.simt.engine.observers.requests import Space, each_sector, lowest_address
from warpsmith.simt.engine.words import Array, LaunchWords, TraceWords
from warpsmith.simt.memory import SHARED_WINDOW

__all__ = ["KINDS", "Trace", "trace_function"]

KINDS: Final[tuple[Kind, ...]] = ("load", "store", "atomic")
"""A record has the number of its kind."""


class Trace:
    """What is written down of a launch: `words` (TraceWords), `records` [records, 2], `sectors`. Memory is taken when it
    is used."""

    def __init__(self, records: int, sectors: int) -> None:
        self.records, self.sectors = np.empty((records, 2), "<i8"), np.empty(sectors, "<i8")
        self.words = np.zeros(len(TraceWords), "<i8")
        self.words[TraceWords.RECORD_ROOM], self.words[TraceWords.SECTOR_ROOM] = records, sectors
        self.words[TraceWords.RECORD_PLACE] = self.records.ctypes.data
        self.words[TraceWords.SECTOR_PLACE] = self.sectors.ctypes.data

    def empty(self) -> None:
        """Forget what is written down."""
        for word in (TraceWords.RECORDS, TraceWords.SECTORS, TraceWords.CUT):
            self.words[word] = 0

    @property
    def cut(self) -> bool:
        """Whether a request had no room."""
        return bool(self.words[TraceWords.CUT])

    def written(self) -> tuple[Array, Array]:
        """Return the records and the sectors that are there."""
        return self.records[: self.words[TraceWords.RECORDS]], self.sectors[: self.words[TraceWords.SECTORS]]


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
