"""What a thread knows of accesses of others, where only some threads of a block meet.

    thread 0   write s   bar.sync 1, 64      thread 70 meets nobody: it knows of no write
    thread 40            bar.sync 1, 64      now it knows what thread 0 did: its read of s is ordered

Each thread counts where it met others (`tick`), and knows up to which tick it is behind each of the others: what these
did until then comes first. Who meets learns what the others know (vector clocks: Mattern, Virtual Time and Global
States of Distributed Systems, 1988). Barriers of all threads need none of this: their numbers tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from warpsmith.simt.thread import Thread
from warpsmith.ssa.nodes import Barrier, Constant, Function, Instruction, Module

__all__ = ["latest", "learn", "release", "some_meet"]

_ALL = 0xFFFFFFFF


def some_meet(module: Module) -> bool:
    """Whether code of a module may have some threads of a block, or of a warp, meet without the others."""
    return any(_is_partial(i) for function in module.functions for i in _instructions(function))


def _instructions(function: Function) -> Iterable[Instruction]:
    return (i for block in function.blocks for i in block.instructions)


def _is_partial(i: Instruction) -> bool:
    """Whether an instruction is a barrier that some may come to."""
    if i.op == "warp_barrier":
        return any(not isinstance(mask, Constant) or mask.bits != _ALL for mask in i.operands)
    if i.op != "barrier" or not isinstance(i.detail, Barrier):
        return False
    numbers = i.operands[:-1] if i.detail.reduces else i.operands
    return not i.detail.waits or len(numbers) > 1


def release(thread: Thread) -> Mapping[int, int]:
    """Return what others learn of a thread that they meet: what it did, and what it knows."""
    told = {**thread.known, thread.lane.thread: thread.tick}
    thread.tick += 1
    return told


def latest(one: Mapping[int, int], other: Mapping[int, int]) -> Mapping[int, int]:
    """Return what who knows both knows."""
    return {**one, **{thread: max(tick, one.get(thread, -1)) for thread, tick in other.items()}}


def learn(threads: Sequence[Thread], told: Mapping[int, int]) -> None:
    """Let threads that meet know of each other, and of what others have told before."""
    for thread in threads:
        told = latest(told, release(thread))
    for thread in threads:
        thread.known = told
