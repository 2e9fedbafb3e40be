"""Functions of floating-point numbers that are one op: roots, rounding, fused products, what is finite.

Names with `f` behind and without are one row: the type of the call says which is meant.
"""

from __future__ import annotations

from typing import Final

from warpsmith.lower.builtins.rows import Rule, by_lanes, lanewise, needs, op_of
from warpsmith.lower.conversions import convert_value, is_signed, number
from warpsmith.lower.frame import Frame, Result
from warpsmith.lower.layout import NotModeled, is_object, lanes_of, value_type
from warpsmith.ssa.nodes import Convert, Float, Rounding
from warpsmith.ssa.types import I64
from warpsmith.tree import nodes
from warpsmith.tree import types as tree
from warpsmith.tree.types import LONG_LONG

__all__ = ["NUMBERS"]

_FAST: Final = Float(approximate=True)
_ROUNDINGS: Final[dict[str, Rounding]] = {"rn": "nearest", "rz": "zero", "rd": "down", "ru": "up"}

_OPS: Final = {
    "sqrt": ("sqrt", None, 1), "fabs": ("fabs", None, 1), "fma": ("ffma", None, 3), "fmin": ("fmin", None, 2),
    "fmax": ("fmax", None, 2), "rsqrt": ("rsqrt", None, 1), "floor": ("fround", Float("down"), 1),
    "ceil": ("fround", Float("up"), 1), "trunc": ("fround", Float("zero"), 1), "rint": ("fround", Float("nearest"), 1),
    "nearbyint": ("fround", Float("nearest"), 1), "mad": ("ffma", None, 3), "fdivide": ("fdiv", None, 2),
}  # fmt: skip
"""C's name → (op, how it rounds, arguments)."""

_EXACT: Final = {
    "add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv", "sqrt": "sqrt", "rcp": "rcp", "rsqrt": "rsqrt",
}  # fmt: skip
"""CUDA's __fadd_rn, __dmul_rz …: the letter says the type."""


def _copysign(frame: Frame, e: nodes.Call) -> Result:
    """Lower copysign(size, sign); the op has the sign first, as PTX does."""
    needs(e, 2)
    return by_lanes(frame, e, lambda kind, row: frame.builder.emit("copysign", (row[1], row[0]), value_type(kind)))


def _saturate(frame: Frame, e: nodes.Call) -> Result:
    value, builder = frame.as_type(needs(e, 1)[0], e.type), frame.builder
    low = builder.emit("fmax", (value, number(value.type, 0.0)), value.type)
    return builder.emit("fmin", (low, number(value.type, 1.0)), value.type)


def _make_rounding(rounding: Rounding) -> Rule:
    """Return the rule of __float2int_rn and its kin: the types of argument and call say what is converted to what."""

    def rule(frame: Frame, e: nodes.Call) -> Result:
        builder, argument = frame.builder, needs(e, 1)[0]
        if is_object(argument.type) or lanes_of(e.type):
            raise NotModeled("a conversion of a pair", e.span)
        own, to = _wanted_type(e, argument), value_type(e.type)
        value = frame.as_type(argument, own)
        if value.type.kind == "float" and to.kind == "integer":
            return builder.emit("ftosi" if is_signed(e.type) else "ftoui", (value,), to, Convert(rounding))
        if value.type.kind == "integer" and to.kind == "float":
            return builder.emit("sitof" if is_signed(own) else "uitof", (value,), to, Convert(rounding))
        if value.type.kind == to.kind == "float" and to.bits < value.type.bits:
            return builder.emit("ftrunc", (value,), to, Convert(rounding))
        return convert_value(builder, value, own, e.type)

    return rule


def _wanted_type(e: nodes.Call, argument: nodes.Expr) -> tree.Type:
    """Return the type of the number that a function of one number takes."""
    kinds = e.function.type.parameters if isinstance(e.function.type, tree.FunctionType) else ()
    return kinds[0] if len(kinds) == 1 and isinstance(kinds[0], tree.Scalar) else argument.type


def _whole(rounding: Rounding) -> Rule:
    """Return the rule of lrint and the like: a number rounded to an integer."""

    def rule(frame: Frame, e: nodes.Call) -> Result:
        argument = needs(e, 1)[0]
        found = frame.builder.emit(
            "ftosi", (frame.as_type(argument, _wanted_type(e, argument)),), I64, Convert(rounding)
        )
        return convert_value(frame.builder, found, LONG_LONG, e.type)

    return rule


def _constant(pattern_32: float) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        return number(value_type(e.type), pattern_32)

    return rule


_KINDS: Final = ("int", "uint", "ll", "ull", "float", "double", "half", "short", "ushort", "char", "uchar", "bfloat16")
_CONVERSIONS: Final = {
    f"__{a}2{b}{f'_{end}' if end else ''}": _make_rounding(_ROUNDINGS.get(end, "nearest"))
    for a in _KINDS for b in _KINDS if a != b for end in ("", *_ROUNDINGS)
}  # fmt: skip

NUMBERS: Final[dict[str, Rule]] = {
    **_CONVERSIONS,
    **{
        f"{prefix}{name}{end}": op_of(op, detail, count=count)
        for name, (op, detail, count) in _OPS.items() for end in ("", "f") for prefix in ("", "std::")
    },
    **{f"{prefix}copysign{end}": _copysign for end in ("", "f") for prefix in ("", "std::")},
    **{
        f"__{letter}{name}_{end}": op_of(op, Float(rounding))
        for letter in "fd" for name, op in _EXACT.items() for end, rounding in _ROUNDINGS.items()
    },
    **{f"__fma{letter}_{end}": op_of("ffma", Float(rounding), count=3)
       for letter in ("f", "") for end, rounding in _ROUNDINGS.items()},
    "__fdividef": op_of("fdiv", _FAST, count=2),
    "__sinf": op_of("sin", _FAST, count=1),
    "__cosf": op_of("cos", _FAST, count=1),
    "__log2f": op_of("log2", _FAST, count=1),
    "__exp2f": op_of("exp2", _FAST, count=1),
    "__saturatef": _saturate,
    **{name: _whole("nearest") for name in ("lrint", "lrintf", "llrint", "llrintf")},
    **{f"{name}{end}": lanewise(f"{name}{end}") for name in ("lround", "llround") for end in ("", "f")},
    **dict.fromkeys(("__builtin_inf", "__builtin_inff", "__builtin_huge_val", "__builtin_huge_valf"),
                    _constant(float("inf"))),
    **dict.fromkeys(("__builtin_nan", "__builtin_nanf", "nan", "nanf"), _constant(float("nan"))),
}  # fmt: skip
