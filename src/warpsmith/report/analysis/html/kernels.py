"""The part of the page about whole kernels: what each line costs, and the pictures of control flow and dependences."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from warpsmith.analysis.resources.diagrams import Diagram
from warpsmith.base.findings import printable
from warpsmith.report.analysis.heat import HeatLine, HeatMap, heat_maps
from warpsmith.report.analysis.model import SEVERITIES, AnalysisReport, AnalyzedKernel
from warpsmith.report.legible import legible
from warpsmith.report.pictures.diagram import DrawnDiagram, drawn_diagram

__all__ = ["HeatCell", "HeatRow", "KernelSection", "Picture", "kernel_sections"]

_OPEN: Final = 3
"""So many kernels at most have their lines shown from the start."""
_STEPS: Final = ((8, "4"), (4, "3"), (2, "2"), (1.2, "1"))
_PARTS: Final = {"": "", "uniform": "together", "warps": "warps part", "lanes": "lanes part"}
_TITLES: Final = {
    "control flow": ("Control flow", "where lanes part, where they may be apart (dotted), where they meet again"),
    "data": (
        "What decides the branches: data",
        "an edge from each operand to its result; marked: what follows from the thread's index by data alone",
    ),
    "predicates": (
        "What decides the branches: data and predicates",
        "with an edge (dashed) from each branch to the values φ in which its two ways meet: which way a thread came "
        "makes a value divergent as well",
    ),
}


class HeatCell(Struct, frozen=True):
    """A number that is known of a line, and how dark it is shown: "" or "1" to "4"."""

    text: str
    step: str


class HeatRow(Struct, frozen=True):
    """A line of a kernel: its cells, its source, the codes of its findings with their severities."""

    number: int
    cells: tuple[HeatCell, ...]
    source: str
    marks: tuple[tuple[str, str], ...]


class Picture(Struct, frozen=True):
    """A diagram with what is written above it."""

    title: str
    name: str
    words: str
    drawn: DrawnDiagram


class KernelSection(Struct, frozen=True):
    """Lines of kernels that share them (None: lines are left out), and the pictures that follow."""

    names: str
    path: str
    opened: bool
    rows: tuple[HeatRow | None, ...]
    pictures: tuple[Picture, ...]


def kernel_sections(report: AnalysisReport) -> tuple[KernelSection, ...]:
    """Return a section for each kernel whose lines are known."""
    maps = heat_maps(report)
    pictures = {(kernel.input, kernel.name): kernel for kernel in report.kernels if kernel.diagrams}
    few = len({(one.input, one.kernels) for one in maps}) <= _OPEN
    sections: list[KernelSection] = []
    drawn: set[tuple[str, tuple[str, ...]]] = set()
    for one in maps:
        found = None
        if (one.input, one.kernels) not in drawn:
            drawn.add((one.input, one.kernels))
            found = next((pictures[one.input, name] for name in one.kernels if (one.input, name) in pictures), None)
        rows = tuple(None if line is None else _row(one, line) for line in one.lines)
        names = legible(", ".join(one.kernels))
        sections.append(KernelSection(names, one.file.path, few, rows, _pictures(found) if found is not None else ()))
    return tuple(sections)


def _row(one: HeatMap, line: HeatLine) -> HeatRow:
    traffic = f"{line.sectors}/{line.ideal}" if line.sectors else ""
    traffic += "+?" if line.unknown and traffic else "?" if line.unknown else ""
    cells = (
        HeatCell(_PARTS[line.parts], {"lanes": "4", "warps": "1"}.get(line.parts, "")),
        HeatCell(traffic, _step(line.sectors / max(1, line.ideal))),
        HeatCell(f"{line.ways}-way" if line.ways else "", _step(line.ways)),
    )
    rules = sorted(line.rules.items(), key=lambda item: (-SEVERITIES.index(item[1]), item[0]))
    return HeatRow(line.number, cells, printable(one.file.line(line.number))[:240].rstrip(), tuple(rules))


def _step(factor: float) -> str:
    return next((step for least, step in _STEPS if factor >= least), "")


def _pictures(kernel: AnalyzedKernel) -> tuple[Picture, ...]:
    return tuple(_picture(diagram, legible(kernel.name)) for diagram in kernel.diagrams if diagram.nodes)


def _picture(diagram: Diagram, name: str) -> Picture:
    title, words = _TITLES[diagram.name]
    more = (
        f" The first {len(diagram.nodes)} of {len(diagram.nodes) + diagram.left_out} nodes." if diagram.left_out else ""
    )
    return Picture(title, name, f"{words}.{more}", drawn_diagram(diagram, name))
