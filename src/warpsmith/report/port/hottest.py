"""The loop in which a program spends most of its time, as far as its text tells, and whether it runs on a device.

    for (i) for (j) for (k) s += a[i][k] * b[k][j];      the loop over k: its own operations, times how often it runs

The figures are those by which a survey ranks (ranking.py): an estimate from trip counts, depth and calls, and no
measurement.
"""

from __future__ import annotations

from collections.abc import Sequence

from warpsmith.loops.search.effort import effort_of
from warpsmith.report.json_parts import Json, span_json
from warpsmith.report.model import Hottest, LoopEntry
from warpsmith.report.port.ranking import weigh
from warpsmith.tree.nodes import Function
from warpsmith.tree.walk import loops

__all__ = ["hottest_json", "hottest_loop", "hottest_text"]


def hottest_loop(functions: Sequence[Function], entries: Sequence[LoopEntry]) -> Hottest | None:
    """Return the loop with the most work of its own, the deepest of equal ones; None where there is no loop."""
    # a function of a header stands in every file that includes it
    once = list({function.symbol.key: function for function in functions}.values())
    weights = weigh([effort_of(function) for function in once])
    listed = {entry.span: entry for entry in entries}
    found: list[tuple[float, int, LoopEntry]] = []
    for function in once:
        for number, (loop, around) in enumerate(loops(function.body)):
            entry = listed.get(loop.header)
            if entry is not None:
                found.append((weights.own[function.symbol.key, number] / weights.total, len(around), entry))
    if not found:
        return None
    share, _, entry = max(found, key=lambda one: (one[0], one[1], -one[2].span.start))
    return Hottest(entry.id, entry.span, min(1.0, share), entry.ported)


def hottest_text(hottest: Hottest, *, launched: bool = True) -> str:
    """Return the summary's line on the loop; `launched`: whether its kernel ran, where the port was run."""
    where = "stays on the host"
    if hottest.ported:
        where = "runs on the device" if launched else "has a kernel, which was never launched in the run"
    share = f"{100 * hottest.share:.0f} % of the work, estimated from trip counts and depth"
    return f"hottest loop: {hottest.id} (line {hottest.span.line}; {share}) {where}"


def hottest_json(hottest: Hottest) -> Json:
    """Return the loop as JSON."""
    return {
        "loop": hottest.id,
        "span": span_json(hottest.span),
        "share": round(hottest.share, 4),
        "basis": "estimate",
        "ported": hottest.ported,
    }
