"""Which pointer argument an address starts from.

    base(param p) = p      base(x + n) = base(x)      base(phi) = the base of all that come together      else a number

An address is its base and an offset, of which the lower 32 bits are computed: sums, products and shifts to the left
modulo 2^32 need no more, and an offset within a view has no more. What is not known yet is taken for the best at first,
so that an address that walks in a loop keeps its base (an optimistic data-flow analysis: Wegman and Zadeck, 1991).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from warpsmith.ssa.nodes import Constant, Function, Instruction, Operand, Param, Undefined, Value
from warpsmith.ssa.types import I64

__all__ = ["MIXED", "NUMBER", "bases_of"]

NUMBER: Final = ""
MIXED: Final = "?"
"""Of several bases, or of a sum of two."""
_SAME: Final = ("to_generic", "from_generic", "bitcast")


def bases_of(function: Function) -> Mapping[Value, str]:
    """Return the base of every value of 64 bits, NUMBER where it has none."""
    found: dict[Value, str] = {}
    changed = True
    while changed:
        before = dict(found)
        for block in function.blocks:
            for phi in block.phis:
                if phi.result.type == I64:
                    _keep(found, phi.result, _joined([_base(found, one) for _, one in phi.incoming]))
            for i in block.instructions:
                if i.results and i.results[0].type == I64:
                    _keep(found, i.results[0], _of(found, i))
        changed = before != found
    return found


def _keep(found: dict[Value, str], value: Value, base: str | None) -> None:
    # a base once found is only ever mixed with others: so this ends
    if base is not None and found.get(value) != MIXED:
        found[value] = base if found.get(value, base) == base else MIXED


def _base(found: Mapping[Value, str], operand: Operand) -> str | None:
    match operand:
        case Value():
            return found.get(operand) if operand.type == I64 else NUMBER
        case Constant() | Undefined():
            return NUMBER


def _joined(bases: list[str | None]) -> str | None:
    known = {base for base in bases if base is not None}
    return None if not known else known.pop() if len(known) == 1 else MIXED


def _of(found: Mapping[Value, str], i: Instruction) -> str | None:
    if i.op == "param" and isinstance(i.detail, Param):
        return i.detail.parameter
    bases = [_base(found, one) for one in i.operands]
    match i.op:
        case "select":
            return _joined(bases[1:])
        case "add":
            return None if None in bases else _sum(bases[0], bases[1])
        case "sub":
            return None if None in bases else bases[0] if bases[1] == NUMBER else MIXED
        case op if op in _SAME:
            return bases[0]
        case _:
            return NUMBER


def _sum(one: str | None, other: str | None) -> str | None:
    return other if one == NUMBER else one if other == NUMBER else MIXED
