"""Conditions that threads of a block answer alike if all goes as it is meant to, though nothing shows it.

    i = t + k * B;  if (i / B * B < n) __syncthreads();    the same k for all: B is the size of the block, and t < B
    if (*stop) __syncthreads();                            stop is volatile: somebody may write in between, or nobody

A barrier behind such a condition is told as heuristic. Followed backwards from the condition: the operands, where
threads come different ways the condition that parts them, to where divergence begins.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.analysis.uniformity.uniformity import Uniformity
from warpsmith.ssa.nodes import (
    Branch,
    Constant,
    Instruction,
    Memory,
    Operand,
    Phi,
    Query,
    Switch,
    Undefined,
    Value,
    terminator_operands,
)
from warpsmith.ssa.ops import OPS

__all__ = ["may_agree"]

_QUOTIENTS = ("sdiv", "udiv")
_SAME = ("zext", "sext", "trunc")


def may_agree(answer: Uniformity, branch: str) -> bool:
    """Whether all that a branch's condition differs by is a quotient by the size of the block, or memory that changes
    meanwhile; a branch that does not differ agrees."""
    pending: list[tuple[Operand, str]] = list(_condition(answer, branch))
    seen: set[tuple[Operand, str]] = set()
    while pending:
        value, block = pending.pop()
        if (value, block) in seen or answer.cause(value, block) is None:
            continue
        seen.add((value, block))
        made = answer.definitions.get(value) if isinstance(value, Value) else None
        if isinstance(value, Undefined) or made is None or not isinstance(value, Value):
            return False
        left = answer.find_left_apart(value, block)
        cause = answer.divergent.get(value)
        parted = [answer.left[left].branch] if left is not None else []
        parted += [cause.branch] if cause is not None and cause.branch is not None else []
        for name in parted:
            pending += _condition(answer, name or branch)
        if isinstance(made, Phi):
            pending += [(operand, before) for before, operand in made.incoming]
        elif not _is_alike(answer, made):
            if not (OPS[made.op].pure and made.operands):
                return False
            pending += [(operand, answer.homes[value]) for operand in made.operands]
    return True


def _condition(answer: Uniformity, branch: str) -> Iterator[tuple[Operand, str]]:
    """Yield the condition at the end of a block, and where it is used."""
    terminator = next(block.terminator for block in answer.function.blocks if block.name == branch)
    if isinstance(terminator, Branch | Switch):
        yield terminator_operands(terminator)[0], branch


def _is_alike(answer: Uniformity, made: Instruction) -> bool:
    """Whether threads find the same in an instruction, but for what nobody means to happen."""
    if made.op in _QUOTIENTS:
        return _is_size(answer, made.operands[1])
    detail = made.detail
    if not isinstance(detail, Memory) or made.op != "load" or not detail.order or detail.space == "local":
        return False
    return answer.is_uniform(made.operands[0], answer.homes[made.result])


def _is_size(answer: Uniformity, operand: Operand) -> bool:
    """Whether a number is the size of the block along an axis."""
    if isinstance(operand, Constant):
        return answer.threads.block is not None and operand.bits == answer.threads.block[0] > 1
    made = answer.definitions.get(operand) if isinstance(operand, Value) else None
    if isinstance(made, Instruction) and made.op in _SAME:
        return _is_size(answer, made.operands[0])
    return isinstance(made, Instruction) and isinstance(made.detail, Query) and made.detail.register.startswith("ntid")
