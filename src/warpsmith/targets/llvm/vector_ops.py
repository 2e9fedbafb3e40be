"""Instructions of sixteen threads in LLVM IR: those of the compiled machine (simt/engine), with memory as it is.

    load    llvm.masked.gather   at base + index × step where an address is of that form, else at 64-bit addresses
    store   llvm.masked.scatter  lanes in order, lowest first, as the processor does it
    atomic  lane by lane, lowest first

The machine checks each address and counts requests; here memory is the process's own, and nothing is checked.

    global, constant, generic     addresses of the process
    shared                        offsets from SHARED, the memory of the block
    local                         offsets from LOCALS + the thread's number × LOCAL_BYTES
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Final

from llvmlite import ir

from warpsmith.simt.engine.here import Here
from warpsmith.simt.engine.instructions import Ops, access_of
from warpsmith.simt.engine.lanes import I8, I32, I64, POINTER, VOID, Ir, element
from warpsmith.simt.engine.ops.functions import is_called
from warpsmith.simt.engine.ops.integers import resize_lanes
from warpsmith.simt.engine.words import LaunchWords
from warpsmith.ssa.nodes import ASYNCHRONOUS, Instruction, Memory, Query, Text
from warpsmith.targets.llvm.instructions import ORDERS, UPDATES
from warpsmith.targets.llvm.refused import refuse

__all__ = ["VectorOps", "VectorWords"]

_MACHINE: Final = "AVX-512"


class VectorWords(IntEnum):
    """Words of the launch behind those that the compiled machine has: memory of the block and of its threads."""

    SHARED = len(LaunchWords)
    LOCALS = len(LaunchWords) + 1
    LOCAL_BYTES = len(LaunchWords) + 2


class VectorOps(Ops, frozen=True):
    """Writes instructions of all lanes; what a kernel refers to is numbered as in the compiled machine."""

    def emit(self, k: Here, i: Instruction) -> Sequence[Ir]:
        """Write one instruction; return its results."""
        own = _OWN.get("atomic" if i.op.startswith("atomic_") else i.op)
        return own(self, k, i) if own is not None else super().emit(k, i)

    # --- memory

    def load(self, k: Here, i: Instruction) -> Sequence[Ir]:
        """Write a load of the active lanes; the others get zero."""
        e, detail = k.e, self._memory(i)
        place, scalar = self._place(k, i, detail), element(i.results[0].type)
        made = []
        for number, value in enumerate(i.results):
            at = self._behind(k, place, number * value.type.bytes)
            if detail.order:
                made.append(self._each(k, i, at, ()))
            else:
                nothing = ir.Constant(e.vector(scalar), None)
                align = I32(min(detail.align, value.type.bytes))
                types = (e.vector(scalar), at.type)
                given = (at, align, e.unpack_mask(k.mask), nothing)
                made.append(e.intrinsic("llvm.masked.gather", types, given, e.vector(scalar)))
        return made

    def store(self, k: Here, i: Instruction) -> Sequence[Ir]:
        """Write a store of the active lanes."""
        e, detail = k.e, self._memory(i)
        place = self._place(k, i, detail)
        for number, operand in enumerate(i.operands[1:]):
            value, at = k.value(operand), self._behind(k, place, number * operand.type.bytes)
            if detail.order:
                self._each(k, i, at, (value,))
            else:
                align = I32(min(detail.align, operand.type.bytes))
                given = (value, at, align, e.unpack_mask(k.mask))
                e.intrinsic("llvm.masked.scatter", (value.type, at.type), given, VOID)
        return ()

    def atomic(self, k: Here, i: Instruction) -> Sequence[Ir]:
        """Write an atomic operation of the active lanes, one after the other."""
        if i.operands[1].type.bits < 32:
            raise refuse(f"{_MACHINE} has no atomic operation on {i.operands[1].type}", i.span)
        values = [k.value(one) for one in i.operands[1:]]
        made = self._each(k, i, self._place(k, i, self._memory(i)), values)
        return [made] * len(i.results)

    def _memory(self, i: Instruction) -> Memory:
        detail = i.detail
        assert isinstance(detail, Memory)
        kind = access_of(i)
        if kind.type.kind == "predicate" or kind.type.bits > 64:
            raise refuse(f"{_MACHINE} has no {i.op} of {kind.type}", i.span)
        return detail

    def _place(self, k: Here, i: Instruction, detail: Memory) -> Ir:
        """Return the places of all lanes as pointers."""
        e, indexed = k.e, self.indexed.get(i)
        if indexed is None:
            address = resize_lanes(e, k.value(i.operands[0]), I64)
            moved = detail.offset % 2**64
            address = e.b.add(address, e.splat_constant(I64, moved)) if moved else address
            start = _start(k, detail.space)
            return e.pointer(address if start is None else e.b.add(address, start))
        base = self.base(k, indexed, detail.offset)
        if detail.space == "shared":
            base = e.b.add(base, e.read(k.state, VectorWords.SHARED))
        index = resize_lanes(e, k.value(indexed.index), I64, sign=indexed.indexing.signed)
        unit = ir.ArrayType(I8, indexed.indexing.step)
        return e.b.gep(e.splat(e.pointer(base)), [index], source_etype=unit)

    def _behind(self, k: Here, place: Ir, bytes_: int) -> Ir:
        return k.e.b.gep(place, [k.e.splat_constant(I64, bytes_)], source_etype=I8) if bytes_ else place

    def _each(self, k: Here, i: Instruction, place: Ir, values: Sequence[Ir]) -> Ir:
        """Write an access of one lane after the other, atomic; return what they read."""
        e = k.e
        scalar = element((i.results or i.operands[1:])[0].type)
        places, made = e.slot(place.type), e.slot(e.vector(scalar))
        given = [e.slot(value.type) for value in values]
        for slot, value in zip((places, *given), (place, *values), strict=True):
            e.b.store(value, slot)
        e.b.store(ir.Constant(e.vector(scalar), None), made)

        def body(left: Ir, lane: Ir) -> Ir:
            where = e.b.load(e.b.gep(places, [lane], source_etype=POINTER), typ=POINTER)
            own = [e.b.load(e.b.gep(slot, [lane], source_etype=scalar), typ=scalar) for slot in given]
            old = _access_once(k, i, where, own)
            if old is not None:
                e.b.store(old, e.b.gep(made, [lane], source_etype=scalar))
            return e.remove_lowest(left)

        e.while_bits(k.mask, body)
        return e.b.load(made, typ=e.vector(scalar))

    def window(self, k: Here, i: Instruction) -> Sequence[Ir]:
        """Write the way from an address of one space to the generic one, or back."""
        e, detail = k.e, i.detail
        value = resize_lanes(e, k.value(i.operands[0]), I64)
        start = _start(k, detail.text) if isinstance(detail, Text) else None
        if start is not None:
            value = (e.b.add if i.op == "to_generic" else e.b.sub)(value, start)
        return (resize_lanes(e, value, element(i.result.type)),)

    # --- the rest

    def query(self, k: Here, i: Instruction) -> Sequence[Ir]:
        """Write the read of a special register, of those that a launch has."""
        assert isinstance(i.detail, Query)
        name = i.detail.register
        known = "." in name or name.startswith("lanemask_") or name in _REGISTERS
        if not known:
            raise refuse(f"{_MACHINE} has no {name}", i.span)
        return super().query(k, i)

    def lanewise(self, k: Here, i: Instruction) -> Sequence[Ir]:
        """Write the call of a function of the C library, lane by lane."""
        if not is_called(i):
            name = i.detail.text if isinstance(i.detail, Text) else i.op
            raise refuse(f"{name} is no function of numbers that the C library has", i.span)
        return super().lanewise(k, i)

    def unmodeled(self, k: Here, i: Instruction) -> Sequence[Ir]:
        """Write nothing for what says something to analyses."""
        if isinstance(i.detail, Text) and i.detail.text == ASYNCHRONOUS:
            return ()
        what = i.detail.text if isinstance(i.detail, Text) else i.op
        raise refuse(f"{_MACHINE} cannot express {what}", i.span)

    def call(self, k: Here, i: Instruction) -> Sequence[Ir]:
        """Refuse a call."""
        raise refuse(f"{_MACHINE} gets no calls of functions that were not inlined", i.span)


def _start(k: Here, space: str) -> Ir | None:
    """Return where the memory of a space starts for each lane; None: addresses are the process's."""
    e = k.e
    if space == "shared":
        return e.splat(e.read(k.state, VectorWords.SHARED))
    if space != "local":
        return None
    first = e.b.mul(k.number, I64(e.lanes))
    threads = e.b.add(e.splat(first), e.each_lane(I64, lambda lane: lane))
    own = e.b.mul(threads, e.splat(e.read(k.state, VectorWords.LOCAL_BYTES)))
    return e.b.add(own, e.splat(e.read(k.state, VectorWords.LOCALS)))


def _access_once(k: Here, i: Instruction, where: Ir, own: Sequence[Ir]) -> Ir | None:
    """Write an atomic access of one lane; return what was there."""
    e = k.e
    scalar = element((i.results or i.operands[1:])[0].type)
    size = max(1, access_of(i).type.bytes)
    order = i.detail.order if isinstance(i.detail, Memory) else ""
    ordering = ORDERS.get(order, order) or "monotonic"
    if i.op == "load":
        return e.b.load_atomic(where, ordering, size, typ=scalar)
    if i.op == "store":
        # llvmlite's builder does not know pointers without a type here
        e.b._insert(ir.instructions.StoreAtomicInstr(e.b.block, own[0], where, ordering, size))
        return None
    if i.op != "atomic_compare":
        return e.b.atomic_rmw(UPDATES[i.op], where, own[0], ordering)
    whole = ir.IntType(8 * size)
    bits = [one if one.type == whole else e.b.bitcast(one, whole) for one in own]
    weaker = {"release": "monotonic", "acq_rel": "acquire"}.get(ordering, ordering)
    old = e.b.extract_value(e.b.cmpxchg(where, bits[0], bits[1], ordering, weaker), 0)
    return old if scalar == whole else e.b.bitcast(old, scalar)


_REGISTERS: Final = ("laneid", "warpid", "nwarpid", "dynamic_smem_size")
_OWN: Final[Mapping[str, Callable[[VectorOps, Here, Instruction], Sequence[Ir]]]] = {
    "load": VectorOps.load,
    "store": VectorOps.store,
    "atomic": VectorOps.atomic,
    "to_generic": VectorOps.window,
    "from_generic": VectorOps.window,
    "query": VectorOps.query,
    "lanewise": VectorOps.lanewise,
    "unmodeled": VectorOps.unmodeled,
    "call": VectorOps.call,
}
