"""Conditions that threads of a block answer alike if all goes as it is meant to, though nothing shows it.

    i = t + k * B;  if (i / B * B < n) __syncthreads();    the same k for all: B is the size of the block, and t < B
    for (i = t; i < k * 4 * B; i += 4 * B) …               all threads run k times: t < 4 * B
    end = n % B ? n / B * B + B : n                        the same of a bound that is rounded up (rounded.py)
    if (*stop) __syncthreads();                            stop is volatile: somebody may write in between, or nobody
    if (list->head->n) __syncthreads();                    what a pointer in memory leads to is hardly the thread's own

A barrier behind such a condition is told as heuristic. An exchange behind one of its own mask is none to tell of:

    m = __activemask(); for (k = __popc(m) / 2; k > 0; k /= 2) __shfl_down_sync(m, …)      who has this m counts alike

Both are followed backwards from the condition: the operands, where threads come different ways the condition that parts
them, to where divergence begins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import prod

from warpsmith.analysis.sync.rounded import is_index_in_block, is_rounded, number_of
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

__all__ = ["is_of_mask", "may_agree"]

_QUOTIENTS = ("sdiv", "udiv")
_SAME = ("zext", "sext", "trunc")
_BELOW = ("slt", "sge", "ult", "uge")
_ABOVE = ("sgt", "sle", "ugt", "ule")
"""Whether the first number is below the second one, and whether the second one is below the first."""
_Test = Callable[[Instruction], bool]
_MOST_FACTORS = 16
_POINTER = 64
_MOST_PARTS = 3


def may_agree(answer: Uniformity, branch: str) -> bool:
    """Whether all that a branch's condition differs by is a quotient by the size of the block, a counter that is
    compared with a multiple of its step, or memory that changes meanwhile; a branch that does not differ agrees."""
    return _is_made_of(answer, branch, partial(_is_alike, answer), partial(_comes_out_of_memory, answer))


def is_of_mask(answer: Uniformity, branch: str, mask: Value) -> bool:
    """Whether all that a branch's condition differs by is a mask: those that have the same one go the same way."""
    return _is_made_of(answer, branch, lambda made: made.result is mask, lambda _: False)


def _is_made_of(answer: Uniformity, branch: str, is_alike: _Test, passes: _Test) -> bool:
    """Whether a branch's condition differs by what is alike, and nothing else; `passes`: what gives the same where its
    operands are the same, besides pure ops."""
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
        elif not is_alike(made):
            if not (made.operands and (OPS[made.op].pure or passes(made))):
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
    if made.op in _BELOW:
        return _is_whole(answer, made.operands[0], made.operands[1])
    if made.op in _ABOVE:
        return _is_whole(answer, made.operands[1], made.operands[0])
    detail = made.detail
    if not isinstance(detail, Memory) or made.op != "load" or not detail.order or detail.space == "local":
        return False
    return answer.is_uniform(made.operands[0], answer.homes[made.result])


def _comes_out_of_memory(answer: Uniformity, read: Instruction) -> bool:
    """Whether this reads what a pointer in memory leads to: no thread puts one to memory of its own there."""
    if read.op != "load" or not isinstance(read.detail, Memory) or read.detail.space != "generic" or read.detail.order:
        return False
    pending, steps = [read.operands[0]], 0
    while pending and steps < _MOST_FACTORS:
        one, steps = pending.pop(), steps + 1
        made = answer.definitions.get(one) if isinstance(one, Value) else None
        if isinstance(made, Instruction) and made.op == "load" and made.result.type.bits == _POINTER:
            return True
        if isinstance(made, Instruction) and made.op in ("add", "sub", *_SAME):
            pending += made.operands
    return False


def _is_size(answer: Uniformity, operand: Operand) -> bool:
    """Whether a number is the size of the block along an axis."""
    if isinstance(operand, Constant):
        return answer.threads.block is not None and operand.bits == answer.threads.block[0] > 1
    made = answer.definitions.get(operand) if isinstance(operand, Value) else None
    if isinstance(made, Instruction) and made.op in _SAME:
        return _is_size(answer, made.operands[0])
    return isinstance(made, Instruction) and isinstance(made.detail, Query) and made.detail.register.startswith("ntid")


def _is_whole(answer: Uniformity, counter: Operand, bound: Operand) -> bool:
    """Whether a counter takes steps of whole blocks, and is compared with a multiple of its step."""
    made = answer.definitions.get(counter) if isinstance(counter, Value) else None
    if not isinstance(made, Phi):
        return False
    whole, names = _factors(answer, bound)
    steps = [(operand, _step(answer, counter, operand)) for _, operand in made.incoming]
    found = [step for _, step in steps if step is not None]
    starts = [operand for operand, step in steps if step is None]
    if len(found) != 1:
        return False
    if _is_of_whole_blocks(answer, starts, found[0], bound):
        return True
    if not all(_starts_in_block(answer, operand) for operand in starts):
        return False
    number, parts = _factors(answer, found[0])
    covers = _is_block(answer, number) or "ntid.x" in parts
    return covers and whole % number == 0 and not parts - names


def _is_of_whole_blocks(answer: Uniformity, starts: Sequence[Operand], step: Operand, bound: Operand) -> bool:
    """Whether a counter goes from the thread's number in its block to a multiple of its step, which is the size of a
    block, or of several."""
    number, block = number_of(answer, step), answer.threads.block
    if number is None or block is None or number < 1 or number % prod(block):
        return False
    return all(is_index_in_block(answer, one) for one in starts) and is_rounded(answer, bound, number)


def _step(answer: Uniformity, counter: Operand, operand: Operand) -> Operand | None:
    """Return what is added to a counter in each iteration; None where `operand` is no such sum."""
    made = answer.definitions.get(operand) if isinstance(operand, Value) else None
    if not isinstance(made, Instruction) or made.op != "add" or counter not in made.operands:
        return None
    return next((one for one in made.operands if one != counter), None)


def _starts_in_block(answer: Uniformity, operand: Operand) -> bool:
    """Whether a number is that of the thread in its block, with or without those of the blocks before it."""
    made = answer.definitions.get(operand) if isinstance(operand, Value) else None
    if isinstance(made, Instruction) and made.op in _SAME:
        return _starts_in_block(answer, made.operands[0])
    if isinstance(made, Instruction) and made.op == "add":
        return all(_starts_in_block(answer, one) for one in made.operands)
    number, names = _factors(answer, operand)
    if "tid.x" in names:
        return number == 1 and names.total() == 1
    return "ctaid.x" in names and ("ntid.x" in names or _is_block(answer, number)) and names.total() < _MOST_PARTS


def _is_block(answer: Uniformity, number: int) -> bool:
    block = answer.threads.block
    return block is not None and number > 1 and number % block[0] == 0


def _factors(answer: Uniformity, operand: Operand) -> tuple[int, Counter[str]]:
    """Return a number as a product: the constant, and what else is multiplied."""
    number, names = 1, Counter[str]()
    pending, steps = [operand], 0
    while pending:
        one = pending.pop()
        made = answer.definitions.get(one) if isinstance(one, Value) else None
        steps += 1
        if isinstance(one, Constant):
            number *= one.bits or 1
        elif not isinstance(made, Instruction) or steps > _MOST_FACTORS:
            names[str(one)] += 1
        elif made.op in _SAME:
            pending.append(made.operands[0])
        elif made.op == "mul":
            pending += made.operands
        elif made.op == "shl" and isinstance(made.operands[1], Constant):
            number <<= made.operands[1].bits
            pending.append(made.operands[0])
        else:
            register = made.detail.register if isinstance(made.detail, Query) else ""
            rows = answer.threads.block if register in ("ntid.y", "ntid.z") else None
            if rows is not None:
                number *= rows["xyz".index(register[-1])]
            else:
                names[register or str(one)] += 1
    return number, names
