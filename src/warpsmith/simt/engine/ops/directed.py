"""Ops that round to zero, up or down: in the processor's own rounding mode, which is set for one op.

    directed.<op>.<rounding>.<type>(operands)      set the mode; the op; set the mode back to the nearest number

Each is a function of its own, whose arithmetic LLVM neither moves nor computes (`strictfp`). A result that is rounded
twice in one direction is rounded once, so conversions and roots may go by way of doubles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from llvmlite import ir

from warpsmith.simt.engine.lanes import I32, I64, VOID, Emit, Ir, scalar_of
from warpsmith.simt.engine.ops.floats import finish_result, flush_subnormals, in_double, number
from warpsmith.ssa.nodes import Convert, Float, Instruction

__all__ = ["DIRECTED", "directed_op", "is_directed", "rounded"]

_MODES: Final = {"zero": 0, "up": 2, "down": 3}
_NEAREST: Final = 1
_DOUBLE: Final[Ir] = ir.DoubleType()
_ARITHMETIC: Final = {"fadd": "fadd", "fsub": "fsub", "fmul": "fmul", "fdiv": "fdiv", "ffma": "fma"}

Write = Callable[[Emit, Sequence[Ir]], Ir]


def is_directed(i: Instruction) -> bool:
    """Whether an op of DIRECTED rounds in a direction."""
    return i.op in DIRECTED and isinstance(i.detail, Float | Convert) and i.detail.rounding in _MODES


def directed_op(e: Emit, i: Instruction, o: list[Ir]) -> Ir:
    """Return the result of such an op on f32 or f64."""
    detail = i.detail if isinstance(i.detail, Float) else Float()
    saturate = isinstance(i.detail, Convert) and i.detail.saturate
    given = [flush_subnormals(e, value, detail) if detail.flush else value for value in o]
    single = i.results[0].type.bits == 32
    return finish_result(
        e, rounded(e, i, given, single=single), Float(flush=detail.flush, saturate=detail.saturate or saturate)
    )


def rounded(e: Emit, i: Instruction, given: Sequence[Ir], *, single: bool) -> Ir:
    """Return what an op makes of numbers in its rounding mode, as f32 (`single`) or f64."""
    assert isinstance(i.detail, Float | Convert)
    if i.op in ("sitof", "uitof"):
        return _call(e, "fsum", i.detail.rounding, _parts(e, given[0], sign=i.op == "sitof"), single=single)
    return _call(e, i.op, i.detail.rounding, given, single=single)


def _call(e: Emit, op: str, rounding: str, given: Sequence[Ir], *, single: bool) -> Ir:
    """Call the function of an op, written when first asked for."""
    made = e.vector(ir.FloatType() if single else _DOUBLE)
    name = f"directed.{op}.{rounding}.{'f32' if single else 'f64'}.{scalar_of(given[0])}"
    found = e.module.globals.get(name)
    if found is None:
        found = ir.Function(e.module, ir.FunctionType(made, [value.type for value in given]), name)
        set.add(found.attributes, "strictfp")  # llvmlite does not list it
        own = e.again()
        own.at(found.append_basic_block("entry"))
        own.intrinsic("llvm.set.rounding", (), (I32(_MODES[rounding]),), VOID)
        result = _WRITTEN[op](own, found.args)
        if single and isinstance(scalar_of(result), ir.DoubleType):
            result = _strict(own, "fptrunc", [result], made)
        own.intrinsic("llvm.set.rounding", (), (I32(_NEAREST),), VOID)
        own.b.ret(result)
    return e.b.call(found, given)


def _strict(e: Emit, name: str, given: Sequence[Ir], made: Ir) -> Ir:
    """Return the result of an operation in the mode that is set."""
    words = [ir.MetaDataString(e.module, text) for text in ("round.dynamic", "fpexcept.ignore")]
    types = (made, given[0].type) if made != given[0].type else (made,)
    return e.intrinsic(f"llvm.experimental.constrained.{name}", types, [*given, *words], made)


def _arithmetic(name: str) -> Write:
    return lambda e, o: _strict(e, name, o, o[0].type)


def _root(e: Emit, o: Sequence[Ir]) -> Ir:
    return _strict(e, "sqrt", [in_double(e, o[0])], e.vector(_DOUBLE))


def _reciprocal(e: Emit, o: Sequence[Ir]) -> Ir:
    return _strict(e, "fdiv", [number(e, _DOUBLE, 1.0), in_double(e, o[0])], e.vector(_DOUBLE))


def _parts(e: Emit, value: Ir, *, sign: bool) -> tuple[Ir, Ir]:
    """Return integers as sums of two doubles each, in the usual mode: in others LLVM's way to them is not exact."""
    extend = e.b.sitofp if sign else e.b.uitofp
    doubles, half = e.vector(_DOUBLE), e.vector(I32)
    if scalar_of(value).width < 64:
        return extend(value, doubles), number(e, _DOUBLE, 0.0)
    low = e.b.uitofp(e.b.trunc(value, half), doubles)
    high = extend(e.b.trunc(e.b.lshr(value, e.splat_constant(I64, 32)), half), doubles)
    return e.b.fmul(high, number(e, _DOUBLE, 2.0**32)), low


_WRITTEN: Final[Mapping[str, Write]] = {
    **{op: _arithmetic(name) for op, name in _ARITHMETIC.items()},
    "sqrt": _root,
    "rcp": _reciprocal,
    "ftrunc": lambda e, o: in_double(e, o[0]),
    "fsum": _arithmetic("fadd"),
}
"""What is computed in the mode that is set."""

DIRECTED: Final = frozenset({*_WRITTEN, "sitof", "uitof"} - {"fsum"})
"""Ops that round."""
