"""Floats of 32 bits, by what the mask ISA has: sums, products, quotients, `<` and `>`; the rest by their bits.

    a / 0          a * infinity with the sign of the 0: the ISA has 1e23 there
    a <= b         not (a > b), and both are numbers           a = b      neither a < b nor a > b, and both are numbers
    min            by < and >; of equal ones the or of their bits: -0 is the lesser
    to integer     the 24 digits, shifted by the exponent

What is no number is 0x7fc00000 in the ISA and 0x7fffffff in the kernel IR: the bits of such a result differ, what it is
used for as a number does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from warpsmith.targets.mask.code import MaskCode, Word
from warpsmith.targets.mask.words import absolute, invert, negative, opposite, select, shift_left, shift_right

__all__ = ["FLOATS"]

_SIGN: Final = 0x80000000
_REST: Final = 0x7FFFFFFF
_INFINITE: Final = 0x7F800000
_DIGITS: Final = 0x7FFFFF
_UNIT: Final = 1 << 23
_POINT: Final = 150
"""The exponent, as it is stored, of numbers whose 24 digits are whole."""


def _is_number(code: MaskCode, a: Word) -> Word:
    return code.compute("lt.u32", code.compute("and", a, _REST), _INFINITE + 1)


def _ordered(code: MaskCode, a: Word, b: Word) -> Word:
    return code.compute("and", _is_number(code, a), _is_number(code, b))


def _differ(code: MaskCode, a: Word, b: Word) -> Word:
    """Return 1 where both are numbers and not the same."""
    return code.compute("or", code.compute("lt.f32", a, b), code.compute("gt.f32", a, b))


def _both(test: Callable[..., Word]) -> Callable[..., Word]:
    """Return the test that holds where `test` does not and both are numbers."""
    return lambda code, a, b: code.compute("and", invert(code, test(code, a, b)), _ordered(code, a, b))


def _inverted(test: Callable[..., Word]) -> Callable[..., Word]:
    return lambda code, a, b: invert(code, test(code, a, b))


def _plain(op: str) -> Callable[..., Word]:
    return lambda code, *operands: code.compute(op, *operands)


def _divide(code: MaskCode, a: Word, b: Word) -> Word:
    quotient = code.compute("div.f32", a, b)
    zero = code.compute("lt.u32", code.compute("and", b, _REST), 1)
    return select(code, zero, code.compute("mul.f32", a, code.compute("or", b, _INFINITE)), quotient)


def _extreme(first: str, second: str, equal: str) -> Callable[..., Word]:
    """Return min or max: the number where the other one is none."""

    def made(code: MaskCode, a: Word, b: Word) -> Word:
        found = select(code, code.compute(second, a, b), b, code.compute(equal, a, b))
        found = select(code, code.compute(first, a, b), a, found)
        found = select(code, _is_number(code, a), found, b)
        return select(code, _is_number(code, b), found, a)

    return made


def _from_signed(code: MaskCode, a: Word) -> Word:
    sign = code.compute("and", a, _SIGN)
    return code.compute("or", code.compute("utof", absolute(code, a)), sign)


def _truncated(code: MaskCode, a: Word) -> Word:
    """Return the whole part of |a| where that is below 2^32."""
    exponent = code.compute("div.u32", code.compute("and", a, _REST), _UNIT)
    digits = code.compute("or", code.compute("and", a, _DIGITS), _UNIT)
    left = code.compute("sub.u32", exponent, _POINT)
    large = code.compute("gt.u32", exponent, _POINT)
    # amounts of the shift that is not meant are beyond the width, or do not matter
    return select(
        code, large, shift_left(code, digits, left), shift_right(code, digits, opposite(code, left))
    )  # fmt: skip


def _to_signed(code: MaskCode, a: Word) -> Word:
    whole, minus = _truncated(code, a), negative(code, a)
    most = code.compute("add.u32", _REST, minus)
    bits = code.compute("and", a, _REST)
    fits = code.compute("lt.u32", bits, 0x4F000000)
    whole = select(code, fits, whole, most)
    whole = select(code, minus, opposite(code, whole), whole)
    return code.compute("mul.u32", whole, _is_number(code, a))


def _to_unsigned(code: MaskCode, a: Word) -> Word:
    whole = select(code, code.compute("lt.u32", a, 0x4F800000), _truncated(code, a), 0xFFFFFFFF)
    wanted = code.compute("and", _is_number(code, a), invert(code, negative(code, a)))
    return code.compute("mul.u32", whole, wanted)


FLOATS: Final[Mapping[str, Callable[..., Word]]] = {
    "fadd": _plain("add.f32"), "fsub": _plain("sub.f32"), "fmul": _plain("mul.f32"), "fdiv": _divide,
    "fneg": lambda code, a: code.compute("add.u32", a, _SIGN), "fabs": lambda code, a: code.compute("and", a, _REST),
    "copysign": lambda code, a, b: code.compute("or", code.compute("and", a, _SIGN), code.compute("and", b, _REST)),
    "fmin": _extreme("lt.f32", "gt.f32", "or"), "fmax": _extreme("gt.f32", "lt.f32", "and"),
    "folt": _plain("lt.f32"), "fogt": _plain("gt.f32"), "fone": _differ, "ordered": _ordered,
    "foeq": _both(_differ), "fole": _both(_plain("gt.f32")), "foge": _both(_plain("lt.f32")),
    "fult": _inverted(_both(_plain("lt.f32"))), "fugt": _inverted(_both(_plain("gt.f32"))),
    "fune": _inverted(_both(_differ)), "fueq": _inverted(_differ),
    "fule": _inverted(_plain("gt.f32")), "fuge": _inverted(_plain("lt.f32")), "unordered": _inverted(_ordered),
    "uitof": _plain("utof"), "sitof": _from_signed, "ftosi": _to_signed, "ftoui": _to_unsigned,
}  # fmt: skip
"""What each op on f32 is made of."""
