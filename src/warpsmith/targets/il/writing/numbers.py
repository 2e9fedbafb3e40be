"""Floats of 32 bits, by what AMD IL has.

    a > b      b < a                     a = b or unordered     not (a < b or b < a)
    min        IL's a < b ? a : b is b where one is no number, and has the second of two zeros: both are mended
    a / b      div_zeroop(infinity), as IEEE 754 has it; hardware is off by some units in the last place
    to whole   rounded first, where it is not cut

IL compares as unordered numbers compare: false, and ne true.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from warpsmith.targets.il.writing.code import IlCode, Word
from warpsmith.targets.il.writing.words import invert, select

__all__ = ["FLOATS", "ROUNDED"]

_SIGN: Final = 0x80000000
_REST: Final = 0x7FFFFFFF
_INFINITE: Final = 0x7F800000
_NORMAL: Final = 0x00800000

ROUNDED: Final = {
    "nearest": "round_nearest", "": "round_nearest", "zero": "round_z", "down": "round_neginf", "up": "round_posinf",
}  # fmt: skip
"""What rounds a float to a whole one."""

Made = Callable[..., Word]


def _plain(op: str) -> Made:
    return lambda code, *operands: code.compute(op, *operands)


def _swapped(op: str) -> Made:
    return lambda code, a, b: code.compute(op, b, a)


def _inverted(test: Made) -> Made:
    return lambda code, *operands: invert(code, test(code, *operands))


def _differ(code: IlCode, a: Word, b: Word) -> Word:
    return code.compute("ior", code.compute("lt", a, b), code.compute("lt", b, a))


def _ordered(code: IlCode, a: Word, b: Word) -> Word:
    return code.compute("iand", _is_number(code, a), _is_number(code, b))


def _is_number(code: IlCode, a: Word) -> Word:
    return code.compute("eq", a, a)


def _size(code: IlCode, a: Word) -> Word:
    """Return the bits without the sign."""
    return code.compute("iand", a, _REST)


def _extreme(op: str, equal: str) -> Made:
    """Return min or max: the number where the other one is none, and the right one of two zeros."""

    def made(code: IlCode, a: Word, b: Word) -> Word:
        if isinstance(a, int):
            a, b = b, a
        found = code.compute(op, a, b)
        if not isinstance(b, int) or b & _REST == 0:
            found = select(code, code.compute("eq", a, b), code.compute(equal, a, b), found)
        if not isinstance(b, int) or b & _REST > _INFINITE:
            found = select(code, _is_number(code, b), found, a)
        return found

    return made


def _negate(code: IlCode, a: Word) -> Word:
    return code.compute("ixor", a, _SIGN)


def _copy_sign(code: IlCode, a: Word, b: Word) -> Word:
    return code.compute("ior", code.compute("iand", a, _SIGN), _size(code, b))


def _divide(code: IlCode, a: Word, b: Word) -> Word:
    return code.compute("div", a, b, zero="infinity")


def _reciprocal(code: IlCode, a: Word) -> Word:
    return code.compute("rcp", a, zero="infinity")


def _between(low: int, high: int) -> Made:
    """Return whether the bits without the sign are from `low` to before `high`."""
    return lambda code, a: code.compute("ult", code.compute("iadd", _size(code, a), -low), high - low)


FLOATS: Final[Mapping[str, Made]] = {
    "fadd": _plain("add"), "fsub": _plain("sub"), "fmul": _plain("mul_ieee"), "fdiv": _divide, "ffma": _plain("fma"),
    "fmin": _extreme("min", "ior"), "fmax": _extreme("max", "iand"), "fneg": _negate, "fabs": _size,
    "copysign": _copy_sign, "sqrt": _plain("sqrt_vec"), "rsqrt": _plain("rsq_vec"), "rcp": _reciprocal,
    "sin": _plain("sin_vec"), "cos": _plain("cos_vec"), "exp2": _plain("exp_vec"), "log2": _plain("log_vec"),
    "foeq": _plain("eq"), "fune": _plain("ne"), "folt": _plain("lt"), "foge": _plain("ge"), "fogt": _swapped("lt"),
    "fole": _swapped("ge"), "fult": _inverted(_plain("ge")), "fuge": _inverted(_plain("lt")),
    "fugt": _inverted(_swapped("ge")), "fule": _inverted(_swapped("lt")), "fone": _differ,
    "fueq": _inverted(_differ), "ordered": _ordered, "unordered": _inverted(_ordered),
    "is_number": _is_number, "is_notanumber": _inverted(_is_number),
    "is_infinite": lambda code, a: code.compute("ieq", _size(code, a), _INFINITE),
    "is_finite": lambda code, a: code.compute("ult", _size(code, a), _INFINITE),
    "is_normal": _between(_NORMAL, _INFINITE), "is_subnormal": _between(1, _NORMAL),
    "sitof": _plain("itof"), "uitof": _plain("utof"),
}  # fmt: skip
"""What each op on f32 is made of; those that round to whole numbers are ROUNDED."""
