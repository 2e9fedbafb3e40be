"""One instruction of a thread in LLVM IR. What a machine has not is refused at its line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from llvmlite import ir

from warpsmith.simt.engine.lanes import I1, I8, I32, I64, Emit, Ir, element
from warpsmith.simt.engine.ops.exchange import shuffle_source
from warpsmith.simt.engine.ops.integers import resize_lanes
from warpsmith.ssa.nodes import (
    ASYNCHRONOUS,
    Address,
    Barrier,
    Constant,
    Exchange,
    Fence,
    Instruction,
    Memory,
    Operand,
    Param,
    Query,
    Text,
)
from warpsmith.targets.llvm.addresses import Pointers
from warpsmith.targets.llvm.arithmetic import compute
from warpsmith.targets.llvm.machines import Machine
from warpsmith.targets.llvm.refused import refuse

__all__ = ["ORDERS", "UPDATES", "ThreadOps"]

ORDERS: Final = {"volatile": "monotonic", "relaxed": "monotonic", "acquire": "acquire", "release": "release"}
UPDATES: Final = {
    "atomic_add": "add",
    "atomic_smin": "min",
    "atomic_smax": "max",
    "atomic_umin": "umin",
    "atomic_umax": "umax",
    "atomic_and": "and",
    "atomic_or": "or",
    "atomic_xor": "xor",
    "atomic_exchange": "xchg",
    "atomic_inc": "uinc_wrap",
    "atomic_dec": "udec_wrap",
    "atomic_fadd": "fadd",
}
_LANE_MASKS: Final[Mapping[str, Callable[[Emit, Ir], Ir]]] = {
    "lanemask_eq": lambda e, bit: bit,
    "lanemask_lt": lambda e, bit: e.b.sub(bit, I32(1)),
    "lanemask_le": lambda e, bit: e.b.or_(bit, e.b.sub(bit, I32(1))),
    "lanemask_gt": lambda e, bit: e.b.not_(e.b.or_(bit, e.b.sub(bit, I32(1)))),
    "lanemask_ge": lambda e, bit: e.b.neg(bit),
}
"""Of the lane's own bit."""


class ThreadOps:
    """Writes instructions of one thread."""

    def __init__(self, e: Emit, machine: Machine, pointers: Pointers, value: Callable[[Operand], Ir]) -> None:
        self.e, self.machine, self.pointers, self.value = e, machine, pointers, value

    def emit(self, i: Instruction) -> Sequence[Ir]:
        """Write one instruction; return its results."""
        special = _SPECIAL.get("atomic" if i.op.startswith("atomic_") else i.op)
        if special is not None:
            return special(self, i)
        return compute(self.e, self.machine, i, [self.value(one) for one in i.operands], I1(1))

    # --- memory

    def load(self, i: Instruction) -> Sequence[Ir]:
        """Write a load."""
        e, detail = self.e, self._memory(i, i.results[0])
        place, scalar = self.pointers.pointer(i.operands[0], detail), element(i.results[0].type)
        if detail.order:
            return [e.b.load_atomic(place, self._order(i, detail), detail.align, typ=scalar)]
        if len(i.results) == 1:
            return [e.b.load(place, typ=scalar, align=detail.align)]
        whole = e.b.load(place, typ=ir.VectorType(scalar, len(i.results)), align=detail.align)
        return [e.b.extract_element(whole, I32(number)) for number in range(len(i.results))]

    def store(self, i: Instruction) -> Sequence[Ir]:
        """Write a store."""
        e, detail = self.e, self._memory(i, i.operands[1])
        place, values = self.pointers.pointer(i.operands[0], detail), [self.value(one) for one in i.operands[1:]]
        if detail.order:
            order = self._order(i, detail)
            # llvmlite's builder does not know pointers without a type here
            e.b._insert(ir.instructions.StoreAtomicInstr(e.b.block, values[0], place, order, detail.align))
            return ()
        whole = values[0]
        if len(values) > 1:
            whole = ir.Constant(ir.VectorType(values[0].type, len(values)), ir.Undefined)
            for number, one in enumerate(values):
                whole = e.b.insert_element(whole, one, I32(number))
        e.b.store(whole, place, align=detail.align)
        return ()

    def _memory(self, i: Instruction, value: Operand) -> Memory:
        detail = i.detail
        assert isinstance(detail, Memory)
        if value.type.kind == "predicate" or value.type.bits > 64:
            raise refuse(f"{self.machine.name} has no {i.op} of {value.type}", i.span)
        return detail

    def _order(self, i: Instruction, detail: Memory) -> str:
        """Return the order of an access that others may make at the same time; a volatile one is relaxed."""
        values = i.results or i.operands[1:]
        found = ORDERS.get(detail.order)
        if found is None or len(values) > 1 or detail.align < values[0].type.bytes:
            raise refuse(f"{self.machine.name} has no {detail.order} {i.op} like this one", i.span)
        return found

    def atomic(self, i: Instruction) -> Sequence[Ir]:
        """Write an atomic operation, relaxed unless it says more."""
        e, detail = self.e, self._memory(i, i.operands[1])
        if i.operands[1].type.bits < 32:
            raise refuse(f"{self.machine.name} has no atomic operation on {i.operands[1].type}", i.span)
        place = self.pointers.pointer(i.operands[0], detail)
        values = [self.value(one) for one in i.operands[1:]]
        order = ORDERS.get(detail.order, detail.order) or "monotonic"
        if i.op == "atomic_compare":
            made = self._exchange(place, values, order)
        else:
            made = e.b.atomic_rmw(UPDATES[i.op], place, values[0], order)
        return [made] * len(i.results)

    def _exchange(self, place: Ir, values: list[Ir], order: str) -> Ir:
        e, own = self.e, values[0].type
        whole = own if isinstance(own, ir.IntType) else ir.IntType(32 if isinstance(own, ir.FloatType) else 64)
        bits = [one if own == whole else e.b.bitcast(one, whole) for one in values]
        weaker = {"release": "monotonic", "acq_rel": "acquire"}.get(order, order)
        made = e.b.extract_value(e.b.cmpxchg(place, bits[0], bits[1], order, weaker), 0)
        return made if own == whole else e.b.bitcast(made, own)

    def param(self, i: Instruction) -> Sequence[Ir]:
        """Write the read of a parameter."""
        e, detail = self.e, i.detail
        assert isinstance(detail, Param)
        given = self.pointers.arguments[detail.parameter]
        if isinstance(given.type, ir.PointerType):
            if i.results[0].type.bits != 64 or detail.offset:
                raise refuse(f"only a part of the address {detail.parameter} is read", i.span)
            return [e.b.ptrtoint(given, I64)]
        whole = len(i.results) == 1 and detail.offset == 0
        scalar = element(i.results[0].type)
        if whole and given.type == scalar:
            return [given]
        slot = self.pointers.kept_argument(detail.parameter)
        places = [detail.offset + number * one.type.bytes for number, one in enumerate(i.results)]
        return [e.b.load(e.b.gep(slot, [I64(at)], source_etype=I8), typ=scalar, align=1) for at in places]

    def address(self, i: Instruction) -> Sequence[Ir]:
        """Write where a variable is in its own space."""
        assert isinstance(i.detail, Address)
        where = self.pointers.symbol(i.detail.symbol, i)
        return [self.pointers.number(where, where.type.addrspace, element(i.result.type))]

    def window(self, i: Instruction) -> Sequence[Ir]:
        """Write the way from an address of one space to the generic one, or back."""
        return [self.pointers.change_space(i)]

    # --- who a thread is

    def query(self, i: Instruction) -> Sequence[Ir]:
        """Write the read of a special register."""
        e, detail = self.e, i.detail
        assert isinstance(detail, Query)
        if detail.register in _LANE_MASKS:
            found = _LANE_MASKS[detail.register](e, e.b.shl(I32(1), self.machine.lane(e)))
        elif detail.register in ("clock", "clock64"):
            found = e.intrinsic("llvm.readcyclecounter", (), (), I64)
        elif detail.register == "warpid":
            found = e.b.lshr(self._thread(), I32(5))
        else:
            found = self.machine.place(e, detail.register)
        if found is None:
            raise refuse(f"{self.machine.name} has no {detail.register}", i.span)
        return [resize_lanes(e, found, element(i.result.type))]

    def _thread(self) -> Ir:
        """Return the number of the thread in its block."""
        e = self.e
        x, y, z, width, height = (self.machine.place(e, r) for r in ("tid.x", "tid.y", "tid.z", "ntid.x", "ntid.y"))
        return e.b.add(e.b.mul(e.b.add(e.b.mul(z, height), y), width), x)

    # --- with others

    def barrier(self, i: Instruction) -> Sequence[Ir]:
        """Write a barrier of the block."""
        detail = i.detail
        plain = isinstance(detail, Barrier) and detail.waits and not detail.reduces and not i.results
        number = i.operands[0] if i.operands else None
        if not plain or len(i.operands) > 1 or (isinstance(number, Constant) and number.bits):
            raise refuse(f"{self.machine.name} has barriers of the whole block only, and this is another one", i.span)
        self.machine.barrier(self.e)
        return ()

    def fence(self, i: Instruction) -> Sequence[Ir]:
        """Write a fence of memory."""
        scope = i.detail.scope if isinstance(i.detail, Fence) else "system"
        self.e.b.fence("seq_cst", self.machine.scopes[scope])
        return ()

    def warp_barrier(self, i: Instruction) -> Sequence[Ir]:
        """Write a barrier of the warp."""
        self.machine.warp_barrier(self.e, self.value(i.operands[0]) if i.operands else None)
        return ()

    def vote(self, i: Instruction) -> Sequence[Ir]:
        """Write a vote of the lanes that the mask names and that are there."""
        e, detail = self.e, i.detail
        assert isinstance(detail, Exchange)
        predicate, named = self.value(i.operands[0]), self._named(i, detail)
        yes = e.b.and_(self.machine.ballot(e, predicate), named)
        no = e.b.and_(self.machine.ballot(e, e.b.not_(predicate)), named)
        none, all_ = (e.b.icmp_unsigned("==", one, I32(0)) for one in (yes, no))
        found = {"all": all_, "any": e.b.not_(none), "uni": e.b.or_(none, all_), "ballot": yes}[detail.how]
        return [resize_lanes(e, found, element(i.result.type))]

    def active(self, i: Instruction) -> Sequence[Ir]:
        """Write which lanes of the warp are there."""
        return [resize_lanes(self.e, self.machine.ballot(self.e, I1(1)), element(i.result.type))]

    def shuffle(self, i: Instruction) -> Sequence[Ir]:
        """Write a shuffle; what a lane has that is not there, is no particular number."""
        e, detail = self.e, i.detail
        assert isinstance(detail, Exchange)
        value, other, clamp = (self.value(one) for one in i.operands[:3])
        lane = self.machine.lane(e)
        source, inside = shuffle_source(e, detail.how, lane, other, clamp)
        made = self._from_lane(e.b.select(inside, source, lane), value, i)
        return [made, inside][: len(i.results)]

    def _from_lane(self, lane: Ir, value: Ir, i: Instruction) -> Ir:
        e, own = self.e, value.type
        if i.operands[0].type.bits != 32:
            raise refuse(f"{self.machine.name} exchanges 32 bits at once, not {i.operands[0].type}", i.span)
        moved = self.machine.read_lane(e, lane, value if own == I32 else e.b.bitcast(value, I32))
        return moved if own == I32 else e.b.bitcast(moved, own)

    def _named(self, i: Instruction, detail: Exchange) -> Ir:
        return self.value(i.operands[-1]) if detail.masked else I32(-1)

    # --- the rest

    def unmodeled(self, i: Instruction) -> Sequence[Ir]:
        """Write nothing for what says something to analyses."""
        if isinstance(i.detail, Text) and i.detail.text == ASYNCHRONOUS:
            return ()
        what = i.detail.text if isinstance(i.detail, Text) else i.op
        raise refuse(f"{self.machine.name} cannot express {what}", i.span)

    def missing(self, i: Instruction) -> Sequence[Ir]:
        """Refuse what no table has."""
        words = {
            "call": "calls of functions that were not inlined",
            "match": "matches",
            "reduce": "reductions of warps",
        }
        raise refuse(f"{self.machine.name} gets no {words[i.op]}", i.span)


_SPECIAL: Final[Mapping[str, Callable[[ThreadOps, Instruction], Sequence[Ir]]]] = {
    "load": ThreadOps.load,
    "store": ThreadOps.store,
    "atomic": ThreadOps.atomic,
    "param": ThreadOps.param,
    "address": ThreadOps.address,
    "to_generic": ThreadOps.window,
    "from_generic": ThreadOps.window,
    "query": ThreadOps.query,
    "barrier": ThreadOps.barrier,
    "fence": ThreadOps.fence,
    "warp_barrier": ThreadOps.warp_barrier,
    "vote": ThreadOps.vote,
    "active": ThreadOps.active,
    "shuffle": ThreadOps.shuffle,
    "unmodeled": ThreadOps.unmodeled,
    "call": ThreadOps.missing,
    "match": ThreadOps.missing,
    "reduce": ThreadOps.missing,
}
