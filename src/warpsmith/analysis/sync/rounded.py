"""Numbers that are rounded up to whole blocks, so that a loop over them has as many iterations for every thread.

w = blockDim.x * blockDim.y;                   a number, where the block is known
end = n % w ? (n & ~(w - 1)) + w : n           a multiple of w: the other way is taken where n is one
t = threadIdx.y * blockDim.x + threadIdx.x     below w: every thread of the block is another number
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Final

from warpsmith.analysis.uniformity.uniformity import Uniformity
from warpsmith.ssa.nodes import Constant, Instruction, Operand, Phi, Query, Value

__all__ = ["is_index_in_block", "is_rounded", "number_of"]

_SAME: Final = ("zext", "sext", "trunc")
_REMAINDERS: Final = ("urem", "srem")
_DEEPEST: Final = 12
_COMPUTED: Final[Mapping[str, Callable[..., int]]] = {
    **dict.fromkeys(_SAME, lambda a: a),
    "not": lambda a: ~a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << b % 64,
}
"""Without overflow: sizes of blocks are small."""


def number_of(answer: Uniformity, operand: Operand, depth: int = _DEEPEST) -> int | None:
    """Return an operand that is a number once the shape of the block is known, None where it is not."""
    if isinstance(operand, Constant):
        return _signed(operand.bits, operand.type.bits)
    made = answer.definitions.get(operand) if isinstance(operand, Value) else None
    if not isinstance(made, Instruction) or depth == 0:
        return None
    if isinstance(made.detail, Query):
        block = answer.threads.block if made.detail.register.startswith("ntid.") else None
        return None if block is None else block["xyz".index(made.detail.register[-1])]
    parts = [number_of(answer, one, depth - 1) for one in made.operands]
    numbers = [part for part in parts if part is not None]
    if len(numbers) < len(parts) or not numbers:
        return None
    compute = _COMPUTED.get(made.op)
    return None if compute is None else compute(*numbers)


def is_rounded(answer: Uniformity, operand: Operand, step: int, depth: int = _DEEPEST) -> bool:
    """Whether a number is meant to be a multiple of a step."""
    number = number_of(answer, operand)
    if number is not None:
        return number % step == 0
    made = answer.definitions.get(operand) if isinstance(operand, Value) else None
    if made is None or depth == 0:
        return False
    if isinstance(made, Phi):
        return all(_is_option(answer, one, step, depth) for _, one in made.incoming)
    match made.op:
        case "zext" | "sext" | "trunc":
            return is_rounded(answer, made.operands[0], step, depth - 1)
        case "select":
            return all(_is_option(answer, one, step, depth) for one in made.operands[1:])
        case "add" | "sub":
            return all(is_rounded(answer, one, step, depth - 1) for one in made.operands)
        case "mul":
            return any(is_rounded(answer, one, step, depth - 1) for one in made.operands)
        case "and":
            # a mask whose low bits are 0
            masks = [number_of(answer, one) for one in made.operands]
            return step & (step - 1) == 0 and any(mask is not None and mask % step == 0 for mask in masks)
        case _:
            return False


def _is_option(answer: Uniformity, operand: Operand, step: int, depth: int) -> bool:
    """Whether one of several numbers is a multiple of a step, or one whose remainder is asked for elsewhere."""
    if is_rounded(answer, operand, step, depth - 1):
        return True
    for block in answer.function.blocks:
        for i in block.instructions:
            if operand in i.operands and i.op in (*_REMAINDERS, "and"):
                other = number_of(answer, next(one for one in reversed(i.operands) if one != operand))
                if other == (step - 1 if i.op == "and" else step):
                    return True
    return False


def is_index_in_block(answer: Uniformity, operand: Operand) -> bool:
    """Whether a number is that of the thread in its block, all of its axes counted."""
    block = answer.threads.block
    if block is None:
        return False
    wanted = {f"tid.{axis}": prod(block[:at]) for at, axis in enumerate("xyz") if block[at] > 1}
    found: dict[str, int] = {}
    pending, steps = [(operand, 1)], 0
    while pending:
        one, factor = pending.pop()
        made = answer.definitions.get(one) if isinstance(one, Value) else None
        steps += 1
        if steps > _DEEPEST or not isinstance(made, Instruction):
            return False
        if isinstance(made.detail, Query):
            found[made.detail.register] = found.get(made.detail.register, 0) + factor
        elif made.op in _SAME:
            pending.append((made.operands[0], factor))
        elif made.op == "add":
            pending += [(part, factor) for part in made.operands]
        elif made.op in ("mul", "shl"):
            numbers = [number_of(answer, part) for part in made.operands]
            at = next((at for at, number in enumerate(numbers) if number is not None), None)
            if at is None or (made.op == "shl" and at == 0):
                return False
            number = numbers[at] or 0
            pending.append((made.operands[1 - at], factor * (1 << number if made.op == "shl" else number)))
        else:
            return False
    return (
        bool(wanted)
        and {name: factor for name, factor in found.items() if name in wanted} == wanted
        and all(name in wanted or name.startswith("tid.") for name in found)
    )


def _signed(bits: int, width: int) -> int:
    return bits - (1 << width) if bits >> (width - 1) & 1 else bits
