"""What an instruction of IL is on R600: an operation, or several.

lt a, b       SETGT_DX10 b, a            cmov_logical a, b, c   CNDE_INT a, c, b
sub a, b      ADD a, -b                  iadd a, -b             SUB_INT a, b
div a, b      RECIP_IEEE b, MUL_IEEE     so that results are not those of a division, by some ulp
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from warpsmith.front.il.nodes import IlInstruction
from warpsmith.machine.vliw.slots import Generation
from warpsmith.targets.r600.division import Expansion, divide
from warpsmith.targets.r600.operations import NumberWord, Operand, Value, Values

__all__ = ["R600", "is_counted", "operate"]

_ZERO: Final = NumberWord(0)
_ALL: Final = NumberWord(0xFFFFFFFF)
_ONE: Final = NumberWord(0x3F800000)
_SIGN: Final = NumberWord(0x80000000)
_LARGEST: Final = NumberWord(0x7F7FFFFF)


class R600(Struct, frozen=True):
    """What operations are made for: a generation, and how unsigned numbers are divided."""

    values: Values
    generation: Generation
    expansion: Expansion


_SAME: Final[Mapping[str, str]] = {
    "add": "ADD", "mul": "MUL_IEEE", "mul_ieee": "MUL_IEEE", "min": "MIN", "max": "MAX", "mad": "MULADD_IEEE",
    "flr": "FLOOR", "round_neginf": "FLOOR", "frc": "FRACT", "round_z": "TRUNC", "round_posinf": "CEIL",
    "round_nearest": "RNDNE", "exp_vec": "EXP_IEEE", "log_vec": "LOG_IEEE", "sqrt": "SQRT_IEEE",
    "sqrt_vec": "SQRT_IEEE", "rsq_vec": "RECIPSQRT_IEEE", "ge": "SETGE_DX10", "eq": "SETE_DX10", "ne": "SETNE_DX10",
    "ftoi": "FLT_TO_INT", "ftou": "FLT_TO_UINT", "itof": "INT_TO_FLT", "utof": "UINT_TO_FLT", "imul": "MULLO_INT",
    "umul": "MULLO_UINT", "imul_high": "MULHI_INT", "umul_high": "MULHI_UINT", "imin": "MIN_INT", "imax": "MAX_INT",
    "umin": "MIN_UINT", "umax": "MAX_UINT", "ige": "SETGE_INT", "ieq": "SETE_INT", "ine": "SETNE_INT",
    "uge": "SETGE_UINT", "ishl": "LSHL_INT", "ishr": "ASHR_INT", "ushr": "LSHR_INT", "and": "AND_INT",
    "iand": "AND_INT", "ior": "OR_INT", "ixor": "XOR_INT", "inot": "NOT_INT",
}  # fmt: skip
_SWAPPED: Final[Mapping[str, str]] = {"lt": "SETGT_DX10", "ilt": "SETGT_INT", "ult": "SETGT_UINT"}


def is_counted(name: str) -> bool:
    """Whether it is known what an instruction of numbers becomes."""
    return name in ("mov", "iadd") or name in _SAME or name in _SWAPPED or name in _COMPOSED


def operate(r: R600, one: IlInstruction, operands: tuple[Operand, ...]) -> Value:
    """Return one component of the result of an instruction. Operands of integers have no modifier but `negate`."""
    name = one.op.name
    if name == "mov":
        return plain(r, operands[0], clamp=one.saturate)
    if name == "iadd":
        return _add(r, operands)
    if one.op.reads == "integer":
        operands = tuple(Operand(_negative(r, operand)) for operand in operands)
    if name in ("mad", "cmov_logical"):
        operands = tuple(_third_form(r, operand, sign=name == "mad") for operand in operands)
    if name in _SAME:
        return r.values.operation(_SAME[name], operands, clamp=one.saturate)
    if name in _SWAPPED:
        return r.values.operation(_SWAPPED[name], operands[::-1])
    found = _COMPOSED[name](r, one, operands)
    return plain(r, Operand(found), clamp=True) if one.saturate else found


def plain(r: R600, operand: Operand, *, clamp: bool = False) -> Value:
    """Return an operand as a value: itself where it has no modifier."""
    if not (clamp or operand.negate or operand.absolute):
        return operand.value
    return r.values.operation("MOV", (operand,), clamp=clamp)


def _third_form(r: R600, operand: Operand, *, sign: bool) -> Operand:
    """Return an operand of an operation of three: it has no absolute value, and of words no sign."""
    return Operand(plain(r, operand)) if operand.absolute or (operand.negate and not sign) else operand


def _negative(r: R600, operand: Operand) -> Value:
    """Return an integer operand: negated it is 0 - x."""
    return r.values.operation("SUB_INT", (_ZERO, operand.value)) if operand.negate else operand.value


def _add(r: R600, operands: tuple[Operand, ...]) -> Value:
    one, other = operands
    if other.negate:
        return r.values.operation("SUB_INT", (_negative(r, one), other.value))
    if one.negate:
        return r.values.operation("SUB_INT", (other.value, one.value))
    return r.values.operation("ADD_INT", (one.value, other.value))


Composed = Callable[[R600, IlInstruction, tuple[Operand, ...]], Value]


def _subtract(r: R600, one: IlInstruction, operands: tuple[Operand, ...]) -> Value:
    a, b = operands
    return r.values.operation("ADD", (a, Operand(b.value, not b.negate, b.absolute)))


def _multiply_add(r: R600, one: IlInstruction, operands: tuple[Operand, ...]) -> Value:
    name = "MULLO_INT" if one.op.name == "imad" else "MULLO_UINT"
    return r.values.operation("ADD_INT", (r.values.operation(name, operands[:2]), operands[2]))


def _divide_whole(r: R600, one: IlInstruction, operands: tuple[Operand, ...]) -> Value:
    n, d = (operand.value for operand in operands)
    return divide(r.values, n, d, r.expansion, r.generation, remainder=one.op.name == "umod")


def _quotient(r: R600, a: Operand, b: Operand) -> Value:
    return r.values.operation("MUL_IEEE", (a, r.values.operation("RECIP_IEEE", (b,))))


def _by_zero(r: R600, one: IlInstruction, result: Value, divisor: Operand, sign: Value) -> Value:
    """Return a result, or the largest number with the sign bit of `sign` where the divisor is zero."""
    if one.zero == "infinity":
        return result
    v = r.values
    largest = v.operation("OR_INT", (v.operation("AND_INT", (sign, _SIGN)), _LARGEST))
    return v.operation("CNDE_INT", (v.operation("SETE_DX10", (divisor, _ZERO)), result, largest))


def _divide(r: R600, one: IlInstruction, operands: tuple[Operand, ...]) -> Value:
    a, b = operands
    if one.zero == "infinity":
        return _quotient(r, a, b)
    sign = r.values.operation("XOR_INT", (plain(r, a), plain(r, b)))
    return _by_zero(r, one, _quotient(r, a, b), b, sign)


def _modulo(r: R600, one: IlInstruction, operands: tuple[Operand, ...]) -> Value:
    a, b = operands
    whole = r.values.operation("TRUNC", (_quotient(r, a, b),))
    product = r.values.operation("MUL_IEEE", (b, whole))
    return r.values.operation("ADD", (a, Operand(product, negate=True)))


def _reciprocal(r: R600, one: IlInstruction, operands: tuple[Operand, ...]) -> Value:
    found = r.values.operation("RECIP_IEEE", operands)
    return found if one.zero == "infinity" else _by_zero(r, one, found, operands[0], plain(r, operands[0]))


def _reciprocal_root(r: R600, one: IlInstruction, operands: tuple[Operand, ...]) -> Value:
    found = r.values.operation("RECIPSQRT_IEEE", operands)
    return _by_zero(r, one, found, operands[0], _ZERO)


def _absolute(r: R600, one: IlInstruction, operands: tuple[Operand, ...]) -> Value:
    return r.values.operation("MOV", (Operand(operands[0].value, negate=False, absolute=True),))


def _choose(r: R600, one: IlInstruction, operands: tuple[Operand, ...]) -> Value:
    test, yes, no = operands
    return r.values.operation("CNDE_INT", (test, no, yes))


def _opposite(r: R600, one: IlInstruction, operands: tuple[Operand, ...]) -> Value:
    return r.values.operation("SUB_INT", (_ZERO, operands[0]))


_COMPOSED: Final[Mapping[str, Composed]] = {
    "sub": _subtract, "imad": _multiply_add, "umad": _multiply_add, "udiv": _divide_whole, "umod": _divide_whole,
    "div": _divide, "mod": _modulo, "rcp": _reciprocal, "rsq": _reciprocal_root, "abs": _absolute,
    "cmov_logical": _choose, "inegate": _opposite,
}  # fmt: skip
