"""The report on threads a second as text."""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.analysis.uniformity.facts import Dim
from warpsmith.base.findings import render_finding
from warpsmith.report.analysis.predicted import TERM_WORDS
from warpsmith.report.table import table_text
from warpsmith.report.throughput.model import GpuThroughput, ThroughputReport, ThroughputRow

__all__ = ["throughput_text"]

_HEADER = ("GPU", "arch", "registers", "SASS", "loads", "cycles/warp", "M threads/s", "what decides")


def throughput_text(report: ThroughputReport) -> str:
    """Return the report."""
    return "\n\n".join("\n".join(_row(row)) for row in report.rows)


def _row(row: ThroughputRow) -> Iterator[str]:
    yield from (render_finding(one) for one in row.findings if one.severity != "error")
    if not row.gpus:
        yield f"{row.path}{f': {row.kernel}' if row.kernel else ''}: not read"
        return
    blocks = "block" if row.grid == (1, 1, 1) else "blocks"
    said = f" (nobody says so: {', '.join(row.guessed)})" if row.guessed else ""
    yield f"{row.path}: {row.kernel}: {_dim(row.grid)} {blocks} of {_dim(row.block)} threads{said}"
    yield table_text(map(_gpu, row.gpus), _HEADER)
    yield from _notes(row)


def _dim(dim: Dim) -> str:
    while len(dim) > 1 and dim[-1] == 1:
        dim = dim[:-1]  # type: ignore[assignment]
    return " x ".join(f"{one:,}" for one in dim)


def _gpu(one: GpuThroughput) -> tuple[str, ...]:
    registers = f"{one.registers}{'' if one.sass is not None else '*'}"
    counted = ("-", "-") if one.sass is None else (str(one.sass.instructions), str(one.sass.loads))
    made, found = one.predicted.prediction, one.throughput
    if made is None or found is None:
        return one.device.title, one.device.arch, registers, *counted, "-", "-", "not known"
    decides = f"{TERM_WORDS[found.decides]}{f' ({made.pipe})' if found.decides == 'pipe' else ''}"
    least = "from " if one.predicted.forks else ""
    return (
        one.device.title, f"{one.device.arch}{'?' if made.unconfirmed else ''}", registers, *counted,
        f"{found.cycles:,.2f}", f"{least}{found.mega_threads:,.0f}", decides,
    )  # fmt: skip


def _notes(row: ThroughputRow) -> Iterator[str]:
    lacks = tuple(dict.fromkeys(why for one in row.gpus for why in one.predicted.lacks))
    if lacks:
        said = ": --arg NAME=NUMBER says it" if any("the argument" in why for why in lacks) else ""
        yield f"  not known: it lacks {'; '.join(lacks)}{said}"
    for why in dict.fromkeys(one.unread for one in row.gpus if one.unread):
        yield f"  * registers are estimated: {why}"
    forks = tuple(dict.fromkeys(why for one in row.gpus for why in one.predicted.forks))
    if forks:
        yield f"  from: at least so many: all threads are counted in both arms where this decides: {'; '.join(forks)}"
    spilled = [f"{one.device.title} {one.spill_bytes:,}" for one in row.gpus if one.spill_bytes]
    if spilled:
        yield f"  bytes that a thread spills, which are not in the times: {', '.join(spilled)}"
    if any(one.predicted.prediction is not None and one.predicted.prediction.unconfirmed for one in row.gpus):
        yield "  ? rests on numbers of this GPU that nobody has confirmed: see `warpsmith devices`"
    yield "  a model: launches one behind the other, each as long as the part that decides; SASS of `lower --to sass`"
