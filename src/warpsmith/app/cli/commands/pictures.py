"""Options that draw: `svg=FILE` or `png=FILE`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from warpsmith.app.cli.launch import usage
from warpsmith.app.cli.output import write_result
from warpsmith.report.history.layout import HistoryDrawing
from warpsmith.report.history.png import history_png
from warpsmith.report.history.svg import history_svg

__all__ = ["picture_of"]

_FORMS: Final[Mapping[str, Callable[[HistoryDrawing], str | bytes]]] = {"svg": history_svg, "png": history_png}


def picture_of(option: str, said: str | None) -> Callable[[HistoryDrawing], None] | None:
    """Return what writes the picture that an option asks for, None where it asks for none; raises UsageError."""
    if said is None:
        return None
    form, _, file = said.partition("=")
    if form not in _FORMS or not file:
        raise usage(f"{option} is svg=FILE or png=FILE; it got '{said}'", f"for example {option} png=picture.png")
    return lambda drawing: write_result(file, _FORMS[form](drawing))
