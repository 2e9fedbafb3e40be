"""The report as text for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from warpsmith.base.findings import Finding, render_finding
from warpsmith.base.source import one_line, readable
from warpsmith.base.verdict import Reason
from warpsmith.offload.plan import LoopTiles
from warpsmith.report.legible import plain_expression, short_expression
from warpsmith.report.mappings.printed import printed_text
from warpsmith.report.model import KernelEntry, LoopEntry, Moved, Report
from warpsmith.report.placement.text import placement_text
from warpsmith.report.port.copies import copies_text
from warpsmith.report.port.hottest import hottest_text
from warpsmith.report.port.moved import moved_text
from warpsmith.report.port.predicted import idle_text, prediction_text
from warpsmith.report.search.text import search_text
from warpsmith.report.table import table_text
from warpsmith.run.verification import Verification
from warpsmith.tree.program import WARP

__all__ = ["loop_rows", "port_text", "table_text", "verification_text"]

_MOST_IDLE = 6


def port_text(report: Report, writes: str, *, quiet: bool = False) -> str:
    """Return the summary of a port or a survey: loops, plan, verdict of the referee, files; `writes` says how to get
    them where nothing was asked to be written; `quiet`: of the findings beside the verdict the errors only."""
    parts = [_loops_text(report.loops, decided=report.command != "survey")]
    if report.moved is not None:
        parts.insert(0, _moved_text(report, report.moved))
    if report.kernels:
        parts.append("plan\n" + table_text([_kernel_row(kernel) for kernel in report.kernels]))
        parts.append(printed_text(report.kernels))
        parts.append("" if report.placement is None else placement_text(report.placement))
        parts.append(copies_text(report.transfers))
    if report.predicted is not None:
        parts.append(prediction_text(report.predicted))
        parts.append(idle_text(report.predicted) if report.search is None else "")
    if report.search is not None:
        parts.append(search_text(report.search))
    parts += [_finding_text(found) for found in report.findings if not quiet or found.severity == "error"]
    if report.verify is not None:
        parts.append(verification_text(report.verify))
    if report.outputs:
        parts.append("wrote   " + "  ".join(report.outputs))
    return "\n".join([part for part in parts if part] + [_closing(report, writes)])


def _moved_text(report: Report, moved: Moved) -> str:
    ran = report.verify is not None and report.verify.launches is not None
    idle = {loop.span for loop in _idle(report)}
    hottest = report.hottest
    told = "" if hottest is None or not hottest.ported else hottest_text(hottest, launched=hottest.span not in idle)
    return moved_text(moved, told, ran=ran and not idle)


def _finding_text(finding: Finding) -> str:
    """Return an error with its source line, anything milder as one line."""
    if finding.severity == "error" or finding.span is None:
        return render_finding(finding)
    return readable(f"{finding.span}: {finding.severity}[{finding.rule}] {finding.message}")


def _loops_text(loops: Sequence[LoopEntry], *, decided: bool) -> str:
    if not loops:
        return "no loops"
    blocks = []
    for path, entries in groupby(loops, key=lambda loop: loop.span.file.path):
        group = list(entries)
        functions = len({loop.function for loop in group})
        head = f"{one_line(path)}: {_count(len(group), 'loop')} in {_count(functions, 'function')}"
        blocks.append(
            head + "\n" + table_text(loop_rows(group, decided=decided), header=("line", "loop", "category", "why"))
        )
    return "\n".join(blocks)


def loop_rows(loops: Sequence[LoopEntry], *, decided: bool) -> list[tuple[str, ...]]:
    """Return line, header, category and reason of each loop; the same reason again is a ditto mark."""
    rows: list[tuple[str, ...]] = []
    previous = ""
    shallowest = min(loop.depth for loop in loops)
    for loop in loops:
        why = _why(loop)
        label = "  " * (loop.depth - shallowest) + loop.label
        rows.append((str(loop.span.line), label, _category(loop, decided=decided), '"' if why == previous else why))
        previous = why
    return rows


def _category(loop: LoopEntry, *, decided: bool) -> str:
    """Return the category; a parallel loop says where it runs, once that is `decided` (a survey decides nothing)."""
    if decided and loop.category == "parallel" and not loop.ported:
        return "parallel, on host"
    return loop.category


def _why(loop: LoopEntry) -> str:
    texts = [_reason_text(loop, reason) for reason in loop.reasons[:1]]
    if not loop.reasons or not loop.reasons[0].assumptions:
        texts += [f"{'if' if kind == 'guarded' else 'granted:'} {text}" for text, kind in loop.assumptions]
    return readable("; ".join(texts))


def _reason_text(loop: LoopEntry, reason: Reason) -> str:
    dependence = reason.dependence
    if dependence is None:
        return reason.text
    distance = dependence.distance[loop.depth - 1] if loop.depth <= len(dependence.distance) else None
    lines = f"line {dependence.source.line} -> line {dependence.sink.line}"
    return f"{reason.text} ({lines}, {'distance varies' if distance is None else f'distance {distance}'})"


def _kernel_row(kernel: KernelEntry) -> tuple[str, ...]:
    first, last = kernel.span.line, kernel.span.end_line
    lines = f"line {first}" if first == last else f"lines {first}-{last}"
    axes = ", ".join(f"{counter} on {axis}" for counter, axis in kernel.mapping.items()) or "one thread"
    block = ",".join(_trim([str(size) for size in kernel.block]))
    grid = ", ".join(_trim([short_expression(plain_expression(size)) for size in kernel.grid]))
    tiles = "".join(_tiles(one) for one in kernel.tiles)
    for halo in kernel.halos:
        tiles += f"; {halo.array} with a halo, {' x '.join(map(str, halo.extents))}"
    plural = "" if kernel.iterations == 1 else "s"
    tiles += f"; {kernel.iterations} iteration{plural} a pass" if kernel.iterations else ""
    for one in kernel.constants:
        apart = "" if one.uniform else ", whose lanes may read different elements, one after the other"
        tiles += f"; {one.array} in constant memory{apart}"
    columns, rows, _ = kernel.elements
    several = f"; {rows} x {columns} iterations a thread" if rows * columns > 1 else ""
    few = f" ({WARP} if few)" if kernel.few else ""
    tiles += f"; {kernel.shared_by}s share {', '.join(kernel.shared)}" if kernel.shared else ""
    return kernel.name, lines, f"{axes}; blocks of {block}{few}, grid {grid}{tiles}{several}"


def _tiles(tiles: LoopTiles) -> str:
    words = f"two shared tiles of {tiles.width} each" if tiles.doubled else f"shared tiles of {tiles.width}"
    at_once = f", {tiles.wide} elements a load" if tiles.wide > 1 else ""
    padded = f", rows padded by {tiles.padding}" if tiles.padding >= 0 else ""
    return f"; {', '.join(tiles.arrays)} in {words}{at_once}{padded}"


def _trim(sizes: Sequence[str]) -> list[str]:
    kept = list(sizes)
    while len(kept) > 1 and kept[-1] == "1":
        kept.pop()
    return kept


def verification_text(verify: Verification) -> str:
    """Return the referee's word: two lines where it passed, every reason where it did not."""
    word = {"pass": "PASS", "fail": "FAIL", "undecided": "UNDECIDED", "skipped": "SKIPPED"}[verify.status]
    how: list[str] = [verify.executor]
    if verify.schedules:
        how.append(_count(verify.schedules, "hostile schedule"))
    if verify.inputs:
        how.append(verify.inputs)
    lines = [f"verify  {word}   {', '.join(how)}", f"        {_agreement(verify)}"]
    return "\n".join(lines + [render_finding(reason) for reason in verify.reasons])


def _agreement(verify: Verification) -> str:
    if verify.status == "skipped":
        return "nothing was compared"
    worst = max((item.max_abs for item in verify.live_out), default=None)
    texts = [_compared_text(verify) if verify.live_out else "program output compared"]
    if worst is not None and worst > 0:
        texts.append(f"max abs err {worst:.2g}")
    if verify.tolerance:
        equal = verify.tolerance.removeprefix("not needed: ")
        texts.append(equal if equal != verify.tolerance else f"tolerance {equal}")
    harmless = any(reason.rule == "VER024" for reason in verify.reasons)
    none = "no races but writes of one value" if harmless else "no races"
    texts.append(none if not verify.races else _count(len(verify.races), "race"))
    return ", ".join(texts)


def _compared_text(verify: Verification) -> str:
    """Return how much was compared: of each object, at the instance of which least was."""
    compared = sum(item.compared for item in verify.live_out)
    masked = sum(item.masked for item in verify.live_out)
    left_out = f" ({masked:,} left out)" if masked else ""
    return f"{_count(len(verify.live_out), 'object')}, {_count(compared, 'element')} compared{left_out}"


def _closing(report: Report, writes: str) -> str:
    total = len(report.loops)
    ported = sum(loop.ported for loop in report.loops)
    if not ported:
        kinds = Counter(loop.category for loop in report.loops)
        listed = ", ".join(f"{count} {category}" for category, count in kinds.most_common())
        return f"{_count(total, 'loop')}: {listed}. Nothing was ported." if total else "Nothing was ported."
    written = "" if report.outputs else f" Nothing was written: {writes}, --diff shows them."
    rejected = report.verify is not None and report.verify.status == "fail"
    if rejected or any(finding.severity == "error" for finding in report.findings):
        written = "" if report.outputs else " Nothing was written."
    return f"{_claim(report, total, ported)}{written}"


def _claim(report: Report, total: int, made: int) -> str:
    """Say how many loops were ported: those that a run has launched. Of the others there are kernels, no more."""
    stay = total - made
    rest = f"{stay} {'stays' if stay == 1 else 'stay'} on the host" if stay else ""
    verify = report.verify
    if verify is None or verify.launches is None:
        reported = ["not run", *([rest] if rest else [])]
        return f"Kernels for {made} of {_count(total, 'loop')} ({'; '.join(reported)})."
    idle = _idle(report)
    reported = [rest] if rest else []
    if idle:
        places = ", ".join(f"line {loop.span.line}" for loop in idle[:_MOST_IDLE])
        more = f" and {len(idle) - _MOST_IDLE} more" if len(idle) > _MOST_IDLE else ""
        reported.append(f"{len(idle)} never launched in the run: {places}{more}")
    besides = f" ({'; '.join(reported)})" if reported else ""
    return f"Ported {made - len(idle)} of {_count(total, 'loop')}{besides}."


def _idle(report: Report) -> list[LoopEntry]:
    """Return the loops of whose kernels the run launched none."""
    verify = report.verify
    if verify is None or verify.launches is None:
        return []
    return [loop for loop in report.loops if loop.kernel is not None and not verify.launches_of(loop.kernel)]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
