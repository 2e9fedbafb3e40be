"""Half precision and bfloat16: 16 bits in each lane, computed as doubles, and rounded once.

    f16, bf16 ──wide──► double ──the op of floats.py──► double ──narrow──► f16, bf16

Both ways are integer arithmetic, so that they are the same on all processors. A double has more than twice as many
digits and two more, so rounding a sum, product, quotient or root of 16-bit numbers to it first changes nothing
(Figueroa, SIGNUM Newsletter 30(3), 1995); of a·b + c the double is rounded to odd (Boldo, Melquiond, IEEE Transactions
on Computers 57(4), 2008). What only moves or changes a sign keeps the bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from llvmlite import ir
from msgspec import Struct

from warpsmith.simt.engine.lanes import I32, I64, Emit, Ir, scalar_of
from warpsmith.simt.engine.ops.directed import is_directed, rounded
from warpsmith.simt.engine.ops.floats import FLOATS, back, finish_result, in_double, number
from warpsmith.ssa.nodes import Convert, Float, Instruction, Rounding
from warpsmith.ssa.semantics.patterns import pattern_of
from warpsmith.ssa.types import BF16, F16, Type

__all__ = ["BITS", "HALVES", "half_op", "has_halves", "narrow", "wide"]

HALVES: Final = frozenset({F16, BF16})
BITS: Final = frozenset({"fneg", "fabs", "copysign", "bitcast"})
"""Ops on the bits, of all types alike."""

_LEAST: Final = frozenset({"fmin", "fmax", "fmin_nan", "fmax_nan"})
_AS_THEY_ARE: Final = _LEAST | {"fround"}
"""Ops that see subnormal operands as they are, whatever the detail says."""

_I16: Final[Ir] = ir.IntType(16)
_DOUBLE: Final[Ir] = ir.DoubleType()
_DIGITS: Final = 52
_BIAS: Final = 1023
_ENDLESS: Final = 0x7FF << _DIGITS


class _Form(Struct, frozen=True):
    """Where a format has what: `digits` of its fraction, `bias` of its exponent."""

    digits: int
    bias: int

    @property
    def infinite(self) -> int:
        """The pattern of infinity."""
        return (2 * self.bias + 1) << self.digits


_FORMS: Final = {F16: _Form(10, 15), BF16: _Form(7, 127)}


def has_halves(i: Instruction) -> bool:
    """Whether an instruction has operands or results of 16-bit formats."""
    return any(value.type in HALVES for value in (*i.operands, *i.results))


def half_op(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
    """Return the result of an op of floats.py that has operands or a result of a 16-bit format."""
    if i.op in BITS:
        return FLOATS[i.op](e, i, o, active)
    detail = i.detail if isinstance(i.detail, Float | Convert) else Float()
    if i.op in ("sitof", "uitof"):
        made = _from_integer(e, o[0], sign=i.op == "sitof")
    else:
        flush = isinstance(detail, Float) and detail.flush and i.op not in _AS_THEY_ARE
        given = [wide(e, value, operand.type, flush=flush) for value, operand in zip(o, i.operands, strict=True)]
        made = _computed(e, i, given, active)
    type = i.results[0].type
    if type in HALVES:
        flush = isinstance(detail, Float) and detail.flush and not detail.saturate and i.op not in _LEAST
        return narrow(e, made, type, detail.rounding, flush=flush)
    return back(e, made, _scalar(type)) if type.kind == "float" else made


def _scalar(type: Type) -> Ir:
    return ir.FloatType() if type.bits == 32 else _DOUBLE


def _computed(e: Emit, i: Instruction, given: list[Ir], active: Ir) -> Ir:
    """Return the result of an op of doubles."""
    if i.op in ("fext", "ftrunc"):
        return finish_result(e, given[0], _saturated(i))
    if is_directed(i):
        # twice in one direction is once
        return finish_result(e, rounded(e, i, given, single=False), _saturated(i))
    if i.op == "ffma":
        return finish_result(e, _fma_to_odd(e, *given), _saturated(i))
    return FLOATS[i.op](e, i, given, active)


def _saturated(i: Instruction) -> Float:
    return Float(saturate=isinstance(i.detail, Float | Convert) and i.detail.saturate)


def _fma_to_odd(e: Emit, a: Ir, b: Ir, c: Ir) -> Ir:
    """Return a·b + c, rounded to odd: the product is exact, what the sum loses is known (Knuth's TwoSum)."""
    product = e.b.fmul(a, b)
    total = e.b.fadd(product, c)
    second = e.b.fsub(total, product)
    lost = e.b.fadd(e.b.fsub(product, e.b.fsub(total, second)), e.b.fsub(c, second))
    bits, zero = e.b.bitcast(total, e.vector(I64)), number(e, _DOUBLE, 0.0)
    one = e.splat_constant(I64, 1)
    further = e.b.icmp_signed(">=", e.b.xor(bits, e.b.bitcast(lost, bits.type)), e.splat_constant(I64, 0))
    moved = e.b.select(further, e.b.add(bits, one), e.b.sub(bits, one))
    even = e.b.icmp_unsigned("==", e.b.and_(bits, one), e.splat_constant(I64, 0))
    inexact = e.b.and_(e.b.fcmp_ordered("!=", lost, zero), even)
    return e.b.bitcast(e.b.select(inexact, moved, bits), total.type)


def _from_integer(e: Emit, value: Ir, *, sign: bool) -> Ir:
    """Return integers as doubles; those of more than 53 bits rounded to odd."""
    if scalar_of(value).width == 64:
        low = (1 << 11) - 1
        rest = e.b.icmp_unsigned("!=", e.b.and_(value, e.splat_constant(I64, low)), e.splat_constant(I64, 0))
        sticky = e.b.select(rest, e.splat_constant(I64, low + 1), e.splat_constant(I64, 0))
        odd = e.b.or_(e.b.and_(value, e.splat_constant(I64, ~low)), sticky)
        moved = e.b.add(value, e.splat_constant(I64, 1 << 53)) if sign else value
        small = e.b.icmp_unsigned("<", moved, e.splat_constant(I64, 1 << (54 if sign else 53)))
        value = e.b.select(small, value, odd)
    return (e.b.sitofp if sign else e.b.uitofp)(value, e.vector(_DOUBLE))


def wide(e: Emit, value: Ir, type: Type, *, flush: bool = False) -> Ir:
    """Return a value as doubles; `flush`: subnormal numbers of half precision are zero."""
    if type not in HALVES:
        return in_double(e, value) if type.kind == "float" else value
    return e.b.call(
        _out_of_line(e, f"wide.{type}.{int(flush)}", _I16, _DOUBLE, _wide(type, flush and type == F16)), [value]
    )


def narrow(e: Emit, value: Ir, type: Type, rounding: Rounding = "", *, flush: bool = False) -> Ir:
    """Return doubles as a 16-bit format; `flush`: what is subnormal in half precision is zero then."""
    how = rounding if rounding in ("zero", "up", "down") else "nearest"
    body = _narrow(_FORMS[type], how, pattern_of(math.nan, type), flush and type == F16)
    return e.b.call(_out_of_line(e, f"narrow.{type}.{how}.{int(flush)}", _DOUBLE, _I16, body), [value])


def _out_of_line(e: Emit, name: str, given: Ir, made: Ir, write: Callable[[Emit, Ir], Ir]) -> Ir:
    """Return a function of a vector, written when first asked for."""
    found = e.module.globals.get(name)
    if found is None:
        found = ir.Function(e.module, ir.FunctionType(e.vector(made), [e.vector(given)]), name)
        own = e.again()
        own.at(found.append_basic_block("entry"))
        own.b.ret(write(own, found.args[0]))
    return found


def _wide(type: Type, flush: bool) -> Callable[[Emit, Ir], Ir]:
    def write(e: Emit, value: Ir) -> Ir:
        bits = e.b.zext(value, e.vector(I32))
        if type == BF16:
            whole = e.b.shl(bits, e.splat_constant(I32, 16))
            return e.b.fpext(e.b.bitcast(whole, e.vector(ir.FloatType())), e.vector(_DOUBLE))
        own = e.b.and_(bits, e.splat_constant(I32, 0x7FFF))
        digits = e.b.shl(own, e.splat_constant(I32, 13))
        # the exponent is too small by the difference of the biases, that of subnormal numbers as well
        scale = number(e, ir.FloatType(), 2.0**112)
        finite = e.b.bitcast(e.b.fmul(e.b.bitcast(digits, scale.type), scale), digits.type)
        endless = e.b.or_(digits, e.splat_constant(I32, 0x7F800000))
        made = e.b.select(e.b.icmp_unsigned(">=", own, e.splat_constant(I32, 0x7C00)), endless, finite)
        if flush:
            small = e.b.icmp_unsigned("<", own, e.splat_constant(I32, 0x0400))
            made = e.b.select(small, e.splat_constant(I32, 0), made)
        sign = e.b.shl(e.b.and_(bits, e.splat_constant(I32, 0x8000)), e.splat_constant(I32, 16))
        return e.b.fpext(e.b.bitcast(e.b.or_(made, sign), scale.type), e.vector(_DOUBLE))

    return write


_INTEGRAL: Final = {"nearest": "roundeven", "zero": "trunc", "up": "ceil", "down": "floor"}


def _narrow(form: _Form, how: str, nan: int, flush: bool) -> Callable[[Emit, Ir], Ir]:
    def write(e: Emit, value: Ir) -> Ir:
        bits = e.b.bitcast(value, e.vector(I64))
        own = e.b.and_(bits, e.splat_constant(I64, (1 << 63) - 1))
        negative = e.b.icmp_signed("<", bits, e.splat_constant(I64, 0))
        large = _round_normal(e, form, how, own, negative)
        least = number(e, _DOUBLE, 2.0 ** (1 - form.bias))
        small = e.b.fcmp_ordered("<", e.intrinsic("llvm.fabs", (value.type,), (value,)), least)
        little = _round_subnormal(e, form, how, value)
        made = e.b.select(small, little, e.b.trunc(large, e.vector(_I16)))
        if flush:
            subnormal = e.b.icmp_unsigned("<", made, e.splat_constant(_I16, 1 << form.digits))
            made = e.b.select(subnormal, e.splat_constant(_I16, 0), made)
        sign = e.b.select(negative, e.splat_constant(_I16, 0x8000), e.splat_constant(_I16, 0))
        lost = e.b.fcmp_unordered("uno", value, value)
        return e.b.select(lost, e.splat_constant(_I16, nan), e.b.or_(made, sign))

    return write


def _round_normal(e: Emit, form: _Form, how: str, own: Ir, negative: Ir) -> Ir:
    """Return the pattern of numbers that are not too small, from the bits of their absolute value."""
    shift = _DIGITS - form.digits
    amount, none, whole = (e.splat_constant(I64, n) for n in (shift, 0, (1 << shift) - 1))
    if how == "nearest":
        last = e.b.and_(e.b.lshr(own, amount), e.splat_constant(I64, 1))
        more = e.b.add(last, e.splat_constant(I64, (1 << (shift - 1)) - 1))
    else:
        more = {"zero": none, "up": e.b.select(negative, none, whole), "down": e.b.select(negative, whole, none)}[how]
    bias = e.splat_constant(I64, (_BIAS - form.bias) << form.digits)
    made = e.b.sub(e.b.lshr(e.b.add(own, more), amount), bias)
    infinite, most = (e.splat_constant(I64, form.infinite - less) for less in (0, 1))
    top = {
        "nearest": infinite,
        "zero": most,
        "up": e.b.select(negative, most, infinite),
        "down": e.b.select(negative, infinite, most),
    }[how]
    made = e.b.select(e.b.icmp_signed(">=", made, infinite), top, made)
    return e.b.select(e.b.icmp_unsigned("==", own, e.splat_constant(I64, _ENDLESS)), infinite, made)


def _round_subnormal(e: Emit, form: _Form, how: str, value: Ir) -> Ir:
    """Return the pattern of numbers that are small: how many times the least one they are."""
    scaled = e.b.fmul(value, number(e, _DOUBLE, 2.0 ** (form.bias - 1 + form.digits)))
    whole = e.intrinsic(f"llvm.{_INTEGRAL[how]}", (value.type,), (scaled,))
    times = e.intrinsic("llvm.fabs", (value.type,), (whole,))
    made = e.vector(I32)
    return e.b.trunc(e.intrinsic("llvm.fptosi.sat", (made, times.type), (times,), made), e.vector(_I16))
