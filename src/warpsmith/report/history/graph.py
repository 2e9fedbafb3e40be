"""The control-flow graph of a program with what a run did there: clocks of each block, lanes on each edge.

Blocks begin at labels that are led to and behind instructions that part, join or jump. Edges are the ways of single
lanes: from the block in which a lane was active last to the next one in which it is. So an if/else is a diamond, though
the wave walks through one arm after the other; where a `pop_mask` leads only a run tells.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from operator import attrgetter

from msgspec import Struct

from warpsmith.analysis.resources.diagrams import Diagram, DiagramEdge, DiagramNode
from warpsmith.report.history.model import History, line_of
from warpsmith.report.pages.page import page
from warpsmith.report.pictures.diagram import drawn_diagram
from warpsmith.simt.clocks.model import Stretch
from warpsmith.simt.mask.nodes import MaskProgram

__all__ = ["GraphCounts", "block_starts", "count_graph", "history_graph"]


class GraphCounts(Struct, frozen=True):
    """By block: clocks in which waves take in its instructions, lanes that are active and lanes that there are in them;
    by edge: how many lanes went there."""

    clocks: dict[int, int]
    active: dict[int, int]
    lanes: dict[int, int]
    edges: dict[tuple[int, int], int]


def block_starts(program: MaskProgram) -> list[int]:
    """Return the first instruction of each block, in order."""
    found = {0}
    for index, instruction in enumerate(program.instructions):
        found.update(instruction.targets)
        if instruction.op.unit == "control" and instruction.op.form != "push":
            found.add(index + 1)
    return sorted(start for start in found if start < len(program.instructions))


def count_graph(history: History) -> GraphCounts:
    """Return what a run did in each block and on each edge."""
    starts = block_starts(history.program)
    clocks: Counter[int] = Counter()
    active: Counter[int] = Counter()
    lanes: Counter[int] = Counter()
    edges: Counter[tuple[int, int]] = Counter()
    for stretches in _waves(history).values():
        there, last = stretches[0].mask, {-1: stretches[0].mask}
        for one in stretches:
            block, size = bisect_right(starts, one.index) - 1, one.end - one.start
            clocks[block] += size
            active[block] += size * one.mask.bit_count()
            lanes[block] += size * there.bit_count()
            for index, held in last.items():
                before = bisect_right(starts, index) - 1
                if index >= 0 and (before != block or one.index <= index):
                    edges[before, block] += (held & one.mask).bit_count()
            last = {index: left for index, held in last.items() if (left := held & ~one.mask)}
            last[one.index] = last.get(one.index, 0) | one.mask
    return GraphCounts(dict(clocks), dict(active), dict(lanes), dict(+edges))


def _waves(history: History) -> dict[int, list[Stretch]]:
    """Return the stretches of each wave in which it takes in instructions."""
    found: dict[int, list[Stretch]] = defaultdict(list)
    for one in sorted(history.run.stretches, key=attrgetter("start")):
        if one.wave >= 0 and one.state == "active":
            found[one.wave].append(one)
    return found


def history_graph(history: History) -> str:
    """Return the control-flow graph as an SVG file."""
    starts = block_starts(history.program)
    counts = count_graph(history)
    nodes = tuple(_node(history, starts, number, counts) for number in range(len(starts)) if number in counts.clocks)
    edges = tuple(
        DiagramEdge(str(start), str(end), history.words.count(lanes, "lane"))
        for (start, end), lanes in sorted(counts.edges.items())
    )
    drawn = drawn_diagram(Diagram("control flow", nodes, edges), history.title)
    return page("history/graph.svg", picture=drawn, history=history)


def _node(history: History, starts: list[int], number: int, counts: GraphCounts) -> DiagramNode:
    end = starts[number + 1] if number + 1 < len(starts) else len(history.program.instructions)
    lines = [line_of(history, index) for index in range(starts[number], end)]
    names = [name for name, index in history.program.labels.items() if index == starts[number]]
    active, lanes = counts.active.get(number, 0), max(1, counts.lanes.get(number, 0))
    clocks = counts.clocks[number]
    share = f"{100 * active / lanes:.0f} % of {history.words.many('lane')} active"
    note = f"{clocks:,} clock{'s' if clocks > 1 else ''}, {share}"
    title = f"{', '.join(names)}:" if names else ""
    texts = tuple(f"{line}: {text}" for line, text in lines)
    return DiagramNode(str(number), title, texts, "block", "divergent" if active < lanes else "together", note)
