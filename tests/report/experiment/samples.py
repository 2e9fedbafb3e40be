"""An experiment, written by hand."""

from __future__ import annotations

from warpsmith.base.source import SourceFile, Span
from warpsmith.report.experiment.model import ExperimentReport, ExperimentRun

__all__ = ["by_clocks", "by_input", "by_width"]

FILE = SourceFile("k.cu", "line 1;\nline 2;\n")


def by_width() -> ExperimentReport:
    """Return two widths of two inputs, one of which did not end."""
    points = (
        ExperimentRun("8", "random", 10, 50, 80, 30, Span(FILE, 8, 12), 4, 20),
        ExperimentRun("8", "sorted", 8, 50, 64, 14, Span(FILE, 8, 12), 3, 20),
        ExperimentRun("64", "random", 2, 50, 128, 78),
        ExperimentRun("64", "sorted", stopped="stopped: too many steps"),
    )
    return ExperimentReport(("k.cu",), "incomplete", 3, "width", (), "k", points)


def by_input() -> ExperimentReport:
    """Return two inputs."""
    points = (
        ExperimentRun("one & <all>", "one & <all>", 10, 50, 80, 30),
        ExperimentRun("half", "half", 20, 50, 160, 110),
    )
    return ExperimentReport(("k.cu",), "ok", 0, "input", (), "k", points)


def by_clocks() -> ExperimentReport:
    """Return two widths on a machine with clocks, one of which did not end."""
    points = (
        ExperimentRun("8", "", 10, 50, 80, 30, clocks=100),
        ExperimentRun("16", "", 6, 50, 96, 46, clocks=150),
        ExperimentRun("32", stopped="stopped: no end", clocks=99),
    )
    return ExperimentReport(("k.mask",), "incomplete", 3, "width", (), "k.mask", points)
