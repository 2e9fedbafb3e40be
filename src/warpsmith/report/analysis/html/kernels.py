"""The part of the page about whole kernels: what each line costs, and the pictures of control flow and dependences."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from importlib import resources
from typing import Final

from warpsmith.analysis.resources.diagrams import Diagram
from warpsmith.base.findings import printable
from warpsmith.report.analysis.heat import HeatLine, HeatMap, heat_maps
from warpsmith.report.analysis.model import SEVERITIES, AnalysisReport, AnalyzedKernel
from warpsmith.report.legible import legible
from warpsmith.report.pictures.diagram import MARKERS, STYLE, diagram_svg

__all__ = ["kernel_sections", "kernel_style"]

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


def kernel_style() -> str:
    """Return the style of the page and of its pictures."""
    return resources.files("warpsmith.report").joinpath("page.css").read_text("utf-8") + STYLE


def kernel_sections(report: AnalysisReport) -> str:
    """Return a section for each kernel, "" where there is none."""
    maps = heat_maps(report)
    if not maps:
        return ""
    pictures = {(kernel.input, kernel.name): kernel for kernel in report.kernels if kernel.diagrams}
    few = len({(one.input, one.kernels) for one in maps}) <= _OPEN
    parts = [f'<svg width="0" height="0" aria-hidden="true" style="position:absolute"><defs>{MARKERS}</defs></svg>']
    drawn: set[tuple[str, tuple[str, ...]]] = set()
    for one in maps:
        parts.append(_map(one, opened=few))
        if (one.input, one.kernels) not in drawn:
            drawn.add((one.input, one.kernels))
            found = next((pictures[one.input, name] for name in one.kernels if (one.input, name) in pictures), None)
            parts += _pictures(found) if found is not None else []
    legend = (
        '<p class="faint">branches: who parts there. traffic: 32-byte sectors a warp request / those that would do. '
        "banks: passes of shared memory a request. The darker, the more: "
        + " ".join(f'<span class="heat h{n}">{word}</span>' for n, word in _LEGEND)
        + "</p>"
    )
    return f'<section aria-labelledby="lines"><h2 id="lines">Line by line</h2>{legend}{"".join(parts)}</section>'


_LEGEND: Final = (("1", "above 1.2×"), ("2", "2×"), ("3", "4×"), ("4", "8× and more"))


def _map(one: HeatMap, *, opened: bool) -> str:
    names = escape(legible(", ".join(one.kernels)))
    rows = "".join(_row(one, line) for line in one.lines)
    return (
        f'<details class="lines"{" open" if opened else ""}><summary><code>{names}</code> '
        f'<span class="faint">{escape(legible(one.file.path))}</span></summary><div class="wide">'
        '<table class="heatmap"><thead><tr><th scope="col">line</th><th scope="col">branches</th>'
        '<th scope="col">traffic</th><th scope="col">banks</th><th scope="col">source</th><th scope="col">findings</th>'
        f"</tr></thead><tbody>\n{rows}</tbody></table></div></details>\n"
    )


def _row(one: HeatMap, line: HeatLine | None) -> str:
    if line is None:
        return '<tr class="gap"><td colspan="6">⋯</td></tr>\n'
    traffic = f"{line.sectors}/{line.ideal}" if line.sectors else ""
    traffic += "+?" if line.unknown and traffic else "?" if line.unknown else ""
    part = {"lanes": "4", "warps": "1"}.get(line.parts, "")
    rules = sorted(line.rules.items(), key=lambda item: (-SEVERITIES.index(item[1]), item[0]))
    marks = " ".join(f'<span class="badge {word}">{code}</span>' for code, word in rules)
    source = escape(printable(one.file.line(line.number))[:240].rstrip())
    return (
        f'<tr><td class="n number">{line.number}</td>{_cell(_PARTS[line.parts], part)}'
        f"{_cell(traffic, _step(line.sectors / max(1, line.ideal)))}"
        f"{_cell(f'{line.ways}-way' if line.ways else '', _step(line.ways))}"
        f'<td class="code">{source}</td><td class="marks">{marks}</td></tr>\n'
    )


def _step(factor: float) -> str:
    return next((step for least, step in _STEPS if factor >= least), "")


def _cell(text: str, step: str) -> str:
    return f'<td class="heat{f" h{step}" if step else ""}">{escape(text)}</td>'


def _pictures(kernel: AnalyzedKernel) -> Iterator[str]:
    for diagram in kernel.diagrams:
        if diagram.nodes:
            yield _picture(diagram, legible(kernel.name))


def _picture(diagram: Diagram, name: str) -> str:
    title, words = _TITLES[diagram.name]
    more = (
        f" The first {len(diagram.nodes)} of {len(diagram.nodes) + diagram.left_out} nodes." if diagram.left_out else ""
    )
    return (
        f'<details class="picture"><summary>{title} of <code>{escape(name)}</code></summary>'
        f'<p class="faint">{words}.{more}</p><div class="wide">{diagram_svg(diagram, name)}</div></details>\n'
    )
