"""How many different pieces of memory the lanes of a warp ask for, and in how many sectors they are.

    pieces, one behind the other:   . . . . a b a c      each lane is compared with every lower one: XOR is 0 where they
    the same, moved by 1, 2, 3:     . . . a b a c .      ask for one piece, less than 8 where for one sector of 8

The least XOR of a lane with lower ones tells both; a lane that has a lower one like it is not counted. Where the pieces
are close to each other, 16 bits tell them apart, which takes half the vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from llvmlite import ir

from warpsmith.simt.engine.lanes import I32, I64, Emit, Ir, constants

__all__ = ["different_function"]

_I16: Final[Ir] = ir.IntType(16)
_CLOSE: Final = 1 << 15
"""Numbers of 16 bits are less; what no lane has is this number."""
_IN_REGISTERS: Final = 16
"""Lanes whose close numbers are compared in registers. Of more there are too many for these: a loop over memory is as
fast, and takes LLVM a fifth of the time."""


def different_function(e: Emit, shift: int) -> Ir:
    """Return `different(numbers, mask) → (pieces, sectors)`: how many different numbers of 32 bits the lanes of a mask
    have, and how many of them without the last `shift` bits; the mask has a lane."""
    found = e.module.globals.get(f"different.{shift}")
    if found is not None:
        return found
    result = ir.LiteralStructType([I64, I64])
    made = ir.Function(e.module, ir.FunctionType(result, [e.vector(I32), e.mask_type]), f"different.{shift}")
    own = e.again()
    own.at(made.append_basic_block("entry"))
    numbers, mask = made.args
    slot = own.slot(numbers.type)
    own.b.store(numbers, slot)
    first = own.b.load(own.b.gep(slot, [own.lowest(mask)], source_etype=I32), typ=I32)
    # lanes that are not there have the number of one that is
    filled = own.b.select(own.unpack_mask(mask), numbers, own.splat(first))
    start = own.b.and_(own.b.sub(first, I32(_CLOSE >> 1)), I32(-1 << shift))
    close = own.b.sub(filled, own.splat(start))
    near = own.b.icmp_unsigned("<", close, own.splat_constant(I32, _CLOSE))
    whole = own.b.icmp_unsigned("==", own.bits(near), own.mask((1 << own.lanes) - 1))
    little, far = own.block("close"), own.block("far")
    own.b.cbranch(whole, little, far)
    own.at(little)
    own.b.ret(_counts(own, _least_close, own.b.trunc(close, own.vector(_I16)), shift))
    own.at(far)
    own.b.ret(_counts(own, _least_far, filled, shift))
    return made


def _counts(e: Emit, least: Callable[[Emit, Ir], Ir], numbers: Ir, shift: int) -> Ir:
    """Return how many lanes have no lower one like them, both ways."""
    found = least(e, numbers)
    both = ir.Constant(ir.LiteralStructType([I64, I64]), ir.Undefined)
    for at, limit in enumerate((1, 1 << shift)):
        alone = e.b.icmp_unsigned(">=", found, e.splat_constant(found.type.element, limit))
        both = e.b.insert_value(both, e.count(e.bits(alone)), at)
    return both


def _least_close(e: Emit, numbers: Ir) -> Ir:
    """Return each lane's least XOR with a lower lane, numbers of 15 bits."""
    none = e.splat_constant(_I16, _CLOSE)
    if e.lanes > _IN_REGISTERS:
        return _least_lower(e, numbers, [(none, numbers)])
    least = e.splat_constant(_I16, 0xFFFF)
    back = [_moved(e, none, numbers, 8 * at) for at in range(e.lanes // 8 + 1)]
    for step in range(1, e.lanes):
        # within 128 bits, which processors do at once
        at, rest = divmod(step, 8)
        places = [lane - rest + e.lanes * (lane % 8 >= rest) + 8 * (lane % 8 < rest) for lane in range(e.lanes)]
        moved = e.b.shuffle_vector(back[at + 1], back[at], constants(I32, tuple(places)))
        other = e.b.xor(numbers, moved)
        least = e.b.select(e.b.icmp_unsigned("<", other, least), other, least)
    return least


def _moved(e: Emit, none: Ir, numbers: Ir, step: int) -> Ir:
    """Return numbers moved up by `step` lanes, behind some that no lane has."""
    places = [max(0, e.lanes - step + lane) for lane in range(e.lanes)]
    return e.b.shuffle_vector(none, numbers, constants(I32, tuple(places)))


def _least_far(e: Emit, numbers: Ir) -> Ir:
    """Return each lane's least XOR with a lower lane, any numbers of 32 bits."""
    none, all_ = e.splat_constant(I32, 0), e.splat_constant(I32, 0xFFFFFFFF)
    return _least_lower(e, numbers, [(none, numbers), (all_, none)])


def _least_lower(e: Emit, numbers: Ir, pairs: Sequence[tuple[Ir, Ir]]) -> Ir:
    """Return the least of what each lane gives with a lower one. `pairs`: what no lane has, and what lanes have, of
    numbers and (where there is such a pair) of what tells that no lane has them."""
    scalar = numbers.type.element
    least = e.slot(numbers.type)
    e.b.store(e.splat_constant(scalar, (1 << scalar.width) - 1), least)
    slots = []
    for low, high in pairs:
        slot = e.slot(ir.ArrayType(scalar, 2 * e.lanes))
        e.b.store(low, slot, align=scalar.width // 8)
        e.b.store(high, e.b.gep(slot, [I64(e.lanes)], source_etype=scalar), align=scalar.width // 8)
        slots.append(slot)

    def compare(step: Ir) -> None:
        at = e.b.sub(I64(e.lanes), step)
        moved, *missing = (
            e.b.load(e.b.gep(s, [at], source_etype=scalar), typ=numbers.type, align=scalar.width // 8) for s in slots
        )
        other, before = e.b.xor(numbers, moved), e.b.load(least, typ=numbers.type)
        for one in missing:
            other = e.b.or_(other, one)
        e.b.store(e.b.select(e.b.icmp_unsigned("<", other, before), other, before), least)

    e.count_up(I64(1), I64(e.lanes), compare)
    return e.b.load(least, typ=numbers.type)
