"""Barriers: what a thread that stands at one asks for, and who went past it.

    if (i % 2) barrier      the others leave the block that holds the barrier behind them: they never come to it
    store …                 they execute what stands behind it: they went past
    return

Threads that have returned before are not waited for, as GPUs have it. Those whose last block stands behind the barrier
on every way are none of them: CUDA wants a condition around a barrier to be the same in all threads of the block (CUDA
C++ Programming Guide, Synchronization Functions). A last block with nothing in it is a return.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warpsmith.simt.thread import Thread
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Barrier, BasicBlock, Exit, Function, Instruction, Return

__all__ = ["count_awaited", "find_past", "how_combined", "is_last_behind", "number_of_barrier", "only_arrives"]


def _detail(instruction: Instruction | None) -> Barrier:
    detail = None if instruction is None else instruction.detail
    return detail if isinstance(detail, Barrier) else Barrier()


def number_of_barrier(thread: Thread) -> int:
    """Return the number of the barrier at which a thread waits."""
    return thread.operands[0] if thread.operands else 0


def how_combined(thread: Thread) -> str:
    """Return how the barrier at which a thread waits combines what threads bring, "" where it does not."""
    return _detail(thread.waiting).reduces


def only_arrives(thread: Thread) -> bool:
    """Whether a thread at a barrier goes on without the others."""
    return not _detail(thread.waiting).waits


def count_awaited(thread: Thread) -> int:
    """Return how many threads the barrier asks for at which a thread waits, 0 for all that there are."""
    numbers = thread.operands[:-1] if how_combined(thread) else thread.operands
    return numbers[1] if len(numbers) > 1 else 0


def is_last_behind(function: Function, last: BasicBlock, barrier: str) -> bool:
    """Whether a block ends the kernel, and every way from the block of a barrier goes through it; with something to
    execute."""
    ends = isinstance(last.terminator, Return | Exit) and bool(last.instructions)
    return ends and last.name != barrier and Graph.of(function).post_dominates(last.name, barrier)


def find_past(threads: Sequence[Thread], waiting: Thread) -> Iterator[Thread]:
    """Yield the threads of a block that have ended behind the barrier at which another one waits."""
    if len(waiting.frames) > 1:
        return
    frame = waiting.frames[0]
    behind: dict[str, bool] = {}
    for thread in threads:
        last = thread.frames[-1].block
        if not thread.ended or len(thread.frames) > 1:
            continue
        if last.name not in behind:
            behind[last.name] = is_last_behind(frame.code.function, last, frame.block.name)
        if behind[last.name]:
            yield thread
