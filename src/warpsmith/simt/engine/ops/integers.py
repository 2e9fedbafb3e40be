"""Ops on integers and predicates, in all lanes at once: ssa/semantics/ in LLVM IR.

Lanes that are not active compute as well; so nothing here may trap or be undefined for any operand. Divisors are
replaced where a lane is inactive, or would divide by zero or overflow. Quotients of up to 32 bits in vectors are taken
of doubles, which processors have vectors for: the quotient q of two such integers differs from the next integer by 1/b
at least, so by more than 2⁻⁵³ q, and rounding does not reach it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from llvmlite import ir

from warpsmith.simt.engine.lanes import I1, I32, I64, Emit, Ir, element, scalar_of
from warpsmith.ssa.nodes import Instruction

__all__ = ["INTEGERS", "PAIRS"]

Op = Callable[[Emit, Instruction, list[Ir], Ir], Ir]
"""Builder, instruction, operands, active lanes (a mask) → the result."""


def _plain(name: str) -> Op:
    return lambda e, i, o, active: getattr(e.b, name)(o[0], o[1])


def _make_comparison(how: str, *, sign: bool) -> Op:
    return lambda e, i, o, active: getattr(e.b, "icmp_signed" if sign else "icmp_unsigned")(how, o[0], o[1])


def _make_choice(how: str, *, sign: bool) -> Op:
    """Return a minimum or maximum: the operand that compares so."""
    compare = _make_comparison(how, sign=sign)
    return lambda e, i, o, active: e.b.select(compare(e, i, o, active), o[0], o[1])


def _intrinsic(name: str) -> Op:
    return lambda e, i, o, active: e.intrinsic(f"llvm.{name}", (o[0].type,), o)


def _make_resize(name: str) -> Op:
    return lambda e, i, o, active: resize_lanes(e, o[0], element(i.results[0].type), sign=name == "sext")


def resize_lanes(e: Emit, value: Ir, scalar: Ir, *, sign: bool = False) -> Ir:
    """Return a vector of integers in another width."""
    own, wanted = scalar_of(value).width, scalar.width
    if own == wanted:
        return value
    name = "trunc" if own > wanted else "sext" if sign else "zext"
    return getattr(e.b, name)(value, e.vector(scalar))


def bits_of(value: Ir) -> int:
    """Return the width of the elements of a vector of integers."""
    width: int = scalar_of(value).width
    return width


def _same(e: Emit, value: Ir, number: int) -> Ir:
    """Return a constant vector of the type of another."""
    return e.splat_constant(scalar_of(value), number)


# --- division


def _make_division(*, sign: bool, rest: bool) -> Op:
    def emit(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
        a, b = o
        zero = e.b.icmp_unsigned("==", b, _same(e, b, 0))
        bad = e.b.or_(zero, e.unpack_mask(e.b.not_(active)))
        if sign:
            least, minus = _same(e, a, -(1 << (bits_of(a) - 1))), _same(e, b, -1)
            over = e.b.and_(e.b.icmp_unsigned("==", a, least), e.b.icmp_unsigned("==", b, minus))
            bad = e.b.or_(bad, over)
        safe = e.b.select(bad, _same(e, b, 1), b)
        quotient = _quotient(e, a, safe, sign=sign)
        if not rest:
            return e.b.select(zero, _same(e, a, -1), quotient)
        return e.b.select(zero, a, e.b.sub(a, e.b.mul(quotient, safe)))

    return emit


def _quotient(e: Emit, a: Ir, b: Ir, *, sign: bool) -> Ir:
    if bits_of(a) > 32 or e.lanes == 1:
        return e.b.sdiv(a, b) if sign else e.b.udiv(a, b)
    doubles = e.vector(ir.DoubleType())
    x, y = ((e.b.sitofp if sign else e.b.uitofp)(v, doubles) for v in (a, b))
    whole = e.b.fdiv(x, y)
    long = e.b.fptosi(whole, e.vector(I64))
    return resize_lanes(e, long, scalar_of(a))


# --- shifts and fields


def _make_shift(name: str) -> Op:
    """Return a shift; amounts beyond the width shift everything out."""

    def emit(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
        value, amount = o
        width = bits_of(value)
        last = width - 1
        beyond = e.b.icmp_unsigned(">", amount, _same(e, amount, last))
        n = resize_lanes(e, e.b.select(beyond, _same(e, amount, last), amount), scalar_of(value))
        if name == "ashr":
            return e.b.ashr(value, n)
        made = getattr(e.b, name)(value, n)
        return e.b.select(beyond, _same(e, value, 0), made)

    return emit


def _funnel(side: str, *, clamp: bool) -> Op:
    def emit(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
        low, high, amount = o
        both = e.b.or_(resize_lanes(e, low, I64), e.b.shl(resize_lanes(e, high, I64), e.splat_constant(I64, 32)))
        if clamp:
            over = e.b.icmp_unsigned(">", amount, e.splat_constant(I32, 32))
            amount = e.b.select(over, e.splat_constant(I32, 32), amount)
        else:
            amount = e.b.and_(amount, e.splat_constant(I32, 31))
        n = resize_lanes(e, amount, I64)
        if side == "left":
            return resize_lanes(e, e.b.lshr(e.b.shl(both, n), e.splat_constant(I64, 32)), I32)
        return resize_lanes(e, e.b.lshr(both, n), I32)

    return emit


def _wide_shift(e: Emit, name: str, value: Ir, amount: Ir) -> Ir:
    """Shift by amounts of one byte, which may be beyond the width: everything goes out."""
    width = bits_of(value)
    beyond = e.b.icmp_unsigned(">=", amount, _same(e, amount, width))
    n = e.b.select(beyond, _same(e, amount, 0), amount)
    return e.b.select(beyond, _same(e, value, 0), getattr(e.b, name)(value, n))


def _ones(e: Emit, value: Ir, length: Ir) -> Ir:
    """Return (1 << length) - 1."""
    return e.b.sub(_wide_shift(e, "shl", _same(e, value, 1), length), _same(e, value, 1))


def _byte(e: Emit, amount: Ir, scalar: Ir) -> Ir:
    return resize_lanes(e, e.b.and_(amount, e.splat_constant(I32, 0xFF)), scalar)


def _extract_bits(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
    value = o[0]
    position, length = (_byte(e, n, scalar_of(value)) for n in o[1:])
    return e.b.and_(_wide_shift(e, "lshr", value, position), _ones(e, value, length))


def _extract_signed(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
    """Return the field with its sign repeated: the sign is bit min(position + length, width) - 1."""
    value, width = o[0], bits_of(o[0])
    position, length = (_byte(e, n, scalar_of(value)) for n in o[1:])
    end = e.b.add(position, length)
    top = e.b.select(e.b.icmp_unsigned(">", end, _same(e, end, width)), _same(e, end, width), end)
    at = e.b.and_(e.b.sub(top, _same(e, top, 1)), _same(e, top, width - 1))
    sign = e.b.icmp_unsigned("!=", e.b.and_(e.b.lshr(value, at), _same(e, value, 1)), _same(e, value, 0))
    room = e.b.sub(_same(e, value, width), position)
    room = e.b.select(e.b.icmp_unsigned(">", position, _same(e, position, width)), _same(e, room, 0), room)
    kept = e.b.select(e.b.icmp_unsigned("<", length, room), length, room)
    ones = _ones(e, value, kept)
    field = e.b.and_(_wide_shift(e, "lshr", value, position), ones)
    found = e.b.select(sign, e.b.or_(field, e.b.not_(ones)), field)
    return e.b.select(e.b.icmp_unsigned("==", length, _same(e, length, 0)), _same(e, value, 0), found)


def _insert_bits(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
    value, into = o[:2]
    position, length = (_byte(e, n, scalar_of(value)) for n in o[2:])
    mask = _wide_shift(e, "shl", _ones(e, value, length), position)
    return e.b.or_(e.b.and_(into, e.b.not_(mask)), e.b.and_(_wide_shift(e, "shl", value, position), mask))


def _permute_bytes(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
    a, b, selector = o
    both = e.b.or_(resize_lanes(e, a, I64), e.b.shl(resize_lanes(e, b, I64), e.splat_constant(I64, 32)))
    result = e.splat_constant(I32, 0)
    for number in range(4):
        choice = e.b.lshr(selector, e.splat_constant(I32, 4 * number))
        at = resize_lanes(e, e.b.shl(e.b.and_(choice, e.splat_constant(I32, 7)), e.splat_constant(I32, 3)), I64)
        byte = e.b.and_(resize_lanes(e, e.b.lshr(both, at), I32), e.splat_constant(I32, 0xFF))
        high = e.b.icmp_unsigned("!=", e.b.and_(byte, e.splat_constant(I32, 0x80)), e.splat_constant(I32, 0))
        signs = e.b.select(high, e.splat_constant(I32, 0xFF), e.splat_constant(I32, 0))
        wants = e.b.icmp_unsigned("!=", e.b.and_(choice, e.splat_constant(I32, 8)), e.splat_constant(I32, 0))
        chosen = e.b.select(wants, signs, byte)
        result = e.b.or_(result, e.b.shl(chosen, e.splat_constant(I32, 8 * number)))
    return result


def _logic(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
    """Return any function of three bits, by its table: each entry is a term."""
    *three, table = o
    inverse = [e.b.not_(value) for value in three]
    result = e.splat_constant(I32, 0)
    for number in range(8):
        bit = e.b.and_(e.b.lshr(table, e.splat_constant(I32, number)), e.splat_constant(I32, 1))
        a, b, c = (three[n] if number >> (2 - n) & 1 else inverse[n] for n in range(3))
        term = e.b.and_(e.b.and_(a, b), c)
        result = e.b.or_(result, e.b.and_(term, e.b.neg(bit)))
    return result


# --- the rest


def _absolute(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
    negative = e.b.icmp_signed("<", o[0], _same(e, o[0], 0))
    return e.b.select(negative, e.b.neg(o[0]), o[0])


def _make_wide(*, sign: bool) -> Op:
    def emit(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
        made = element(i.results[0].type)
        return e.b.mul(*(resize_lanes(e, value, made, sign=sign) for value in o))

    return emit


def _high(*, sign: bool) -> Op:
    def emit(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
        own = scalar_of(o[0])
        twice = ir.IntType(2 * own.width)
        product = e.b.mul(*(resize_lanes(e, value, twice, sign=sign) for value in o))
        return resize_lanes(e, e.b.lshr(product, e.splat_constant(twice, own.width)), own)

    return emit


def _apart(*, sign: bool) -> Op:
    """Return |a - b| + c."""
    compare = _make_comparison(">", sign=sign)

    def emit(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
        a, b, c = o
        distance = e.b.select(compare(e, i, [a, b], active), e.b.sub(a, b), e.b.sub(b, a))
        return e.b.add(distance, c)

    return emit


def _dot(*, sign: bool) -> Op:
    def emit(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
        total = o[2]
        for number in range(4):
            left = e.splat_constant(I32, 24 - 8 * number)
            right = e.splat_constant(I32, 24)
            shift = e.b.ashr if sign else e.b.lshr
            x, y = (shift(e.b.shl(word, left), right) for word in o[:2])
            total = e.b.add(total, e.b.mul(x, y))
        return total

    return emit


def _leading(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
    zeros = e.intrinsic("llvm.ctlz", (o[0].type,), (o[0], ir.Constant(I1, 0)))
    return resize_lanes(e, zeros, I32)


def _find_highest(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
    """Return the place of the highest bit, -1 where there is none."""
    return e.b.sub(e.splat_constant(I32, bits_of(o[0]) - 1), _leading(e, i, o, active))


def _find_highest_signed(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
    negative = e.b.icmp_signed("<", o[0], _same(e, o[0], 0))
    return _find_highest(e, i, [e.b.select(negative, e.b.not_(o[0]), o[0])], active)


def _population(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
    return resize_lanes(e, e.intrinsic("llvm.ctpop", (o[0].type,), o), I32)


def _select(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
    return e.b.select(o[0], o[1], o[2])


def _add_with_carry(e: Emit, o: list[Ir]) -> tuple[Ir, Ir]:
    total = e.b.add(o[0], o[1])
    carry = e.b.icmp_unsigned("<", total, o[0])
    if len(o) == 3:
        more = resize_lanes(e, o[2], scalar_of(total))
        total = e.b.add(total, more)
        carry = e.b.or_(carry, e.b.icmp_unsigned("<", total, more))
    return total, carry


def _subtract_with_borrow(e: Emit, o: list[Ir]) -> tuple[Ir, Ir]:
    rest = e.b.sub(o[0], o[1])
    borrow = e.b.icmp_unsigned("<", o[0], o[1])
    if len(o) == 3:
        more = resize_lanes(e, o[2], scalar_of(rest))
        borrow = e.b.or_(borrow, e.b.icmp_unsigned("<", rest, more))
        rest = e.b.sub(rest, more)
    return rest, borrow


PAIRS: Final[Mapping[str, Callable[[Emit, list[Ir]], tuple[Ir, Ir]]]] = {
    "add_carry": _add_with_carry,
    "sub_borrow": _subtract_with_borrow,
}
"""Ops with two results."""

_ORDERS: Final = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}

INTEGERS: Final[Mapping[str, Op]] = {
    "add": _plain("add"),
    "sub": _plain("sub"),
    "mul": _plain("mul"),
    "and": _plain("and_"),
    "or": _plain("or_"),
    "xor": _plain("xor"),
    "not": lambda e, i, o, active: e.b.not_(o[0]),
    "neg": lambda e, i, o, active: e.b.neg(o[0]),
    "abs": _absolute,
    **{f"{s}min": _make_choice("<", sign=s == "s") for s in "su"},
    **{f"{s}max": _make_choice(">", sign=s == "s") for s in "su"},
    **{f"{s}mulwide": _make_wide(sign=s == "s") for s in "su"},
    **{f"{s}mulhi": _high(sign=s == "s") for s in "su"},
    **{f"{s}div": _make_division(sign=s == "s", rest=False) for s in "su"},
    **{f"{s}rem": _make_division(sign=s == "s", rest=True) for s in "su"},
    **{f"{s}sad": _apart(sign=s == "s") for s in "su"},
    **{f"{s}{op}sat": _intrinsic(f"{s}{op}.sat") for s in "su" for op in ("add", "sub")},
    **{f"{s}dot4": _dot(sign=s == "s") for s in "su"},
    "uextract": _extract_bits,
    "sextract": _extract_signed,
    "insert": _insert_bits,
    "reverse": _intrinsic("bitreverse"),
    "popcount": _population,
    "leading": _leading,
    "ufind": _find_highest,
    "sfind": _find_highest_signed,
    "shl": _make_shift("shl"),
    "lshr": _make_shift("lshr"),
    "ashr": _make_shift("ashr"),
    "funnel_left": _funnel("left", clamp=False),
    "funnel_left_clamp": _funnel("left", clamp=True),
    "funnel_right": _funnel("right", clamp=False),
    "funnel_right_clamp": _funnel("right", clamp=True),
    "permute": _permute_bytes,
    "logic3": _logic,
    "eq": _make_comparison("==", sign=False),
    "ne": _make_comparison("!=", sign=False),
    **{f"{s}{name}": _make_comparison(how, sign=s == "s") for s in "su" for name, how in _ORDERS.items()},
    "select": _select,
    **{name: _make_resize(name) for name in ("zext", "sext", "trunc")},
}
"""Ops with one result."""
