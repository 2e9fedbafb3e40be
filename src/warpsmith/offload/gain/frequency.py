"""How often a text runs in which a counted run has counted loops.

    for (i …)            1,000 iterations in all
        if (c)           the arm runs as often as the loop in it was entered: 40 times
            for (j …)    40 entries, of 1,000 iterations around it: 0.04 for each

The counts are those of the whole run. Where a function is called from several places, its loops keep the ratio to the
loops around them, and no place has more entries than the run.
Limits: loops that steps have put around another one, which stood outside of it, have no ratio.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.base.source import Span
from warpsmith.offload.plan import LoopCount
from warpsmith.tree.nodes import Block, DeviceNode, For, If, Launch, Loop, Node, Stmt, Verbatim, While
from warpsmith.tree.walk import children, walk

__all__ = ["Counted", "Run", "entries_at", "is_directive", "is_guard", "list_certain_runs", "list_runs"]

Run = Loop | Launch
"""What a counted loop is in a text: the loop, or the launch of its kernel."""
Counted = tuple[Span, LoopCount]


def entries_at(count: Counted, times: float, around: tuple[float, Span | None, LoopCount | None]) -> float:
    """Return how often a counted loop is entered at a place that runs so many `times` as its text tells. `around`: how
    often the body of the loop around it runs there, where that loop stands, and its count."""
    place, shown = count
    body, header, outer = around
    if header is not None and outer is not None and outer.iterations and _contains(header, place):
        times = body * shown.entries / outer.iterations
    return min(times, shown.entries)


def _contains(outer: Span, inner: Span) -> bool:
    """Whether the loop whose header is `outer` stood around the other one as it was written: it begins before it."""
    return outer.file is inner.file and outer.start < inner.start


def is_guard(stmt: If) -> bool:
    """Whether an `if` is the guard of a kernel, which a port has put there."""
    return any(isinstance(part, DeviceNode) for part in walk(stmt.then))


def is_directive(stmt: Stmt) -> bool:
    """Whether a statement is a line of the preprocessor, which is not run."""
    return isinstance(stmt, Verbatim) and stmt.text.lstrip().startswith("#")


def list_runs(node: Node) -> Iterator[Run]:
    """Yield the loops and launches of a text that are in no loop of it."""
    if isinstance(node, For | While | Launch):
        yield node
        return
    for child in children(node):
        yield from list_runs(child)


def list_certain_runs(body: Node) -> Iterator[Run]:
    """Yield those that run whenever the text does: under no `if` but guards."""
    if isinstance(body, For | While | Launch):
        yield body
    elif isinstance(body, Block):
        for statement in body.statements:
            yield from list_certain_runs(statement)
    elif isinstance(body, If) and is_guard(body):
        yield from list_certain_runs(body.then)
