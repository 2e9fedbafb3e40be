"""A history as an SVG file, by `history.svg`."""

from __future__ import annotations

from warpsmith.report.history.colors import PAINTS
from warpsmith.report.history.layout import HistoryDrawing
from warpsmith.report.pages.page import page

__all__ = ["history_svg"]


def history_svg(drawing: HistoryDrawing) -> str:
    """Return a picture as SVG."""
    return page("history/history.svg", drawing=drawing, paints=PAINTS)
