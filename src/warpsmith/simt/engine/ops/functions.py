"""Functions of the mathematics library: the same ones of the C library that the interpreter calls, lane by lane.

Python's `math` calls the C library's function of a double and turns its errors into exceptions, which the interpreter
turns into numbers: NaN where there is no result, +infinity where it is too large. Here the same is done with the
result. So both agree in every bit where Python and this process have one C library; a function that `math` computes in
its own way (gamma, hypot …) is not here, and is asked for (asked.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from llvmlite import ir
from msgspec import Struct

from warpsmith.simt.engine.lanes import Emit, Ir, scalar_of
from warpsmith.simt.engine.ops.floats import back, finish_result, flush_subnormals, in_double, number
from warpsmith.simt.engine.ops.halves import HALVES, narrow, wide
from warpsmith.ssa.nodes import Float, Instruction, Text
from warpsmith.ssa.types import Type

__all__ = ["FUNCTIONS", "OPS", "call_function", "is_called"]


class LibraryFunction(Struct, frozen=True):
    """A function of the C library: `symbol`, how many numbers it takes; `pole`: what an infinite result of finite
    numbers stands for: "inf" as it is, "over" +infinity, "error" NaN. `zero`: what it is at zero, where that
    differs."""

    symbol: str
    operands: int = 1
    pole: str = "error"
    zero: float | None = None
    base: float | None = None


_MINUS: Final = float("-inf")

FUNCTIONS: Final[Mapping[str, LibraryFunction]] = {
    **{
        name: LibraryFunction(name)
        for name in ("acos", "asin", "asinh", "acosh", "atan", "atanh", "cbrt", "tanh", "erf")
    },
    **{name: LibraryFunction(name) for name in ("sin", "cos", "tan", "erfc")},
    **{name: LibraryFunction(name, pole="over") for name in ("exp", "exp2", "expm1", "sinh", "cosh")},
    **{name: LibraryFunction(name, zero=_MINUS) for name in ("log", "log2", "log10")},
    "log1p": LibraryFunction("log1p"),
    "atan2": LibraryFunction("atan2", 2),
    "fmod": LibraryFunction("fmod", 2),
    **dict.fromkeys(("pow", "powr", "__powf", "native_powr"), LibraryFunction("pow", 2, pole="power")),
    **dict.fromkeys(("__expf", "native_exp"), LibraryFunction("exp", pole="over")),
    **dict.fromkeys(("__logf", "native_log"), LibraryFunction("log", zero=_MINUS)),
    **dict.fromkeys(("__log10f", "native_log10"), LibraryFunction("log10", zero=_MINUS)),
    **dict.fromkeys(("__tanf", "native_tan"), LibraryFunction("tan")),
    "__tanhf": LibraryFunction("tanh"),
}
"""By the name that a `lanewise` op has."""

OPS: Final[Mapping[str, LibraryFunction]] = {
    **{name: FUNCTIONS[name] for name in ("sin", "cos", "tanh", "log2")},
    "exp2": LibraryFunction("pow", 2, "over", base=2.0),
}
"""Ops of the kernel IR that are functions of the library."""


def is_called(i: Instruction) -> bool:
    """Whether a `lanewise` op is a function that is called as it is: of numbers of one floating-point type."""
    types = {value.type for value in (*i.operands, *i.results)}
    known = isinstance(i.detail, Text) and i.detail.text in FUNCTIONS
    return known and len(types) == len(i.results) == 1 and next(iter(types)).kind == "float"


def call_function(e: Emit, i: Instruction, o: list[Ir], active: Ir) -> Ir:
    """Return what a function gives in the active lanes."""
    function = FUNCTIONS[i.detail.text] if isinstance(i.detail, Text) else OPS[i.op]
    detail = i.detail if isinstance(i.detail, Float) else Float()
    given = [_given(e, value, operand.type, detail) for value, operand in zip(o, i.operands, strict=True)]
    if function.base is not None:
        given.insert(0, number(e, ir.DoubleType(), function.base))
    found = _define_errors(e, function, given, _each(e, function, given, active))
    type = i.result.type
    if type in HALVES:
        return narrow(e, finish_result(e, found, detail), type, flush=detail.flush and not detail.saturate)
    return finish_result(e, back(e, found, scalar_of(o[0])), detail)


def _given(e: Emit, value: Ir, type: Type, detail: Float) -> Ir:
    """Return an operand as doubles."""
    if type in HALVES:
        return wide(e, value, type, flush=detail.flush)
    return in_double(e, flush_subnormals(e, value, detail))


def _each(e: Emit, function: LibraryFunction, given: list[Ir], active: Ir) -> Ir:
    """Call the function in one active lane after the other."""
    double, doubles = ir.DoubleType(), given[0].type
    symbol = e.module.globals.get(function.symbol)
    if symbol is None:
        symbol = ir.Function(e.module, ir.FunctionType(double, [double] * function.operands), function.symbol)
        # LLVM would make exp2(x) of pow(2, x): the last digits of the two differ
        symbol.attributes.add("nobuiltin")
    slot = e.slot(doubles)
    e.b.store(number(e, double, 0.0), slot)

    def body(left: Ir, lane: Ir) -> Ir:
        made = e.b.call(symbol, [e.b.extract_element(value, lane) for value in given])
        e.b.store(e.b.insert_element(e.b.load(slot, typ=doubles), made, lane), slot)
        return e.remove_lowest(left)

    e.while_bits(active, body)
    return e.b.load(slot, typ=doubles)


def _define_errors(e: Emit, function: LibraryFunction, given: list[Ir], found: Ir) -> Ir:
    """Return the result with what Python makes of errors in it."""
    double = ir.DoubleType()
    infinite = number(e, double, float("inf"))
    endless = e.b.fcmp_ordered("==", e.intrinsic("llvm.fabs", (found.type,), (found,)), infinite)
    for value in given:
        magnitude = e.intrinsic("llvm.fabs", (value.type,), (value,))
        endless = e.b.and_(endless, e.b.fcmp_ordered("<", magnitude, infinite))
    if function.pole == "power":
        endless = e.b.and_(endless, e.b.fcmp_ordered("==", given[0], number(e, double, 0.0)))
    instead = infinite if function.pole == "over" else number(e, double, float("nan"))
    found = e.b.select(endless, instead, found)
    if function.zero is not None:
        at_zero = e.b.fcmp_ordered("==", given[0], number(e, double, 0.0))
        found = e.b.select(at_zero, number(e, double, function.zero), found)
    return found
