"""Whole numbers of 32 bits, by what the mask ISA has: + - * / modulo 2^32, `and`, `or`, unsigned `<` and `>`.

    a xor b      (a or b) - (a and b)             c ? a : b     (a - b) * c + b,  c is 0 or 1
    a <s b       a + 2^31 < b + 2^31              a = b         a - b < 1
    a << n       a * 2^n                          a >> n        a / 2^n
    2^n          product of (2^(2^k) - 1) * bit k of n + 1
    high word    of four products of halves (Hacker's Delight, 2nd ed., 8-2)

Every one is exact: it holds modulo 2^32, for all bits. What is divided by 0 is 0xffffffff in both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from warpsmith.targets.mask.code import MaskCode, Word

__all__ = [
    "WHOLE", "absolute", "equal", "invert", "negative", "opposite", "power_of_two", "select", "shift_left",
    "shift_right", "xor",
]  # fmt: skip

_TOP: Final = 1 << 31
_ALL: Final = 0xFFFFFFFF
_HALF: Final = 0xFFFF
_BITS: Final = 32


def invert(code: MaskCode, truth: Word) -> Word:
    """Return 1 where `truth` is 0, else 0."""
    return code.compute("lt.u32", truth, 1)


def select(code: MaskCode, truth: Word, one: Word, other: Word) -> Word:
    """Return `one` where `truth` is 1, `other` where it is 0."""
    if one == other:
        return one
    if isinstance(truth, int):
        return one if truth else other
    if other == 0:
        return truth if one == 1 else code.compute("mul.u32", truth, one)
    return code.compute("mad.u32", code.compute("sub.u32", one, other), truth, other)


def xor(code: MaskCode, a: Word, b: Word) -> Word:
    """Return the bits that differ."""
    return code.compute("sub.u32", code.compute("or", a, b), code.compute("and", a, b))


def opposite(code: MaskCode, a: Word) -> Word:
    """Return -a."""
    return code.compute("sub.u32", 0, a)


def negative(code: MaskCode, a: Word) -> Word:
    """Return 1 where a is negative, else 0."""
    return code.compute("gt.u32", a, _TOP - 1)


def absolute(code: MaskCode, a: Word) -> Word:
    """Return a without its sign; -2^31 stays, as bits that are 2^31."""
    return select(code, negative(code, a), opposite(code, a), a)


def equal(code: MaskCode, a: Word, b: Word) -> Word:
    """Return 1 where the bits are the same, else 0."""
    return code.compute("lt.u32", code.compute("sub.u32", a, b), 1)


def power_of_two(code: MaskCode, n: Word) -> Word:
    """Return 2^n, 0 where n is 32 or more."""
    if isinstance(n, int):
        return 1 << n if n < _BITS else 0
    made = code.compute("lt.u32", n, _BITS)
    for bit in range(5):
        here = code.compute("gt.u32", code.compute("and", n, 1 << bit), 0)
        made = code.compute("mul.u32", made, code.compute("mad.u32", here, (1 << (1 << bit)) - 1, 1))
    return made


def shift_left(code: MaskCode, a: Word, n: Word) -> Word:
    """Return a * 2^n; beyond the width everything is shifted out."""
    return code.compute("mul.u32", a, power_of_two(code, n))


def shift_right(code: MaskCode, a: Word, n: Word) -> Word:
    """Return a / 2^n, without its sign; beyond the width everything is shifted out."""
    if isinstance(n, int):
        return code.compute("div.u32", a, 1 << n) if n < _BITS else 0
    # what is divided by 0 is 0xffffffff
    return code.compute("mul.u32", code.compute("div.u32", a, power_of_two(code, n)), code.compute("lt.u32", n, _BITS))


def _shift_signed(code: MaskCode, a: Word, n: Word) -> Word:
    """Shift the bits of a, or of -1 - a where it is negative: that has the same bits, turned around."""
    sign = opposite(code, negative(code, a))
    return xor(code, shift_right(code, xor(code, a, sign), n), sign)


def _less_signed(code: MaskCode, a: Word, b: Word) -> Word:
    return code.compute("lt.u32", code.compute("add.u32", a, _TOP), code.compute("add.u32", b, _TOP))


def _less(code: MaskCode, a: Word, b: Word) -> Word:
    return code.compute("lt.u32", a, b)


Test = Callable[[MaskCode, Word, Word], Word]


def _swapped(test: Test) -> Test:
    return lambda code, a, b: test(code, b, a)


def _inverted(test: Test) -> Test:
    return lambda code, a, b: invert(code, test(code, a, b))


def _lesser(test: Test) -> Test:
    return lambda code, a, b: select(code, test(code, a, b), a, b)


def _remainder(code: MaskCode, a: Word, b: Word) -> Word:
    return code.compute("sub.u32", a, code.compute("mul.u32", code.compute("div.u32", a, b), b))


def _divide_signed(code: MaskCode, a: Word, b: Word) -> Word:
    quotient = code.compute("div.u32", absolute(code, a), absolute(code, b))
    turned = select(code, negative(code, xor(code, a, b)), opposite(code, quotient), quotient)
    # -1, whatever a is, where b is 0
    return select(code, equal(code, b, 0), _ALL, turned)


def _remainder_signed(code: MaskCode, a: Word, b: Word) -> Word:
    return code.compute("sub.u32", a, code.compute("mul.u32", _divide_signed(code, a, b), b))


def _high(code: MaskCode, a: Word, b: Word) -> Word:
    """Return the upper 32 of the 64 bits of a product."""
    low = [code.compute("and", one, _HALF) for one in (a, b)]
    high = [code.compute("div.u32", one, _HALF + 1) for one in (a, b)]
    lowest = code.compute("div.u32", code.compute("mul.u32", *low), _HALF + 1)
    middle = code.compute("mad.u32", high[0], low[1], lowest)
    other = code.compute("mad.u32", low[0], high[1], code.compute("and", middle, _HALF))
    carried = code.compute(
        "add.u32", code.compute("div.u32", middle, _HALF + 1), code.compute("div.u32", other, _HALF + 1)
    )
    return code.compute("mad.u32", high[0], high[1], carried)


def _high_signed(code: MaskCode, a: Word, b: Word) -> Word:
    without = code.compute("mul.u32", negative(code, a), b)
    other = code.compute("mul.u32", negative(code, b), a)
    return code.compute("sub.u32", code.compute("sub.u32", _high(code, a, b), without), other)


def _plain(op: str) -> Callable[..., Word]:
    return lambda code, *operands: code.compute(op, *operands)


WHOLE: Final[Mapping[str, Callable[..., Word]]] = {
    "add": _plain("add.u32"), "sub": _plain("sub.u32"), "mul": _plain("mul.u32"), "and": _plain("and"),
    "or": _plain("or"), "xor": xor, "neg": opposite, "abs": absolute,
    "not": lambda code, a: code.compute("sub.u32", _ALL, a),
    "udiv": _plain("div.u32"), "urem": _remainder, "sdiv": _divide_signed, "srem": _remainder_signed,
    "umulhi": _high, "smulhi": _high_signed, "shl": shift_left, "lshr": shift_right, "ashr": _shift_signed,
    "umin": _lesser(_less), "smin": _lesser(_less_signed),
    "umax": _lesser(_swapped(_less)), "smax": _lesser(_swapped(_less_signed)),
    "eq": equal, "ne": lambda code, a, b: code.compute("gt.u32", code.compute("sub.u32", a, b), 0),
    "ult": _less, "ugt": _plain("gt.u32"), "ule": _inverted(_plain("gt.u32")), "uge": _inverted(_less),
    "slt": _less_signed, "sgt": _swapped(_less_signed), "sle": _inverted(_swapped(_less_signed)),
    "sge": _inverted(_less_signed), "select": select,
}  # fmt: skip
"""What each op on 32 bits is made of. Predicates are 0 and 1."""
