"""Calls of functions that are functions of their own in LLVM IR as well.

    caller   stores the arguments ─► call.2(state, …, mask, …) runs its lanes to their ends ─► the caller loads what
             they made, and goes on with the lanes that come back: others have ended in the call

Each call has variables of its own, on the stack of the host. Its local arrays are a level of their own (layout.py):
while it lasts they are regions of the launch, behind all others; so what a pointer to them leads to is found as any
other place is, and not any more when the call is over. Lanes that are in a call are so together: how deep they are, and
in how many calls of one function, is one number for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from llvmlite import ir
from msgspec import Struct

from warpsmith.simt.engine.access import Runtime
from warpsmith.simt.engine.lanes import I1, I8, I64, POINTER, VOID, Emit, Ir, element
from warpsmith.simt.engine.reading.calls import is_call, own_arrays
from warpsmith.simt.engine.words import LaunchWords, RegionWords, SiteWords
from warpsmith.simt.engine.writing.segments import split_blocks
from warpsmith.ssa.nodes import Function
from warpsmith.ssa.types import Type

__all__ = ["Called", "begin_function", "end_function", "from_bits", "number_functions", "slot_type", "to_bits"]


class Called(Struct, frozen=True):
    """A function that is called, the one of this `number`: the first numbers of its blocks and segments, and of its
    local `arrays`."""

    function: Function
    number: int
    block: int
    segment: int
    arrays: tuple[str, ...]
    array: int

    def declare(self, e: Emit) -> Ir:
        """Return the LLVM function, made when first asked for."""
        name = f"call.{self.number}"
        found = e.module.globals.get(name)
        if found is None:
            record = [POINTER] * (len(self.function.parameters) + len(self.function.results))
            type = ir.FunctionType(e.mask_type, [POINTER, POINTER, I64, e.mask_type, e.mask_type, I64, *record])
            found = ir.Function(e.module, type, name)
        return found


def number_functions(kernel: Function, callees: Sequence[Function]) -> tuple[Called, ...]:
    """Return the functions that a kernel calls with their numbers; those of its own blocks and segments come first."""
    found: list[Called] = []
    block, segment, array = len(kernel.blocks), len(split_blocks(kernel.blocks, is_call)), 0
    for number, one in enumerate(callees):
        arrays = own_arrays(one, (kernel, *callees))
        found.append(Called(one, number, block, segment, arrays, array))
        block, segment = block + len(one.blocks), segment + len(split_blocks(one.blocks, is_call))
        array += len(arrays)
    return tuple(found)


# --- numbers in memory that caller and callee share


def slot_type(e: Emit, size: int) -> Ir:
    """Return the type of what `size` bytes of each lane are kept in."""
    return e.vector(ir.IntType(8 * size))


def to_bits(e: Emit, value: Ir, size: int) -> Ir:
    """Return a value as `size` bytes of each lane."""
    scalar = value.type.element
    if not isinstance(scalar, ir.IntType):
        return e.b.bitcast(value, slot_type(e, size))
    return value if scalar.width == 8 * size else e.b.zext(value, slot_type(e, size))


def from_bits(e: Emit, bits: Ir, type: Type) -> Ir:
    """Return a value of a type, whose bits are the lowest of those."""
    whole = ir.IntType(type.bits)
    narrow = bits if bits.type.element.width == type.bits else e.b.trunc(bits, e.vector(whole))
    return narrow if element(type) == whole else e.b.bitcast(narrow, e.vector(element(type)))


# --- local arrays


_BEGIN: Final = "arrays.begin"
_END: Final = "arrays.end"


def begin_function(runtime: Runtime) -> Ir:
    """Return `arrays.begin(state, array, level, warp, mask)`: an array of a call is there, and holds nothing."""
    return runtime.module.globals.get(_BEGIN) or _begin_function(runtime.emit())


def end_function(runtime: Runtime, sites: int) -> Ir:
    """Return `arrays.end(state, count)`: the last regions are not there any more, and none of the `sites` remembers
    one."""
    return runtime.module.globals.get(_END) or _end_function(runtime.emit(), sites)


def _begin_function(e: Emit) -> Ir:
    """Return it, written."""
    made = ir.Function(e.module, ir.FunctionType(VOID, [POINTER, I64, I64, I64, e.mask_type]), _BEGIN)
    state, array, level, warp, mask = made.args
    e.at(made.append_basic_block("entry"))
    regions = e.pointer(e.read(state, LaunchWords.REGIONS))

    def region_at(number: Ir) -> Ir:
        return e.b.gep(regions, [e.b.mul(number, I64(len(RegionWords)))], source_etype=I64)

    first = region_at(e.read_at(e.pointer(e.read(state, LaunchWords.ARRAYS)), array))
    slot = e.slot(POINTER)
    e.b.store(first, slot)
    with e.b.if_then(e.b.icmp_unsigned("!=", level, I64(0))):
        count = e.read(state, LaunchWords.REGION_COUNT)
        other = region_at(count)
        _copy_region(e, first, other, state, level)
        e.write(state, LaunchWords.REGION_COUNT, e.b.add(count, I64(1)))
        e.b.store(other, slot)
    region = e.b.load(slot, typ=POINTER)
    low, length, known = (e.read(region, word) for word in (RegionWords.LOW, RegionWords.LENGTH, RegionWords.KNOWN))
    start = e.b.mul(warp, e.read(state, LaunchWords.WIDTH))

    def clear(left: Ir, lane: Ir) -> Ir:
        moved = e.b.add(low, e.b.mul(e.b.add(start, lane), e.read(region, RegionWords.STRIDE)))
        _zero(e, e.b.add(moved, e.read(region, RegionWords.DELTA)), length)
        with e.b.if_then(e.b.icmp_unsigned("!=", known, I64(0))):
            _zero(e, e.b.add(moved, known), length)
        return e.remove_lowest(left)

    e.while_bits(mask, clear)
    e.b.ret_void()
    return made


def _copy_region(e: Emit, first: Ir, other: Ir, state: Ir, level: Ir) -> None:
    """Write: an array of level 0 has another place in this level, for the kernel and for the host."""
    for word in RegionWords:
        e.write(other, word, e.read(first, word))
    moved = e.b.mul(level, e.read(state, LaunchWords.STRIDE))
    host = e.b.sub(e.b.mul(level, e.read(state, LaunchWords.LEVEL_BYTES)), moved)
    e.write(other, RegionWords.LOW, e.b.add(e.read(first, RegionWords.LOW), moved))
    e.write(other, RegionWords.DELTA, e.b.add(e.read(first, RegionWords.DELTA), host))
    known = e.read(first, RegionWords.KNOWN)
    there = e.b.icmp_unsigned("!=", known, I64(0))
    e.write(other, RegionWords.KNOWN, e.b.select(there, e.b.add(known, host), I64(0)))


def _end_function(e: Emit, sites: int) -> Ir:
    """Return it, written."""
    made = ir.Function(e.module, ir.FunctionType(VOID, [POINTER, I64]), _END)
    state, count = made.args
    e.at(made.append_basic_block("entry"))
    e.write(state, LaunchWords.REGION_COUNT, e.b.sub(e.read(state, LaunchWords.REGION_COUNT), count))
    table, row = e.pointer(e.read(state, LaunchWords.SITES)), max(SiteWords) + 1

    def forget(site: Ir) -> None:
        e.write_at(table, e.b.add(e.b.mul(site, I64(row)), I64(SiteWords.SPAN)), I64(0))

    e.count_up(I64(0), I64(sites), forget)
    e.b.ret_void()
    return made


def _zero(e: Emit, address: Ir, bytes_: Ir) -> None:
    """Write: bytes are zero."""
    name = "llvm.memset.p0.i64"
    found = e.module.globals.get(name)
    if found is None:
        found = ir.Function(e.module, ir.FunctionType(VOID, [POINTER, I8, I64, I1]), name)
    e.b.call(found, [e.pointer(address), I8(0), bytes_, I1(0)])
