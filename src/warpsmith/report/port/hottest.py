"""The loop in which a program spends most of its time, as far as its text tells, and whether it runs on a device.

    for (i) for (j) for (k) s += a[i][k] * b[k][j];      the loop over k: its own operations, times how often it runs

The figures are estimates (shares.py), and no measurement.
"""

from __future__ import annotations

from collections.abc import Sequence

from warpsmith.offload.gain.shares import HostTimes
from warpsmith.report.json_parts import Json, span_json
from warpsmith.report.model import Hottest, LoopEntry
from warpsmith.report.port.shares import loop_shares
from warpsmith.tree.nodes import Function

__all__ = ["hottest_json", "hottest_loop", "hottest_text"]


def hottest_loop(
    functions: Sequence[Function], entries: Sequence[LoopEntry], times: HostTimes | None = None
) -> Hottest | None:
    """Return the loop with the most work of its own, the deepest of equal ones; None where there is no loop."""
    found = loop_shares(functions, entries, times)
    if not found:
        return None
    most = max(found, key=lambda one: (one.share, one.depth, -one.entry.span.start))
    ported = most.entry.ported or most.entry.statements_ported
    return Hottest(most.entry.id, most.entry.span, most.share, ported)


def hottest_text(hottest: Hottest, *, launched: bool = True) -> str:
    """Return what the summary's first line says of a loop with a kernel; `launched`: whether that ran, where the port
    was run."""
    told = f"{hottest.id} (line {hottest.span.line}, {100 * hottest.share:.0f} %)"
    if launched:
        return f", the hottest loop with it: {told}"
    return f"; the kernel of the hottest loop was never launched in the run: {told}"


def hottest_json(hottest: Hottest) -> Json:
    """Return the loop as JSON."""
    return {
        "loop": hottest.id,
        "span": span_json(hottest.span),
        "share": round(hottest.share, 4),
        "basis": "estimate",
        "ported": hottest.ported,
    }
