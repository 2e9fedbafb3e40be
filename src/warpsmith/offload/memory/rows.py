"""Rows of `T **`, in whatever blocks they lie: how their data are on the device.

    a_flat[a_at[i] + k]      host      a_flat: the first row       a_at[i]: from there to row i
                             device    a_flat_gpu: its copy        a_at_gpu[i]: from there to the copy of row i

Invariant: the block of every row is on the device while kernels run, and a block that several rows lie in is there
once, since the present table (emit/runtime/present.cu) has every block. Kernels are given addresses of the device
alone. Where the rows' copies are is only known when they have been entered, so that such data are always entered and
left through the table, also in a program that holds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from warpsmith.offload.expressions import number
from warpsmith.offload.memory.presence import Presence, Resident
from warpsmith.offload.plan import DeviceBuffer
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.tree.allocations import row_tables
from warpsmith.tree.nodes import Function, Stmt
from warpsmith.tree.types import Symbol

__all__ = ["is_table", "resident_for_rows", "rows_buffer", "starts_of"]


def resident_for_rows(function: Function, summaries: Summaries) -> Resident | None:
    """Return how a function that reaches rows by their starts shares the device, where it runs in no data region; None
    for any other function."""
    if not row_tables(function):
        return None
    nothing = Presence(summaries, frozenset(), frozenset(), frozenset())
    return Resident(nothing, frozenset(), held=False)


def starts_of(function: Function, symbol: Symbol) -> Symbol | None:
    """Return the variable that has where rows start, for one that leads to them and for itself; None for any other."""
    tables = row_tables(function)
    return symbol if symbol in tables.values() else tables.get(symbol)


def rows_buffer(device: Symbol, host: Symbol, starts: Symbol, scope: Sequence[Stmt]) -> DeviceBuffer:
    """Return the buffer of a variable that leads to rows, or of the one that has where they start."""
    zero = number(0, scope[0].span)
    return DeviceBuffer(device, host, zero, zero, tuple(scope), cell=False, allocation=host != starts, starts=starts)


def is_table(buffer: DeviceBuffer) -> bool:
    """Whether a buffer is the table of where rows start on the device."""
    return buffer.starts == buffer.host
