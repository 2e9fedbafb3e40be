"""Costs of the requests of warps, summed while the kernel runs: machine/requests.py in LLVM IR.

    sectors, ideal     32-byte sectors that the lanes touch; those that their bytes would fill        global, local
    conflicts          passes through the banks beyond the first                                     shared

Most requests are of lanes side by side, or of one address: both are seen by one comparison of vectors. The rest counts
different numbers: by comparing all lanes with all, or the lowest lane's, without all lanes that have the same, and so
on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal

from llvmlite import ir

from warpsmith.machine.requests import BANKS, SECTOR, WORD
from warpsmith.simt.engine.lanes import I32, I64, POINTER, VOID, Emit, Ir
from warpsmith.simt.engine.observers.different import different_function
from warpsmith.simt.engine.words import RequestWords
from warpsmith.simt.memory import LOCAL_WINDOW, SHARED_WINDOW

__all__ = ["each_sector", "lowest_address", "request_function"]

Space = Literal["global", "shared", "local", "constant", "generic"]
Body = Callable[[Ir, Ir], None]
"""Writes code for a number, and the lanes that have it."""
_OFFSET: Final = SHARED_WINDOW - 1
"""The bits of an address without those of its window."""


def request_function(e: Emit, space: Space, size: int, aligned: int) -> Ir:
    """Return `request(sums, addresses, mask)`: one request of `size` bytes a lane, addresses multiples of `aligned`."""
    name = f"request.{space}.{size}.{aligned}"
    found = e.module.globals.get(name)
    if found is not None:
        return found
    if space == "generic":
        ones: tuple[Space, ...] = ("global", "shared", "local")
        parts: dict[Space, Ir] = {one: request_function(e, one, size, aligned) for one in ones}
    made = ir.Function(e.module, ir.FunctionType(VOID, [POINTER, e.vector(I64), e.mask_type]), name)
    e.at(made.append_basic_block("entry"))
    sums, addresses, mask = made.args
    if space == "generic":
        _by_window(e, parts, made.args)
    else:
        _Counted(e, sums, addresses, mask, (size, aligned)).write(space)
    e.b.ret_void()
    return made


def _by_window(e: Emit, parts: dict[Space, Ir], arguments: Sequence[Ir]) -> None:
    """Ask the function of the space that the lowest lane's address is in."""
    _, addresses, mask = arguments
    lowest = lowest_address(e, addresses, mask)
    local = e.b.icmp_unsigned(">=", lowest, I64(LOCAL_WINDOW))
    shared = e.b.icmp_unsigned(">=", lowest, I64(SHARED_WINDOW))
    with e.b.if_else(local) as (then, other):
        with then:
            e.b.call(parts["local"], arguments)
        with other, e.b.if_else(shared) as (inner, last):
            with inner:
                e.b.call(parts["shared"], arguments)
            with last:
                e.b.call(parts["global"], arguments)


def each_sector(e: Emit, addresses: Ir, mask: Ir, shape: tuple[int, int], body: Body) -> None:
    """Write `body` for each sector of global memory that lanes touch; `shape`: bytes a lane, what addresses are
    multiples of."""
    request = _Counted(e, None, addresses, mask, shape)
    request.each_different(request.ends(SECTOR), mask, body)


def lowest_address(e: Emit, addresses: Ir, mask: Ir) -> Ir:
    """Return the address of the lowest lane of a mask."""
    return _at(e, _store_vector(e, addresses), e.lowest(mask))


def _store_vector(e: Emit, vector: Ir) -> Ir:
    """Put a vector into memory, so that one lane can be read."""
    slot = e.slot(vector.type)
    e.b.store(vector, slot)
    return slot


def _at(e: Emit, slot: Ir, lane: Ir) -> Ir:
    return e.b.load(e.b.gep(slot, [lane], source_etype=I64), typ=I64)


class _Counted:
    """One request on its way through the function that counts it."""

    def __init__(self, e: Emit, sums: Ir, addresses: Ir, mask: Ir, shape: tuple[int, int]) -> None:
        self.e, self.sums, self.mask = e, sums, mask
        self.size, self.aligned = shape
        self.own = e.b.and_(addresses, e.splat_constant(I64, _OFFSET))
        self.lanes = e.count(mask)

    def add(self, which: RequestWords, number: Ir) -> None:
        """Add to a sum."""
        self.e.add_to(self.e.word(self.sums, which), number)

    def write(self, space: Space) -> None:
        """Write the whole function for requests to one space."""
        self.add(RequestWords.REQUESTS, I64(1))
        self.add(RequestWords.LANES, self.lanes)
        match space:
            case "global" | "local":
                self.count_moved(local=space == "local")
            case "shared":
                self.banks()

    # --- requests that are recognized at once

    def alike(self, step: int) -> Ir:
        """Return whether each lane's address is `step` bytes behind the one of the lane before it."""
        e = self.e
        low = e.lowest(self.mask)
        first = e.b.sub(_at(e, _store_vector(e, self.own), low), e.b.mul(low, I64(step)))
        wanted = e.b.add(e.splat(first), e.each_lane(I64, lambda lane: lane * step))
        same = e.bits(e.b.icmp_unsigned("==", self.own, wanted))
        return e.b.icmp_unsigned("==", e.b.and_(same, self.mask), self.mask)

    def first(self) -> Ir:
        """Return the address of the lowest lane."""
        return _at(self.e, _store_vector(self.e, self.own), self.e.lowest(self.mask))

    def one_run(self) -> Ir:
        """Return whether no lane is missing between the lowest and the highest of the mask."""
        e = self.e
        wide = self.mask if e.lanes == 64 else e.b.zext(self.mask, I64)
        low = e.b.lshr(wide, e.lowest(self.mask))
        return e.b.icmp_unsigned("==", e.b.and_(low, e.b.add(low, I64(1))), I64(0))

    def choose(self, condition: Ir, quick: Callable[[], None], slow: Callable[[], None]) -> None:
        """Write `if (condition) quick else slow`."""
        with self.e.b.if_else(condition) as (then, other):
            with then:
                quick()
            with other:
                slow()

    # --- sectors

    def count_moved(self, *, local: bool) -> None:
        """Count sectors, and those that the bytes would fill."""
        fits = self.aligned >= self.size
        if local:
            self.choose(self.alike(0), self.local_together, self.local_apart)
        elif fits:
            self.choose(self.e.b.and_(self.alike(self.size), self.one_run()), self.run, self.apart)
        else:
            self.apart()

    def count_filled(self, bytes_: Ir) -> None:
        """Add the sectors that bytes would fill."""
        self.add(RequestWords.IDEAL, self.e.b.udiv(self.e.b.add(bytes_, I64(SECTOR - 1)), I64(SECTOR)))

    def run(self) -> None:
        """Count lanes side by side."""
        e, bytes_ = self.e, self.e.b.mul(self.lanes, I64(self.size))
        start = self.first()
        last = e.b.sub(e.b.add(start, bytes_), I64(1))
        touched = e.b.sub(e.b.lshr(last, I64(5)), e.b.lshr(start, I64(5)))
        self.add(RequestWords.SECTORS, e.b.add(touched, I64(1)))
        self.count_filled(bytes_)

    def distinct_bytes(self) -> Ir:
        """Return how many different bytes the lanes ask for."""
        unit = min(self.aligned, self.size)
        units = [self.piece(unit, at) for at in range(0, self.size, unit)]
        return self.e.b.mul(self.different(units), I64(unit))

    def piece(self, unit: int, at: int) -> Ir:
        """Return the number of the piece of `unit` bytes that byte `at` of each access is in."""
        e = self.e
        moved = e.b.add(self.own, e.splat_constant(I64, at))
        return e.b.lshr(moved, e.splat_constant(I64, unit.bit_length() - 1))

    def ends(self, unit: int) -> list[Ir]:
        """Return the pieces of `unit` bytes that an access touches."""
        if self.size <= unit and self.aligned >= self.size:
            return [self.piece(unit, 0)]
        ats = [*range(0, self.size, unit), self.size - 1] if self.aligned < unit else range(0, self.size, unit)
        return [self.piece(unit, at) for at in dict.fromkeys(ats)]

    def apart(self) -> None:
        """Count lanes that are anywhere."""
        if self.size <= min(self.aligned, SECTOR) and not self.size & (self.size - 1):
            piece = self.piece(self.size, 0)
            pieces, sectors = self.pieces_and_sectors(piece, (SECTOR // self.size).bit_length() - 1)
            self.add(RequestWords.SECTORS, sectors)
            self.count_filled(self.e.b.mul(pieces, I64(self.size)))
            return
        self.add(RequestWords.SECTORS, self.different(self.ends(SECTOR)))
        self.count_filled(self.distinct_bytes())

    def local_together(self) -> None:
        """Count lanes that are all at one offset of their local memory."""
        e, start = self.e, self.first()
        last = e.b.lshr(e.b.add(start, I64(self.size - 1)), I64(2))
        words = e.b.add(e.b.sub(last, e.b.lshr(start, I64(2))), I64(1))
        self.add(RequestWords.SECTORS, e.b.mul(words, self.eights(self.mask)))
        self.count_filled(I64(self.size))

    def local_apart(self) -> None:
        """Count lanes at different offsets: a word is eight lanes wide in a sector."""
        total = self.e.slot(I64)
        self.e.b.store(I64(0), total)
        self.each_different(self.ends(WORD), self.mask, lambda word, lanes: self.e.add_to(total, self.eights(lanes)))
        self.add(RequestWords.SECTORS, self.e.b.load(total, typ=I64))
        self.count_filled(self.distinct_bytes())

    def eights(self, mask: Ir) -> Ir:
        """Return how many groups of eight lanes have one in the mask."""
        e, total = self.e, I64(0)
        for start in range(0, e.lanes, 8):
            some = e.any(e.b.and_(mask, e.mask(0xFF << start)))
            total = e.b.add(total, e.b.zext(some, I64))
        return total

    # --- banks

    def banks(self) -> None:
        """Count passes through the banks: the worst phase of the request."""
        e = self.e
        quick = e.b.or_(self.alike(self.size), self.alike(0)) if self.aligned >= self.size else self.alike(0)
        with e.b.if_then(e.b.not_(quick)):
            worst = e.slot(I64)
            e.b.store(I64(0), worst)
            lanes = 32 if self.size <= WORD else 16 if self.size <= 2 * WORD else 8
            for start in range(0, e.lanes, lanes):
                part = e.b.and_(self.mask, e.mask((((1 << lanes) - 1) << start) & ((1 << e.lanes) - 1)))
                self.phase(part, worst)
            ways = e.b.load(worst, typ=I64)
            self.add(RequestWords.CONFLICTS, e.b.sub(ways, I64(1)))

    def phase(self, mask: Ir, worst: Ir) -> None:
        """Count the words of each bank that lanes of one phase ask for, and keep the most."""
        e = self.e
        counts = e.slot(ir.ArrayType(I64, BANKS))
        e.b.store(ir.Constant(ir.ArrayType(I64, BANKS), [0] * BANKS), counts)

        def body(word: Ir, lanes: Ir) -> None:
            place = e.b.gep(counts, [e.b.and_(word, I64(BANKS - 1))], source_etype=I64)
            e.add_to(place, I64(1))
            count, most = e.b.load(place, typ=I64), e.b.load(worst, typ=I64)
            e.b.store(e.b.select(e.b.icmp_unsigned(">", count, most), count, most), worst)

        self.each_different(self.ends(WORD), mask, body)

    # --- different numbers

    def different(self, vectors: Sequence[Ir]) -> Ir:
        """Return how many different numbers the lanes have in some vectors."""
        if len(vectors) == 1:
            return self.pieces_and_sectors(vectors[0], 0)[0]
        total = self.e.slot(I64)
        self.e.b.store(I64(0), total)
        self.each_different(vectors, self.mask, lambda number, lanes: self.e.add_to(total, I64(1)))
        return self.e.b.load(total, typ=I64)

    def pieces_and_sectors(self, numbers: Ir, shift: int) -> tuple[Ir, Ir]:
        """Return how many different numbers the lanes have, and how many without their last `shift` bits."""
        e = self.e
        totals = [e.slot(I64) for _ in range(2)]
        for total in totals:
            e.b.store(I64(0), total)
        high = e.b.lshr(numbers, e.splat_constant(I64, 32))
        first = _at(e, _store_vector(e, high), e.lowest(self.mask))
        near = e.bits(e.b.icmp_unsigned("==", high, e.splat(first)))
        low = e.b.trunc(numbers, e.vector(I32))

        def at_once() -> None:
            both = e.b.call(different_function(e, shift), [low, self.mask])
            for at, total in enumerate(totals):
                e.b.store(e.b.extract_value(both, at), total)

        def one_by_one() -> None:
            self.each_different([numbers], self.mask, lambda number, lanes: e.add_to(totals[0], I64(1)))
            sectors = e.b.lshr(numbers, e.splat_constant(I64, shift))
            self.each_different([sectors], self.mask, lambda number, lanes: e.add_to(totals[1], I64(1)))

        self.choose(e.b.icmp_unsigned("==", e.b.and_(near, self.mask), self.mask), at_once, one_by_one)
        pieces, sectors = (e.b.load(total, typ=I64) for total in totals)
        return pieces, sectors

    def each_different(self, vectors: Sequence[Ir], mask: Ir, body: Body) -> None:
        """Write `body` for each different number, with the lanes that have it."""
        e = self.e
        slots = [_store_vector(e, vector) for vector in vectors]
        lefts = [e.slot(e.mask_type) for _ in vectors]
        for left in lefts:
            e.b.store(mask, left)
        for at in range(len(vectors)):
            head, inside, done = e.block("head"), e.block("inside"), e.block("done")
            e.b.branch(head)
            e.at(head)
            here = e.b.load(lefts[at], typ=e.mask_type)
            e.b.cbranch(e.any(here), inside, done)
            e.at(inside)
            number = _at(e, slots[at], e.lowest(here))
            lanes = e.mask(0)
            for other in range(at, len(vectors)):
                same = e.bits(e.b.icmp_unsigned("==", vectors[other], e.splat(number)))
                left = e.b.load(lefts[other], typ=e.mask_type)
                lanes = e.b.or_(lanes, e.b.and_(left, same))
                e.b.store(e.remove_lanes(left, same), lefts[other])
            body(number, lanes)
            e.b.branch(head)
            e.at(done)
