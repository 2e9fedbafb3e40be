"""Instructions and phis that nothing needs are left out, reads of memory among them unless they are to stay."""

from __future__ import annotations

from msgspec.structs import replace

from warpsmith.ssa.nodes import Function, Instruction, Memory, Phi, Value, terminator_operands
from warpsmith.ssa.ops import OPS

__all__ = ["prune_unused"]


def prune_unused(function: Function, *, reads: bool = False) -> Function:
    """Return `function` without pure instructions, loads and phis whose results nobody uses; `reads`: loads stay, but
    for those of local memory."""
    makers: dict[Value, Instruction | Phi] = {}
    pending: list[Value] = []
    for block in function.blocks:
        makers.update((phi.result, phi) for phi in block.phis)
        for i in block.instructions:
            makers.update((value, i) for value in i.results)
            if _is_kept(i, reads):
                pending += [o for o in i.operands if isinstance(o, Value)]
        pending += [o for o in terminator_operands(block.terminator) if isinstance(o, Value)]
    needed: set[Value] = set()
    while pending:
        value = pending.pop()
        if value in needed or value not in makers:
            continue
        needed.add(value)
        maker = makers[value]
        given = maker.operands if isinstance(maker, Instruction) else tuple(operand for _, operand in maker.incoming)
        pending += [o for o in given if isinstance(o, Value)]
    blocks = tuple(
        replace(
            block,
            phis=tuple(phi for phi in block.phis if phi.result in needed),
            instructions=tuple(i for i in block.instructions if _is_kept(i, reads) or not needed.isdisjoint(i.results)),
        )
        for block in function.blocks
    )
    return replace(function, blocks=blocks)


def _is_kept(i: Instruction, reads: bool) -> bool:
    """Whether an instruction does something besides its results; a load does not, unless the source insists."""
    op = OPS.get(i.op)
    if op is None or not i.results:
        return True
    if op.effect == "reads":
        return isinstance(i.detail, Memory) and (bool(i.detail.order) or (reads and i.detail.space != "local"))
    return not op.pure
