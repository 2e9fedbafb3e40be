"""Operations on vectors of floating-point numbers, rounded to nearest, subnormal numbers kept.

What hardware approximates within a unit in the last place (reciprocals, roots, powers, logarithms, sines) is rounded
correctly here. Divisions are what LLVM expands them to: div_scale, fused sums, div_fmas, div_fixup.

Sources: AMD, "Vega" and "RDNA 3" Instruction Set Architecture, chapters of vector instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from warpsmith.simt.gcn.memory import Array
from warpsmith.simt.gcn.nodes import GcnInstruction
from warpsmith.simt.gcn.ops.exact import fused, fused_scaled
from warpsmith.simt.gcn.ops.op import GcnOp, forms_of, vector_op, write_results
from warpsmith.simt.gcn.wave import GcnWave

__all__ = ["FLOATS"]

_SCALES: Final = {"f32": (96, 64, 23, 127, 150), "f64": (768, 128, 53, 1023, 1075)}
"""Of divisions: how far exponents are apart until one is scaled, by how much, what is a tiny numerator, the bias, and
how far apart they are where the quotient is none."""


def _minimum(a: Array, b: Array) -> Array:
    """Return the smaller number, not NaN where one is none; -0 is below 0."""
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a), a, b), np.fmin(a, b))


def _maximum(a: Array, b: Array) -> Array:
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a), b, a), np.fmax(a, b))


def _least(a: Array, b: Array) -> Array:
    """Return the smaller number, NaN where one is none."""
    return np.where(np.isnan(a) | np.isnan(b), a + b, _minimum(a, b))


def _greatest(a: Array, b: Array) -> Array:
    return np.where(np.isnan(a) | np.isnan(b), a + b, _maximum(a, b))


def _median(a: Array, b: Array, c: Array) -> Array:
    smallest = _minimum(_minimum(a, b), c)
    found = _maximum(_minimum(a, b), _minimum(_maximum(a, b), c))
    return np.where(np.isnan(a) | np.isnan(b) | np.isnan(c), smallest, found)


def _by_double(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return a function that is computed as a double, and rounded."""
    return lambda a: function(a.astype(np.float64)).astype(a.dtype)


def _fraction(a: Array) -> Array:
    below = np.nextafter(a.dtype.type(1), a.dtype.type(0))
    return np.asarray(np.where(np.isinf(a), a.dtype.type(np.nan), np.minimum(a - np.floor(a), below)))


def _scaled(a: Array, power: Array | np.int32) -> Array:
    if a.dtype == np.float64:
        return np.asarray(np.ldexp(a, power))
    return np.asarray(np.ldexp(a.astype(np.float64), np.clip(power, -400, 400)), a.dtype)


def _exponent(a: Array) -> Array:
    found = np.frexp(np.where(np.isfinite(a), a, 0))[1]
    return found.astype(np.int32)


def _mantissa(a: Array) -> Array:
    return np.where(np.isfinite(a), np.frexp(np.where(np.isfinite(a), a, 0))[0], a)


def _turns(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return a function of an angle in turns; far away from 0 it is that of 0."""

    def compute(a: Array) -> Array:
        near = np.abs(a) <= 256
        angle = np.where(near, a, 0).astype(np.float64)
        made = function(2 * np.pi * (angle - np.rint(angle))).astype(a.dtype)
        return np.where(np.isfinite(a), made, a.dtype.type(np.nan))

    return compute


# --- divisions


def _biased(a: Array) -> Array:
    if a.dtype == np.float64:
        return (a.view(np.int64) >> 52 & 0x7FF).astype(np.int32)
    return a.view(np.int32) >> 23 & 0xFF


def _is_subnormal(a: Array) -> Array:
    return np.asarray((a != 0) & (np.abs(a) < np.finfo(a.dtype).smallest_normal))


def _divide_scale(type: str) -> Callable[[Array, Array, Array], tuple[Array, Array]]:
    """Return the scaling of one operand `a` of a division, the denominator or the numerator itself, and in which lanes
    the quotient is to be scaled back."""
    apart, power, tiny, _, _ = _SCALES[type]

    def compute(a: Array, denominator: Array, numerator: Array) -> tuple[Array, Array]:
        up, down = _scaled(a, np.int32(power)), _scaled(a, np.int32(-power))
        is_denominator = a.view(f"u{a.dtype.itemsize}") == denominator.view(f"u{a.dtype.itemsize}")
        is_numerator = a.view(f"u{a.dtype.itemsize}") == numerator.view(f"u{a.dtype.itemsize}")
        far = _biased(numerator) - _biased(denominator) >= apart
        # as a double: of no single number is it subnormal
        small_reciprocal = _is_subnormal(1 / denominator.astype(np.float64))
        small_quotient = _is_subnormal(numerator / denominator)
        cases = [
            ((numerator == 0) | (denominator == 0), a.dtype.type(np.nan), False),
            (far, np.where(is_denominator, up, a), True),
            (_is_subnormal(denominator), up, False),
            (small_reciprocal & small_quotient, np.where(is_denominator, down, a), True),
            (small_reciprocal, down, False),
            (small_quotient, np.where(is_numerator, up, a), True),
            (_biased(numerator) <= tiny, up, False),
        ]
        conditions = [case[0] for case in cases]
        value = np.select(conditions, [case[1] for case in cases], a).astype(a.dtype)
        return value, np.select(conditions, [np.full(len(a), case[2]) for case in cases], False)

    return compute


def _divide_fmas(type: str) -> GcnOp:
    """Return the last fused sum of a division, which scales back where VCC says so."""
    forms = forms_of(f"{type} = {type} {type} {type}")
    _, power, _, bias, _ = _SCALES[type]

    def run(wave: GcnWave, i: GcnInstruction) -> None:
        a, b, c = (wave.read(one, type) for one in i.operands[1:])
        by = np.where(_biased(c) > bias, power, -power)
        scales = wave.lanes_of(wave.vcc)
        write_results(wave, i, forms[0], (fused_scaled(a, b, c, np.where(scales, by, 0).astype(np.int32)),))

    return GcnOp(forms, run)


def _divide_fixup(type: str) -> Callable[[Array, Array, Array], Array]:
    """Return a quotient with what no sum gives: zeros, infinities, NaN."""
    lost = _SCALES[type][4]

    def compute(quotient: Array, denominator: Array, numerator: Array) -> Array:
        sign = np.signbit(denominator) ^ np.signbit(numerator)
        nan, zero, infinite = (quotient.dtype.type(x) for x in (np.nan, 0.0, np.inf))
        no_denominator, no_numerator = denominator == 0, numerator == 0
        cases = [
            (np.isnan(numerator), numerator),
            (np.isnan(denominator), denominator),
            ((no_denominator & no_numerator) | (np.isinf(denominator) & np.isinf(numerator)), nan),
            (no_denominator | np.isinf(numerator), infinite),
            (np.isinf(denominator) | no_numerator, zero),
            (_biased(numerator) - _biased(denominator) < -lost, zero),
            (np.isnan(quotient), infinite),
        ]
        found = np.select([case[0] for case in cases], [case[1] for case in cases], np.abs(quotient))
        signed = np.copysign(found, np.where(sign, -1, 1)).astype(quotient.dtype)
        return np.asarray(np.where(np.isnan(found), found.astype(quotient.dtype), signed))

    return compute


_ONE: Final[Mapping[str, Callable[..., Any]]] = {
    "rcp": lambda a: a.dtype.type(1) / a,
    "rsq": lambda a: _by_double(lambda x: 1 / np.sqrt(x))(a),
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rndne": np.rint,
    "fract": _fraction,
    "frexp_mant": _mantissa,
    "exp": _by_double(np.exp2),
    "log": _by_double(np.log2),
    "sin": _turns(np.sin),
    "cos": _turns(np.cos),
}
_TWO: Final[Mapping[str, Callable[..., Any]]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "subrev": lambda a, b: b - a,
    "mul": lambda a, b: a * b,
    "min": _minimum,
    "max": _maximum,
    "min_num": _minimum,
    "max_num": _maximum,
    "minimum": _least,
    "maximum": _greatest,
}
_THREE: Final[Mapping[str, Callable[..., Any]]] = {
    "fma": fused,
    "min3": lambda a, b, c: _minimum(_minimum(a, b), c),
    "max3": lambda a, b, c: _maximum(_maximum(a, b), c),
    "minimum3": lambda a, b, c: _least(_least(a, b), c),
    "maximum3": lambda a, b, c: _greatest(_greatest(a, b), c),
    "med3": _median,
    "maxmin": lambda a, b, c: _minimum(_maximum(a, b), c),
    "minmax": lambda a, b, c: _maximum(_minimum(a, b), c),
    "fmaak": fused,
    "fmamk": fused,
}
"""The constant of fmaak and fmamk stands where it is used."""
_MADS: Final = ("mad", "madak", "madmk")


def _multiply_add(a: Array, b: Array, c: Array) -> Array:
    """Return a product that is rounded, and then added; of f32 subnormal numbers are zeros here."""
    if a.dtype != np.float32:
        return np.asarray(a * b + c)
    return _flushed(_flushed(_flushed(a) * _flushed(b)) + _flushed(c))


def _flushed(a: Array) -> Array:
    return np.where(_is_subnormal(a), np.copysign(a.dtype.type(0), a), a)


def _accumulate(type: str, function: Callable[[Array, Array, Array], Array]) -> GcnOp:
    """Return a product that is added to what the result holds."""
    forms = forms_of(f"{type} = {type} {type}")

    def run(wave: GcnWave, i: GcnInstruction) -> None:
        a, b = (wave.read(one, type) for one in i.operands[1:])
        write_results(wave, i, forms[0], (function(a, b, wave.read(i.operands[0], type)),))

    return GcnOp(forms, run)


def _of(type: str) -> dict[str, GcnOp]:
    """Return the operations of a type."""
    made = {
        **{f"v_{name}_{type}": vector_op(f"{type} = {type}", function) for name, function in _ONE.items()},
        **{f"v_{name}_{type}": vector_op(f"{type} = {type} {type}", function) for name, function in _TWO.items()},
        **{
            f"v_{name}_{type}": vector_op(f"{type} = {type} {type} {type}", function)
            for name, function in {**_THREE, **dict.fromkeys(_MADS, _multiply_add)}.items()
        },
        f"v_ldexp_{type}": vector_op(f"{type} = {type} {'i16' if type == 'f16' else 'i32'}", _scaled),
        f"v_fmac_{type}": _accumulate(type, fused),
        f"v_mac_{type}": _accumulate(type, _multiply_add),
    }
    if type == "f16":
        made["v_frexp_exp_i16_f16"] = vector_op("i16 = f16", lambda a: _exponent(a).astype(np.int16))
        made["v_div_fixup_f16"] = vector_op("f16 = f16 f16 f16", _fixup_half)
        return made
    return made | {
        f"v_frexp_exp_i32_{type}": vector_op(f"i32 = {type}", _exponent),
        f"v_div_scale_{type}": vector_op(f"{type} mask = {type} {type} {type}", _divide_scale(type)),
        f"v_div_fmas_{type}": _divide_fmas(type),
        f"v_div_fixup_{type}": vector_op(f"{type} = {type} {type} {type}", _divide_fixup(type)),
    }


def _fixup_half(quotient: Array, denominator: Array, numerator: Array) -> Array:
    wide = _divide_fixup("f32")(*(one.astype(np.float32) for one in (quotient, denominator, numerator)))
    return wide.astype(np.float16)


_RCP_IFLAG: Final = vector_op("f32 = f32", _ONE["rcp"])
FLOATS: Final[Mapping[str, GcnOp]] = {
    **_of("f16"),
    **_of("f32"),
    **_of("f64"),
    "v_rcp_iflag_f32": _RCP_IFLAG,
    "v_mul_legacy_f32": vector_op("f32 = f32 f32", lambda a, b: np.where((a == 0) | (b == 0), np.float32(0), a * b)),
    "v_mul_dx9_zero_f32": vector_op("f32 = f32 f32", lambda a, b: np.where((a == 0) | (b == 0), np.float32(0), a * b)),
}
