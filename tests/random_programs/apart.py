"""Work in a process of its own, which ends when its time is over, wherever it is.

    test ──► keeper ──► worker          late: the worker's stack is noted, then it and all that it started are killed
               └ waits, adopts what the worker leaves behind

A signal handler of Python's runs between two of its instructions; inside one long call of a library (isl) it never
does. The stack is written by `faulthandler`, which needs no such moment.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from typing import IO, TypeVar

from msgspec import Struct

from warpsmith.base.children import adopt_orphans, end_descendants

__all__ = ["Ended", "apart"]

T = TypeVar("T")
_POLL_S = 0.02
_STACK_S = 0.5
_LATE = 124


class Ended(Struct, frozen=True):
    """Why there is no answer: `late`, or else a signal, an exit; `detail`: where it was, or how it ended."""

    late: bool
    detail: str


def apart(work: Callable[[], T], limit_s: float) -> T | Ended:
    """Return what `work` returns, which must be picklable, in at most `limit_s` seconds; Linux only."""
    with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile("w+") as stack:
        sys.stdout.flush()
        sys.stderr.flush()
        keeper = os.fork()
        if keeper == 0:
            os._exit(_kept(work, limit_s, answer, stack))
        code = os.waitstatus_to_exitcode(os.waitpid(keeper, 0)[1])
        stack.seek(0)
        if code != 0:
            return Ended(code == _LATE, stack.read() or f"it ended with {code}")
        answer.seek(0)
        result: T = pickle.load(answer)
        return result


def _kept(work: Callable[[], T], limit_s: float, answer: IO[bytes], stack: IO[str]) -> int:
    """Run `work` in a child and see to its end; return the exit code: 0 only where there is an answer."""
    adopt_orphans()
    worker = os.fork()
    if worker == 0:
        faulthandler.register(signal.SIGUSR1, file=stack, all_threads=False)
        _work(work, answer, stack)
    deadline = time.monotonic() + limit_s
    code = None
    while code is None and time.monotonic() < deadline:
        ended, status = os.waitpid(worker, os.WNOHANG)
        code = os.waitstatus_to_exitcode(status) if ended else None
        time.sleep(0 if ended else _POLL_S)
    if code is None:
        os.kill(worker, signal.SIGUSR1)
        time.sleep(_STACK_S)
        os.kill(worker, signal.SIGKILL)
        code = _LATE
    end_descendants(reap=True)
    return code if code >= 0 else 128 - code


def _work(work: Callable[[], T], answer: IO[bytes], stack: IO[str]) -> None:
    code = 1
    try:
        pickle.dump(work(), answer)
        answer.flush()
        code = 0
    except BaseException as error:
        stack.write(repr(error))
        stack.flush()
    finally:
        os._exit(code)
