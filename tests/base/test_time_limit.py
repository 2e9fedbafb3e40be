"""A limit on our own time: it ends the work, is taken back, and leaves the old alarm in place."""

from __future__ import annotations

import math
import signal
import threading
import time

import pytest

from warpsmith.base.time_limit import OutOfTimeError, lift_time_limit, time_left, time_limit, time_share


def test_the_time_is_up() -> None:
    started = time.perf_counter()
    with pytest.raises(OutOfTimeError), time_limit(0.01):
        while time.perf_counter() - started < 20:
            pass
    assert time.perf_counter() - started < 10


def test_in_time_nothing_happens_and_nothing_is_left() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with time_limit(30):
        assert signal.getsignal(signal.SIGALRM) is not before
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 30
    assert signal.getsignal(signal.SIGALRM) is before and signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    with pytest.raises(ValueError, match="of the body"), time_limit(30):
        raise ValueError("of the body")
    assert signal.getsignal(signal.SIGALRM) is before and signal.getitimer(signal.ITIMER_REAL) == (0, 0)


@pytest.mark.parametrize("seconds", [0, -1])
def test_no_limit(seconds: float) -> None:
    with time_limit(seconds):
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_other_threads_have_no_limit() -> None:
    done: list[bool] = []

    def work() -> None:
        with time_limit(0.001):
            time.sleep(0.01)
        done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


def test_it_is_told_again_where_what_was_raised_is_lost() -> None:
    started = time.perf_counter()
    lost = 0
    with pytest.raises(OutOfTimeError), time_limit(0.01):
        while time.perf_counter() - started < 20:
            try:
                while lost == 0:
                    pass
            except OutOfTimeError:
                lost += 1
    assert lost == 1 and time.perf_counter() - started < 15


def test_what_puts_its_results_together_is_not_told_again() -> None:
    with time_limit(0.01):
        try:
            while True:
                pass
        except OutOfTimeError:
            lift_time_limit()
        started = time.perf_counter()
        # the second alarm would come after a second
        while time.perf_counter() - started < 1.2:
            pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_processor_time_is_what_is_worked_not_what_is_waited() -> None:
    before = signal.getsignal(signal.SIGPROF)
    with time_limit(0.2, "processor"):
        time.sleep(0.5)
    started, again = time.process_time(), signal.getsignal(signal.SIGPROF)
    with pytest.raises(OutOfTimeError, match="processor"), time_limit(0.05, "processor"):
        while time.process_time() - started < 20:
            pass
    assert time.process_time() - started < 10 and again is before
    assert signal.getitimer(signal.ITIMER_PROF) == (0, 0) and signal.getsignal(signal.SIGPROF) is before


def test_both_clocks_run_side_by_side() -> None:
    with pytest.raises(OutOfTimeError, match="clock"), time_limit(0.05), time_limit(30, "processor"):
        time.sleep(20)
    assert signal.getitimer(signal.ITIMER_PROF) == signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_a_share_is_of_what_is_left() -> None:
    assert time_left() == math.inf
    with time_share(30):
        assert 29 < time_left() < 30.001
        with time_share(time_left() / 2):
            assert 14 < time_left() < 15.001
        with time_share(60):
            assert time_left() < 30.001
        with time_share(0):
            assert time_left() < 30.001
    assert time_left() == math.inf


def test_a_share_ends_nothing_and_says_that_it_is_up() -> None:
    with time_share(0.02):
        while time_left():
            pass
        assert time_left() == 0
        # of nothing, nothing is left
        with time_share(time_left() / 2):
            assert time_left() == 0
