"""Loads, stores and atomics of a warp, each kind one function that is called, not inlined.

    access.load.i32.1.global(state, site, addresses, mask, warp) → <V x i32>

The checks would make a kernel ten times as long where it accesses memory; out of line they are compiled once for each
kind of access. A site remembers the region that it touched last, so a request whose lanes are all there is checked by
one comparison of vectors: address - LOW < SPAN. Lanes that are elsewhere are served region by region.

Invariant: no byte is touched that no region owns, whatever the kernel does. Once something is wrong (State.STOP)
accesses do nothing more. Lanes of one request store and update in their order, lowest first."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir
from msgspec import Struct

from warpsmith.simt.engine.lanes import I1, I64, POINTER, VOID, Emit, Ir, element
from warpsmith.simt.engine.observers.checks import Checks
from warpsmith.simt.engine.observers.races import CELL, Kind, KnownCell, race_function
from warpsmith.simt.engine.observers.requests import Space, request_function
from warpsmith.simt.engine.observers.trace import trace_function
from warpsmith.simt.engine.ops.atomics import COMBINED
from warpsmith.simt.engine.words import LaunchWords, RegionWords, SiteWords, Stop
from warpsmith.ssa.types import Type

__all__ = ["AccessKind", "AccessWriter", "Runtime", "stop_function"]


class AccessKind(Struct, frozen=True):
    """A kind of access: `op` of the kernel IR, `count` elements of `type`, in `space`; addresses are multiples of
    `aligned`."""

    op: str
    type: Type
    count: int
    space: Space
    aligned: int

    @property
    def size(self) -> int:
        """Bytes a lane."""
        return self.type.bytes * self.count

    @property
    def name(self) -> str:
        """A name that no other kind has."""
        return f"access.{self.op}.{self.type}.{self.count}.{self.space}.{self.aligned}"

    @property
    def kind(self) -> Kind:
        """What it is for who looks for races."""
        return "load" if self.op == "load" else "store" if self.op == "store" else "atomic"


class Runtime:
    """Functions that compiled kernels call: made when first asked for. `granule`: bytes of a cell, as a power of
    two."""

    def __init__(self, module: Ir, lanes: int, checks: Checks, granule: int, *, gathers: bool) -> None:
        self.module, self.lanes, self.checks, self.granule, self.gathers = module, lanes, checks, granule, gathers
        self.stop = stop_function(self.emit())
        self.locate = _locate_function(self.emit())

    def emit(self) -> Emit:
        """Return a builder for another function."""
        made = Emit(self.module, self.lanes)
        made.takes_signs = not self.gathers
        return made

    def access(self, kind: AccessKind) -> Ir:
        """Return the function for a kind of access."""
        found = self.module.globals.get(kind.name)
        return found if found is not None else AccessWriter(self, kind).function


def stop_function(e: Emit) -> Ir:
    """Return `stop(state, why, site, thread, address)`: the first cause is kept."""
    made = ir.Function(e.module, ir.FunctionType(VOID, [POINTER, I64, I64, I64, I64]), "stop")
    made.attributes.add("cold")
    state, why, site, thread, address = made.args
    e.at(made.append_basic_block("entry"))
    with e.b.if_then(e.b.icmp_unsigned("==", e.read(state, LaunchWords.STOP), I64(0))):
        e.write(state, LaunchWords.STOP, why)
        e.write(state, LaunchWords.LEAVE, I64(1))
        e.write(state, LaunchWords.STOP_SITE, site)
        e.write(state, LaunchWords.STOP_THREAD, thread)
        e.write(state, LaunchWords.STOP_BLOCK, e.read(state, LaunchWords.BLOCK))
        e.write(state, LaunchWords.STOP_ADDRESS, address)
    e.b.ret_void()
    return made


def _locate_function(e: Emit) -> Ir:
    """Return `locate(state, site, address)`: make the region of an address the site's; false where there is none."""
    made = ir.Function(e.module, ir.FunctionType(I1, [POINTER, POINTER, I64]), "locate")
    state, site, address = made.args
    e.at(made.append_basic_block("entry"))
    head, test, found, following, missing = (e.block(n) for n in ("head", "test", "found", "next", "missing"))
    number = e.slot(I64)
    e.b.store(I64(0), number)
    regions = e.pointer(e.read(state, LaunchWords.REGIONS))
    size = e.read(site, SiteWords.SIZE)
    e.b.branch(head)
    e.at(head)
    at = e.b.load(number, typ=I64)
    e.b.cbranch(e.b.icmp_unsigned("<", at, e.read(state, LaunchWords.REGION_COUNT)), test, missing)
    e.at(test)
    region = e.b.gep(regions, [e.b.mul(at, I64(len(RegionWords)))], source_etype=I64)
    length = e.read(region, RegionWords.LENGTH)
    inside = e.b.icmp_unsigned("<=", size, length)
    span = e.b.select(inside, e.b.add(e.b.sub(length, size), I64(1)), I64(0))
    offset = e.b.sub(address, e.read(region, RegionWords.LOW))
    e.b.cbranch(e.b.icmp_unsigned("<", offset, span), found, following)
    e.at(following)
    e.b.store(e.b.add(at, I64(1)), number)
    e.b.branch(head)
    e.at(found)
    for word in RegionWords:
        e.write(site, word, e.read(region, word))
    e.write(site, SiteWords.SPAN, span)
    e.b.ret(I1(1))
    e.at(missing)
    e.b.ret(I1(0))
    return made


class AccessWriter:
    """One access function while it is written."""

    def __init__(self, runtime: Runtime, kind: AccessKind) -> None:
        self.runtime, self.kind = runtime, kind
        self.e = e = runtime.emit()
        self.request = request_function(e, kind.space, kind.size, kind.aligned) if runtime.checks.requests else None
        traced = runtime.checks.traced and kind.space in ("global", "generic")
        self.trace = trace_function(e, kind.kind, kind.space, kind.size, kind.aligned) if traced else None
        watched = runtime.checks.races and kind.space not in ("local", "constant")
        self.race = race_function_of(e, kind.kind, resident=runtime.checks.resident) if watched else None
        self.scalar = element(kind.type)
        values = {"load": 0, "store": kind.count, "atomic_compare": 2}.get(kind.op, 1)
        made = [e.vector(self.scalar)] * (kind.count if kind.op == "load" else int(kind.kind == "atomic"))
        result = ir.LiteralStructType(made) if made else VOID
        place = self.place_types()
        given = [POINTER, POINTER, *place, e.mask_type, I64, *[e.vector(self.scalar)] * values]
        self.function = ir.Function(e.module, ir.FunctionType(result, given), self.name)
        self.state, self.site, *rest = self.function.args
        self.take_place(rest[: len(place)])
        self.mask, self.warp, *self.values = rest[len(place) :]
        e.at(self.function.append_basic_block("entry"))
        self.done = e.block("done")
        self.slots = [e.slot(type) for type in made]
        for slot, type in zip(self.slots, made, strict=True):
            e.b.store(ir.Constant(type, None), slot)
        self.write()
        e.at(self.done)
        self.leave(made, result)

    @property
    def name(self) -> str:
        """The function's name."""
        return self.kind.name

    def place_types(self) -> list[Ir]:
        """Return the types of the arguments that say where the lanes access memory."""
        return [self.e.vector(I64)]

    def take_place(self, place: Sequence[Ir]) -> None:
        """Take these arguments."""
        (self.addresses,) = place

    def first_thread(self) -> Ir:
        """Return the number of the warp's first thread in its block."""
        return self.e.b.mul(self.warp, self.e.read(self.state, LaunchWords.WIDTH))

    def leave(self, made: Sequence[Ir], result: Ir) -> None:
        """Write the return."""
        e = self.e
        if not made:
            e.b.ret_void()
            return
        whole = ir.Constant(result, ir.Undefined)
        for number, (slot, type) in enumerate(zip(self.slots, made, strict=True)):
            whole = e.b.insert_value(whole, e.b.load(slot, typ=type), number)
        e.b.ret(whole)

    def stop_where(self, bad: Ir, why: Ir) -> None:
        """Write: where a mask has a lane, something is wrong there, and the function ends."""
        e = self.e
        wrong, right = e.block("wrong"), e.block("right")
        e.b.cbranch(e.any(bad), wrong, right)
        e.at(wrong)
        self.stop_at(e.lowest(bad), why)
        e.at(right)

    def stop_at(self, lane: Ir, why: Ir) -> None:
        """Write the end for what is wrong in one lane."""
        e = self.e
        slot = e.slot(self.addresses.type)
        e.b.store(self.addresses, slot)
        address = e.b.load(e.b.gep(slot, [lane], source_etype=I64), typ=I64)
        thread = e.b.add(self.first_thread(), lane)
        site = e.b.ptrtoint(self.site, I64)
        e.b.call(self.runtime.stop, [self.state, why, site, thread, address])
        e.b.branch(self.done)

    def write(self) -> None:
        """Write the checks, the requests, and the access region by region."""
        e = self.e
        go = e.block("go")
        e.b.cbranch(e.b.icmp_unsigned("==", e.read(self.state, LaunchWords.STOP), I64(0)), go, self.done)
        e.at(go)
        if self.kind.aligned > 1:
            rest = e.b.and_(self.addresses, e.splat_constant(I64, self.kind.aligned - 1))
            odd = e.bits(e.b.icmp_unsigned("!=", rest, e.splat_constant(I64, 0)))
            self.stop_where(e.b.and_(odd, self.mask), I64(Stop.ALIGNMENT))
        left = e.slot(e.mask_type)
        e.b.store(self.mask, left)
        head, test, serve, search = (e.block(n) for n in ("head", "test", "serve", "search"))
        e.b.branch(head)
        e.at(head)
        there = e.b.load(left, typ=e.mask_type)
        e.b.cbranch(e.any(there), test, self.done)
        e.at(test)
        offsets = e.b.sub(self.addresses, e.splat(e.read(self.site, RegionWords.LOW)))
        inside = e.bits(e.b.icmp_unsigned("<", offsets, e.splat(e.read(self.site, SiteWords.SPAN))))
        first = e.b.and_(there, e.b.neg(there))
        e.b.cbranch(e.any(e.b.and_(inside, first)), serve, search)
        self.search(search, head, there)
        e.at(serve)
        group = e.b.and_(inside, there)
        if self.request is not None or self.trace is not None:
            self.count_once(there)
        self.serve(group, offsets)
        e.b.store(e.remove_lanes(there, group), left)
        e.b.branch(head)

    def search(self, block: Ir, head: Ir, there: Ir) -> None:
        """Write the search for the region of the lowest lane."""
        e = self.e
        e.at(block)
        lowest = e.lowest(there)
        slot = e.slot(self.addresses.type)
        e.b.store(self.addresses, slot)
        address = e.b.load(e.b.gep(slot, [lowest], source_etype=I64), typ=I64)
        found = e.b.call(self.runtime.locate, [self.state, self.site, address])
        nowhere = e.block("nowhere")
        e.b.cbranch(found, head, nowhere)
        e.at(nowhere)
        self.stop_at(lowest, I64(Stop.BOUNDS))

    def count_once(self, there: Ir) -> None:
        """Write: where no lane has been served yet, count the request for the region of its lowest lane, and write it
        down."""
        e = self.e
        with e.b.if_then(e.b.icmp_unsigned("==", there, self.mask)):
            if self.request is not None:
                row = e.b.mul(e.read(self.site, RegionWords.NUMBER), I64(5))
                sums = e.b.gep(e.pointer(e.read(self.site, SiteWords.SUMS)), [row], source_etype=I64)
                e.b.call(self.request, [sums, self.addresses, self.mask])
            if self.trace is not None:
                e.b.call(self.trace, [self.state, self.warp, self.addresses, self.mask])

    # --- one region

    def serve(self, group: Ir, offsets: Ir) -> None:
        """Write the access of the lanes that touch one region."""
        e, b = self.e, self.e.b
        if self.kind.op != "load":
            reason = e.read(self.site, RegionWords.CONSTANT)
            constant = e.b.icmp_unsigned("!=", reason, I64(0))
            self.stop_where(b.select(constant, group, e.mask(0)), reason)
        if self.runtime.checks.uninitialized:
            self.check_known(group)
        if self.race is not None:
            self.races(group, offsets)
        host = self.host(RegionWords.DELTA)
        if self.kind.kind == "atomic":
            self.update(group, host)
            return
        size = self.kind.type.bytes
        align = min(size, self.kind.aligned)
        for number in range(self.kind.count):
            place = e.pointer(self.e.b.add(host, e.splat_constant(I64, number * size)))
            if self.kind.op == "load":
                old = e.b.load(self.slots[number], typ=e.vector(self.scalar))
                e.b.store(self.gather(place, group, old, align), self.slots[number])
            else:
                self.scatter(self.values[number], place, group, align)

    def host(self, word: RegionWords) -> Ir:
        """Return the host's addresses, of the data or of what is known of it."""
        e = self.e
        found = e.b.add(self.addresses, e.splat(e.read(self.site, word)))
        if self.kind.space not in ("local", "generic"):
            return found
        threads = e.b.add(e.splat(self.first_thread()), e.each_lane(I64, lambda lane: lane))
        return e.b.add(found, e.b.mul(threads, e.splat(e.read(self.site, RegionWords.STRIDE))))

    def check_known(self, group: Ir) -> None:
        """Write the check of what is read, or take note of what is written."""
        e = self.e
        with e.b.if_then(e.b.icmp_unsigned("!=", e.read(self.site, RegionWords.KNOWN), I64(0))):
            host, size = self.host(RegionWords.KNOWN), self.kind.type.bytes
            scalar = ir.IntType(8 * size)
            ones = e.splat_constant(scalar, int.from_bytes(b"\1" * size, "little"))
            for number in range(self.kind.count):
                place = e.pointer(e.b.add(host, e.splat_constant(I64, number * size)))
                if self.kind.kind != "store":
                    seen = self.gather(place, group, ones, 1)
                    unknown = e.bits(e.b.icmp_unsigned("!=", seen, ones))
                    self.report(e.b.and_(unknown, group), Stop.UNINITIALIZED)
                if self.kind.kind != "load":
                    self.scatter(ones, place, group, 1)

    def report(self, bad: Ir, why: Stop) -> None:
        """Write: something is wrong in these lanes, which does not end the function."""
        e = self.e
        with e.b.if_then(e.any(bad)):
            thread = e.b.add(self.first_thread(), e.lowest(bad))
            site = e.b.ptrtoint(self.site, I64)
            e.b.call(self.runtime.stop, [self.state, I64(why), site, thread, I64(0)])

    def races(self, group: Ir, offsets: Ir) -> None:
        """Write: enter the access of each lane into the cells of its granules."""
        e, granule = self.e, self.runtime.granule
        with e.b.if_then(e.b.icmp_unsigned("!=", e.read(self.site, RegionWords.CELLS), I64(0))):
            cells = e.read(self.site, RegionWords.CELLS)
            numbers = e.b.lshr(offsets, e.splat_constant(I64, granule.bit_length() - 1))
            slot = e.slot(numbers.type)
            e.b.store(numbers, slot)
            epochs = e.pointer(e.read(self.state, LaunchWords.WARP_EPOCHS))
            warp_epoch = e.b.load(e.b.gep(epochs, [self.warp], source_etype=I64), typ=I64)
            block, epoch = e.b.add(e.read(self.state, LaunchWords.BLOCK), I64(1)), e.read(self.state, LaunchWords.EPOCH)
            if self.runtime.checks.resident:
                block = e.b.add(block, e.read(self.state, LaunchWords.GRID))
            base = e.b.add(self.first_thread(), I64(1))
            width = e.read(self.state, LaunchWords.WIDTH)
            known = KnownCell.of(e, self.kind.kind, block, epoch, warp_epoch)

            def body(left: Ir, lane: Ir) -> Ir:
                first = e.b.load(e.b.gep(slot, [lane], source_etype=I64), typ=I64)
                me, bad = e.b.add(base, lane), I1(0)
                for number in range(self.kind.size // granule):
                    at = e.b.mul(e.b.add(first, I64(number)), I64(CELL))
                    cell = e.pointer(e.b.add(cells, at))
                    bad = e.b.or_(bad, self.enter(cell, known, [cell, me, block, epoch, warp_epoch, base, width]))
                bit = e.b.and_(left, e.b.neg(left))
                self.report(e.b.select(bad, bit, e.mask(0)), Stop.RACE)
                return e.remove_lowest(left)

            e.while_bits(group, body)

    def enter(self, cell: Ir, known: KnownCell, given: Sequence[Ir]) -> Ir:
        """Write: enter an access into a cell, if it does not have it; return whether it conflicts."""
        e = self.e
        here, ended, other = e.b.block, e.block("entered"), e.block("enter")
        e.b.cbranch(known.has(cell, given[1]), ended, other)
        e.at(other)
        bad = e.b.call(self.race, given)
        e.b.branch(ended)
        e.at(ended)
        found = e.b.phi(I1)
        found.add_incoming(I1(0), here)
        found.add_incoming(bad, other)
        return found

    def update(self, group: Ir, host: Ir) -> None:
        """Write the atomic op of one lane after the other."""
        e = self.e
        slots = [e.slot(value.type) for value in (host, *self.values)]
        for slot, value in zip(slots, (host, *self.values), strict=True):
            e.b.store(value, slot)

        def body(left: Ir, lane: Ir) -> Ir:
            types = [I64, *[self.scalar] * len(self.values)]
            address, *given = (
                e.b.load(e.b.gep(slot, [lane], source_etype=type), typ=type)
                for slot, type in zip(slots, types, strict=True)
            )
            place = e.pointer(address)
            old = e.b.load(place, typ=self.scalar, align=1)
            e.b.store(COMBINED[self.kind.op](e, old, given), place, align=1)
            e.b.store(old, e.b.gep(self.slots[0], [lane], source_etype=self.scalar))
            return e.remove_lowest(left)

        e.while_bits(group, body)

    # --- vectors of addresses

    def gather(self, place: Ir, mask: Ir, instead: Ir, align: int) -> Ir:
        """Read in the lanes of a mask; where processors have no fast gather, in one after the other."""
        e, vector = self.e, instead.type
        if self.runtime.gathers:
            types = (vector, place.type)
            operands = (place, ir.Constant(ir.IntType(32), align), e.unpack_mask(mask), instead)
            return e.intrinsic("llvm.masked.gather", types, operands, vector)
        places, found = e.slot(place.type), e.slot(vector)
        e.b.store(place, places)
        e.b.store(instead, found)

        def body(left: Ir, lane: Ir) -> Ir:
            where = e.b.load(e.b.gep(places, [lane], source_etype=POINTER), typ=POINTER)
            one = e.b.load(where, typ=vector.element, align=align)
            e.b.store(one, e.b.gep(found, [lane], source_etype=vector.element))
            return e.remove_lowest(left)

        e.while_bits(mask, body)
        return e.b.load(found, typ=vector)

    def scatter(self, value: Ir, place: Ir, mask: Ir, align: int) -> None:
        """Write in the lanes of a mask, lowest first; where processors cannot, LLVM would make a branch for each lane,
        a loop is as fast and much less code."""
        e = self.e
        if not self.runtime.gathers:
            self.scatter_in_turn(value, place, mask, align)
            return
        operands = (value, place, ir.Constant(ir.IntType(32), align), e.unpack_mask(mask))
        e.intrinsic("llvm.masked.scatter", (value.type, place.type), operands, VOID)

    def scatter_in_turn(self, value: Ir, place: Ir, mask: Ir, align: int) -> None:
        """Write in one lane of a mask after the other."""
        e = self.e
        slots = [e.slot(vector.type) for vector in (place, value)]
        for slot, vector in zip(slots, (place, value), strict=True):
            e.b.store(vector, slot)

        def body(left: Ir, lane: Ir) -> Ir:
            types = (POINTER, value.type.element)
            where, what = (
                e.b.load(e.b.gep(slot, [lane], source_etype=type), typ=type)
                for slot, type in zip(slots, types, strict=True)
            )
            e.b.store(what, where, align=align)
            return e.remove_lowest(left)

        e.while_bits(mask, body)


def race_function_of(e: Emit, kind: Kind, *, resident: bool) -> Ir:
    """Return the function that looks for races of a kind of access, made when first asked for."""
    found = e.module.globals.get(f"race.{kind}")
    return found if found is not None else race_function(e, kind, resident=resident)
