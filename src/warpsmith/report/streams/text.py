"""A run of host code over streams for people: a line for each pass, and the arrays.

sort in bitonic.br: 10 passes of 1 kernel
pass  line  kernel     threads  warp instructions  arguments
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from warpsmith.base.source import readable
from warpsmith.report.analysis.text import columns
from warpsmith.report.streams.model import PassRow, StreamReport

__all__ = ["streams_text"]

_MOST: Final = 40


def streams_text(report: StreamReport) -> str:
    """Return a run as text."""
    kernels = len({one.kernel for one in report.passes})
    head = f"{readable(report.host)} in {readable(report.input)}: {_count(len(report.passes), 'pass', 'es')}"
    lines = [f"{head} of {_count(kernels, 'kernel', 's')}" if kernels else head]
    if report.passes:
        shown = list(_rows(report.passes[:_MOST]))
        lines += columns([("pass", "line", "kernel", "threads", "warp instructions", "arguments"), *shown])
    if len(report.passes) > _MOST:
        lines.append(f"… and {len(report.passes) - _MOST} more")
    for row in report.outputs:
        more = " …" if row.elements > len(row.first) else ""
        saved = f"   written to {row.file}" if row.file else ""
        lines.append(f"{readable(row.name)}  {row.type}[{row.elements:,}]: {' '.join(row.first)}{more}{saved}")
    return "\n".join(lines)


def _rows(passes: tuple[PassRow, ...]) -> Iterator[tuple[str, ...]]:
    for number, one in enumerate(passes, 1):
        threads = f"{one.height}x{one.width}" if one.height > 1 else f"{one.width:,}"
        yield str(number), str(one.line), one.kernel, threads, f"{one.warp_instructions:,}", ", ".join(one.arguments)


def _count(number: int, word: str, ending: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else ending}"
