"""Whole numbers and predicates of the kernel IR, by what AMD IL has. A predicate is TRUE (all ones) or 0, as in IL.

    a - b        a + (-b)                     a << n     0 where n is 32 or more: IL uses five bits of it
    a / b        |a| / |b|, and its sign      a >> n     of signed numbers: by 31 at most
    a % b        a where b is 0: IL has all ones there
    a > b        b < a                        a <= b     b >= a

Every one is exact, for all bits; what is divided by 0 is all ones, as PTX has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from warpsmith.targets.il.writing.code import FALSE, TRUE, IlCode, Word

__all__ = ["PREDICATES", "WHOLE", "invert", "select"]

_BITS: Final = 32


def invert(code: IlCode, truth: Word) -> Word:
    """Return TRUE where `truth` is 0, else 0."""
    return ~truth & TRUE if isinstance(truth, int) else code.compute("inot", truth)


def select(code: IlCode, truth: Word, one: Word, other: Word) -> Word:
    """Return `one` where `truth` is TRUE, `other` where it is 0."""
    if one == other:
        return one
    if isinstance(truth, int):
        return one if truth else other
    if (one, other) == (TRUE, FALSE):
        return truth
    return code.compute("cmov_logical", truth, one, other)


def _opposite(code: IlCode, a: Word) -> Word:
    return -a & TRUE if isinstance(a, int) else code.compute("inegate", a)


def _subtract(code: IlCode, a: Word, b: Word) -> Word:
    return code.compute("iadd", a, _opposite(code, b))


def _multiply(code: IlCode, a: Word, b: Word) -> Word:
    if isinstance(a, int):
        a, b = b, a
    if isinstance(b, int) and b & (b - 1) == 0 and b:
        return code.compute("ishl", a, b.bit_length() - 1)
    return code.compute("imul", a, b)


def _absolute(code: IlCode, a: Word) -> Word:
    return code.compute("imax", a, _opposite(code, a))


def _shift_out(op: str) -> Callable[..., Word]:
    """Return a shift that leaves nothing where the amount is 32 or more."""

    def made(code: IlCode, a: Word, n: Word) -> Word:
        if isinstance(n, int):
            return code.compute(op, a, n) if n < _BITS else 0
        if n in code.amounts:
            return code.compute(op, a, n)
        return code.compute("iand", code.compute(op, a, n), code.compute("ult", n, _BITS))

    return made


def _shift_signed(code: IlCode, a: Word, n: Word) -> Word:
    if n in code.amounts:
        return code.compute("ishr", a, n)
    amount = min(n, _BITS - 1) if isinstance(n, int) else code.compute("umin", n, _BITS - 1)
    return code.compute("ishr", a, amount)


def _unless_zero(code: IlCode, divisor: Word, result: Word, by_zero: Word) -> Word:
    if isinstance(divisor, int):
        return result if divisor else by_zero
    return code.compute("cmov_logical", divisor, result, by_zero)


def _remainder(code: IlCode, a: Word, b: Word) -> Word:
    return _unless_zero(code, b, code.compute("umod", a, b), a)


def _divide_signed(code: IlCode, a: Word, b: Word) -> Word:
    quotient = code.compute("udiv", _absolute(code, a), _absolute(code, b))
    negative = code.compute("ilt", code.compute("ixor", a, b), 0)
    return _unless_zero(code, b, select(code, negative, _opposite(code, quotient), quotient), TRUE)


def _remainder_signed(code: IlCode, a: Word, b: Word) -> Word:
    return _subtract(code, a, code.compute("imul", _divide_signed(code, a, b), b))


def _plain(op: str) -> Callable[..., Word]:
    return lambda code, *operands: code.compute(op, *operands)


def _swapped(op: str) -> Callable[..., Word]:
    return lambda code, a, b: code.compute(op, b, a)


WHOLE: Final[Mapping[str, Callable[..., Word]]] = {
    "add": _plain("iadd"), "sub": _subtract, "mul": _multiply, "and": _plain("iand"), "or": _plain("ior"),
    "xor": _plain("ixor"), "not": _plain("inot"), "neg": _opposite, "abs": _absolute,
    "udiv": _plain("udiv"), "urem": _remainder, "sdiv": _divide_signed, "srem": _remainder_signed,
    "umulhi": _plain("umul_high"), "smulhi": _plain("imul_high"), "popcount": _plain("icbits"),
    "shl": _shift_out("ishl"), "lshr": _shift_out("ushr"), "ashr": _shift_signed,
    "umin": _plain("umin"), "umax": _plain("umax"), "smin": _plain("imin"), "smax": _plain("imax"),
    "eq": _plain("ieq"), "ne": _plain("ine"), "slt": _plain("ilt"), "sge": _plain("ige"), "ult": _plain("ult"),
    "uge": _plain("uge"), "sgt": _swapped("ilt"), "sle": _swapped("ige"), "ugt": _swapped("ult"),
    "ule": _swapped("uge"), "select": select,
}  # fmt: skip
"""What each op on 32 bits is made of."""


PREDICATES: Final[Mapping[str, Callable[..., Word]]] = {
    "and": _plain("iand"), "or": _plain("ior"), "xor": _plain("ixor"), "not": invert, "ne": _plain("ixor"),
    "eq": lambda code, a, b: invert(code, code.compute("ixor", a, b)), "select": select,
}  # fmt: skip
"""What each op on predicates is made of."""
