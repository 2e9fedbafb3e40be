"""Local memory becomes values where nobody can tell: variables whose address is only added to and accessed.

A variable is cut into the pieces that are accessed (offset, size). If none overlaps another, and the address goes
nowhere else, each piece is a variable of the Builder: stores write it, loads read it, phis are made where they meet.
"""

from __future__ import annotations

from itertools import pairwise

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.ssa.nodes import (
    Address,
    Constant,
    Function,
    Instruction,
    Memory,
    Operand,
    Text,
    Value,
    terminator_operands,
)
from warpsmith.ssa.passes.rebuild import Change, Rebuild, rebuild_function, reverse_postorder
from warpsmith.ssa.semantics.patterns import to_signed
from warpsmith.ssa.types import Type, integer

__all__ = ["promote_memory"]


class _Uses(Struct):
    """Where addresses of local variables go: `known` values are a variable's address and an offset."""

    known: dict[Value, tuple[str, int]] = field(default_factory=dict)
    pieces: dict[str, dict[tuple[int, int], Type]] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)


def promote_memory(function: Function, *changes: Change) -> Function:
    """Return `function` with as much of its local memory as can be in registers; `changes` are applied on the way."""
    own = {symbol.name: symbol for symbol in function.symbols if symbol.space == "local"}
    if not own or not function.blocks:
        return function
    uses = _uses(function, set(own))
    chosen = {name: uses.pieces.get(name, {}) for name in own if name not in uses.lost}
    chosen = {name: found for name, found in chosen.items() if not _overlap(set(found))}
    if not chosen:
        return function
    result = rebuild_function(function, _change(uses, chosen), *changes)
    return _drop_names(result, set(chosen))


def _drop_names(function: Function, names: set[str]) -> Function:
    kept = tuple(symbol for symbol in function.symbols if symbol.name not in names)
    return replace(function, symbols=kept)


def _overlap(found: set[tuple[int, int]]) -> bool:
    return any(a + size > b for (a, size), (b, _) in pairwise(sorted(found)))


def _uses(function: Function, own: set[str]) -> _Uses:
    uses = _Uses()
    blocks = {block.name: block for block in function.blocks}
    order = reverse_postorder(function)
    for name in order:
        for i in blocks[name].instructions:
            _note(uses, i, own)
    for name in order:
        for phi in blocks[name].phis:
            _lose(uses, tuple(operand for _, operand in phi.incoming))
        _lose(uses, terminator_operands(blocks[name].terminator))
    return uses


def _lose(uses: _Uses, operands: tuple[Operand, ...]) -> None:
    for operand in operands:
        if isinstance(operand, Value) and operand in uses.known:
            uses.lost.add(uses.known[operand][0])


def _note(uses: _Uses, i: Instruction, own: set[str]) -> None:
    """Take note of what an instruction does with addresses."""
    if isinstance(i.detail, Address):
        if i.detail.symbol in own:
            uses.known[i.result] = i.detail.symbol, 0
        return
    held = uses.known.get(i.operands[0]) if i.operands and isinstance(i.operands[0], Value) else None
    if held is None:
        _lose(uses, i.operands)
        return
    name, offset = held
    if i.op in ("to_generic", "from_generic") and isinstance(i.detail, Text) and i.detail.text == "local":
        uses.known[i.result] = held
    elif i.op in ("add", "sub") and isinstance(i.operands[1], Constant):
        more = to_signed(i.operands[1].bits, i.operands[1].type)
        uses.known[i.result] = name, offset + (more if i.op == "add" else -more)
    elif i.op in ("load", "store") and isinstance(i.detail, Memory) and i.detail.order != "volatile":
        _lose(uses, i.operands[1:])
        for at, type in _pieces(i, offset + i.detail.offset):
            uses.pieces.setdefault(name, {}).setdefault((at, type.bytes), type)
    else:
        _lose(uses, i.operands)


def _pieces(i: Instruction, offset: int) -> list[tuple[int, Type]]:
    types = [value.type for value in i.results] if i.op == "load" else [o.type for o in i.operands[1:]]
    return [(offset + number * type.bytes, type) for number, type in enumerate(types)]


def _change(uses: _Uses, chosen: dict[str, dict[tuple[int, int], Type]]) -> Change:
    """Return the change that reads and writes variables of the builder; what made their addresses is left unused."""
    addresses: dict[Value, tuple[str, int]] = {}

    def change(work: Rebuild, i: Instruction) -> tuple[Operand, ...] | None:
        if isinstance(i.detail, Address) and i.detail.symbol in chosen:
            made = work.emit(i)
            assert isinstance(made[0], Value)
            addresses[made[0]] = i.detail.symbol, 0
            return made
        held = addresses.get(i.operands[0]) if i.operands and isinstance(i.operands[0], Value) else None
        if held is None:
            return None
        name, offset = held
        if i.op in ("load", "store"):
            assert isinstance(i.detail, Memory)
            return _access(work, i, chosen[name], (name, offset + i.detail.offset))
        made = work.emit(i)
        assert isinstance(made[0], Value)
        more = i.operands[1] if len(i.operands) > 1 else None
        step = to_signed(more.bits, more.type) if isinstance(more, Constant) else 0
        addresses[made[0]] = name, offset + (step if i.op == "add" else -step)
        return made

    return change


def _access(
    work: Rebuild, i: Instruction, pieces: dict[tuple[int, int], Type], place: tuple[str, int]
) -> tuple[Operand, ...]:
    name, offset = place
    results: list[Operand] = []
    for number, (at, type) in enumerate(_pieces(i, offset)):
        own = pieces[at, type.bytes]
        key = (name, at)
        if i.op == "store":
            work.builder.write(key, _as(work, i.operands[1 + number], own))
        else:
            results.append(_as(work, work.builder.read(key, own), type))
    return tuple(results)


def _as(work: Rebuild, operand: Operand, type: Type) -> Operand:
    """Return the same bits as `type`."""
    if operand.type == type:
        return operand
    if isinstance(operand, Constant):
        return Constant(type, operand.bits)
    if operand.type.kind == type.kind == "float":
        operand = work.builder.emit("bitcast", (operand,), integer(type.bits))
    return work.builder.emit("bitcast", (operand,), type)
