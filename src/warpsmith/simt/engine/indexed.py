"""Loads and stores whose addresses are one place and a small index in each lane (affine.py): the quick way.

    indexed(state, site, base, indices, mask, warp, values)
        all lanes are in the region that the site touched last: one comparison of 32-bit numbers
            lanes side by side: one vector is read or written; else lane by lane
        anything else: the function for addresses (access.py), which checks and does the same

Invariant: past the comparison all offsets from the region's start are below 2³¹, so 32 bits hold them exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from llvmlite import ir

from warpsmith.simt.engine.access import AccessKind, AccessWriter, Runtime
from warpsmith.simt.engine.lanes import I1, I8, I32, I64, POINTER, Ir, constants, undefined
from warpsmith.simt.engine.observers.indexed_requests import indexed_request_function
from warpsmith.simt.engine.reading.affine import Indexing
from warpsmith.simt.engine.words import LaunchWords, RegionWords, SiteWords

__all__ = ["indexed_access", "takes_indices"]

_MOST: Final = (1 << 31) - 1
_LANES: Final = 8
"""Lanes of 32 bits that most processors have in one vector."""
_VECTORS: Final = (4, 8)
"""Bytes of elements of which processors read and write vectors under a mask."""


def takes_indices(kind: AccessKind, indexing: Indexing) -> bool:
    """Whether there is a quick way for a kind of access: a plain load or store of aligned elements."""
    plain = kind.op in ("load", "store") and kind.space in ("global", "shared", "constant")
    return plain and kind.aligned == kind.size <= 32 and indexing.step % kind.aligned == 0


def indexed_access(runtime: Runtime, kind: AccessKind, indexing: Indexing) -> Ir:
    """Return the function for a kind of access by indices."""
    found = runtime.module.globals.get(_name(kind, indexing))
    return found if found is not None else _Indexed(runtime, kind, indexing).function


def _name(kind: AccessKind, indexing: Indexing) -> str:
    how = f"{'signed' if indexing.signed else 'unsigned'}.{'run' if indexing.follows else 'apart'}"
    return f"{kind.name}.{how}.{indexing.step}"


class _Indexed(AccessWriter):
    """One such function while it is written."""

    def __init__(self, runtime: Runtime, kind: AccessKind, indexing: Indexing) -> None:
        self.indexing = indexing
        self.far = runtime.access(kind)
        super().__init__(runtime, kind)

    @property
    def name(self) -> str:
        return _name(self.kind, self.indexing)

    def place_types(self) -> list[Ir]:
        return [I64, self.e.vector(I32)]

    def take_place(self, place: Sequence[Ir]) -> None:
        self.base, self.indices = place

    def write(self) -> None:
        """Write both ways."""
        e, b = self.e, self.e.b
        near, far = e.block("near"), e.block("far")
        self.low = e.read(self.site, RegionWords.LOW)
        span = e.read(self.site, SiteWords.SPAN)
        self.start = start = b.sub(self.base, self.low)
        room = b.sub(b.sub(span, I64(1)), start)
        good = b.and_(e.any(self.mask), b.icmp_unsigned("<", span, I64(_MOST)))
        for number in (start, room):
            good = b.and_(good, b.icmp_signed(">=", number, I64(0)))
        wrong = [e.read(self.state, LaunchWords.STOP), b.and_(self.base, I64(self.kind.aligned - 1))]
        if self.kind.op == "store":
            wrong.append(e.read(self.site, RegionWords.CONSTANT))
        for word in wrong:
            good = b.and_(good, b.icmp_unsigned("==", word, I64(0)))
        b.cbranch(good, near, far).set_weights([1000, 1])
        e.at(near)
        self.safe = e.slot(self.indices.type)
        b.store(self.indices, self.safe)
        most, moved = self.limits(start, room)
        go, some, fits = e.block("go"), e.block("some"), e.block("fits")
        b.cbranch(self.all_below(moved, most), go, some)
        # of lanes that are not there, anything may be said
        e.at(some)
        inside = e.bits(b.icmp_unsigned("<=", moved, e.splat(most)))
        outside = e.remove_lanes(self.mask, inside)
        b.cbranch(b.icmp_unsigned("==", outside, e.mask(0)), fits, far).set_weights([1000, 1])
        e.at(fits)
        # index 0 is in the region as well
        b.store(b.select(e.unpack_mask(self.mask), self.indices, e.splat_constant(I32, 0)), self.safe)
        b.branch(go)
        e.at(far)
        self.go_far()
        e.at(go)
        begin = e.splat(b.trunc(start, I32))
        self.offsets = b.add(b.mul(self.indices, e.splat_constant(I32, self.indexing.step)), begin)
        self.go_near()
        b.branch(self.done)

    def limits(self, start: Ir, room: Ir) -> tuple[Ir, Ir]:
        """Return what indices are at most, unsigned, where they are in the region, and the indices moved so that they
        are: `start` bytes from it on is index 0, `room` bytes behind that an access may start last."""
        e, b, step = self.e, self.e.b, I64(self.indexing.step)
        most = b.trunc(b.udiv(room, step), I32)
        if not self.indexing.signed:
            return most, self.indices
        least = b.neg(b.trunc(b.udiv(start, step), I32))
        return b.sub(most, least), b.sub(self.indices, e.splat(least))

    def all_below(self, indices: Ir, most: Ir) -> Ir:
        """Return whether all lanes, those of the mask or not, have at most this index."""
        e, b = self.e, self.e.b
        lanes = e.lanes
        while lanes > _LANES:
            lanes //= 2
            halves = [
                b.shuffle_vector(indices, indices, constants(I32, tuple(range(at, at + lanes)))) for at in (0, lanes)
            ]
            indices = e.intrinsic("llvm.umax", (halves[0].type,), halves)
        limit = b.insert_element(undefined(I32, lanes), most, I32(0))
        limit = b.shuffle_vector(limit, limit, constants(I32, (0,) * lanes))
        above = b.bitcast(b.icmp_unsigned(">", indices, limit), ir.IntType(lanes))
        return b.icmp_unsigned("==", above, ir.Constant(ir.IntType(lanes), 0))

    def go_far(self) -> None:
        """Write the call of the function for addresses."""
        e, b = self.e, self.e.b
        extend = b.sext if self.indexing.signed else b.zext
        moved = b.mul(extend(self.indices, e.vector(I64)), e.splat_constant(I64, self.indexing.step))
        addresses = b.add(e.splat(self.base), moved)
        made = b.call(self.far, [self.state, self.site, addresses, self.mask, self.warp, *self.values])
        for number, slot in enumerate(self.slots):
            b.store(b.extract_value(made, number), slot)
        b.branch(self.done)

    def go_near(self) -> None:
        """Write the observers and the access of lanes that are all in the region."""
        e, b = self.e, self.e.b
        self.together = I1(0)  # not looked for where it is not likely: what is done then is right for all lanes
        if self.indexing.follows:
            self.look_together()
        if self.runtime.checks.requests:
            function = indexed_request_function(e, self.kind.space, self.kind.size)
            row = b.mul(e.read(self.site, RegionWords.NUMBER), I64(5))
            sums = b.gep(e.pointer(e.read(self.site, SiteWords.SUMS)), [row], source_etype=I64)
            b.call(function, [sums, self.low, self.offsets, self.mask, self.together])
        if self.trace is not None:
            addresses = b.add(e.splat(self.low), b.zext(self.offsets, e.vector(I64)))
            b.call(self.trace, [self.state, self.warp, addresses, self.mask])
        if self.runtime.checks.uninitialized:
            self.check_known(self.mask)
        if self.race is not None:
            self.races(self.mask, b.zext(self.offsets, e.vector(I64)))
        self.place = e.pointer(b.add(self.low, e.read(self.site, RegionWords.DELTA)))
        if self.kind.count > 1 or not self.indexing.follows:
            self.apart()
            return
        whole = b.icmp_unsigned("==", self.mask, e.mask((1 << e.lanes) - 1))
        with b.if_else(b.and_(self.together, whole)) as (then, other):
            with then:
                self.side_by_side(whole=True)
            with other:
                self.partly()

    def look_together(self) -> None:
        """Write: whether each lane's access stands behind that of the lane before it."""
        e, b = self.e, self.e.b
        slot = e.slot(self.offsets.type)
        b.store(self.offsets, slot)
        low = e.lowest(self.mask)
        first = b.load(b.gep(slot, [low], source_etype=I32), typ=I32)
        self.begin = b.sub(first, b.trunc(b.mul(low, I64(self.kind.size)), I32))
        wanted = b.add(e.splat(self.begin), e.each_lane(I32, lambda lane: lane * self.kind.size))
        same = b.and_(e.bits(b.icmp_unsigned("==", self.offsets, wanted)), self.mask)
        self.together = b.icmp_unsigned("==", same, self.mask)

    def partly(self) -> None:
        """Write the access of some lanes."""
        if self.kind.size not in _VECTORS:
            self.apart()
            return
        with self.e.b.if_else(self.together) as (then, other):
            with then:
                self.side_by_side(whole=False)
            with other:
                self.apart()

    def active(self) -> Ir:
        """Return the mask as <V x i1>, by a comparison, which becomes fewer instructions here than a cast."""
        e = self.e
        one = e.each_lane(e.mask_type, lambda lane: 1 << lane)
        return e.b.icmp_unsigned("!=", e.b.and_(e.splat(self.mask), one), e.splat_constant(e.mask_type, 0))

    def host(self, word: RegionWords) -> Ir:
        """Return the host's addresses, of the data or of what is known of it."""
        e = self.e
        base = e.b.add(self.low, e.read(self.site, word))
        return e.b.add(e.splat(base), e.b.zext(self.offsets, e.vector(I64)))

    def side_by_side(self, *, whole: bool) -> None:
        """Write the access to elements that follow each other, in all lanes or some."""
        e, b, size = self.e, self.e.b, self.kind.size
        place = b.gep(self.place, [b.sext(self.begin, I64)], source_etype=I8)
        vector = e.vector(self.scalar)
        if self.kind.op == "load" and whole:
            b.store(b.load(place, typ=vector, align=size), self.slots[0])
        elif self.kind.op == "load":
            operands = (place, I32(size), self.active(), ir.Constant(vector, None))
            b.store(e.intrinsic("llvm.masked.load", (vector, place.type), operands, vector), self.slots[0])
        elif whole:
            b.store(self.values[0], place, align=size)
        else:
            operands = (self.values[0], place, I32(size), self.active())
            e.intrinsic("llvm.masked.store", (vector, place.type), operands, ir.VoidType())

    def apart(self) -> None:
        """Write the access to elements that are anywhere."""
        e, b, size = self.e, self.e.b, self.kind.type.bytes
        align = min(size, self.kind.aligned)
        for number in range(self.kind.count):
            moved = b.gep(self.place, [I64(number * size)], source_etype=I8)
            if self.kind.op == "load":
                b.store(self.read_apart(moved, align), self.slots[number])
            else:
                places = b.gep(moved, [self.offsets], source_etype=I8)
                places.type = e.vector(ir.PointerType())
                self.scatter(self.values[number], places, self.mask, align)

    def read_apart(self, place: Ir, align: int) -> Ir:
        """Return what the lanes read; others have zeros."""
        e, b = self.e, self.e.b
        vector = e.vector(self.scalar)
        if self.runtime.gathers:
            nothing = ir.Constant(vector, None)
            places = b.gep(place, [self.offsets], source_etype=I8)
            places.type = e.vector(ir.PointerType())
            return self.gather(places, self.mask, nothing, align)
        start = b.gep(place, [self.start], source_etype=I8)
        # LLVM must not see what is stored: it would take each index out of the vector at twice the cost
        slot = b.asm(ir.FunctionType(POINTER, [POINTER]), "", "=r,0,~{memory}", [self.safe], side_effect=True)
        found = undefined(vector.element, e.lanes)
        for lane in range(0, e.lanes, 2):
            pair = b.load(b.gep(slot, [I64(lane)], source_etype=I32), typ=I64, align=8)
            for number, half in enumerate((b.trunc(pair, I32), b.lshr(pair, I64(32)))):
                at = half if number and not self.indexing.signed else None
                if at is None:
                    at = b.ashr(pair, I64(32)) if number else (b.sext if self.indexing.signed else b.zext)(half, I64)
                moved = b.mul(at, I64(self.indexing.step))
                one = b.load(b.gep(start, [moved], source_etype=I8), typ=vector.element, align=align)
                found = b.insert_element(found, one, I64(lane + number))
        return found
