"""Switches become branches: case by case, in the order of the source.

    switch v: 1 → a, 2 → b, else c            v = 1 ? a : (v = 2 ? b : c)

A phi of a, b or c has the same operand for each of the blocks that the switch is now.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from msgspec.structs import replace

from warpsmith.ssa.nodes import (
    BasicBlock,
    Branch,
    Constant,
    Function,
    Instruction,
    Jump,
    Phi,
    Switch,
    Terminator,
    Value,
    successors,
)
from warpsmith.ssa.types import I1

__all__ = ["without_switches"]


def without_switches(function: Function) -> Function:
    """Return the function with branches only."""
    blocks: list[BasicBlock] = []
    origin: dict[str, str] = {}
    for block in function.blocks:
        made = list(_chain(block, block.terminator)) if isinstance(block.terminator, Switch) else [block]
        origin.update((one.name, block.name) for one in made)
        blocks += made
    before: dict[tuple[str, str], list[str]] = defaultdict(list)
    for block in blocks:
        for target in successors(block.terminator):
            before[origin[block.name], target].append(block.name)
    return replace(function, blocks=tuple(_with_phis(block, before) for block in blocks))


def _chain(block: BasicBlock, switch: Switch) -> list[BasicBlock]:
    cases = switch.cases
    made: list[BasicBlock] = []
    name, phis, instructions = block.name, block.phis, block.instructions
    for at, (number, target) in enumerate(cases):
        last = at == len(cases) - 1
        following = switch.other if last else f"{block.name}.case{at + 1}"
        test = Instruction("eq", (switch.value, Constant(switch.value.type, number)), (Value(I1),), span=switch.span)
        end: Terminator = Branch(test.result, target, following, span=switch.span)
        made.append(BasicBlock(name, phis, (*instructions, test), end, block.calls))
        name, phis, instructions = following, (), ()
    return made or [replace(block, terminator=Jump(switch.other, switch.span))]


def _with_phis(block: BasicBlock, before: Mapping[tuple[str, str], list[str]]) -> BasicBlock:
    return replace(block, phis=tuple(_phi(phi, block.name, before) for phi in block.phis))


def _phi(phi: Phi, here: str, before: Mapping[tuple[str, str], list[str]]) -> Phi:
    incoming = tuple((name, operand) for source, operand in phi.incoming for name in before[source, here])
    # its result is the same value
    return Phi(phi.result, incoming, phi.span)
