"""Several threads at one work: all have ended when it is over, whatever becomes of them."""

from __future__ import annotations

import threading
import time

import pytest

from warpsmith.simt.apart import STACK, with_stack
from warpsmith.simt.engine.host.together import work_together


@pytest.mark.parametrize("count", [1, 2, 5])
def test_every_share_is_done_when_it_is_over(count: int) -> None:
    done: list[int] = []

    def share(number: int) -> None:
        time.sleep(0.01 * (number % 3))
        done.append(number)

    work_together(count, share, lambda: None, stack=STACK)
    assert sorted(done) == list(range(count))


def test_the_shares_run_at_the_same_time() -> None:
    met = threading.Barrier(3, timeout=30)

    def share(_: int) -> None:
        met.wait()

    work_together(3, share, lambda: None, stack=STACK)


@pytest.mark.parametrize("who", [0, 1, 2])
def test_where_one_raises_the_others_leave_and_are_waited_for(who: int) -> None:
    asked, ended = threading.Event(), list[int]()

    def share(number: int) -> None:
        if number == who:
            raise ValueError("this one")
        assert asked.wait(30)
        time.sleep(0.02)
        ended.append(number)

    with pytest.raises(ValueError, match="this one"):
        work_together(3, share, asked.set, stack=STACK)
    assert sorted(ended) == sorted({0, 1, 2} - {who})


def test_where_no_more_threads_can_be_started_nothing_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    start, asked, ended = with_stack, threading.Event(), list[int]()

    def refuse(bytes_: int, begin: object) -> None:
        if not ended and not asked.is_set() and started:
            raise RuntimeError("can't start new thread")
        started.append(1)
        start(bytes_, begin)  # type: ignore[arg-type]

    started: list[int] = []

    def share(number: int) -> None:
        assert asked.wait(30)
        ended.append(number)

    monkeypatch.setattr("warpsmith.simt.engine.host.together.with_stack", refuse)
    with pytest.raises(RuntimeError, match="new thread"):
        work_together(3, share, asked.set, stack=STACK)
    assert ended == [1]
