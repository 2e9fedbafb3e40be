"""Memory of the kernel IR as memory of AMD IL.

    pointer argument k     unordered access view k: words at bytes from its start on      uav_raw_load_id(k), store
    shared variables       bytes of the group's memory, one behind the other, 16 aligned   lds_load_id(1), store
    local variables        words of x0, one a register, component x: byte / 4              mov r0, x0[r1.x]

An address is a base (addresses.py of mask) and an offset, of which the lower 32 bits are computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from warpsmith.ssa.nodes import Address, Function, Memory, Module, Symbol, Value
from warpsmith.targets.il.writing.refused import refuse
from warpsmith.targets.mask.addresses import MIXED, bases_of

__all__ = ["LDS", "LDS_BYTES", "MOST_TEMPORARIES", "MOST_UAVS", "SPACES", "GroupMemory", "lay_out", "number_views"]

LDS: Final = 1
"""The number of the group's memory in the text."""
LDS_BYTES: Final = 32768
MOST_TEMPORARIES: Final = 4096
MOST_UAVS: Final = 12
"""Evergreen has so many random access targets."""
SPACES: Final = ("global", "generic", "constant")
_ALIGN: Final = 16


class GroupMemory(Struct, frozen=True):
    """Where each variable starts, and how many bytes of shared ones there are: all that a group can have where a
    variable's size is the launch's; `registers`: how many words local ones have."""

    starts: Mapping[str, int]
    bytes: int
    registers: int = 0


def lay_out(module: Module, function: Function) -> GroupMemory:
    """Return where variables are; raises InputError where they are more than a group has, or a thread."""
    starts: dict[str, int] = {}
    end, dynamic, own = 0, False, 0
    for symbol in sorted(_named(module, function), key=lambda one: one.count == 0):
        if symbol.space == "local":
            starts[symbol.name] = own
            own += -(-symbol.bytes // _ALIGN) * _ALIGN
            continue
        end = -(-end // max(_ALIGN, symbol.align)) * max(_ALIGN, symbol.align)
        starts[symbol.name] = end
        end += symbol.bytes
        dynamic = dynamic or not symbol.count
    if end > LDS_BYTES:
        message = f"{function.name} has {end:,} bytes of shared memory, and a group of AMD IL {LDS_BYTES:,}"
        raise refuse(message, function.span, "make its tiles smaller")
    if own // 4 > MOST_TEMPORARIES:
        message = f"{function.name} has {own:,} bytes of local arrays, and AMD IL {4 * MOST_TEMPORARIES:,}"
        raise refuse(message, function.span, "make them smaller")
    return GroupMemory(starts, LDS_BYTES if dynamic else -(-end // 4) * 4, own // 4)


def _named(module: Module, function: Function) -> Iterator[Symbol]:
    """Yield the shared and local variables that a kernel names; raises InputError at other variables."""
    named = {i.detail.symbol: i for _, i in function.instructions() if isinstance(i.detail, Address)}
    for symbol in (*module.symbols, *function.symbols):
        if symbol.name in named:
            if symbol.space not in ("shared", "local"):
                message = f"AMD IL has no {symbol.space} variables here: {symbol.name}"
                raise refuse(message, named[symbol.name].span or symbol.span, "give it as an argument")
            yield symbol


def number_views(function: Function) -> Mapping[str, int]:
    """Return the view of each pointer argument that is read or written; raises InputError where there are too many."""
    bases = bases_of(function)
    used = {
        bases.get(i.operands[0], "")
        for _, i in function.instructions()
        if isinstance(i.detail, Memory) and i.detail.space in SPACES and isinstance(i.operands[0], Value)
    }
    named = [one.name for one in function.parameters if one.name in used - {MIXED}]
    if len(named) > MOST_UAVS:
        message = f"{function.name} has {len(named)} arrays, and AMD IL {MOST_UAVS} unordered access views"
        raise refuse(message, function.span, "put several arrays into one")
    return {name: number for number, name in enumerate(named)}
