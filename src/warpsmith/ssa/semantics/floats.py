"""Ops of floating-point numbers: rounded to nearest even unless the detail says otherwise; transcendental functions are
the C library's, rounded."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from warpsmith.ssa.nodes import Float, Instruction, Rounding
from warpsmith.ssa.semantics.integers import Lane
from warpsmith.ssa.semantics.patterns import number_of, pattern_of, round_exact
from warpsmith.ssa.types import F16, F32, F64, Type

__all__ = ["FLOATS", "finish", "flush", "round_whole"]


def _float_op(exact: Callable[..., Fraction], special: Callable[..., float], *, sums: bool = False) -> Lane:
    """Return the lane of an op with an exact result; `special` where there is none, and for the sign of a zero."""

    def compute(i: Instruction, operands: tuple[int, ...]) -> int:
        type = i.results[0].type
        detail = i.detail if isinstance(i.detail, Float) else Float()
        values = [flush(number_of(o, type), type, detail) for o in operands]
        if detail.rounding in ("", "nearest") and (near := _native(special, values, type)):
            return finish(pattern_of(near, type), type, detail)
        value = exact(*map(Fraction, values)) if _is_exact(exact, values) else Fraction(0)
        if value:
            bits = round_exact(value, type, detail.rounding)
        elif sums and detail.rounding == "down":
            # what cancels is -0 here: the negated sum of the negated terms
            bits = pattern_of(-_special(special, [-values[0], *values[1:-1], -values[-1]]), type)
        else:
            bits = pattern_of(_special(special, values), type)
        return finish(bits, type, detail)

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


def flush(value: float, type: Type, detail: Float) -> float:
    """Return an operand as the op sees it: zero where it is subnormal and the detail says so."""
    least = {F16: 2.0**-14, F32: 2.0**-126}.get(type, 0.0)
    return math.copysign(0.0, value) if detail.flush and abs(value) < least else value


def finish(bits: int, type: Type, detail: Float) -> int:
    """Return a result after what the detail asks for: saturated to [0, 1], or a subnormal number flushed to zero."""
    value = number_of(bits, type)
    if detail.saturate:
        value = 0.0 if math.isnan(value) else min(1.0, max(0.0, value))
        return pattern_of(value, type)
    return pattern_of(flush(value, type, detail), type) if detail.flush else bits


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


def _of_number(function: Callable[[float], float], exact: Callable[[float], Fraction] | None = None) -> Lane:
    """Return the lane of a function of one number, by the C library; `exact`: as a number that lies on the same side of
    all others, for where it is rounded in a direction."""

    def compute(i: Instruction, operands: tuple[int, ...]) -> int:
        type = i.results[0].type
        detail = i.detail if isinstance(i.detail, Float) else Float()
        value = flush(number_of(operands[0], type), type, detail)
        near = _special(function, [value])
        if (
            exact is None
            or detail.rounding not in ("zero", "down", "up")
            or not near
            or not math.isfinite(value)
            or not math.isfinite(near)
        ):
            return finish(pattern_of(near, type), type, detail)
        return finish(round_exact(exact(value), type, detail.rounding), type, detail)

    return compute


def _exact_root(value: float) -> Fraction:
    """Return the root of a positive number where it has so few digits, else a number between the same two doubles."""
    near = math.sqrt(value)
    found = Fraction(near)
    square = found * found
    return found if square == value else found + Fraction(math.ulp(near)) / (4 if square < value else -4)


def _exact_reciprocal(value: float) -> Fraction:
    return 1 / Fraction(value)


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
    integral = value if not math.isfinite(value) else math.copysign(float(round_whole(value, detail.rounding)), value)
    return finish(pattern_of(integral, type), type, detail)


def round_whole(value: float, rounding: Rounding) -> int:
    """Return the integer next to a finite number; ties go to the even one."""
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


FLOATS: Final[dict[str, Lane]] = {
    "fadd": _float_op(lambda a, b: a + b, lambda a, b: a + b, sums=True),
    "fsub": _float_op(lambda a, b: a - b, lambda a, b: a - b, sums=True),
    "fmul": _float_op(lambda a, b: a * b, lambda a, b: a * b),
    "fdiv": _float_op(_quotient, _divide),
    "ffma": _float_op(lambda a, b, c: a * b + c, _fma, sums=True),
    "fmin": _least(min, nan=False),
    "fmax": _least(max, nan=False),
    "fmin_nan": _least(min, nan=True),
    "fmax_nan": _least(max, nan=True),
    "fround": _to_integral,
    "sqrt": _of_number(_root, _exact_root),
    "rsqrt": _of_number(lambda x: math.inf if x == 0 else 1.0 / math.sqrt(x)),
    "rcp": _of_number(_reciprocal, _exact_reciprocal),
    "sin": _of_number(math.sin),
    "cos": _of_number(math.cos),
    "tanh": _of_number(math.tanh),
    "exp2": _of_number(_exp2),
    "log2": _of_number(_log2),
}
