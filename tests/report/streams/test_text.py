"""Passes of host code as text."""

from __future__ import annotations

from tests.report.streams.reports import REPORT
from warpsmith.report.streams.text import streams_text


def test_passes_and_arrays_have_their_lines() -> None:
    assert streams_text(REPORT).splitlines() == [
        "sort in k.br: 2 passes of 1 kernel",
        "pass  line  kernel  threads  warp instructions  arguments",
        "1     7     k       1,024    1,310              a, b, 2",
        "2     8     k       4x8      100                b, a, 4",
        "x  f32[9]: 1 2 …   written to x.npy",
    ]
