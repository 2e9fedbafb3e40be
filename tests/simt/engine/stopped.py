"""A program: a kernel that never ends is stopped many times over, and the process goes on.

    python -m tests.simt.engine.stopped HOW TIMES        HOW: time, SIGINT, SIGTERM, several, llvm

llvm: a new kernel each time, which is stopped while it is compiled, at the next call of LLVM each time.

It prints how often it was stopped. After each stop memory must be as it was before, and stay so; then a lot of memory
is taken and given back, which ends the process where somebody wrote to what is not theirs.
"""

from __future__ import annotations

import _thread
import os
import signal
import struct
import sys
import time
from collections.abc import Callable
from types import FrameType

import numpy as np

from tests.simt.test_interpreter import kernel
from warpsmith.base.time_limit import OutOfTimeError, time_limit
from warpsmith.simt.engine.engine import Checks, run
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory

_ENDLESS = """
    mov.u32 %r2, 0;
$top: add.u32 %r2, %r2, 1; and.b32 %r4, %r2, 7; setp.eq.u32 %p1, %r4, %r1;
    @%p1 bra $odd;
    st.global.u32 [%rd3], %r2;
$odd: bra $top;
"""


class Stopped(BaseException):
    """A signal has come."""


def _stopped(number: int, frame: FrameType | None) -> None:
    """Raise at the first signal of a run; those that come late change nothing."""
    if _ARMED:
        _ARMED.clear()
        raise Stopped(number)


def _send(how: str, sent: list[bool]) -> None:
    """Send this process signals, a short while after they are held."""
    several = (signal.SIGINT, signal.SIGTERM, signal.SIGINT)
    while signal.getsignal(signal.SIGINT) is _stopped:
        time.sleep(0.001)
    time.sleep(0.03)
    for number in several if how == "several" else (getattr(signal, how),):
        os.kill(os.getpid(), number)
    sent.append(True)


def _sent_by_llvm(number: int) -> None:
    """Have one call of LLVM from now on send this process SIGINT, once it has done its work."""
    from llvmlite.binding import ffi

    kind, count = ffi._lib_fn_wrapper, [0]
    call = _CALLS.setdefault("call", kind.__call__)

    def counted(self: object, *given: object) -> object:
        result = call(self, *given)
        count[0] += 1
        if count[0] == number:
            os.kill(os.getpid(), signal.SIGINT)
        return result

    kind.__call__ = counted


_ARMED: list[bool] = []
_CALLS: dict[str, Callable[..., object]] = {}


def _once(memory: LaunchMemory, launch: Launch, how: str) -> bool:
    """Run the kernel until it is stopped; return whether it was."""
    sent, stopped = [how in ("time", "llvm")], False
    _ARMED.append(True)
    try:
        if not sent[0]:
            sent.clear()
            _thread.start_new_thread(_send, (how, sent))
        with time_limit(0.03 if how == "time" else 0.0):
            run(kernel(_ENDLESS) if how == "llvm" else _MODULE, "k", launch, memory, Checks())
    except (OutOfTimeError, Stopped):
        stopped = True
    _ARMED.clear()
    while not sent:
        time.sleep(0.005)
    return stopped


def _busy() -> None:
    """Take memory of many sizes, fill it, and give it back."""
    held = [np.full(size, 0xA5, "u1") for size in range(8, 6000, 40)]
    del held[::2]
    held += [np.full(size, 0x5A, "u1") for size in range(8, 6000, 80)]


_MODULE = kernel(_ENDLESS)


def _placed() -> tuple[LaunchMemory, Launch]:
    """Return memory for the kernel, and its launch."""
    memory = LaunchMemory()
    buffer = memory.allocate("out", bytes(128))
    return memory, Launch(
        arguments={"out": struct.pack("<Q", buffer.address), "n": bytes(4)}, warp=8, max_steps=1 << 62
    )


def main(how: str, times: int) -> None:
    """Stop the kernel as often as is asked for."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stopped)
    stopped = 0
    if how == "llvm":  # LLVM is loaded, and has noted what this processor is
        assert _once(*_placed(), "time")
    for turn in range(1, times + 1):
        if how == "llvm":
            _sent_by_llvm(turn)
        memory, launch = _placed()
        stopped += _once(memory, launch, how)
        for _ in range(3):
            assert not any(memory.buffers[0].data), "somebody still writes"
            _busy()
            time.sleep(0.001)
    print(stopped)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
