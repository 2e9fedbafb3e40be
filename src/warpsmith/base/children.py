"""Processes that we start end with us, however we end.

    adopt_orphans     what our children leave behind becomes our child (Linux: PR_SET_CHILD_SUBREAPER), so that
    end_descendants   finds all of it
    end_with_parent   the kernel sends this process a signal when its parent is gone (PR_SET_PDEATHSIG), by SIGKILL too

Limits: Linux only; elsewhere these do nothing, and a killed process leaves what it was running. A program that makes
itself a child of init in another session while it is being ended may be missed in one round; rounds go on until
nothing is left.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterable

__all__ = ["adopt_orphans", "end_descendants", "end_with_parent"]

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LINUX = sys.platform == "linux"
_ROUNDS = 40
_STAT_BYTES = 4096


def end_with_parent(parent: int, number: int = signal.SIGKILL) -> None:
    """Let this process get the signal `number` when the thread of `parent` that started it ends; end at once where it
    is gone already."""
    if not _LINUX:
        return
    _control(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def adopt_orphans() -> None:
    """Let processes below this one whose parent ends become children of this one."""
    if _LINUX:
        _control(_PR_SET_CHILD_SUBREAPER, 1)


def _control(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def end_descendants(*, reap: bool = False, grace_s: float = 0.0) -> None:
    """Kill every process below this one. `reap`: also collect those that ended, which nobody else waits for. `grace_s`:
    for how long they may end by themselves, on SIGTERM: compilers take their temporary files away then. What a process
    starts after that is left alone as long: it may be what takes them away (`rm`)."""
    known: set[int] = set()
    deadline = time.monotonic() + grace_s
    while _LINUX and grace_s and time.monotonic() < deadline and (found := _descendants()):
        # what a compiler started first, since it would make again what the compiler takes away
        _signal([pid for pid in reversed(found) if not {pid, found[pid]} & known], signal.SIGTERM)
        known.update(found)
        time.sleep(0.005)
    for _ in range(_ROUNDS if _LINUX else 0):
        found = _descendants()
        _signal(found, signal.SIGKILL)
        if reap:
            _collect()
        if not found:
            return
        time.sleep(0.005)


def _signal(processes: Iterable[int], number: signal.Signals) -> None:
    for pid in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _collect() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _descendants() -> dict[int, int]:
    """Return the processes below this one that still run, each with its parent, parents first."""
    if not _has_children():
        return {}
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and (parent := _running_parent(entry.path)) is not None:
            children.setdefault(parent, []).append(int(entry.name))
    found: dict[int, int] = {}
    pending = [os.getpid()]
    for parent in pending:
        found.update(dict.fromkeys(children.get(parent, ()), parent))
        pending += children.get(parent, ())
    return found


def _has_children() -> bool:
    """Whether a child of this process runs, or has ended and was not collected. Where there is none there is nothing
    below either: the children of those that ended were adopted."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _running_parent(entry: str) -> int | None:
    """Return the parent of a process, named by its folder; None where it has ended."""
    try:
        file = os.open(f"{entry}/stat", os.O_RDONLY)
    except OSError:
        return None
    try:
        # the name of the program, in parentheses, may hold anything
        state, parent = os.read(file, _STAT_BYTES).rpartition(b")")[2].split(None, 2)[:2]
    except (OSError, ValueError):
        return None
    finally:
        os.close(file)
    return int(parent) if state not in b"ZX" else None
