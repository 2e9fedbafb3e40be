"""A run of host code that was never made."""

from __future__ import annotations

from typing import Final

from warpsmith.report.simulation.model import OutputRow
from warpsmith.report.streams.model import PassRow, StreamReport

__all__ = ["REPORT"]

REPORT: Final = StreamReport(
    "k.br", "sort", "ok", 0,
    (PassRow("k", 7, ("a", "b", "2"), 1, 1024, 1310, 40000), PassRow("k", 8, ("b", "a", "4"), 4, 8, 100, 3000)),
    (OutputRow("x", "f32", 9, 9, ("1", "2"), "x.npy"),),
)  # fmt: skip
