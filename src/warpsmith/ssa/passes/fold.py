"""Instructions whose result is known without running them, or that another has computed just before in its block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from warpsmith.ssa.builder import constant
from warpsmith.ssa.nodes import Constant, Instruction, Memory, Operand, Query, Text, Value
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.passes.rebuild import Rebuild
from warpsmith.ssa.semantics.lane import lane
from warpsmith.ssa.semantics.patterns import to_signed
from warpsmith.ssa.types import I1

__all__ = ["fold_instruction"]

Rule = Callable[[Rebuild, Instruction], "Operand | None"]


def fold_instruction(work: Rebuild, i: Instruction) -> tuple[Operand, ...] | None:
    """Return the results of an instruction where they are known; else None."""
    i = _with_offset(work, i)
    if i.op in _ANEW:
        work.local = {key: known for key, known in work.local.items() if key[0] != "load"}  # type: ignore[index]
    if not i.results or i.op not in OPS or (isinstance(i.detail, Query) and i.detail.register.startswith(_BY_TIME)):
        return work.emit(i)
    if OPS[i.op].pure:
        found = _find_known(work, i)
        if found is not None:
            return found
    elif i.op != "load" or (isinstance(i.detail, Memory) and i.detail.order):
        return work.emit(i)
    key = (i.op, tuple(map(work.first, i.operands)), i.detail, tuple(value.type for value in i.results))
    if i.op == "query" and i.span is not None:
        return _fold_query(work, i, key)
    if key not in work.local:
        work.local[key] = work.emit(i)
    return work.local[key]


def _fold_query(work: Rebuild, i: Instruction, key: object) -> tuple[Operand, ...]:
    """Return a query: what the user wrote at two places, perhaps in two ways, stays two, of which others know that
    they are the same."""
    assert i.span is not None
    here = (key, i.span.start, i.span.end)
    if here not in work.local:
        work.local[here] = work.emit(i)
        work.same[work.local[here][0]] = work.local.setdefault(key, work.local[here])[0]
    return work.local[here]


_BY_TIME: Final = ("clock", "globaltimer")
"""Registers that say another number each time (PTX ISA, special registers)."""
_ANEW: Final = frozenset(
    name for name, op in OPS.items() if op.effect in ("writes", "synchronizes", "unknown", "lanes")
)
"""What lies between two loads that may give different things."""


def _find_known(work: Rebuild, i: Instruction) -> tuple[Operand, ...] | None:
    if len(i.results) == 1:
        rule = _RULES.get(i.op)
        found = rule(work, i) if rule is not None else None
        if found is not None:
            return (found,)
    if i.operands and all(isinstance(operand, Constant) for operand in i.operands):
        try:
            numbers = lane(i, tuple(operand.bits for operand in i.operands if isinstance(operand, Constant)))
        except KeyError:
            return None
        return tuple(Constant(value.type, bits) for value, bits in zip(i.results, numbers, strict=True))
    return None


def _with_offset(work: Rebuild, i: Instruction) -> Instruction:
    """Return an access with what is added to its address as its offset."""
    if not isinstance(i.detail, Memory):
        return i
    address, offset = i.operands[0], i.detail.offset
    while True:
        sum_ = work.definition(address)
        if sum_ is None or sum_.op != "add" or not isinstance(sum_.operands[1], Constant):
            break
        address, offset = sum_.operands[0], offset + to_signed(sum_.operands[1].bits, sum_.operands[1].type)
    if address is i.operands[0]:
        return i
    return replace(i, operands=(address, *i.operands[1:]), detail=replace(i.detail, offset=offset))


def _number(operand: Operand) -> int | None:
    return operand.bits if isinstance(operand, Constant) else None


def _add(work: Rebuild, i: Instruction) -> Operand | None:
    left, right = i.operands
    if _number(right) == 0:
        return left
    if _number(left) == 0:
        return right
    if isinstance(left, Constant) and not isinstance(right, Constant) and i.op == "add":
        return work.emit(replace(i, operands=(right, left)))[0]
    inner = work.definition(left)
    if isinstance(right, Constant) and inner is not None and inner.op == "add":
        more = inner.operands[1]
        if isinstance(more, Constant):
            total = constant(right.type, right.bits + more.bits)
            exact = i.detail == inner.detail and _is_sum(total, right, more)
            detail = i.detail if exact else None
            return work.emit(replace(i, operands=(inner.operands[0], total), detail=detail))[0]
    return None


def _is_sum(total: Constant, *parts: Constant) -> bool:
    """Whether a signed sum of constants does not wrap."""
    return to_signed(total.bits, total.type) == sum(to_signed(part.bits, part.type) for part in parts)


def _sub(work: Rebuild, i: Instruction) -> Operand | None:
    left, right = i.operands
    if _number(right) == 0:
        return left
    if isinstance(left, Value) and work.first(left) == work.first(right):
        return Constant(left.type, 0)
    return None


def _mul(work: Rebuild, i: Instruction) -> Operand | None:
    for one, other in (i.operands, i.operands[::-1]):
        if _number(other) == 1:
            return one
        if _number(other) == 0:
            return other
    return None


def _and(work: Rebuild, i: Instruction) -> Operand | None:
    left, right = i.operands
    if isinstance(left, Value) and work.first(left) == work.first(right):
        return left
    full = (1 << i.results[0].type.bits) - 1
    neutral, absorbing = (full, 0) if i.op == "and" else (0, full)
    for one, other in (i.operands, i.operands[::-1]):
        if _number(other) == neutral:
            return one
        if _number(other) == absorbing:
            return other
    return None


def _same(work: Rebuild, i: Instruction) -> Operand | None:
    """Return what `x op 0` is where that is x."""
    return i.operands[0] if _number(i.operands[1]) == 0 else None


def _unequal(work: Rebuild, i: Instruction) -> Operand | None:
    """Return the predicate that was made a number and is asked for again."""
    inner = work.definition(i.operands[0])
    if inner is None or inner.op != "zext" or inner.operands[0].type != I1 or _number(i.operands[1]) != 0:
        return None
    if i.op == "ne":
        return inner.operands[0]
    return work.emit(Instruction("not", inner.operands, i.results, None, i.span))[0]


def _not(work: Rebuild, i: Instruction) -> Operand | None:
    inner = work.definition(i.operands[0])
    return inner.operands[0] if inner is not None and inner.op == "not" else None


def _select(work: Rebuild, i: Instruction) -> Operand | None:
    condition, one, other = i.operands
    if isinstance(condition, Constant):
        return one if condition.bits else other
    return one if work.first(one) == work.first(other) else None


def _narrow(work: Rebuild, i: Instruction) -> Operand | None:
    """Return what was widened and is cut back to its size."""
    inner = work.definition(i.operands[0])
    if inner is not None and inner.op in ("zext", "sext") and inner.operands[0].type == i.results[0].type:
        return inner.operands[0]
    return None


def _bits(work: Rebuild, i: Instruction) -> Operand | None:
    """Return bits that were taken for something else and are taken back; an address as a number stays one."""
    inner = work.definition(i.operands[0])
    if inner is not None and inner.op == "bitcast" and inner.operands[0].type == i.results[0].type:
        return inner.operands[0] if inner.operands[0].type != i.operands[0].type else None
    return None


def _space(work: Rebuild, i: Instruction) -> Operand | None:
    inner = work.definition(i.operands[0])
    back = {"to_generic": "from_generic", "from_generic": "to_generic"}[i.op]
    same = inner is not None and inner.op == back and isinstance(i.detail, Text) and inner.detail == i.detail
    return inner.operands[0] if same and inner is not None else None


_RULES: Final[dict[str, Rule]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "and": _and,
    "or": _and,
    **dict.fromkeys(("xor", "shl", "lshr", "ashr"), _same),
    **dict.fromkeys(("ne", "eq"), _unequal),
    "not": _not,
    "select": _select,
    "trunc": _narrow,
    "bitcast": _bits,
    **dict.fromkeys(("to_generic", "from_generic"), _space),
}
