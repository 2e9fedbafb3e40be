"""Whether a test may keep the grid's first block away from a place: `if (blockIdx.x > 0)`.

A test that is not about the block's index, and that parts no threads, keeps either all blocks away or none. Of the
others only a bound that is not known, `i < n`, lets the first block through wherever it lets any through.
"""

from __future__ import annotations

from warpsmith.analysis.affine.guards import bits, find_diverged
from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.memory.presence import Presences
from warpsmith.ssa.nodes import Branch, Constant, Instruction, Operand, Phi, Query, Switch, Value, terminator_operands

__all__ = ["asks_for_block", "may_miss_first_block", "tests_before"]

_BOUNDS = ("slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


def may_miss_first_block(forms: Forms, presences: Presences, block: str) -> bool:
    """Whether a test before a basic block may keep the grid's first thread block away."""
    diverging = frozenset(presences.find_diverging(block))
    for name in tests_before(forms, block):
        condition = terminator_operands(forms.blocks[name].terminator)[0]
        if (name in diverging or asks_for_block(forms, condition)) and not _is_bound(forms, condition):
            return True
    return False


def tests_before(forms: Forms, block: str) -> list[str]:
    """Return the basic blocks whose branches lead to this one on some of their ways only."""
    branches = [name for name in forms.graph.order if isinstance(forms.blocks[name].terminator, Branch | Switch)]
    return [forms.graph.order[rank] for rank in bits(find_diverged(forms.graph, branches)[block])]


def _is_bound(forms: Forms, condition: Operand) -> bool:
    """Whether a condition compares with what is not known."""
    made = forms.answer.definitions.get(condition) if isinstance(condition, Value) else None
    if not isinstance(made, Instruction) or made.op not in _BOUNDS:
        return False
    return not any(isinstance(operand, Constant) for operand in made.operands)


def asks_for_block(forms: Forms, operand: Operand) -> bool:
    """Whether a number is made of the block's index, or of what is not seen to be made of something else."""
    pending, seen = [operand], set[Operand]()
    while pending:
        value = pending.pop()
        if value in seen or not isinstance(value, Value):
            continue
        seen.add(value)
        made = forms.answer.definitions.get(value)
        if isinstance(made, Phi):
            pending += [come for _, come in made.incoming]
        elif made is None or made.op == "call" or _is_block_index(made):
            return True
        else:
            pending += made.operands
    return False


def _is_block_index(made: Instruction) -> bool:
    return isinstance(made.detail, Query) and made.detail.register.startswith("ctaid")
