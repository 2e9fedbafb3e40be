"""Kernels are asked about one after the other, until time is up."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from warpsmith.run.referee import questions
from warpsmith.run.referee.questions import Questions


def test_each_kernel_is_asked_about_until_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    asked: list[str] = []

    def notices(kernel: str) -> bool:
        nonlocal now
        now += 4.0
        asked.append(kernel)
        return kernel != "idle"

    monkeypatch.setattr(questions, "time", SimpleNamespace(monotonic=lambda: now))
    made = Questions(notices, 10.0)
    # time runs from the first question on
    now = 1000.0
    answers = [made.ask(kernel) for kernel in ("first", "idle", "third", "late", "later")]
    assert answers == [True, False, True, None, None]
    assert (asked, made.unasked) == (["first", "idle", "third"], ["late", "later"])
