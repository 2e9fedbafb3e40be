"""Two processes: one works, the other, which the shell waits for, sees to it that a stop takes no longer than a second.

    shell ──► supervisor ──► worker ──► compilers, runs, parsers
                  │ SIGTERM, SIGINT, SIGHUP: the worker is notified, and has GRACE_S to tidy up,
                  │ or FINISHING_S where it says that it puts its results together; a second stop ends that
                  └ then all that is left below it is killed, and its temporary files go

Python handles a signal between two of its own instructions: inside one long call of a C library that is too late. The
supervisor makes no such calls. It also tells of a worker that a library, or the kernel for want of memory, has killed.

Limits: where the supervisor itself is killed by SIGKILL, the worker gets SIGTERM from the kernel, and ends when the C
call that it is in returns; those are bounded by budgets (poly/isl/space.py).
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from types import FrameType
from typing import NoReturn

from warpsmith.app.cli.failure import INTERRUPTED, report_interrupted, report_killed
from warpsmith.base.children import adopt_orphans, end_descendants, end_with_parent
from warpsmith.base.scratch import asks_for_time, make_folder, remove_folder, use_folder

__all__ = ["FINISHING_S", "GRACE_S", "run_supervised"]

GRACE_S = 0.7
CHILDREN_S = 0.3
"""What a stop leaves the worker, and of that the worker its children, to tidy up: seconds."""
FINISHING_S = 30.0
"""What it leaves a worker that puts its results together."""
_BY_A_PROCESS = 0


def run_supervised(work: Callable[[], int]) -> int:
    """Return the exit code of `work`, which runs in a process of its own; 128 + the signal where it had to be killed
    after a stop, 70 where it was killed otherwise."""
    if sys.platform != "linux":
        signal.signal(signal.SIGTERM, _stop_all)
        signal.signal(signal.SIGINT, _stop_all)
        return work()
    parent = os.getpid()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    # nohup has us ignore the end of the terminal
    hang_up = {signal.SIGHUP} if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN else set()
    stops = frozenset({signal.SIGINT, signal.SIGTERM} | hang_up)
    watched = stops | {signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    adopt_orphans()
    scratch = make_folder()
    worker = os.fork()
    if worker == 0:
        use_folder(scratch)
        try:
            return _run_worker(work, parent, stops, before)
        finally:
            # where the supervisor was killed, nobody else does
            if os.getppid() != parent:
                remove_folder(scratch)
    stop, status = _watch(worker, watched, scratch)
    end_descendants(reap=True)
    remove_folder(scratch)
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return code
    _clear_line()
    if stop is None:
        return report_killed(-code, sys.argv[1:])
    return report_interrupted(sys.argv[1:]) if stop == signal.SIGINT else 128 + stop


def _clear_line() -> None:
    """Erase the progress line that a killed worker left on a terminal, and show the cursor, which the line hides."""
    if sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        sys.stderr.write("\r\x1b[2K\x1b[?25h")
        sys.stderr.flush()


def _watch(worker: int, watched: frozenset[signal.Signals], scratch: str | None) -> tuple[int | None, int]:
    """Wait for the worker's end; return the signal that asked for it (None: nobody did) and its wait status."""
    stop: int | None = None
    deadline = 0.0
    finishing = False
    while True:
        signaled = (
            signal.sigwaitinfo(watched)
            if stop is None
            else signal.sigtimedwait(watched, max(0.0, deadline - time.monotonic()))
        )
        if signaled is None and not finishing and asks_for_time(scratch):
            finishing, deadline = True, deadline + FINISHING_S - GRACE_S
        elif signaled is None or (finishing and signaled.si_signo != signal.SIGCHLD):
            os.kill(worker, signal.SIGKILL)
            return stop, os.waitpid(worker, 0)[1]
        elif signaled.si_signo == signal.SIGCHLD:
            status = _reap(worker)
            if status is not None:
                return stop, status
        elif stop is None:
            stop, deadline = signaled.si_signo, time.monotonic() + GRACE_S
            # a terminal's Ctrl-C has reached the worker already
            if stop != signal.SIGINT or signaled.si_code == _BY_A_PROCESS:
                os.kill(worker, stop)


def _reap(worker: int) -> int | None:
    """Collect every child that has ended; return the worker's wait status where it is among them."""
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == worker:
            return status
        if pid == 0:
            return None


def _run_worker(work: Callable[[], int], parent: int, stops: frozenset[signal.Signals], mask: Iterable[int]) -> int:
    """Run `work` in the worker; nothing that it started outlives it."""
    for number in stops:
        signal.signal(number, _stop_all)
    adopt_orphans()
    end_with_parent(parent, signal.SIGTERM)
    try:
        # a stop that came meanwhile is heard in this very call, one at the end of the work in the next
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        try:
            return work()
        finally:
            signal.pthread_sigmask(signal.SIG_BLOCK, stops)
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        # all is said and put away: the interpreter's own end is not interrupted
        _ignore_stops()
        end_descendants()


def _stop_all(number: int, _: FrameType | None) -> NoReturn:
    """End what we started, then unwind, so that temporary folders go away; a second stop changes nothing."""
    _ignore_stops()
    end_descendants(grace_s=CHILDREN_S)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


def _ignore_stops() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
