"""Floating-point ops of 32 and 64 bits, in all lanes at once: ssa/semantics/ in LLVM IR.

Rounding to nearest even is what processors do; no fast-math, no contraction. Square roots, reciprocals and their like
are taken of doubles and rounded once more, as the interpreter does it. Processors give many NaN: a result whose bits
are seen (seen.py) is replaced by the one of its type.
Formats of 16 bits are computed as doubles (halves.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from llvmlite import ir

from warpsmith.simt.engine.lanes import I32, I64, Emit, Ir, element, element_of, scalar_of
from warpsmith.simt.engine.ops.integers import resize_lanes
from warpsmith.ssa.nodes import Convert, Float, Instruction
from warpsmith.ssa.semantics.patterns import pattern_of
from warpsmith.ssa.types import F16, F32, F64, Type

__all__ = ["FLOATS", "finish_result", "flush_subnormals", "in_double", "least_normal", "number", "one_nan"]

Op = Callable[[Emit, Instruction, list[Ir], Ir], Ir]


def number(e: Emit, scalar: Ir, value: float) -> Ir:
    """Return a floating-point constant in all lanes."""
    return e.real(scalar, value)


def least_normal(type: Type) -> float:
    """Return the least normal number of a type."""
    return {F16: 2.0**-14, F64: 2.0**-1022}.get(type, 2.0**-126)


def flush_subnormals(e: Emit, value: Ir, detail: Float) -> Ir:
    """Return a value whose subnormals are zero, where the detail says so (of f32: f64 has no such mode)."""
    if not detail.flush or not isinstance(scalar_of(value), ir.FloatType):
        return value
    small = e.b.fcmp_ordered("<", _absolute(e, value), number(e, scalar_of(value), 2.0**-126))
    zero = e.intrinsic("llvm.copysign", (value.type,), (number(e, scalar_of(value), 0.0), value))
    return e.b.select(small, zero, value)


def finish_result(e: Emit, value: Ir, detail: Float) -> Ir:
    """Return a result saturated to [0, 1], or flushed, as the detail says."""
    if not detail.saturate:
        return flush_subnormals(e, value, detail)
    zero, one = (number(e, scalar_of(value), x) for x in (0.0, 1.0))
    low = e.b.select(e.b.fcmp_ordered(">", value, zero), value, zero)
    return e.b.select(e.b.fcmp_ordered("<", low, one), low, one)


def one_nan(e: Emit, value: Ir, type: Type) -> Ir:
    """Return a value in which every NaN is the one that ops give."""
    scalar = I32 if isinstance(scalar_of(value), ir.FloatType) else I64
    wanted = e.b.bitcast(e.splat_constant(scalar, pattern_of(math.nan, type)), value.type)
    return e.b.select(e.b.fcmp_unordered("uno", value, value), wanted, value)


def in_double(e: Emit, value: Ir) -> Ir:
    """Return a value as doubles."""
    if not isinstance(scalar_of(value), ir.FloatType):
        return value
    return e.b.fpext(value, e.vector(ir.DoubleType()))


def back(e: Emit, value: Ir, scalar: Ir) -> Ir:
    """Return doubles as a type, rounded."""
    return value if isinstance(scalar, ir.DoubleType) else e.b.fptrunc(value, e.vector(scalar))


def _detail(i: Instruction) -> Float:
    return i.detail if isinstance(i.detail, Float) else Float()


def _absolute(e: Emit, value: Ir) -> Ir:
    return e.intrinsic("llvm.fabs", (value.type,), (value,))


def _arithmetic(emit: Callable[[Emit, list[Ir]], Ir]) -> Op:
    def whole(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
        detail = _detail(i)
        return finish_result(e, emit(e, [flush_subnormals(e, value, detail) for value in o]), detail)

    return whole


def _of_double(emit: Callable[[Emit, Ir], Ir]) -> Op:
    """Return a function of one number, computed of doubles."""

    def whole(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
        detail = _detail(i)
        made = emit(e, in_double(e, flush_subnormals(e, o[0], detail)))
        return finish_result(e, back(e, made, scalar_of(o[0])), detail)

    return whole


def _root(e: Emit, value: Ir) -> Ir:
    return e.intrinsic("llvm.sqrt", (value.type,), (value,))


def _settled_root(e: Emit, value: Ir) -> Ir:
    """Return a square root in which NaN is the one that ops give, told by its bits: LLVM takes `x < 0 ? NaN : sqrt(x)`
    for the processor's square root, whose NaN is another one."""
    root = _root(e, value)
    bits = e.b.bitcast(root, e.vector(I64))
    sizes = e.b.and_(bits, e.splat_constant(I64, (1 << 63) - 1))
    is_nan = e.b.icmp_unsigned(">", sizes, e.splat_constant(I64, pattern_of(math.inf, F64)))
    return e.b.bitcast(e.b.select(is_nan, e.splat_constant(I64, pattern_of(math.nan, F64)), bits), root.type)


def _inverse_root(e: Emit, value: Ir) -> Ir:
    one, zero, infinite = (number(e, ir.DoubleType(), x) for x in (1.0, 0.0, float("inf")))
    made = e.b.fdiv(one, _root(e, value))
    return e.b.select(e.b.fcmp_ordered("==", value, zero), infinite, made)


def _reciprocal(e: Emit, value: Ir) -> Ir:
    return e.b.fdiv(number(e, ir.DoubleType(), 1.0), value)


_ROUND: Final = {"zero": "trunc", "down": "floor", "up": "ceil"}


def _integral(e: Emit, value: Ir, rounding: str) -> Ir:
    return e.intrinsic(f"llvm.{_ROUND.get(rounding, 'roundeven')}", (value.type,), (value,))


def _round_value(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
    return finish_result(e, _integral(e, o[0], _detail(i).rounding), _detail(i))


def _fma(e: Emit, o: list[Ir]) -> Ir:
    return e.intrinsic("llvm.fma", (o[0].type,), o)


# --- least and most


def _as_bits(e: Emit, value: Ir) -> Ir:
    if isinstance(scalar_of(value), ir.IntType):
        return value
    whole = I32 if isinstance(scalar_of(value), ir.FloatType) else I64
    return e.b.bitcast(value, e.vector(whole))


def _least(how: str, *, nan: bool) -> Op:
    """Return fmin or fmax: a number beats NaN, or NaN a number; -0 is less than 0."""

    def emit(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
        a, b = o
        picked = e.b.select(e.b.fcmp_ordered(how, a, b), a, b)
        x, y = _as_bits(e, a), _as_bits(e, b)
        zeros = e.b.bitcast((e.b.or_ if how == "<" else e.b.and_)(x, y), a.type)
        picked = e.b.select(e.b.fcmp_ordered("==", a, b), zeros, picked)
        if nan:
            lost = number(e, scalar_of(a), float("nan"))
            return e.b.select(e.b.fcmp_unordered("uno", a, b), lost, picked)
        picked = e.b.select(e.b.fcmp_unordered("uno", b, b), a, picked)
        return e.b.select(e.b.fcmp_unordered("uno", a, a), b, picked)

    return emit


def _on_bits(emit: Callable[[Emit, list[Ir], int], Ir]) -> Op:
    """Return an op on the bits of numbers; `emit` gets the sign bit."""

    def whole(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
        patterns = [_as_bits(e, value) for value in o]
        sign = 1 << (scalar_of(patterns[0]).width - 1)
        return e.b.bitcast(emit(e, patterns, sign), o[0].type)

    return whole


def _constant(e: Emit, like: Ir, bits: int) -> Ir:
    return e.splat_constant(scalar_of(like), bits)


def _copy_sign(e: Emit, o: list[Ir], sign: int) -> Ir:
    """Return operand 1 with the sign of operand 0."""
    own, other = e.b.and_(o[1], _constant(e, o[1], sign - 1)), e.b.and_(o[0], _constant(e, o[0], sign))
    return e.b.or_(own, other)


# --- comparisons and tests


def _make_comparison(how: str, *, unordered: bool) -> Op:
    def emit(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
        a, b = (flush_subnormals(e, value, _detail(i)) for value in o)
        return (e.b.fcmp_unordered if unordered else e.b.fcmp_ordered)(how, a, b)

    return emit


def _is(test: Callable[[Emit, Ir, float], Ir]) -> Op:
    """Return a test of one number; it gets the absolute value and the least normal number."""
    return lambda e, i, o, active: test(e, _absolute(e, o[0]), least_normal(i.operands[0].type))


def _against(e: Emit, value: Ir, how: str, bound: float) -> Ir:
    return e.b.fcmp_ordered(how, value, number(e, scalar_of(value), bound))


def _subnormal(e: Emit, value: Ir, least: float) -> Ir:
    return e.b.and_(_against(e, value, ">", 0.0), _against(e, value, "<", least))


def _normal(e: Emit, value: Ir, least: float) -> Ir:
    return e.b.and_(_against(e, value, ">=", least), _against(e, value, "<", _INFINITE))


_INFINITE: Final = float("inf")


# --- conversions


def _from_integer(*, sign: bool) -> Op:
    def emit(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
        return (e.b.sitofp if sign else e.b.uitofp)(o[0], e.vector(element(i.results[0].type)))

    return emit


def _to_integer(*, sign: bool) -> Op:
    """Return a conversion that saturates; NaN gives 0, of 64 bits the top bit."""

    def emit(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
        detail = i.detail
        rounding = detail.rounding if isinstance(detail, Convert | Float) else ""
        whole = _integral(e, o[0], rounding)
        made = e.vector(element(i.results[0].type))
        found = e.intrinsic(f"llvm.fpto{'s' if sign else 'u'}i.sat", (made, whole.type), (whole,), made)
        if element_of(made).width < 64:
            return found
        nan = e.b.fcmp_unordered("uno", o[0], o[0])
        return e.b.select(nan, e.splat_constant(I64, -(1 << 63)), found)

    return emit


def _resize(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
    own, made = i.operands[0].type, i.results[0].type
    value = o[0]
    if (own, made) == (F32, F64):
        value = e.b.fpext(value, e.vector(ir.DoubleType()))
    elif (own, made) == (F64, F32):
        value = e.b.fptrunc(value, e.vector(ir.FloatType()))
    saturate = isinstance(i.detail, Convert) and i.detail.saturate
    return finish_result(e, value, Float(saturate=saturate))


def _cast(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
    made = e.vector(element(i.results[0].type))
    if o[0].type == made:
        return o[0]
    bits = o[0] if isinstance(scalar_of(o[0]), ir.IntType) else _as_bits(e, o[0])
    if isinstance(element_of(made), ir.IntType):
        return resize_lanes(e, bits, element_of(made))
    return e.b.bitcast(bits, made)


_ORDERS: Final = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}

FLOATS: Final[Mapping[str, Op]] = {
    "fadd": _arithmetic(lambda e, o: e.b.fadd(o[0], o[1])),
    "fsub": _arithmetic(lambda e, o: e.b.fsub(o[0], o[1])),
    "fmul": _arithmetic(lambda e, o: e.b.fmul(o[0], o[1])),
    "fdiv": _arithmetic(lambda e, o: e.b.fdiv(o[0], o[1])),
    "ffma": _arithmetic(_fma),
    "fmin": _least("<", nan=False),
    "fmax": _least(">", nan=False),
    "fmin_nan": _least("<", nan=True),
    "fmax_nan": _least(">", nan=True),
    "copysign": _on_bits(_copy_sign),
    "fneg": _on_bits(lambda e, o, sign: e.b.xor(o[0], _constant(e, o[0], sign))),
    "fabs": _on_bits(lambda e, o, sign: e.b.and_(o[0], _constant(e, o[0], sign - 1))),
    "fround": _round_value,
    "sqrt": _of_double(_settled_root),
    "rsqrt": _of_double(_inverse_root),
    "rcp": _of_double(_reciprocal),
    **{f"fo{name}": _make_comparison(how, unordered=False) for name, how in _ORDERS.items()},
    **{f"fu{name}": _make_comparison(how, unordered=True) for name, how in _ORDERS.items()},
    "ordered": lambda e, i, o, active: e.b.fcmp_ordered("ord", o[0], o[1]),
    "unordered": lambda e, i, o, active: e.b.fcmp_unordered("uno", o[0], o[1]),
    "is_finite": _is(lambda e, x, least: _against(e, x, "<", _INFINITE)),
    "is_infinite": _is(lambda e, x, least: _against(e, x, "==", _INFINITE)),
    "is_number": _is(lambda e, x, least: e.b.fcmp_ordered("ord", x, x)),
    "is_notanumber": _is(lambda e, x, least: e.b.fcmp_unordered("uno", x, x)),
    "is_normal": _is(_normal),
    "is_subnormal": _is(_subnormal),
    "fext": _resize,
    "ftrunc": _resize,
    "sitof": _from_integer(sign=True),
    "uitof": _from_integer(sign=False),
    "ftosi": _to_integer(sign=True),
    "ftoui": _to_integer(sign=False),
    "bitcast": _cast,
}
"""Ops on f32 and f64 with one result."""
