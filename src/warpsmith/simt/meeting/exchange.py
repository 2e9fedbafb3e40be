"""Exchanges between the lanes of a warp: votes, shuffles, matches, reductions (PTX ISA 9.0, 9.7.9.8 and 9.7.13).

Each function gets what every lane that takes part has brought, by lane number, and returns what each gets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from warpsmith.simt.thread import Thread
from warpsmith.ssa.nodes import Exchange, Instruction
from warpsmith.ssa.semantics.patterns import to_signed
from warpsmith.ssa.types import I32

__all__ = ["exchange_lanes", "mask_of", "meet_in_lock_step"]

Brought = Mapping[int, tuple[int, ...]]
Given = dict[int, tuple[int, ...]]


def mask_of(instruction: Instruction, brought: tuple[int, ...], width: int) -> int | None:
    """Return the mask that a lane of a warp of `width` lanes has brought; None where an exchange has none."""
    if instruction.op == "warp_barrier":
        return brought[0] if brought else (1 << width) - 1
    detail = instruction.detail
    return brought[-1] if isinstance(detail, Exchange) and detail.masked else None


def meet_in_lock_step(lanes: Sequence[Thread], width: int) -> bool:
    """Let the lanes of a warp of `width` lanes, which execute together, exchange where none is named; return whether
    they go on."""
    instruction = lanes[0].waiting
    assert instruction is not None
    if instruction.op in ("barrier", "unmodeled") or mask_of(instruction, lanes[0].operands, width) is not None:
        return False
    given = exchange_lanes(instruction, {thread.lane.lane: thread.operands for thread in lanes})
    for thread in lanes:
        thread.finish(instruction, given[thread.lane.lane])
    return True


def exchange_lanes(instruction: Instruction, brought: Brought) -> Given:
    """Return what each lane gets of an exchange."""
    match instruction.op:
        case "vote":
            return _vote(instruction, brought)
        case "shuffle":
            return {lane: _shuffle(instruction, brought, lane) for lane in brought}
        case "match":
            return _match(instruction, brought)
        case "reduce":
            return _reduce(instruction, brought)
        case "active":
            return dict.fromkeys(brought, (_mask(brought),))
        case _:
            return dict.fromkeys(brought, ())


def _how(instruction: Instruction) -> str:
    assert isinstance(instruction.detail, Exchange)
    return instruction.detail.how


def _mask(lanes: Mapping[int, object]) -> int:
    return sum(1 << lane for lane in lanes)


def _vote(instruction: Instruction, brought: Brought) -> Given:
    yes = {lane: given for lane, given in brought.items() if given[0]}
    results = {
        "all": len(yes) == len(brought),
        "any": bool(yes),
        "uni": len(yes) in (0, len(brought)),
        "ballot": _mask(yes),
    }
    return dict.fromkeys(brought, (int(results[_how(instruction)]),))


def _shuffle(instruction: Instruction, brought: Brought, lane: int) -> tuple[int, ...]:
    """Return the value of the lane that `lane` reads, and whether it was in range; else its own."""
    _, other, clamp = brought[lane][:3]
    segment = clamp >> 8 & 0x1F
    bound = clamp & 0x1F
    top = (lane & segment) | (bound & ~segment & 0x1F)
    low = lane & segment
    source, inside = {
        "up": lambda: (lane - (other & 0x1F), lane - (other & 0x1F) >= top),
        "down": lambda: (lane + (other & 0x1F), lane + (other & 0x1F) <= top),
        "bfly": lambda: (lane ^ (other & 0x1F), lane ^ (other & 0x1F) <= top),
        "idx": lambda: (low | (other & ~segment & 0x1F), (low | (other & ~segment & 0x1F)) <= top),
    }[_how(instruction)]()
    chosen = source if inside and source in brought else lane
    return (brought[chosen][0], int(inside))[: len(instruction.results)]


def _match(instruction: Instruction, brought: Brought) -> Given:
    given: Given = {}
    for lane, (value, *_) in brought.items():
        same = {other: None for other, (that, *_) in brought.items() if that == value}
        if _how(instruction) == "all":
            everyone = len(same) == len(brought)
            given[lane] = (_mask(same) if everyone else 0, int(everyone))[: len(instruction.results)]
        else:
            given[lane] = (_mask(same),)
    return given


_REDUCTIONS: dict[str, Callable[[list[int]], int]] = {
    "add": sum,
    "umin": min,
    "umax": max,
    "smin": lambda numbers: min(to_signed(number, I32) for number in numbers),
    "smax": lambda numbers: max(to_signed(number, I32) for number in numbers),
    "and": lambda numbers: _fold_numbers(numbers, lambda a, b: a & b),
    "or": lambda numbers: _fold_numbers(numbers, lambda a, b: a | b),
    "xor": lambda numbers: _fold_numbers(numbers, lambda a, b: a ^ b),
}


def _fold_numbers(numbers: list[int], combine: Callable[[int, int], int]) -> int:
    total = numbers[0]
    for number in numbers[1:]:
        total = combine(total, number)
    return total


def _reduce(instruction: Instruction, brought: Brought) -> Given:
    total = _REDUCTIONS[_how(instruction)]([given[0] for given in brought.values()])
    return dict.fromkeys(brought, (total & 0xFFFFFFFF,))
