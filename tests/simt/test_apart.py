"""Work apart: signals wait until it is over, whichever they are and however many."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NoReturn

import pytest

from tests.sampling import one_in
from warpsmith.base.time_limit import OutOfTimeError, time_limit
from warpsmith.simt.apart import Apart

_ROOT = Path(__file__).parents[2]


class Work:
    """Work that goes on until it may leave, and then a little."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.over = False

    def __call__(self) -> int:
        assert self.asked.wait(30)
        time.sleep(0.2)
        self.over = True
        return 7

    def go(self) -> int:
        """Do it apart."""
        return Apart(self, self.asked.set).go()


def test_who_waits_goes_on_when_the_work_is_over() -> None:
    work = Work()
    with pytest.raises(OutOfTimeError), time_limit(0.05):
        work.go()
    assert work.over


class Signaled(Exception):
    """A handler was run."""


def raising(number: int, frame: object) -> NoReturn:
    raise Signaled(number)


def test_any_number_of_signals_wait() -> None:
    work, numbers = Work(), (signal.SIGUSR1, signal.SIGUSR2)

    def send() -> None:
        while any(signal.getsignal(number) is raising for number in numbers):
            time.sleep(0.001)
        for number in numbers * 20:
            os.kill(os.getpid(), number)
        work.asked.set()

    before = {number: signal.signal(number, raising) for number in numbers}
    sender = threading.Thread(target=send)
    try:
        with pytest.raises(Signaled):
            sender.start()
            Apart(work, lambda: None).go()
        assert work.over
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_what_comes_of_the_work_is_handed_on() -> None:
    before = signal.getsignal(signal.SIGINT)
    assert Apart(lambda: 5, lambda: None).go() == 5
    with pytest.raises(ZeroDivisionError):
        Apart(lambda: 1 // 0, lambda: None).go()
    assert signal.getsignal(signal.SIGINT) is before


def test_a_signal_that_comes_at_the_end_is_not_lost() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: seen.append(number))
    try:
        Apart(lambda: os.kill(os.getpid(), signal.SIGUSR1), lambda: None).go()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == [signal.SIGUSR1]


def test_another_thread_may_have_work_too() -> None:
    made: list[int] = []
    thread = threading.Thread(target=lambda: made.append(Apart(lambda: 5, lambda: None).go()))
    thread.start()
    thread.join()
    assert made == [5]


def test_the_stack_is_as_large_as_was_asked_for() -> None:
    before = threading.stack_size()
    deep = Apart(lambda: os.getpid(), lambda: None, stack=1 << 28)
    assert deep.go() == os.getpid()
    assert threading.stack_size() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "times"), one_in(3, [("time", 20), ("SIGINT", 20), ("SIGTERM", 20), ("several", 20), ("llvm", 13)])
)
def test_a_process_goes_on_after_a_kernel_was_stopped(how: str, times: int) -> None:
    malloc = {"MALLOC_PERTURB_": "165", "MALLOC_CHECK_": "3"}
    environment = {**os.environ, **malloc, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-m", "tests.simt.engine.stopped", how, str(times)],
        cwd=_ROOT, env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout.strip()) == (0, str(times)), done.stderr
