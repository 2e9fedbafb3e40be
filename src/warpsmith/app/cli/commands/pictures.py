"""Options that draw: `svg=FILE` or `png=FILE`, --timeline FORM=FILE; and where pictures go."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Collection, Mapping
from typing import Final

import numpy as np

from warpsmith.app.cli.launch import usage
from warpsmith.app.cli.output import write_result
from warpsmith.report.experiment.model import ExperimentReport
from warpsmith.report.history.layout import HistoryDrawing
from warpsmith.report.history.png import history_png
from warpsmith.report.history.svg import history_svg
from warpsmith.report.history.thread_bars import draw_thread_bars

__all__ = ["draw_experiment", "picture_of", "read_timeline", "write_picture"]

_FORMS: Final[Mapping[str, Callable[[HistoryDrawing], str | bytes]]] = {"svg": history_svg, "png": history_png}


def picture_of(option: str, said: str | None) -> Callable[[HistoryDrawing], None] | None:
    """Return what writes the picture that an option asks for, None where it asks for none; raises UsageError."""
    if said is None:
        return None
    form, _, file = said.partition("=")
    if form not in _FORMS or not file:
        raise usage(f"{option} is svg=FILE or png=FILE; it got '{said}'", f"for example {option} png=picture.png")
    return lambda drawing: write_result(file, _FORMS[form](drawing))


def draw_experiment(report: ExperimentReport) -> HistoryDrawing:
    """Return the picture of the runs of an experiment that have ended."""
    varied = report.varied if report.varied != "input" else ""
    runs = [
        (f"{varied} {point.value}".strip() + (f", {point.input}" if varied and point.input else ""), point.threads)
        for point in report.points
        if point.threads and not point.stopped
    ]
    caption = "Clocks of each thread, from the first one in which it was in a wave to its last"
    arrays = [(name, np.array(threads, np.int64)) for name, threads in runs]
    return draw_thread_bars(f"{report.kernel} by {report.varied}", caption, arrays)


def read_timeline(said: str, pictures: Collection[str]) -> tuple[str, str | None]:
    """Return the form of the timeline, and the file that it goes to (None: stdout)."""
    form, _, file = said.partition("=")
    forms = ("off", "ascii", "json", *pictures)
    if form not in forms:
        raise usage(f"--timeline: there is no form '{form}'", f"the forms: {', '.join(forms)}")
    if file and form not in pictures:
        raise usage(f"--timeline {form} goes to stdout, with the rest", "for example --timeline html=run.html")
    return form, None if file == "-" else file or None


def write_picture(file: str, text: str | bytes) -> None:
    """Write a picture to its file, compressed where the name ends in .gz."""
    data = text if isinstance(text, bytes) else (text + "\n").encode("utf-8", "backslashreplace")
    write_result(file, gzip.compress(data, mtime=0) if file.endswith(".gz") else data)
