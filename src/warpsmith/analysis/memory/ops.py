"""The transfer functions of ops on sums over unknowns.

add sub neg not mul shl trunc          of the sums themselves: they hold modulo 2**bits
zext sext mul.wide shr                 of the number that the sum is after it has wrapped: P - 2**bits · wraps
and or xor                             where the low bits of all threads are known
select                                 other + condition · (one - other)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from warpsmith.analysis.affine.symbols import Atom, Form, constant_form, from_atom
from warpsmith.analysis.memory.wrapping import Wrapping
from warpsmith.ssa.nodes import Instruction, Text

__all__ = ["RULES"]

Rule = Callable[[Wrapping, Instruction, Sequence[Form]], "Form | None"]


def _shl(t: Wrapping, i: Instruction, o: Sequence[Form]) -> Form | None:
    amount = o[1].constant
    return None if amount is None else o[0].scale(1 << min(amount % (1 << 32), o[0].bits))


def _wide(t: Wrapping, i: Instruction, o: Sequence[Form]) -> Form | None:
    signed = i.op == "smulwide"
    wide = [t.extend(form, 2 * form.bits, signed=signed) for form in o]
    a, b = wide
    return None if a is None or b is None else a.times(b)


def _extend(t: Wrapping, i: Instruction, o: Sequence[Form]) -> Form | None:
    return t.extend(o[0], i.result.type.bits, signed=i.op == "sext")


def _shr(t: Wrapping, i: Instruction, o: Sequence[Form]) -> Form | None:
    amount = o[1].constant
    return None if amount is None else t.shifted_right(o[0], amount % (1 << 32), signed=i.op == "ashr")


def _udiv(t: Wrapping, i: Instruction, o: Sequence[Form]) -> Form | None:
    by = o[1].constant
    if by is None or by <= 0 or by & (by - 1):
        return None
    return o[0] if by == 1 else t.shifted_right(o[0], by.bit_length() - 1, signed=False)


def _urem(t: Wrapping, i: Instruction, o: Sequence[Form]) -> Form | None:
    by = o[1].constant
    return None if by is None or by <= 0 or by & (by - 1) else _mask(t, o[0], by.bit_length() - 1)


def _mask(t: Wrapping, form: Form, count: int) -> Form | None:
    low = t.low(form, count)
    return None if low is None else t.lanes.form(low, form.bits)


def _and(t: Wrapping, i: Instruction, o: Sequence[Form]) -> Form | None:
    value, mask = (o[1], o[0]) if o[0].constant is not None else (o[0], o[1])
    number = mask.constant
    if number is None or value.numeric or value.bits < 8:
        return None
    if number == -1:
        return value
    if number > 0 and not number & (number + 1):
        return _mask(t, value, number.bit_length())
    if number < 0 and not ~number & (~number + 1):
        low = _mask(t, value, (~number).bit_length())
        return None if low is None else value.plus(low, -1)
    return _low_only(t, value, mask, lambda a, b: a & b, keep=False)


def _or(t: Wrapping, i: Instruction, o: Sequence[Form]) -> Form | None:
    return _either(t, o, lambda a, b: a | b)


def _xor(t: Wrapping, i: Instruction, o: Sequence[Form]) -> Form | None:
    return _either(t, o, lambda a, b: a ^ b)


def _either(t: Wrapping, o: Sequence[Form], combine: Callable[[int, int], int]) -> Form | None:
    value, other = (o[1], o[0]) if o[0].numeric else (o[0], o[1])
    if value.numeric or not other.numeric or value.bits < 8:
        return None
    return _low_only(t, value, other, combine, keep=True)


def _low_only(t: Wrapping, value: Form, other: Form, combine: Callable[[int, int], int], *, keep: bool) -> Form | None:
    """Combine bits of which `other` has only low ones, so that the high ones of `value` stay (`keep`) or go."""
    numbers = t.lanes.numbers(other)
    if numbers is None or min(numbers) < 0:
        return None
    count = max(numbers).bit_length()
    low = t.low(value, count)
    if low is None:
        return None
    made = t.lanes.form([combine(a, b) for a, b in zip(low, numbers, strict=True)], value.bits)
    return value.plus(t.lanes.form(low, value.bits), -1).plus(made) if keep else made


def _select(t: Wrapping, i: Instruction, o: Sequence[Form]) -> Form | None:
    condition, one, other = o
    if one.same(other):
        return one
    if condition.numeric:
        chosen = t.lanes.numbers(condition)
        if chosen is None or one.bits < 8:
            return None
        which = t.lanes.form([n & 1 for n in chosen], one.bits, "condition")
    elif condition.has("own", "wrap", "index") or one.bits < 8:
        return None
    else:
        cycles = frozenset(c for atom in condition.atoms() for c in atom.cycles)
        atom = t.lanes.atom(("bit", condition.key), Atom("condition", "shared", range=(0, 1), cycles=cycles))
        which = from_atom(atom, one.bits)
    product = which.times(one.plus(other, -1))
    return None if product is None else other.plus(product)


def _window(t: Wrapping, i: Instruction, o: Sequence[Form]) -> Form | None:
    space = i.detail.text if isinstance(i.detail, Text) else ""
    if space not in ("shared", "local"):
        return o[0]
    atom = t.lanes.atom(
        ("window", space),
        Atom(f"{space} window", "shared", range=(0, 1 << 60), residue=(0, 24), space=f"{space} window"),
    )
    return o[0].plus(from_atom(atom, o[0].bits), 1 if i.op == "to_generic" else -1)


def _bitcast(t: Wrapping, i: Instruction, o: Sequence[Form]) -> Form | None:
    return o[0] if i.result.type.kind == i.operands[0].type.kind and i.result.type.bits == o[0].bits else None


RULES: Final[Mapping[str, Rule]] = {
    "add": lambda t, i, o: o[0].plus(o[1]),
    "sub": lambda t, i, o: o[0].plus(o[1], -1),
    "neg": lambda t, i, o: o[0].scale(-1),
    "not": lambda t, i, o: constant_form(-1, o[0].bits).plus(o[0], -1),
    "mul": lambda t, i, o: o[0].times(o[1]),
    "shl": _shl,
    "smulwide": _wide,
    "umulwide": _wide,
    "zext": _extend,
    "sext": _extend,
    "trunc": lambda t, i, o: o[0].resize(i.result.type.bits),
    "bitcast": _bitcast,
    "lshr": _shr,
    "ashr": _shr,
    "udiv": _udiv,
    "urem": _urem,
    "and": _and,
    "or": _or,
    "xor": _xor,
    "select": _select,
    "to_generic": _window,
    "from_generic": _window,
}
