"""Division of unsigned numbers, which no operation does: by a reciprocal and corrections.

    r = RECIP_UINT d          2^32 / d, nearly               e: the error of r · d, which makes a better r
    q = r · n >> 32           n / d, off by one at most
    n - q · d ≥ d             one too few: q + 1             (both sides: and one too many where n < q · d)
    d = 0                     all ones, as IL has it

Which of these steps AMD's compiler took is not known; what each needs of the hardware is.

    mesa        a better reciprocal, q corrected both ways by a mask     as Mesa's R600 driver: any r within 1
    two-sided   the same without the mask                                any r within 1
    one-sided   a better reciprocal, q corrected upwards                 r rounded towards zero
    plain       the reciprocal as it comes, q corrected upwards          r rounded towards zero

Invariant (one-sided, plain): r ≤ 2^32 / d < r + 1 gives n / d - 1 < q ≤ n / d, so that one correction is enough.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

from warpsmith.machine.vliw.slots import Generation
from warpsmith.targets.r600.operations import NumberWord, Operand, Value, Values

__all__ = ["EXPANSIONS", "Expansion", "divide"]

Expansion = Literal["one-sided", "two-sided", "mesa", "plain"]
EXPANSIONS: Final[tuple[Expansion, ...]] = get_args(Expansion)
_ZERO: Final = NumberWord(0)
_ONE: Final = NumberWord(1)
_ALL: Final = NumberWord(0xFFFFFFFF)


def divide(v: Values, n: Value, d: Value, expansion: Expansion, generation: Generation, *, remainder: bool) -> Value:
    """Return n / d, or n % d, of unsigned numbers; all ones where d is 0."""
    reciprocal = _reciprocal(v, d, generation)
    if expansion != "plain":
        reciprocal = _refined(v, reciprocal, d)
    quotient = v.operation("MULHI_UINT", (reciprocal, n))
    product = v.operation("MULLO_UINT", (quotient, d))
    left = v.operation("SUB_INT", (n, product))
    few = v.operation("SETGE_UINT", (left, d))
    upwards: tuple[Value, Value] = (quotient, left)
    more = _steps(v, upwards, d, up=True, remainder=remainder)
    same = left if remainder else quotient
    if expansion in ("one-sided", "plain"):
        found = v.operation("CNDE_INT", (few, same, more))
    else:
        enough = v.operation("SETGE_UINT", (n, product))
        less = _steps(v, upwards, d, up=False, remainder=remainder)
        test = v.operation("AND_INT", (few, enough)) if expansion == "mesa" else few
        found = v.operation("CNDE_INT", (test, same, more))
        found = v.operation("CNDE_INT", (enough, less, found))
    return v.operation("CNDE_INT", (d, _ALL, found))


def _reciprocal(v: Values, d: Value, generation: Generation) -> Value:
    """Return 2^32 / d, nearly; Cayman has it of floats only."""
    if generation != "cayman":
        return v.operation("RECIP_UINT", (d,))
    number = v.operation("UINT_TO_FLT", (d,))
    scaled = v.operation("MUL_IEEE", (v.operation("RECIP_IEEE", (number,)), NumberWord(0x4F800000)))
    return v.operation("FLT_TO_UINT", (scaled,))


def _refined(v: Values, reciprocal: Value, d: Value) -> Value:
    """Return a reciprocal that is better by its error."""
    low = v.operation("MULLO_UINT", (reciprocal, d))
    negative = v.operation("SUB_INT", (_ZERO, low))
    high = v.operation("MULHI_UINT", (reciprocal, d))
    error = v.operation("MULHI_UINT", (v.operation("CNDE_INT", (high, negative, low)), reciprocal))
    below = v.operation("SUB_INT", (reciprocal, error))
    above = v.operation("ADD_INT", (reciprocal, error))
    return v.operation("CNDE_INT", (high, above, below))


def _steps(v: Values, found: tuple[Value, Value], d: Value, *, up: bool, remainder: bool) -> Value:
    """Return quotient or remainder of one more, or one less."""
    quotient, left = found
    if remainder:
        return v.operation("SUB_INT" if up else "ADD_INT", (left, d))
    return v.operation("ADD_INT", (Operand(quotient), Operand(_ONE if up else _ALL)))
