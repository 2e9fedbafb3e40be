"""How large numbers can be in one launch: what is never negative there is divided without a sign.

    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;      a grid of at most 2**31 threads: sdiv → udiv

C rounds quotients toward zero: of the threads of a warp whose numbers are just below 0, one would have another quotient
than the others. Where no number is negative all have the same, but it takes the grid, or 64 bits, to know that. Where
the grid is not known, it is taken to have no more threads along an axis than an `int` can count, and that is said where
it matters. Compilers make shifts of such a division, and add what the sign's bits say first; here these are 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from warpsmith.analysis.uniformity.facts import Dim
from warpsmith.machine.limits import MAX_GRID
from warpsmith.ssa.nodes import Constant, Function, Instruction, Operand, Phi, Query, Value
from warpsmith.ssa.passes.rebuild import reverse_postorder

__all__ = ["COUNTABLE", "countable", "in_launch"]

COUNTABLE: Final = "no axis of the grid has more than 2**31 threads"

_UNSIGNED: Final = {"sdiv": "udiv", "srem": "urem"}


def in_launch(
    function: Function, block: Dim, grid: Dim | None
) -> tuple[Mapping[Instruction, Instruction], tuple[str, ...]]:
    """Return the instructions of which less is needed in such a launch, with what does the same there, and what was
    taken for the grid where it is None."""
    least = _simpler(function, _bounds(function, block, grid or MAX_GRID))
    if grid is not None:
        return least, ()
    more = _simpler(function, _bounds(function, block, countable(block)))
    return (least, ()) if _ops(more) == _ops(least) else (more, (COUNTABLE,))


def countable(block: Dim) -> Dim:
    """Return the largest grid with no more threads along an axis than an `int` can count."""
    x, y, z = (min(most, (1 << 31) // threads) for most, threads in zip(MAX_GRID, block, strict=True))
    return x, y, z


def _simpler(function: Function, most: Mapping[Value, int]) -> dict[Instruction, Instruction]:
    found: dict[Instruction, Instruction] = {}
    for _, i in function.instructions():
        if i.op not in _RULES:
            continue
        operands = tuple(_zero(operand, most) for operand in i.operands)
        unsigned = i.op in _UNSIGNED and all(_is_positive(operand, most) for operand in i.operands)
        if unsigned or operands != i.operands:
            found[i] = replace(i, op=_UNSIGNED[i.op] if unsigned else i.op, operands=operands)
    return found


def _ops(simpler: Mapping[Instruction, Instruction]) -> dict[Instruction, tuple[str, tuple[Operand, ...]]]:
    return {i: (now.op, now.operands) for i, now in simpler.items()}


def _zero(operand: Operand, most: Mapping[Value, int]) -> Operand:
    return Constant(operand.type, 0) if isinstance(operand, Value) and most.get(operand) == 0 else operand


def _is_positive(operand: Operand, most: Mapping[Value, int]) -> bool:
    """Whether the sign's bit of an operand is 0."""
    bound = _of(operand, most)
    return bound is not None and bound < _half(operand)


def _half(operand: Operand) -> int:
    return 1 << (operand.type.bits - 1)


def _of(operand: Operand, most: Mapping[Value, int]) -> int | None:
    if isinstance(operand, Constant):
        return operand.bits
    return most.get(operand) if isinstance(operand, Value) else None


def _bounds(function: Function, block: Dim, grid: Dim) -> dict[Value, int]:
    """Return the most that integers can be, as unsigned numbers, where that is less than their type holds."""
    asked = _queries(block, grid)
    most: dict[Value, int] = {}
    blocks = {one.name: one for one in function.blocks}
    for name in reverse_postorder(function):
        single = [i for i in blocks[name].instructions if len(i.results) == 1]
        definitions: list[Instruction | Phi] = [*blocks[name].phis, *single]
        for made in definitions:
            if made.result.type.kind != "integer":
                continue
            bound = _bound_of(made, most, asked)
            if bound is not None and bound < (1 << made.result.type.bits) - 1:
                most[made.result] = bound
    return most


def _queries(block: Dim, grid: Dim) -> dict[str, int]:
    """Return the most that special registers hold."""
    found: dict[str, int] = {}
    for axis, threads, blocks in zip("xyz", block, grid, strict=True):
        found |= {f"tid.{axis}": threads - 1, f"ntid.{axis}": threads}
        found |= {f"ctaid.{axis}": blocks - 1, f"nctaid.{axis}": blocks}
    return found


def _bound_of(made: Instruction | Phi, most: Mapping[Value, int], asked: Mapping[str, int]) -> int | None:
    if isinstance(made, Phi):
        known = [_of(operand, most) for _, operand in made.incoming]
        return _largest(known)
    if isinstance(made.detail, Query):
        return asked.get(made.detail.register)
    rule = _RULES.get(made.op)
    return None if rule is None else rule(made, [_of(operand, most) for operand in made.operands])


# --- rules: the bounds of the operands, None where there is none → the bound of the result

_Bounds = Sequence[int | None]


def _largest(bounds: _Bounds) -> int | None:
    known = [bound for bound in bounds if bound is not None]
    return max(known) if known and len(known) == len(bounds) else None


def _whole(compute: Callable[[int, int], int]) -> Callable[[Instruction, _Bounds], int | None]:
    """Return the rule of an op that only grows with its operands, as long as the result fits."""

    def rule(i: Instruction, bounds: _Bounds) -> int | None:
        a, b = bounds
        if a is None or b is None:
            return None
        found = compute(a, b)
        return found if found < 1 << i.result.type.bits else None

    return rule


def _shift_left(i: Instruction, bounds: _Bounds) -> int | None:
    by = i.operands[1]
    if bounds[0] is None or not isinstance(by, Constant) or by.bits >= i.result.type.bits:
        return None
    found = bounds[0] << by.bits
    return found if found < 1 << i.result.type.bits else None


def _divide(i: Instruction, bounds: _Bounds) -> int | None:
    """Quotients and shifts to the right by a known number; with a sign, of what is not negative."""
    by, signed = i.operands[1], i.op in ("sdiv", "ashr")
    full = None if signed else (1 << i.result.type.bits) - 1
    value = full if bounds[0] is None else bounds[0]
    if value is None or not isinstance(by, Constant) or (signed and value >= _half(i.operands[0])):
        return None
    if i.op in ("lshr", "ashr"):
        return value >> min(by.bits, i.result.type.bits)
    return value // by.bits if 0 < by.bits < _half(by) else None


def _remainder(i: Instruction, bounds: _Bounds) -> int | None:
    by, value = i.operands[1], bounds[0]
    if not isinstance(by, Constant) or not 0 < by.bits < _half(by):
        return None
    if i.op == "srem" and (value is None or value >= _half(i.operands[0])):
        return None
    return by.bits - 1 if value is None else min(value, by.bits - 1)


def _mask(i: Instruction, bounds: _Bounds) -> int | None:
    known = [bound for bound in bounds if bound is not None]
    return min(known) if known else None


def _widen(i: Instruction, bounds: _Bounds) -> int | None:
    value, operand = bounds[0], i.operands[0]
    if i.op == "sext":
        return value if value is not None and value < _half(operand) else None
    return (1 << operand.type.bits) - 1 if value is None else value


def _cut(i: Instruction, bounds: _Bounds) -> int | None:
    return bounds[0] if bounds[0] is not None and bounds[0] < 1 << i.result.type.bits else None


def _choose(i: Instruction, bounds: _Bounds) -> int | None:
    return _largest(bounds[1:])


def _product_wide(i: Instruction, bounds: _Bounds) -> int | None:
    factors = [
        (1 << operand.type.bits) - 1 if bound is None else bound
        for operand, bound in zip(i.operands, bounds, strict=True)
    ]
    if i.op == "smulwide" and any(f >= _half(o) for f, o in zip(factors, i.operands, strict=True)):
        return None
    return factors[0] * factors[1]


_RULES: Final[dict[str, Callable[[Instruction, _Bounds], int | None]]] = {
    "add": _whole(lambda a, b: a + b),
    "mul": _whole(lambda a, b: a * b),
    "or": _whole(lambda a, b: (1 << max(a.bit_length(), b.bit_length())) - 1),
    "xor": _whole(lambda a, b: (1 << max(a.bit_length(), b.bit_length())) - 1),
    "umax": _whole(max),
    "umin": _mask,
    "and": _mask,
    "shl": _shift_left,
    **dict.fromkeys(("lshr", "ashr", "udiv", "sdiv"), _divide),
    **dict.fromkeys(("urem", "srem"), _remainder),
    **dict.fromkeys(("zext", "sext"), _widen),
    **dict.fromkeys(("trunc", "bitcast"), _cut),
    "select": _choose,
    **dict.fromkeys(("smulwide", "umulwide"), _product_wide),
}
