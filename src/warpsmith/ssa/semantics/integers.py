"""Ops of whole numbers: they wrap; shifts beyond the width shift everything out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.ssa.nodes import Instruction
from warpsmith.ssa.semantics.patterns import to_signed

__all__ = ["INTEGERS", "PAIRS", "Lane", "Whole"]

Lane = Callable[[Instruction, tuple[int, ...]], int]
"""Computes the bits of an op's one result from those of its operands; a result that is too wide is cut."""


class Whole(Struct, frozen=True):
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
    return Whole(function, _ALL if sign else 0)


def _make_sized(function: Callable[..., int], *, sign: bool = False) -> Lane:
    """Return the lane of a function that gets the width of operand 0 first."""
    return Whole(function, int(sign), sized=True)


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


PAIRS: Final = {"add_carry": _add_carry, "sub_borrow": _sub_borrow}

INTEGERS: Final[dict[str, Lane]] = {
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
    "copysign": _make_sized(lambda width, a, b: (b & ((1 << (width - 1)) - 1)) | (a & (1 << (width - 1)))),
    "fneg": _make_sized(lambda width, a: a ^ (1 << (width - 1))),
    "fabs": _make_sized(lambda width, a: a & ((1 << (width - 1)) - 1)),
    "select": _integer(lambda condition, one, other: one if condition else other),
    "zext": _integer(lambda a: a),
    "trunc": _integer(lambda a: a),
    "bitcast": _integer(lambda a: a),
    "sext": _integer(lambda a: a, sign=True),
}
