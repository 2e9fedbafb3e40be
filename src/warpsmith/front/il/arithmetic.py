"""What IL's instructions compute, as ops of the kernel IR; the meanings are those of ops.py.

Every component is 32 bits of no type (i32); floats are read from them and written to them by `bitcast`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from warpsmith.front.il.nodes import IlInstruction
from warpsmith.front.il.ops import IlOp
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import Constant, Convert, Float, Operand
from warpsmith.ssa.types import F32, I1, I32, Type

__all__ = ["ONE", "SIGN", "ZERO", "compute", "modify", "to_float"]

ZERO: Final = constant(I32, 0)
ONE: Final = constant(I32, 0x3F800000)
SIGN: Final = constant(I32, 0x80000000)
_LARGEST: Final = constant(I32, 0x7F7FFFFF)
_TRUE: Final = constant(I32, -1)
_DOWN: Final = Float("down")
_TOWARDS_ZERO: Final = Float("zero")


def compute(b: Builder, one: IlInstruction, values: tuple[Operand, ...]) -> Operand:
    """Return one component of the result (i32) of those of the sources (i32)."""
    result = _COMPUTED[one.op.name](b, one, values)
    return _saturated(b, result) if one.saturate else result


def modify(b: Builder, op: IlOp, value: Operand, *, absolute: bool, negated: bool) -> Operand:
    """Return a component of a source after its modifiers: of floats they change the sign."""
    if absolute:
        value = _bits(b, b.emit("fabs", (to_float(b, value),), F32))
    if negated and op.reads == "integer":
        return b.emit("sub", (ZERO, value), I32)
    return _bits(b, b.emit("fneg", (to_float(b, value),), F32)) if negated else value


def to_float(b: Builder, value: Operand) -> Operand:
    """Return the float whose bits a value has."""
    return _cast(b, value, F32)


def _bits(b: Builder, value: Operand) -> Operand:
    return _cast(b, value, I32)


def _cast(b: Builder, value: Operand, type: Type) -> Operand:
    if value.type == type:
        return value
    return Constant(type, value.bits) if isinstance(value, Constant) else b.emit("bitcast", (value,), type)


def _saturated(b: Builder, value: Operand) -> Operand:
    """Return a float cut to [0, 1], 0 for NaN."""
    number, zero, one = to_float(b, value), Constant(F32, 0), Constant(F32, ONE.bits)
    above = b.emit("select", (b.emit("fogt", (number, zero), I1), number, zero), F32)
    return _bits(b, b.emit("select", (b.emit("folt", (above, one), I1), above, one), F32))


Values = tuple[Operand, ...]
Computed = Callable[[Builder, IlInstruction, Values], Operand]


def _float(op: str, detail: Float | None = None) -> Computed:
    def emit(b: Builder, one: IlInstruction, values: Values) -> Operand:
        return _bits(b, b.emit(op, tuple(to_float(b, value) for value in values), F32, detail))

    return emit


def _integer(op: str) -> Computed:
    return lambda b, one, values: b.emit(op, values, I32)


def _shift(op: str) -> Computed:
    def emit(b: Builder, one: IlInstruction, values: Values) -> Operand:
        amount = b.emit("and", (values[1], constant(I32, 31)), I32)
        return b.emit(op, (values[0], amount), I32)

    return emit


def _compare(op: str, *, floats: bool) -> Computed:
    def emit(b: Builder, one: IlInstruction, values: Values) -> Operand:
        read = tuple(to_float(b, value) for value in values) if floats else values
        return b.emit("select", (b.emit(op, read, I1), _TRUE, ZERO), I32)

    return emit


def _pick(op: str) -> Computed:
    """Return min or max: the first operand where the comparison holds."""

    def emit(b: Builder, one: IlInstruction, values: Values) -> Operand:
        holds = b.emit(op, tuple(to_float(b, value) for value in values), I1)
        return b.emit("select", (holds, *values), I32)

    return emit


def _multiply_add(multiply: Computed, add: Computed) -> Computed:
    return lambda b, one, values: add(b, one, (multiply(b, one, values[:2]), values[2]))


def _guarded(op: str) -> Computed:
    """Return a division of unsigned numbers, which gives all ones where the divisor is 0."""

    def emit(b: Builder, one: IlInstruction, values: Values) -> Operand:
        zero = b.emit("eq", (values[1], ZERO), I1)
        divisor = b.emit("select", (zero, constant(I32, 1), values[1]), I32)
        return b.emit("select", (zero, _TRUE, b.emit(op, (values[0], divisor), I32)), I32)

    return emit


def _by_zero(b: Builder, one: IlInstruction, result: Operand, divisor: Operand, sign: Operand) -> Operand:
    """Return the result of a division, or what it gives by zero: the largest number, with the sign of `sign`."""
    if one.zero == "infinity":
        return result
    zero = b.emit("foeq", (to_float(b, divisor), Constant(F32, 0)), I1)
    largest = b.emit("or", (b.emit("and", (sign, SIGN), I32), _LARGEST), I32)
    return b.emit("select", (zero, largest, result), I32)


def _divide(b: Builder, one: IlInstruction, values: Values) -> Operand:
    result = _float("fdiv")(b, one, values)
    return _by_zero(b, one, result, values[1], b.emit("xor", values, I32))


def _reciprocal(b: Builder, one: IlInstruction, values: Values) -> Operand:
    result = _float("fdiv")(b, one, (ONE, values[0]))
    return _by_zero(b, one, result, values[0], values[0])


def _reciprocal_root(b: Builder, one: IlInstruction, values: Values) -> Operand:
    result = _float("rsqrt")(b, one, values)
    return result if one.op.name == "rsq_vec" else _by_zero(b, one, result, values[0], ZERO)


def _modulo(b: Builder, one: IlInstruction, values: Values) -> Operand:
    whole = _float("fround", _TOWARDS_ZERO)(b, one, (_float("fdiv")(b, one, values),))
    return _float("fsub")(b, one, (values[0], _float("fmul")(b, one, (values[1], whole))))


def _fraction(b: Builder, one: IlInstruction, values: Values) -> Operand:
    return _float("fsub")(b, one, (values[0], _float("fround", _DOWN)(b, one, values)))


def _to_integer(op: str) -> Computed:
    return lambda b, one, values: b.emit(op, (to_float(b, values[0]),), I32, Convert("zero"))


def _from_integer(op: str) -> Computed:
    return lambda b, one, values: _bits(b, b.emit(op, values, F32, Convert("nearest")))


def _choose(b: Builder, one: IlInstruction, values: Values) -> Operand:
    return b.emit("select", (b.emit("ne", (values[0], ZERO), I1), *values[1:]), I32)


def _copy(b: Builder, one: IlInstruction, values: Values) -> Operand:
    return values[0]


_COMPUTED: Final[Mapping[str, Computed]] = {
    "add": _float("fadd"), "sub": _float("fsub"), "mul": _float("fmul"), "mul_ieee": _float("fmul"),
    "div": _divide, "mod": _modulo, "mad": _multiply_add(_float("fmul"), _float("fadd")),
    "fma": _float("ffma"),
    "min": _pick("folt"), "max": _pick("foge"), "abs": _float("fabs"),
    "flr": _float("fround", _DOWN), "round_neginf": _float("fround", _DOWN),
    "round_z": _float("fround", _TOWARDS_ZERO), "round_posinf": _float("fround", Float("up")),
    "round_nearest": _float("fround", Float("nearest")), "frc": _fraction,
    "sin_vec": _float("sin"), "cos_vec": _float("cos"), "exp_vec": _float("exp2"), "log_vec": _float("log2"),
    "sqrt": _float("sqrt"), "sqrt_vec": _float("sqrt"), "rsq": _reciprocal_root, "rsq_vec": _reciprocal_root,
    "rcp": _reciprocal,
    "lt": _compare("folt", floats=True), "ge": _compare("foge", floats=True),
    "eq": _compare("foeq", floats=True), "ne": _compare("fune", floats=True),
    "ilt": _compare("slt", floats=False), "ige": _compare("sge", floats=False),
    "ieq": _compare("eq", floats=False), "ine": _compare("ne", floats=False),
    "ult": _compare("ult", floats=False), "uge": _compare("uge", floats=False),
    "ftoi": _to_integer("ftosi"), "ftou": _to_integer("ftoui"),
    "itof": _from_integer("sitof"), "utof": _from_integer("uitof"),
    "iadd": _integer("add"), "imul": _integer("mul"), "umul": _integer("mul"),
    "imul_high": _integer("smulhi"), "umul_high": _integer("umulhi"), "icbits": _integer("popcount"),
    "imad": _multiply_add(_integer("mul"), _integer("add")), "umad": _multiply_add(_integer("mul"), _integer("add")),
    "imin": _integer("smin"), "imax": _integer("smax"), "umin": _integer("umin"), "umax": _integer("umax"),
    "udiv": _guarded("udiv"), "umod": _guarded("urem"), "inegate": _integer("neg"),
    "ishl": _shift("shl"), "ishr": _shift("ashr"), "ushr": _shift("lshr"),
    "and": _integer("and"), "iand": _integer("and"), "ior": _integer("or"), "ixor": _integer("xor"),
    "inot": _integer("not"), "mov": _copy, "cmov_logical": _choose,
}  # fmt: skip
