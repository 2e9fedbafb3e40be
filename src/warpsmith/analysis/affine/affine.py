"""Values as functions of the thread's index: c1·tid.x + c2·tid.y + c3·tid.z + something that all threads share.

Sampaio, Souza, Collange, Pereira: Divergence Analysis with Affine Constraints (SBAC-PAD 2012), here with three
coefficients. All arithmetic is modulo 2**bits, as the machine's; so an order between two affine values says nothing (it
may wrap), but whether they are equal does: with the same coefficients they differ by what all threads share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.ssa.nodes import Constant, Instruction, Operand, Query
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.types import Type

__all__ = ["SHARED", "Affine", "transfer"]

Coefficients = tuple[int, int, int]


class Affine(Struct, frozen=True):
    """`coefficients` of tid.x, tid.y and tid.z, modulo the size of the value; `constant` is the rest where it is a
    known number, None where it is only known to be shared."""

    coefficients: Coefficients
    constant: int | None = None

    @property
    def shared(self) -> bool:
        """Whether it does not depend on the thread."""
        return self.coefficients == (0, 0, 0)


SHARED: Final = Affine((0, 0, 0))
"""The same in all threads, and nothing else is known."""

_AXES: Final = {"tid.x": (1, 0, 0), "tid.y": (0, 1, 0), "tid.z": (0, 0, 1)}

Known = Callable[[Operand], "Affine | None"]
"""What is known of an operand; None: nothing, it may differ in any way."""


def transfer(instruction: Instruction, known: Known) -> Affine | None:
    """Return the one result of a pure instruction as a function of the thread's index, None where it is not known as
    one. Lane queries other than tid are not looked at here."""
    detail = instruction.detail
    if isinstance(detail, Query):
        return Affine(_AXES[detail.register], 0) if detail.register in _AXES else None
    operands = [known(operand) for operand in instruction.operands]
    rule = _RULES.get(instruction.op)
    if rule is not None and all(operand is not None for operand in operands):
        found = rule(instruction, [operand for operand in operands if operand is not None])
        if found is not None:
            return _wrap(found, instruction.result.type)
    shared = all(operand is not None and operand.shared for operand in operands)
    return SHARED if shared and OPS[instruction.op].pure else None


def _wrap(value: Affine, type: Type) -> Affine:
    size = 1 << type.bits
    x, y, z = (c % size for c in value.coefficients)
    return Affine((x, y, z), None if value.constant is None else value.constant % size)


def _sum(a: Affine, b: Affine, sign: int) -> Affine:
    x, y, z = (p + sign * q for p, q in zip(a.coefficients, b.coefficients, strict=True))
    both = a.constant is not None and b.constant is not None
    return Affine((x, y, z), (a.constant or 0) + sign * (b.constant or 0) if both else None)


def _scale(a: Affine, factor: int) -> Affine:
    x, y, z = (c * factor for c in a.coefficients)
    return Affine((x, y, z), None if a.constant is None else a.constant * factor)


def _product(a: Affine, b: Affine) -> Affine | None:
    if b.shared and b.constant is not None:
        return _scale(a, b.constant)
    if a.shared and a.constant is not None:
        return _scale(b, a.constant)
    return SHARED if a.shared and b.shared else None


def _shift(i: Instruction, operands: Sequence[Affine]) -> Affine | None:
    value, amount = operands
    if amount.shared and amount.constant is not None:
        return _scale(value, 1 << min(amount.constant, i.result.type.bits))
    return None


def _equal(i: Instruction, operands: Sequence[Affine]) -> Affine | None:
    a, b = operands
    return SHARED if a.coefficients == b.coefficients else None


def _choose(i: Instruction, operands: Sequence[Affine]) -> Affine | None:
    condition, a, b = operands
    if a == b and a.constant is not None:
        return a
    return Affine(a.coefficients) if condition.shared and a.coefficients == b.coefficients else None


def _extend(i: Instruction, operands: Sequence[Affine]) -> Affine | None:
    """Widening is affine only where nothing wraps before it: the value must be a small index itself."""
    (a,) = operands
    return a if _extended_value(a) and i.operands[0].type.bits >= 32 else None


_FACTOR, _START = 1 << 10, 1 << 30
"""1024 threads a block at most along each axis, times this factor, three times, and this start: below 2**31."""


def _wide(i: Instruction, operands: Sequence[Affine]) -> Affine | None:
    """A product in twice the bits: exact for what is small, see `_extend`; in 16 bits, little is."""
    a, b = operands
    if not (b.shared and b.constant is not None):
        a, b = b, a
    limit = 1 << 31
    small = b.shared and b.constant is not None and b.constant < limit and _extended_value(a)
    return _scale(a, b.constant or 0) if small and i.operands[0].type.bits >= 32 else None


def _extended_value(a: Affine) -> bool:
    return a.constant is not None and all(0 <= c <= _FACTOR for c in a.coefficients) and 0 <= a.constant <= _START


_RULES: Final[dict[str, Callable[[Instruction, Sequence[Affine]], Affine | None]]] = {
    "add": lambda i, o: _sum(o[0], o[1], 1),
    "sub": lambda i, o: _sum(o[0], o[1], -1),
    "neg": lambda i, o: _scale(o[0], -1),
    "mul": lambda i, o: _product(o[0], o[1]),
    "shl": _shift,
    "smulwide": _wide,
    "umulwide": _wide,
    "zext": _extend,
    "sext": _extend,
    "trunc": lambda i, o: o[0],
    "bitcast": lambda i, o: o[0] if i.result.type.kind == i.operands[0].type.kind else None,
    "to_generic": lambda i, o: Affine(o[0].coefficients),
    "from_generic": lambda i, o: Affine(o[0].coefficients),
    "eq": _equal,
    "ne": _equal,
    "select": _choose,
}


def of_constant(operand: Constant) -> Affine:
    """Return a constant as an affine value."""
    return Affine((0, 0, 0), operand.bits)
