"""A stop waits for what is being written."""

from __future__ import annotations

import signal
import threading

import pytest

from warpsmith.app.cli.stops import defer_stops


def test_a_stop_waits_until_all_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    came: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: came.append(number))
    try:
        with defer_stops():
            signal.raise_signal(signal.SIGTERM)
            assert came == []
        assert came == [signal.SIGTERM]
        # another thread has no handlers of its own
        worker = threading.Thread(target=lambda: defer_stops().__enter__())
        worker.start()
        worker.join()
    finally:
        signal.signal(signal.SIGTERM, before)
