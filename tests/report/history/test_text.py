"""A run as text."""

from __future__ import annotations

from tests.report.history.samples import figure, small
from warpsmith.report.history.text import history_text


def test_sums_strips_and_caches() -> None:
    text = history_text(small())
    assert text.startswith(f"small <1>: {small().clocks} clocks, 12 instructions (")
    lines = text.splitlines()
    assert lines[3].startswith("slot 0      ###mmmmmmmmmm") and len(lines[3].split()[-1]) == small().clocks
    assert "l1       1 hits, 1 misses (50.0 % hits), 0 evictions" in lines


def test_a_long_history_is_cut_off() -> None:
    assert max(len(line) for line in history_text(figure(2), 80).splitlines()[3:7]) == 12 + 64 + 1
