"""Several threads at one work: it is over when all of them are.

    who calls  ─┬─► share 0 ─┐
                ├─► share 1 ─┼─► wait for all ─► raise what one of them raised, or go on
                └─► …       ─┘

Invariant: no thread is left behind. Where one raises, or no more threads can be started, `leave` is called, which has
to make the others return soon; then they are waited for."""

from __future__ import annotations

import _thread
from collections.abc import Callable
from functools import partial

from warpsmith.simt.apart import with_stack

__all__ = ["work_together"]


def work_together(count: int, share: Callable[[int], None], leave: Callable[[], None], *, stack: int) -> None:
    """Call `share(0)` to `share(count - 1)`, each in a thread with `stack` bytes, the first one in this thread."""
    raised: list[BaseException] = []
    over = [_thread.allocate_lock() for _ in range(count)]

    def run(number: int) -> None:
        try:
            share(number)
        except BaseException as error:
            raised.append(error)
            leave()
        finally:
            over[number].release()

    started = 1
    over[0].acquire()
    try:
        for number in range(1, count):
            over[number].acquire()
            with_stack(stack, partial(_thread.start_new_thread, run, (number,)))
            started += 1
    except BaseException as error:
        raised.append(error)
        leave()
    else:
        run(0)
    for number in range(1, started):
        over[number].acquire()
    if raised:
        raise raised[0]
