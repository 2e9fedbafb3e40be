"""The semantics of the pure ops in one lane, on bit patterns: the meaning that every engine must agree with.

    lane(instruction, (bits, bits, …)) → (bits, …)        operands and results as numbers, 0 ≤ bits < 2**type.bits
    lanes(instruction, (column, column, …)) → column      the same for many lanes at once, one column an operand

Integers wrap. Shifts beyond the width shift everything out. Division by zero gives all ones, a remainder by zero its
dividend, as GPUs do (PTX leaves both open). Floating point rounds to nearest even unless the detail says otherwise;
transcendental functions are the C library's, rounded: hardware may differ in the last bits.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Final

from msgspec import Struct

from warpsmith.ssa.nodes import Convert, Float, Instruction, Rounding
from warpsmith.ssa.types import BF16, F16, F32, F64, Type

__all__ = ["lane", "lanes", "number_of", "pattern_of", "to_signed"]

Lane = Callable[[Instruction, tuple[int, ...]], int]


def lane(instruction: Instruction, operands: tuple[int, ...]) -> tuple[int, ...]:
    """Return the results of a pure op in one lane; raises KeyError for an op that computes no value by itself."""
    if instruction.op in _PAIRS:
        return _PAIRS[instruction.op](instruction, operands)
    bits = _TABLE[instruction.op](instruction, operands)
    return (bits & ((1 << instruction.results[0].type.bits) - 1),)


def lanes(instruction: Instruction, columns: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the one result of a pure op in many lanes; raises KeyError for an op that computes no such value."""
    compute = _TABLE[instruction.op]
    mask = (1 << instruction.results[0].type.bits) - 1
    if isinstance(compute, _Whole):
        return tuple([bits & mask for bits in compute.column(instruction, columns)])
    return tuple([compute(instruction, numbers) & mask for numbers in zip(*columns, strict=True)])


# --- numbers and patterns


def to_signed(bits: int, type: Type) -> int:
    """Return the two's complement number that `bits` is.

    >>> from warpsmith.ssa.types import I8
    >>> to_signed(255, I8)
    -1
    """
    return bits - (1 << type.bits) if bits >> (type.bits - 1) else bits


_FORMS: Final = {F16: "<e", F32: "<f", F64: "<d"}


def number_of(bits: int, type: Type) -> float:
    """Return the floating-point number that `bits` is."""
    if type == BF16:
        return number_of(bits << 16, F32)
    value: float = struct.unpack(_FORMS[type], bits.to_bytes(type.bytes, "little"))[0]
    return value


def pattern_of(value: float, type: Type) -> int:
    """Return the bits of `value` in `type`, rounded to nearest even; beyond its range it is infinite."""
    if type == BF16:
        return _upper_half(pattern_of(value, F32))
    try:
        return int.from_bytes(struct.pack(_FORMS[type], value), "little")
    except OverflowError:
        return int.from_bytes(struct.pack(_FORMS[type], math.copysign(math.inf, value)), "little")


def _upper_half(bits: int) -> int:
    if bits & 0x7FFFFFFF > 0x7F800000:
        return 0x7FFF
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def _exact(value: Fraction, type: Type) -> int:
    """Return the pattern nearest to an exact number, ties to even: by way of a double that was rounded to odd."""
    try:
        near = float(value)
    except OverflowError:
        near = math.inf if value > 0 else -math.inf
    if type == F64 or math.isinf(near) or Fraction(near) == value:
        return pattern_of(near, type)
    if int.from_bytes(struct.pack("<d", near), "little") & 1 == 0:
        near = math.nextafter(near, math.inf if value > Fraction(near) else -math.inf)
    return pattern_of(near, type)


def _round_exact(value: Fraction, type: Type, rounding: Rounding) -> int:
    """Return the pattern of an exact number under a rounding mode."""
    bits = _exact(value, type)
    found = number_of(bits, type)
    if rounding in ("", "nearest", "away") or (math.isfinite(found) and Fraction(found) == value):
        return bits
    down = rounding == "down" or (rounding == "zero" and value > 0)
    # an infinity is further from zero than any number
    above = found > 0 if math.isinf(found) else Fraction(found) > value
    too_far = above == down
    return _neighbor(bits, type, down) if too_far else bits


def _neighbor(bits: int, type: Type, down: bool) -> int:
    """Return the next pattern below or above."""
    sign = 1 << (type.bits - 1)
    if bits & (sign - 1) == 0:
        return sign | 1 if down else 1
    return bits - 1 if bool(bits & sign) != down else bits + 1


# --- floating point


def _float_op(exact: Callable[..., Fraction], special: Callable[..., float], *, sums: bool = False) -> Lane:
    """Return the lane of an op with an exact result; `special` where there is none, and for the sign of a zero."""

    def compute(i: Instruction, operands: tuple[int, ...]) -> int:
        type = i.results[0].type
        detail = i.detail if isinstance(i.detail, Float) else Float()
        values = [_flush(number_of(o, type), type, detail) for o in operands]
        if detail.rounding in ("", "nearest") and (near := _native(special, values, type)):
            return _finish(pattern_of(near, type), type, detail)
        value = exact(*map(Fraction, values)) if _is_exact(exact, values) else Fraction(0)
        if value:
            bits = _round_exact(value, type, detail.rounding)
        elif sums and detail.rounding == "down":
            # what cancels is -0 here: the negated sum of the negated terms
            bits = pattern_of(-_special(special, [-values[0], *values[1:-1], -values[-1]]), type)
        else:
            bits = pattern_of(_special(special, values), type)
        return _finish(bits, type, detail)

    return compute


def _native(function: Callable[..., float], values: list[float], type: Type) -> float:
    """Return the result of an op of two operands as a double, 0 where that does not say what it is. Doubles that are
    rounded once more to f32 are right: 53 ≥ 2·24 + 2 (Figueroa, SIGNUM Newsletter 30(3), 1995)."""
    if len(values) != 2 or type not in (F32, F64):
        return 0.0
    near = _special(function, values)
    return near if math.isfinite(near) else 0.0


def _is_exact(function: Callable[..., Fraction], values: list[float]) -> bool:
    """Whether the operands are finite, and none is a divisor that is zero."""
    return all(map(math.isfinite, values)) and not (function is _quotient and values[1] == 0)


def _special(function: Callable[..., float], values: list[float]) -> float:
    try:
        return function(*values)
    except OverflowError:
        return math.inf
    except (ValueError, ZeroDivisionError):
        return math.nan


def _flush(value: float, type: Type, detail: Float) -> float:
    least = {F16: 2.0**-14, F32: 2.0**-126}.get(type, 0.0)
    return math.copysign(0.0, value) if detail.flush and abs(value) < least else value


def _finish(bits: int, type: Type, detail: Float) -> int:
    value = number_of(bits, type)
    if detail.saturate:
        value = 0.0 if math.isnan(value) else min(1.0, max(0.0, value))
        return pattern_of(value, type)
    return pattern_of(_flush(value, type, detail), type) if detail.flush else bits


def _quotient(a: Fraction, b: Fraction) -> Fraction:
    return a / b


def _divide(a: float, b: float) -> float:
    if b != 0 or math.isnan(a):
        return a / b
    return math.nan if a == 0 else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _fma(a: float, b: float, c: float) -> float:
    """Return a·b + c where something is not finite, or the sum is exactly zero."""
    if not all(map(math.isfinite, (a, b, c))):
        # a product beyond the range of doubles is finite all the same
        return c if math.isinf(c) and math.isfinite(a) and math.isfinite(b) else a * b + c
    product = math.copysign(0.0 if a == 0 or b == 0 else 1.0, a) * math.copysign(1.0, b)
    return product + c if product == 0 else 0.0


def _of_number(function: Callable[[float], float]) -> Lane:
    """Return the lane of a function of one number, by the C library."""

    def compute(i: Instruction, operands: tuple[int, ...]) -> int:
        type = i.results[0].type
        detail = i.detail if isinstance(i.detail, Float) else Float()
        value = _flush(number_of(operands[0], type), type, detail)
        return _finish(pattern_of(_special(function, [value]), type), type, detail)

    return compute


def _root(value: float) -> float:
    return value if value == 0 else math.sqrt(value)


def _reciprocal(value: float) -> float:
    return _divide(1.0, value)


def _exp2(value: float) -> float:
    return math.inf if value > 1100 else 2.0**value


def _log2(value: float) -> float:
    return -math.inf if value == 0 else math.log2(value)


def _to_integral(i: Instruction, operands: tuple[int, ...]) -> int:
    type = i.results[0].type
    detail = i.detail if isinstance(i.detail, Float) else Float()
    value = number_of(operands[0], type)
    whole = value if not math.isfinite(value) else math.copysign(float(_whole(value, detail.rounding)), value)
    return _finish(pattern_of(whole, type), type, detail)


def _whole(value: float, rounding: Rounding) -> int:
    match rounding:
        case "zero":
            return math.trunc(value)
        case "down":
            return math.floor(value)
        case "up":
            return math.ceil(value)
        case _:
            return round(value)


def _least(pick: Callable[[float, float], float], *, nan: bool) -> Lane:
    def compute(i: Instruction, operands: tuple[int, ...]) -> int:
        type = i.results[0].type
        a, b = (number_of(o, type) for o in operands)
        if math.isnan(a) or math.isnan(b):
            other = b if math.isnan(a) else a
            return pattern_of(math.nan if nan else other, type)
        if a == b:
            # of the two zeros, the negative one is the lesser
            return max(operands) if pick(0.0, 1.0) == 0.0 else min(operands)
        return operands[0] if pick(a, b) == a else operands[1]

    return compute


# --- comparisons


def _compare(test: Callable[[int, int], bool], *, sign: bool) -> Lane:
    return _Whole(test, 2 if sign else 0)


def _compare_numbers(test: Callable[[float, float], bool], *, unordered: bool) -> Lane:
    def compute(i: Instruction, operands: tuple[int, ...]) -> int:
        type = i.operands[0].type
        detail = i.detail if isinstance(i.detail, Float) else Float()
        a, b = (_flush(number_of(o, type), type, detail) for o in operands)
        return int(unordered if math.isnan(a) or math.isnan(b) else test(a, b))

    return compute


def _is(test: Callable[[float, float], bool]) -> Lane:
    """Return the lane of a test of one number; it also gets the least normal one of the type."""

    def compute(i: Instruction, operands: tuple[int, ...]) -> int:
        type = i.operands[0].type
        least = {F16: 2.0**-14, F32: 2.0**-126, F64: 2.0**-1022}[type]
        return int(test(number_of(operands[0], type), least))

    return compute


# --- conversions


def _from_integer(*, sign: bool) -> Lane:
    def compute(i: Instruction, operands: tuple[int, ...]) -> int:
        own, type = i.operands[0].type, i.results[0].type
        value = to_signed(operands[0], own) if sign else operands[0]
        return _round_exact(Fraction(value), type, _rounding(i)) if value else 0

    return compute


def _to_integer(*, sign: bool) -> Lane:
    """Return the lane of a conversion to an integer: it always saturates, NaN gives 0 (for 64 bits the top bit)."""

    def compute(i: Instruction, operands: tuple[int, ...]) -> int:
        own, type = i.operands[0].type, i.results[0].type
        value = number_of(operands[0], own)
        low, high = (-(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1) if sign else (0, (1 << type.bits) - 1)
        if math.isnan(value):
            return 1 << 63 if type.bits == 64 else 0
        if math.isinf(value):
            return high if value > 0 else low
        return min(high, max(low, _whole(value, _rounding(i))))

    return compute


def _resize(i: Instruction, operands: tuple[int, ...]) -> int:
    own, type = i.operands[0].type, i.results[0].type
    value = number_of(operands[0], own)
    if math.isfinite(value) and value != 0:
        bits = _round_exact(Fraction(value), type, _rounding(i))
    else:
        bits = pattern_of(value, type)
    saturate = isinstance(i.detail, Convert) and i.detail.saturate
    return _finish(bits, type, Float(saturate=saturate))


def _rounding(i: Instruction) -> Rounding:
    return i.detail.rounding if isinstance(i.detail, Convert | Float) else ""


# --- integers


class _Whole(Struct, frozen=True):
    """The lane of a function of whole numbers: its first `signs` operands are signed, and where it is `sized` it gets
    the width of operand 0 first."""

    function: Callable[..., int]
    signs: int = 0
    sized: bool = False

    def __call__(self, i: Instruction, operands: tuple[int, ...]) -> int:
        """Compute one lane."""
        if self.signs:
            first = zip(operands[: self.signs], i.operands, strict=False)
            operands = (*(to_signed(bits, at.type) for bits, at in first), *operands[self.signs :])
        return self.function(i.operands[0].type.bits, *operands) if self.sized else self.function(*operands)

    def column(self, i: Instruction, columns: Sequence[Sequence[int]]) -> Iterable[int]:
        """Compute all lanes."""
        numbers = list(columns)
        for at, operand in enumerate(i.operands[: self.signs]):
            half, size = 1 << (operand.type.bits - 1), 1 << operand.type.bits
            numbers[at] = [n - size if n >= half else n for n in columns[at]]
        if self.sized:
            numbers.insert(0, [i.operands[0].type.bits] * len(columns[0]))
        return map(self.function, *numbers)


_ALL: Final = 9
"""More operands than any op has."""


def _integer(function: Callable[..., int], *, sign: bool = False) -> Lane:
    return _Whole(function, _ALL if sign else 0)


def _make_sized(function: Callable[..., int], *, sign: bool = False) -> Lane:
    """Return the lane of a function that gets the width of operand 0 first."""
    return _Whole(function, int(sign), sized=True)


def _quotient_of(a: int, b: int) -> int:
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _remainder_of(a: int, b: int) -> int:
    return a if b == 0 else a - b * _quotient_of(a, b)


def _high(*, sign: bool) -> Lane:
    def compute(i: Instruction, operands: tuple[int, ...]) -> int:
        type = i.results[0].type
        a, b = ((to_signed(o, type) if sign else o) for o in operands)
        return a * b >> type.bits

    return compute


def _extract(width: int, value: int, position: int, length: int) -> int:
    """Return bits [position, position + length) of `value`."""
    return value >> (position & 0xFF) & ((1 << (length & 0xFF)) - 1)


def _signed_extract(width: int, value: int, position: int, length: int) -> int:
    """Return the same bits as a signed number; beyond the width its sign is repeated."""
    position, length = position & 0xFF, length & 0xFF
    if length == 0:
        return 0
    top = min(position + length - 1, width - 1)
    sign = value >> top & 1
    kept = min(length, max(0, width - position))
    field = value >> position & ((1 << kept) - 1)
    return field | (-1 << kept) if sign else field


def _insert(width: int, value: int, into: int, position: int, length: int) -> int:
    position, length = position & 0xFF, length & 0xFF
    mask = (((1 << length) - 1) << position) & ((1 << width) - 1)
    return (into & ~mask) | (value << position & mask)


def _permute(a: int, b: int, selector: int) -> int:
    source = (a | b << 32).to_bytes(8, "little")
    result = 0
    for number in range(4):
        choice = selector >> (4 * number) & 0xF
        byte = source[choice & 7]
        result |= ((0xFF if byte & 0x80 else 0) if choice & 8 else byte) << (8 * number)
    return result


def _logic3(a: int, b: int, c: int, table: int) -> int:
    result = 0
    for number in range(8):
        if table >> number & 1:
            result |= (a if number & 4 else ~a) & (b if number & 2 else ~b) & (c if number & 1 else ~c)
    return result


def _find(bits: int) -> int:
    return bits.bit_length() - 1


def _dot(*, sign: bool) -> Lane:
    def compute(i: Instruction, operands: tuple[int, ...]) -> int:
        a, b, c = operands
        parts = [[word >> (8 * n) & 0xFF for n in range(4)] for word in (a, b)]
        if sign:
            parts = [[byte - 256 if byte & 0x80 else byte for byte in word] for word in parts]
        total: int = c + sum(x * y for x, y in zip(*parts, strict=True))
        return total

    return compute


def _make_saturated(function: Callable[[int, int], int], *, sign: bool) -> Lane:
    def compute(i: Instruction, operands: tuple[int, ...]) -> int:
        type = i.results[0].type
        a, b = ((to_signed(o, type) if sign else o) for o in operands)
        low, high = (-(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1) if sign else (0, (1 << type.bits) - 1)
        return min(high, max(low, function(a, b)))

    return compute


def _add_carry(i: Instruction, operands: tuple[int, ...]) -> tuple[int, ...]:
    width = i.results[0].type.bits
    total = sum(operands)
    return total & ((1 << width) - 1), total >> width


def _sub_borrow(i: Instruction, operands: tuple[int, ...]) -> tuple[int, ...]:
    width = i.results[0].type.bits
    total = operands[0] - sum(operands[1:])
    return total & ((1 << width) - 1), int(total < 0)


_PAIRS: Final = {"add_carry": _add_carry, "sub_borrow": _sub_borrow}

_ORDERS: Final[dict[str, Callable[..., bool]]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}

_TABLE: Final[dict[str, Lane]] = {
    "add": _integer(lambda a, b: a + b),
    "sub": _integer(lambda a, b: a - b),
    "mul": _integer(lambda a, b: a * b),
    "and": _integer(lambda a, b: a & b),
    "or": _integer(lambda a, b: a | b),
    "xor": _integer(lambda a, b: a ^ b),
    "not": _integer(lambda a: ~a),
    "neg": _integer(lambda a: -a),
    "abs": _integer(abs, sign=True),
    **{f"{s}min": _integer(min, sign=s == "s") for s in "su"},
    **{f"{s}max": _integer(max, sign=s == "s") for s in "su"},
    **{f"{s}mulwide": _integer(lambda a, b: a * b, sign=s == "s") for s in "su"},
    **{f"{s}div": _integer(_quotient_of, sign=s == "s") for s in "su"},
    **{f"{s}rem": _integer(_remainder_of, sign=s == "s") for s in "su"},
    **{f"{s}sad": _integer(lambda a, b, c: abs(a - b) + c, sign=s == "s") for s in "su"},
    **{f"{s}addsat": _make_saturated(lambda a, b: a + b, sign=s == "s") for s in "su"},
    **{f"{s}subsat": _make_saturated(lambda a, b: a - b, sign=s == "s") for s in "su"},
    **{f"{s}dot4": _dot(sign=s == "s") for s in "su"},
    "smulhi": _high(sign=True),
    "umulhi": _high(sign=False),
    "uextract": _make_sized(_extract),
    "sextract": _make_sized(_signed_extract),
    "insert": _make_sized(_insert),
    "reverse": _make_sized(lambda width, a: int(f"{a:0{width}b}"[::-1], 2)),
    "popcount": _integer(int.bit_count),
    "leading": _make_sized(lambda width, a: width - a.bit_length()),
    "ufind": _integer(_find),
    "sfind": _make_sized(lambda width, a: _find(~a if a < 0 else a), sign=True),
    "shl": _make_sized(lambda width, a, n: a << min(n, width)),
    "lshr": _make_sized(lambda width, a, n: a >> min(n, width)),
    "ashr": _make_sized(lambda width, a, n: a >> min(n, width), sign=True),
    "funnel_left": _integer(lambda a, b, n: (b << 32 | a) << (n & 31) >> 32),
    "funnel_left_clamp": _integer(lambda a, b, n: (b << 32 | a) << min(n, 32) >> 32),
    "funnel_right": _integer(lambda a, b, n: (b << 32 | a) >> (n & 31)),
    "funnel_right_clamp": _integer(lambda a, b, n: (b << 32 | a) >> min(n, 32)),
    "permute": _integer(_permute),
    "logic3": _integer(_logic3),
    "fadd": _float_op(lambda a, b: a + b, lambda a, b: a + b, sums=True),
    "fsub": _float_op(lambda a, b: a - b, lambda a, b: a - b, sums=True),
    "fmul": _float_op(lambda a, b: a * b, lambda a, b: a * b),
    "fdiv": _float_op(_quotient, _divide),
    "ffma": _float_op(lambda a, b, c: a * b + c, _fma, sums=True),
    "fmin": _least(min, nan=False),
    "fmax": _least(max, nan=False),
    "fmin_nan": _least(min, nan=True),
    "fmax_nan": _least(max, nan=True),
    "copysign": _make_sized(lambda width, a, b: (b & ((1 << (width - 1)) - 1)) | (a & (1 << (width - 1)))),
    "fneg": _make_sized(lambda width, a: a ^ (1 << (width - 1))),
    "fabs": _make_sized(lambda width, a: a & ((1 << (width - 1)) - 1)),
    "fround": _to_integral,
    "sqrt": _of_number(_root),
    "rsqrt": _of_number(lambda x: math.inf if x == 0 else 1.0 / math.sqrt(x)),
    "rcp": _of_number(_reciprocal),
    "sin": _of_number(math.sin),
    "cos": _of_number(math.cos),
    "tanh": _of_number(math.tanh),
    "exp2": _of_number(_exp2),
    "log2": _of_number(_log2),
    "eq": _compare(_ORDERS["eq"], sign=False),
    "ne": _compare(_ORDERS["ne"], sign=False),
    **{f"{s}{name}": _compare(_ORDERS[name], sign=s == "s") for s in "su" for name in ("lt", "le", "gt", "ge")},
    **{f"fo{name}": _compare_numbers(test, unordered=False) for name, test in _ORDERS.items()},
    **{f"fu{name}": _compare_numbers(test, unordered=True) for name, test in _ORDERS.items()},
    "ordered": _compare_numbers(lambda a, b: True, unordered=False),
    "unordered": _compare_numbers(lambda a, b: False, unordered=True),
    "is_finite": _is(lambda x, least: math.isfinite(x)),
    "is_infinite": _is(lambda x, least: math.isinf(x)),
    "is_number": _is(lambda x, least: not math.isnan(x)),
    "is_notanumber": _is(lambda x, least: math.isnan(x)),
    "is_normal": _is(lambda x, least: math.isfinite(x) and abs(x) >= least),
    "is_subnormal": _is(lambda x, least: 0 < abs(x) < least),
    "select": _integer(lambda condition, one, other: one if condition else other),
    "zext": _integer(lambda a: a),
    "trunc": _integer(lambda a: a),
    "bitcast": _integer(lambda a: a),
    "sext": _integer(lambda a: a, sign=True),
    "fext": _resize,
    "ftrunc": _resize,
    "sitof": _from_integer(sign=True),
    "uitof": _from_integer(sign=False),
    "ftosi": _to_integer(sign=True),
    "ftoui": _to_integer(sign=False),
}
