"""Instructions become LLVM IR: each op by the table of its kind.

What a kernel asks of its launch (parameters, sizes, where variables are) is read from tables, so that it is compiled
once for all launches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from llvmlite import ir
from msgspec import Struct, field

from warpsmith.simt.engine.access import AccessKind
from warpsmith.simt.engine.here import Here
from warpsmith.simt.engine.indexed import indexed_access
from warpsmith.simt.engine.lanes import I8, I32, I64, Ir, element
from warpsmith.simt.engine.ops.asked import ask
from warpsmith.simt.engine.ops.directed import directed_op, is_directed
from warpsmith.simt.engine.ops.exchange import EXCHANGES, warp_barrier
from warpsmith.simt.engine.ops.floats import FLOATS, one_nan
from warpsmith.simt.engine.ops.functions import OPS as FUNCTION_OPS
from warpsmith.simt.engine.ops.functions import call_function, is_called
from warpsmith.simt.engine.ops.halves import HALVES, half_op, has_halves
from warpsmith.simt.engine.ops.integers import INTEGERS, PAIRS, resize_lanes
from warpsmith.simt.engine.ops.seen import makes_nan
from warpsmith.simt.engine.reading.affine import IndexedAddress
from warpsmith.simt.engine.words import LaunchWords, SiteWords, Stop
from warpsmith.simt.meeting.waiting import is_grid_barrier
from warpsmith.simt.memory import LOCAL_WINDOW, SHARED_WINDOW
from warpsmith.ssa.nodes import Address, Barrier, Instruction, Memory, Operand, Param, Query, Text, Value

__all__ = ["Ops", "access_of"]

_WINDOWS: Final = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}


def access_of(instruction: Instruction) -> AccessKind:
    """Return the kind of access that a load, store or atomic is."""
    detail = instruction.detail
    assert isinstance(detail, Memory)
    if instruction.op == "load":
        type, count = instruction.results[0].type, len(instruction.results)
    elif instruction.op == "store":
        type, count = instruction.operands[1].type, len(instruction.operands) - 1
    else:
        type, count = instruction.operands[1].type, 1
    size = type.bytes * count
    aligned = max(1, min(detail.align, 1 << (size.bit_length() - 1)))
    space = detail.space if detail.space in ("shared", "local", "generic", "constant") else "global"
    return AccessKind(instruction.op, type, count, space, aligned)


class Ops(Struct, frozen=True):
    """What the instructions of a kernel refer to, numbered: `sites` its accesses, `offsets` of its parameters in their
    table, `places` its variables. `seen`: the values whose bits are seen, if they are NaN; `indexed`: accesses whose
    addresses are a place and an index; `unused`: instructions that nobody reads then; `asked`: what Python answers;
    `calls`: calls of functions."""

    sites: Mapping[Instruction, int]
    offsets: Mapping[str, int]
    places: Mapping[str, int]
    seen: frozenset[Value] = frozenset()
    indexed: Mapping[Instruction, IndexedAddress] = field(default_factory=dict)
    unused: frozenset[Instruction] = frozenset()
    barriers: list[Instruction] = field(default_factory=list)
    asked: list[Instruction] = field(default_factory=list)
    calls: list[Instruction] = field(default_factory=list)

    def operands(self, i: Instruction) -> Sequence[Operand]:
        """Return what an instruction reads, as it is written."""
        indexed = self.indexed.get(i)
        if i in self.unused:
            return ()
        return i.operands if indexed is None else (indexed.index, *i.operands[1:])

    def emit(self, k: Here, i: Instruction) -> Sequence[Ir]:
        """Write one instruction; return its results."""
        special = _SPECIAL.get(i.op)
        if special is not None:
            return special(self, k, i)
        if i.op.startswith("atomic_"):
            return self.access(k, i)
        operands = [k.value(operand) for operand in i.operands]
        if i.op in PAIRS:
            return PAIRS[i.op](k.e, operands)
        if i.op in EXCHANGES:
            return EXCHANGES[i.op](k, i, operands)
        if i.op in FUNCTION_OPS:
            return (self.settle(k, i, call_function(k.e, i, operands, k.mask)),)
        if i.op in FLOATS and has_halves(i):
            return (self.settle(k, i, half_op(k.e, i, operands, k.mask)),)
        if is_directed(i):
            return (self.settle(k, i, directed_op(k.e, i, operands)),)
        table = INTEGERS if i.op in INTEGERS else FLOATS
        return (self.settle(k, i, table[i.op](k.e, i, operands, k.mask)),)

    def settle(self, k: Here, i: Instruction, made: Ir) -> Ir:
        """Return a result in which NaN is the one that the op gives; of 16 bits it always is."""
        loose = i.result in self.seen and makes_nan(i.op) and i.result.type not in HALVES
        return one_nan(k.e, made, i.result.type) if loose else made

    # --- memory

    def access(self, k: Here, i: Instruction) -> Sequence[Ir]:
        """Write a load, store or atomic."""
        e, kind = k.e, access_of(i)
        detail = i.detail
        assert isinstance(detail, Memory)
        given = [k.value(operand) for operand in i.operands[1:]]
        site = e.word(k.table(LaunchWords.SITES), self.sites[i] * len_of_site())
        indexed = self.indexed.get(i)
        if indexed is not None:
            base = self.base(k, indexed, detail.offset + _WINDOWS.get(detail.space, 0))
            function, place = indexed_access(k.runtime, kind, indexed.indexing), [base, k.value(indexed.index)]
        else:
            function, place = k.runtime.access(kind), [self.addresses(k, i, detail)]
        made = e.b.call(function, [k.state, site, *place, k.mask, k.number, *given])
        return [e.b.extract_value(made, number) for number in range(len(i.results))]

    def addresses(self, k: Here, i: Instruction, detail: Memory) -> Ir:
        """Return the address of each lane."""
        e = k.e
        address = resize_lanes(e, k.value(i.operands[0]), I64)
        moved = (detail.offset + _WINDOWS.get(detail.space, 0)) % 2**64
        return e.b.add(address, e.splat_constant(I64, moved)) if moved else address

    def base(self, k: Here, indexed: IndexedAddress, moved: int) -> Ir:
        """Return the place that indices of an access start from, the same in all lanes."""
        e = k.e
        base: Ir = None
        for part in indexed.parts:
            if isinstance(part.detail, Param):
                at = self.offsets[part.detail.parameter] + part.detail.offset
                place = e.b.gep(k.table(LaunchWords.PARAMETERS), [I64(at)], source_etype=I8)
                number = e.b.load(place, typ=I64, align=1)
            else:
                assert isinstance(part.detail, Address)
                number = e.read(k.table(LaunchWords.PLACES), self.places[part.detail.symbol])
            base = number if base is None else e.b.add(base, number)
        moved = (moved + indexed.moved) % 2**64
        return e.b.add(base, I64(moved)) if moved else base

    def param(self, k: Here, i: Instruction) -> Sequence[Ir]:
        """Write the read of a parameter: the same in all lanes."""
        e, detail = k.e, i.detail
        assert isinstance(detail, Param)
        table = k.table(LaunchWords.PARAMETERS)
        made = []
        for number, value in enumerate(i.results):
            at = self.offsets[detail.parameter] + detail.offset + number * value.type.bytes
            place = e.b.gep(table, [I64(at)], source_etype=ir.IntType(8))
            made.append(e.splat(e.b.load(place, typ=element(value.type), align=1)))
        return made

    def address(self, k: Here, i: Instruction) -> Sequence[Ir]:
        """Write where a variable is in its own space."""
        e, detail = k.e, i.detail
        assert isinstance(detail, Address)
        table = k.table(LaunchWords.PLACES)
        return (resize_lanes(e, e.splat(e.read(table, self.places[detail.symbol])), element(i.result.type)),)

    def window(self, k: Here, i: Instruction) -> Sequence[Ir]:
        """Write the way from an address of one space to the generic one, or back."""
        e, detail = k.e, i.detail
        base = _WINDOWS.get(detail.text, 0) if isinstance(detail, Text) else 0
        value = k.value(i.operands[0])
        if not base or value.type.element.width < 64:
            return (value,)
        move = e.b.add if i.op == "to_generic" else e.b.sub
        return (move(value, e.splat_constant(I64, base)),)

    # --- who a lane is

    def query(self, k: Here, i: Instruction) -> Sequence[Ir]:
        """Write the read of a special register."""
        e, detail = k.e, i.detail
        assert isinstance(detail, Query)
        return (resize_lanes(e, self.register(k, detail.register), element(i.result.type)),)

    def register(self, k: Here, name: str) -> Ir:
        """Return a special register in all lanes."""
        e = k.e
        base, _, axis = name.partition(".")
        if base == "tid":
            table = k.table(LaunchWords.INDICES)
            row = e.b.mul(e.read(k.state, LaunchWords.PADDED), I64("xyz".index(axis)))
            at = e.b.add(row, e.b.mul(k.number, e.read(k.state, LaunchWords.WIDTH)))
            return e.b.load(e.b.gep(table, [at], source_etype=I32), typ=e.vector(I32), align=4)
        if axis:
            return e.splat(e.read(k.state, LaunchWords[f"{base}_{axis}".upper()]))
        if name in _LANE_MASKS:
            return self.lane_mask(k, name)
        if name == "laneid":
            return e.each_lane(I32, lambda lane: lane)
        whole = {"nwarpid": LaunchWords.WARPS, "dynamic_smem_size": LaunchWords.BYTES}
        return e.splat(k.number if name == "warpid" else e.read(k.state, whole[name]))

    def lane_mask(self, k: Here, name: str) -> Ir:
        """Return for each lane a mask of lanes before or behind it."""
        e = k.e
        masks = e.each_lane(I64, _LANE_MASKS[name])
        if name not in _UPWARD:
            return masks
        whole = e.b.lshr(I64(-1), e.b.sub(I64(64), e.read(k.state, LaunchWords.WIDTH)))
        return e.b.and_(e.splat(whole), masks)

    # --- the rest

    def lanewise(self, k: Here, i: Instruction) -> Sequence[Ir]:
        """Write the call of a function of the library; what prints does nothing."""
        if not i.results:
            return ()
        operands = [k.value(operand) for operand in i.operands]
        if is_called(i):
            return (self.settle(k, i, call_function(k.e, i, operands, k.mask)),)
        self.asked.append(i)
        return ask(k, len(self.asked) - 1, i, operands)

    def fence(self, k: Here, i: Instruction) -> Sequence[Ir]:
        """Write nothing: memory is always in order."""
        return ()

    def warp_barrier(self, k: Here, i: Instruction) -> Sequence[Ir]:
        """Write a barrier of the warp."""
        warp_barrier(k, [k.value(operand) for operand in i.operands])
        return ()

    def unmodeled(self, k: Here, i: Instruction) -> Sequence[Ir]:
        """Write a barrier of the grid; nothing for what says something to analyses."""
        if is_grid_barrier(i):
            self.barriers.append(i)
            self.stop_if_apart(k)
            k.wait(I64(len(self.barriers)))
        return ()

    def stop_if_apart(self, k: Here) -> None:
        """Write: all lanes of the warp that have not ended must be there."""
        with k.e.b.if_then(k.e.b.icmp_unsigned("!=", k.mask, k.live()), likely=False):
            k.stop(Stop.BARRIER)

    def barrier(self, k: Here, i: Instruction) -> Sequence[Ir]:
        """Write a barrier of the block."""
        e, detail = k.e, i.detail
        self.barriers.append(i)
        self.stop_if_apart(k)
        reduces = detail.reduces if isinstance(detail, Barrier) else ""
        sums = e.pointer(e.read(k.state, LaunchWords.REDUCED))
        if reduces:
            true = e.b.and_(e.bits(k.value(i.operands[-1])), k.mask)
            e.add_to(e.word(sums, 0), e.count(true))
            e.add_to(e.word(sums, 1), e.count(k.mask))
        k.wait(I64(len(self.barriers)))
        if not reduces:
            return ()
        sums = e.pointer(e.read(k.state, LaunchWords.REDUCED))
        true, came = e.read(sums, 2), e.read(sums, 3)
        found = {
            "and": lambda: e.b.icmp_unsigned("==", true, came),
            "or": lambda: e.b.icmp_unsigned("!=", true, I64(0)),
            "count": lambda: true,
        }[reduces]()
        return (_fit_scalar(k, found, element(i.result.type)),)


def _fit_scalar(k: Here, found: Ir, wanted: Ir) -> Ir:
    """Return a scalar in all lanes, as a type."""
    if found.type == wanted:
        return k.e.splat(found)
    return k.e.splat((k.e.b.zext if found.type.width < wanted.width else k.e.b.trunc)(found, wanted))


def len_of_site() -> int:
    """Return how many words a site has."""
    return max(SiteWords) + 1


_LANE_MASKS: Final[Mapping[str, Callable[[int], int]]] = {
    "lanemask_eq": lambda lane: 1 << lane,
    "lanemask_lt": lambda lane: (1 << lane) - 1,
    "lanemask_le": lambda lane: (2 << lane) - 1,
    "lanemask_gt": lambda lane: -(2 << lane) % (1 << 64),
    "lanemask_ge": lambda lane: -(1 << lane) % (1 << 64),
}
_UPWARD: Final = ("lanemask_gt", "lanemask_ge")
"""Those that end where the warp does."""

_SPECIAL: Final[Mapping[str, Callable[[Ops, Here, Instruction], Sequence[Ir]]]] = {
    "load": Ops.access,
    "store": Ops.access,
    "param": Ops.param,
    "address": Ops.address,
    "query": Ops.query,
    "to_generic": Ops.window,
    "from_generic": Ops.window,
    "lanewise": Ops.lanewise,
    "fence": Ops.fence,
    "unmodeled": Ops.unmodeled,
    "barrier": Ops.barrier,
    "warp_barrier": Ops.warp_barrier,
}
