"""Work in a thread of its own that is never left behind: signals wait until it is over.

    main      signals are held ─► wait ........................ ─► they go to who handled them before
    worker                        compile, run, LEAVE? ─► return

A handler in Python (a time limit, Ctrl-C) raises wherever its thread is. Where that is between a call of LLVM and the
note that what it was about is given back, or is another's, llvmlite gives it back twice; where machine code runs, its
memory would go while it runs. So the work gets a thread of its own, where no signal is handled, and a signal that comes
meanwhile only asks it to leave.

Invariant: who waits goes on when the work is over, not before. `threading.Thread` does not hold it: up to Python 3.12,
a join that a handler's exception interrupts takes the thread for ended, and the next one returns at once. And when such
a thread is forgotten Python code runs in which exceptions are ignored, those of handlers too.
"""

from __future__ import annotations

import _thread
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Final, Generic, TypeVar

__all__ = ["STACK", "Apart", "with_stack"]

Result = TypeVar("Result")
_Handler = Callable[[int, FrameType | None], object]
STACK: Final = 1 << 26
"""Bytes of the worker's stack, of which only those count that are used."""
_LOOK_S: Final = 0.05
"""Of two signals that come at once, Linux may deliver both to another thread: then nobody wakes the one that waits."""


class Apart(Generic[Result]):
    """Work that is to be done, and what came of it: `result` is there where it returned."""

    def __init__(self, work: Callable[[], Result], leave: Callable[[], None], *, stack: int = 0) -> None:
        self.work, self.leave, self.stack = work, leave, STACK + stack
        self.result: Result | None = None
        self.error: BaseException | None = None
        self._over = _thread.allocate_lock()

    def go(self) -> Result:
        """Return what the work returns, or raise what it raises; where a signal came meanwhile, what its handler
        raises, once the work is over. A signal calls `leave`, which has to make the work return soon."""
        held = _Held(self.leave)
        self._over.acquire()
        try:
            held.begin()
            # whatever happens here, the thread holds all that its work uses
            with_stack(self.stack, lambda: _thread.start_new_thread(self._run_work, ()))
            while not self._over.acquire(timeout=_LOOK_S):
                pass
        finally:
            held.end()
        if self.error is not None:
            raise self.error
        return self.result  # type: ignore[return-value]  # it is there: the work has returned

    def _run_work(self) -> None:
        try:
            self.result = self.work()
        except BaseException as error:
            self.error = error
        finally:
            self._over.release()


def with_stack(bytes_: int, start: Callable[[], object]) -> None:
    """Start a thread with a stack of `bytes_`."""
    before = threading.stack_size(-(-bytes_ // 4096) * 4096)
    try:
        start()
    finally:
        threading.stack_size(before)


class _Held:
    """The handlers of signals that Python would run in this thread: between begin and end they wait."""

    def __init__(self, leave: Callable[[], None]) -> None:
        self.leave = leave
        self.holding = True
        self.came: list[tuple[int, FrameType | None]] = []
        self.before: dict[int, _Handler] = {}

    def come(self, number: int, frame: FrameType | None) -> None:
        """Take note of a signal; after the end, hand it on."""
        if not self.holding:
            self.before[number](number, frame)
            return
        self.came.append((number, frame))
        self.leave()

    def begin(self) -> None:
        """Hold signals. They reach the main thread only: elsewhere there is nothing to hold."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in signal.valid_signals():
            handler = signal.getsignal(number)
            if callable(handler):
                self.before[number] = handler
                signal.signal(number, self.come)

    def end(self) -> None:
        """Put the handlers back; they learn now of what came."""
        self.holding = False
        try:
            for number, handler in self.before.items():
                signal.signal(number, handler)
        finally:
            for number, frame in self.came:
                self.before[number](number, frame)
