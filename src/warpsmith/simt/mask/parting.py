"""Where threads go that have a stack each: what a control instruction does to threads that stand together.

    push_mask L        L on top
    pop_mask           to the label on top
    mask_nz r          r != 0: on            r == 0: to the label on top
    br_push r, E, C    r != 0: on, C on top  r == 0: to E, C on top
    jmp L              to L

That is what the wave of stack.py does with one lane. Threads with one stack go at most two ways, and both stacks begin
alike. Source of the rules: docs/reference/mask-isa.md, "Waves formed anew".
"""

from __future__ import annotations

from msgspec import Struct

from warpsmith.simt.mask.nodes import MaskInstruction
from warpsmith.simt.mask.stack import StackError

__all__ = ["Together", "part"]


class Together(Struct, frozen=True):
    """Threads at one instruction, with one stack of labels; `lanes`: those of a wave that they are in."""

    lanes: int
    pc: int
    labels: tuple[int, ...] = ()


def part(threads: Together, instruction: MaskInstruction, true: int, depth: int) -> tuple[Together, ...]:
    """Return where threads go from a control instruction that is no `ret`, those whose value is not 0 (`true`) first;
    raises StackError where a stack would have more than `depth` labels, or has none to pop."""
    lanes, pc, labels = threads.lanes, threads.pc, threads.labels
    targets = instruction.targets
    match instruction.op.form:
        case "push":
            return (Together(lanes, pc + 1, _pushed(labels, targets[0], depth)),)
        case "pop":
            return (_popped(lanes, labels),)
        case "nonzero":
            ways = [Together(lanes & true, pc + 1, labels)]
            if lanes & ~true:
                ways.append(_popped(lanes & ~true, labels))
        case "branch":
            otherwise, join = targets
            below = _pushed(labels, join, depth)
            ways = [Together(lanes & true, pc + 1, below), Together(lanes & ~true, otherwise, below)]
        case "jump":
            return (Together(lanes, targets[0], labels),)
        case "return" | "map" | "length" | "normalize" | "load" | "store" | "sample":
            raise ValueError(f"{instruction.op.name} sends no thread anywhere")
    return tuple(way for way in ways if way.lanes)


def _pushed(labels: tuple[int, ...], target: int, depth: int) -> tuple[int, ...]:
    if len(labels) >= depth:
        raise StackError("overflow")
    return (*labels, target)


def _popped(lanes: int, labels: tuple[int, ...]) -> Together:
    if not labels:
        raise StackError("underflow")
    return Together(lanes, labels[-1], labels[:-1])
