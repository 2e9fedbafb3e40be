"""Blocks that do nothing are left out: what leads to one leads to where it leads.

    a ─► (nothing) ─► b        a ─► b        a phi of b has for a what it had for the block between

So that a loop that is left by a break and by its test is left to one place, where both came to it through such blocks.
A block stays that would leave a phi with two operands from one block, or that leads to itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from warpsmith.ssa.nodes import (
    BasicBlock,
    Branch,
    Exit,
    Function,
    Jump,
    Operand,
    Phi,
    Return,
    Switch,
    Terminator,
    Unreachable,
    successors,
)

__all__ = ["without_empty"]


def without_empty(function: Function) -> Function:
    """Return the function without such blocks."""
    blocks = {block.name: block for block in function.blocks}
    before: dict[str, dict[str, None]] = {name: {} for name in blocks}
    for block in function.blocks:
        for one in successors(block.terminator):
            before[one][block.name] = None
    for block in function.blocks[1:]:
        _leave_out(blocks, before, block.name)
    return replace(function, blocks=tuple(blocks.values()))


def _leave_out(blocks: dict[str, BasicBlock], before: dict[str, dict[str, None]], name: str) -> None:
    block = blocks[name]
    end = block.terminator
    if block.phis or block.instructions or not isinstance(end, Jump) or end.target == name:
        return
    target = blocks[end.target]
    if target.phis and before[target.name].keys() & before[name].keys():
        return
    blocks[target.name] = replace(target, phis=tuple(_phi(phi, name, before[name]) for phi in target.phis))
    for one in before[name]:
        there = blocks[one]
        blocks[one] = replace(there, terminator=_led(there.terminator, {name: target.name}))
    before[target.name] = {**{one: None for one in before[target.name] if one != name}, **before[name]}
    del blocks[name]


def _phi(phi: Phi, name: str, before: Iterable[str]) -> Phi:
    incoming: list[tuple[str, Operand]] = []
    for source, operand in phi.incoming:
        incoming += [(one, operand) for one in (before if source == name else [source])]
    # its result is the same value
    return Phi(phi.result, tuple(incoming), phi.span)


def _led(end: Terminator, to: Mapping[str, str]) -> Terminator:
    match end:
        case Jump():
            return replace(end, target=to.get(end.target, end.target))
        case Branch():
            return replace(end, then=to.get(end.then, end.then), other=to.get(end.other, end.other))
        case Switch():
            cases = tuple((number, to.get(target, target)) for number, target in end.cases)
            return replace(end, cases=cases, other=to.get(end.other, end.other))
        case Return() | Exit() | Unreachable():
            return end
