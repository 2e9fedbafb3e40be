"""Votes and shuffles of a warp, in LLVM IR: simt/meeting/exchange.py.

Lanes take part that are there together. The interpreter lets an exchange wait for all lanes that its mask names
(without a mask: for all that can still come); so both are equal where the active lanes are just those that are named
and have not ended. Where they are not, the run stops, and the interpreter is asked.

Active lanes may name several masks, as tiles of a warp do: each is a group that exchanges by itself, one after the
other. Each has to be there as a whole.

    lanes   0 1 2 3 4 5 6 7      masks  00001111 for 0 to 3, 11110000 for the others
    groups  └──────┘└─────┘
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from llvmlite import ir

from warpsmith.simt.engine.here import Here
from warpsmith.simt.engine.lanes import I1, I32, I64, Emit, Ir, element, undefined
from warpsmith.simt.engine.ops.integers import resize_lanes
from warpsmith.simt.engine.words import LaunchWords, Stop
from warpsmith.ssa.nodes import Exchange, Instruction

__all__ = ["EXCHANGES", "shuffle_source", "warp_barrier"]


def _how(i: Instruction) -> str:
    assert isinstance(i.detail, Exchange)
    return i.detail.how


def _together(k: Here, masks: Ir | None) -> Ir:
    """Write: stop where the active lanes are not groups as they name them (None: the whole warp). Return for each lane
    the lanes of its group, as 32 bits."""
    e = k.e
    here = e.splat(_bits32(k, k.mask))
    if masks is None:
        if not k.lockstep:
            _stop_if(k, e.b.icmp_unsigned("!=", k.mask, k.live()))
        return here
    allowed = e.b.and_(masks, here)
    wrong = e.b.call(_groups_function(k.runtime.emit()), [masks, k.mask, k.everyone])
    if k.lockstep:
        # a group that is there goes on at once under a policy, whoever comes later
        alike = e.b.and_(e.bits(e.b.icmp_unsigned("==", allowed, here)), k.mask)
        wrong = e.b.or_(wrong, e.b.icmp_unsigned("!=", alike, k.mask))
        if k.runtime.checks.turns in ("linear", "per-lane"):
            # others may go on while these wait
            wrong = e.b.or_(wrong, e.b.icmp_unsigned("!=", k.mask, k.live()))
    _stop_if(k, wrong)
    return allowed


def _stop_if(k: Here, wrong: Ir) -> None:
    with k.e.b.if_then(wrong, likely=False):
        k.stop(Stop.EXCHANGE)


def _groups_function(e: Emit) -> Ir:
    """Return `wrong(masks, mask, everyone)`: whether a group of the lanes of a mask, those that name the same lanes, is
    not all that they name."""
    name = f"exchange.groups.{e.lanes}"
    found = e.module.globals.get(name)
    if found is not None:
        return found
    given = [e.vector(I32), e.mask_type, e.mask_type]
    made = ir.Function(e.module, ir.FunctionType(I1, given), name)
    masks, mask, everyone = made.args
    e.at(made.append_basic_block("entry"))
    slot, wrong = e.slot(masks.type), e.slot(I1)
    e.b.store(masks, slot)
    e.b.store(I1(0), wrong)

    def body(left: Ir, lane: Ir) -> Ir:
        one = e.b.load(e.b.gep(slot, [lane], source_etype=I32), typ=I32)
        group = e.b.and_(e.bits(e.b.icmp_unsigned("==", masks, e.splat(one))), mask)
        named = e.b.and_(_fit_mask(e, one), everyone)
        e.b.store(e.b.or_(e.b.load(wrong, typ=I1), e.b.icmp_unsigned("!=", named, group)), wrong)
        return e.remove_lanes(left, group)

    e.while_bits(mask, body)
    e.b.ret(e.b.load(wrong, typ=I1))
    return made


def _fit_mask(e: Emit, bits: Ir) -> Ir:
    """Return 32 bits as a mask."""
    if e.lanes == 32:
        return bits
    return (e.b.trunc if e.lanes < 32 else e.b.zext)(bits, e.mask_type)


def _bits32(k: Here, mask: Ir) -> Ir:
    """Return a mask as 32 bits."""
    return mask if k.e.lanes == 32 else (k.e.b.zext if k.e.lanes < 32 else k.e.b.trunc)(mask, I32)


def warp_barrier(k: Here, operands: Sequence[Ir]) -> None:
    """Write a barrier of the warp: the lanes that it names have to be there; where all are, it orders what they do."""
    e = k.e
    full = e.splat_constant(I32, (1 << min(e.lanes, 32)) - 1)
    masks = operands[0] if operands else full
    allowed = _together(k, masks)
    epochs = e.pointer(e.read(k.state, LaunchWords.WARP_EPOCHS))
    # one group, of all that have not ended
    whole = e.b.and_(e.bits(e.b.icmp_unsigned("==", allowed, e.splat(_bits32(k, k.live())))), k.mask)
    with e.b.if_then(e.b.icmp_unsigned("==", whole, k.live())):
        e.add_to(e.b.gep(epochs, [k.number], source_etype=I64), I64(1))


def _gather_lanes(operands: Sequence[Ir], i: Instruction) -> tuple[list[Ir], Ir | None]:
    """Return what lanes bring, and the masks that they name."""
    masked = isinstance(i.detail, Exchange) and i.detail.masked
    return (list(operands[:-1]), operands[-1]) if masked else (list(operands), None)


def _vote(k: Here, i: Instruction, operands: Sequence[Ir]) -> Sequence[Ir]:
    e = k.e
    (predicate, *_), masks = _gather_lanes(operands, i)
    allowed = _together(k, masks)
    yes = e.b.and_(e.splat(_bits32(k, e.b.and_(e.bits(predicate), k.mask))), allowed)
    none, all_ = (e.b.icmp_unsigned("==", yes, other) for other in (e.splat_constant(I32, 0), allowed))
    found = {
        "all": lambda: all_,
        "any": lambda: e.b.not_(none),
        "uni": lambda: e.b.or_(none, all_),
        "ballot": lambda: yes,
    }[_how(i)]()
    return (resize_lanes(e, found, element(i.result.type)),)


def _active(k: Here, i: Instruction, operands: Sequence[Ir]) -> Sequence[Ir]:
    _together(k, None)
    return (resize_lanes(k.e, k.e.splat(_bits32(k, k.mask)), element(i.result.type)),)


def _shuffle(k: Here, i: Instruction, operands: Sequence[Ir]) -> Sequence[Ir]:
    e = k.e
    (value, other, clamp), masks = _gather_lanes(operands, i)
    allowed = _together(k, masks)
    source, inside = shuffle_source(e, _how(i), e.each_lane(I32, lambda lane: lane), other, clamp)
    there = e.b.icmp_unsigned("<", source, e.splat_constant(I32, e.lanes))
    safe = e.b.select(there, source, e.splat_constant(I32, 0))
    brought = e.b.trunc(e.b.lshr(allowed, safe), e.vector(I1))
    usable = e.b.and_(inside, e.b.and_(there, brought))
    lanes = e.each_lane(I32, lambda lane: lane)
    made = _pick_lanes(k, value, e.b.select(usable, safe, lanes))
    return (made, inside)[: len(i.results)]


def shuffle_source(e: Emit, how: str, lane: Ir, other: Ir, clamp: Ir) -> tuple[Ir, Ir]:
    """Return which lane a `lane` reads, and whether that is in range."""
    b, low5 = e.b, e.splat_constant(I32, 0x1F)
    segment = b.and_(b.lshr(clamp, e.splat_constant(I32, 8)), low5)
    outside = b.and_(b.not_(segment), low5)
    low = b.and_(lane, segment)
    top = b.or_(low, b.and_(clamp, outside))
    step = b.and_(other, low5)
    source = {
        "up": lambda: b.sub(lane, step),
        "down": lambda: b.add(lane, step),
        "bfly": lambda: b.xor(lane, step),
        "idx": lambda: b.or_(low, b.and_(other, outside)),
    }[how]()
    return source, b.icmp_signed(">=" if how == "up" else "<=", source, top)


def _pick_lanes(k: Here, value: Ir, lanes: Ir) -> Ir:
    """Return for each lane what another one has."""
    e = k.e
    narrow = value.type.element == ir.IntType(1)
    whole = e.b.zext(value, e.vector(ir.IntType(8))) if narrow else value
    slot = e.slot(whole.type)
    e.b.store(whole, slot)
    found = undefined(whole.type.element, e.lanes)
    for lane in range(e.lanes):
        at = e.b.extract_element(lanes, I32(lane))
        one = e.b.load(e.b.gep(slot, [e.b.zext(at, I64)], source_etype=whole.type.element), typ=whole.type.element)
        found = e.b.insert_element(found, one, I32(lane))
    return e.b.trunc(found, value.type) if narrow else found


def _match(k: Here, i: Instruction, operands: Sequence[Ir]) -> Sequence[Ir]:
    e = k.e
    (value, *_), masks = _gather_lanes(operands, i)
    allowed = _together(k, masks)
    slot, result = e.slot(value.type), e.slot(e.vector(I32))
    scalar = value.type.element
    e.b.store(value, slot)
    e.b.store(e.splat_constant(I32, 0), result)

    def body(left: Ir, lane: Ir) -> Ir:
        one = e.b.load(e.b.gep(slot, [lane], source_etype=scalar), typ=scalar)
        same = e.b.and_(e.bits(e.b.icmp_unsigned("==", value, e.splat(one))), k.mask)
        old = e.b.load(result, typ=e.vector(I32))
        e.b.store(e.b.select(e.unpack_mask(same), e.splat(_bits32(k, same)), old), result)
        return e.remove_lanes(left, same)

    e.while_bits(k.mask, body)
    same = e.b.and_(e.b.load(result, typ=e.vector(I32)), allowed)
    if _how(i) == "all":
        alike = e.b.icmp_unsigned("==", same, allowed)
        return (e.b.select(alike, same, e.splat_constant(I32, 0)), alike)[: len(i.results)]
    return (same,)


def _reduce(k: Here, i: Instruction, operands: Sequence[Ir]) -> Sequence[Ir]:
    e = k.e
    (value, *_), masks = _gather_lanes(operands, i)
    allowed = _together(k, masks)
    slot, groups, total, result = e.slot(value.type), e.slot(allowed.type), e.slot(I32), e.slot(e.vector(I32))
    e.b.store(value, slot)
    e.b.store(allowed, groups)
    e.b.store(e.splat_constant(I32, 0), result)
    combine = _REDUCED[_how(i)]

    def element_of(held: Ir, lane: Ir) -> Ir:
        return e.b.load(e.b.gep(held, [lane], source_etype=I32), typ=I32)

    def of_group(left: Ir, lane: Ir) -> Ir:
        group = e.b.and_(_fit_mask(e, element_of(groups, lane)), k.mask)
        e.b.store(element_of(slot, lane), total)

        def add(others: Ir, other: Ir) -> Ir:
            e.b.store(combine(k, e.b.load(total, typ=I32), element_of(slot, other)), total)
            return e.remove_lowest(others)

        e.while_bits(e.remove_lowest(group), add)
        old = e.b.load(result, typ=e.vector(I32))
        found = e.splat(e.b.load(total, typ=I32))
        e.b.store(e.b.select(e.unpack_mask(group), found, old), result)
        return e.remove_lanes(left, group)

    e.while_bits(k.mask, of_group)
    return (e.b.load(result, typ=e.vector(I32)),)


def _make_ordered(how: str, *, sign: bool) -> Callable[[Here, Ir, Ir], Ir]:
    def emit(k: Here, a: Ir, b: Ir) -> Ir:
        compare = k.e.b.icmp_signed if sign else k.e.b.icmp_unsigned
        return k.e.b.select(compare(how, a, b), a, b)

    return emit


_REDUCED: Final[Mapping[str, Callable[[Here, Ir, Ir], Ir]]] = {
    "add": lambda k, a, b: k.e.b.add(a, b),
    "and": lambda k, a, b: k.e.b.and_(a, b),
    "or": lambda k, a, b: k.e.b.or_(a, b),
    "xor": lambda k, a, b: k.e.b.xor(a, b),
    **{f"{s}min": _make_ordered("<", sign=s == "s") for s in "su"},
    **{f"{s}max": _make_ordered(">", sign=s == "s") for s in "su"},
}

EXCHANGES: Final[Mapping[str, Callable[[Here, Instruction, Sequence[Ir]], Sequence[Ir]]]] = {
    "vote": _vote,
    "active": _active,
    "shuffle": _shuffle,
    "match": _match,
    "reduce": _reduce,
}
