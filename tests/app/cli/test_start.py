"""A stop while the command line is loaded is quiet, with the exit code that a stop has."""

from __future__ import annotations

import os
import signal

import pytest

from warpsmith.app.cli import start


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stop_ends_the_process_at_once(number: signal.Signals, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)

    class Loaded:
        @staticmethod
        def main() -> None:
            signal.raise_signal(number)

    monkeypatch.setattr(start, "import_module", lambda name: Loaded)
    try:
        start.main()
    finally:
        for one, handler in kept.items():
            signal.signal(one, handler)
    assert ended == [code]
