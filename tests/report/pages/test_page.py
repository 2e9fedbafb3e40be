"""Pages and pictures: no name of the user's is markup, whatever letters it has; templates say all that they need."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import msgspec.structs
import pytest
from jinja2 import UndefinedError

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.flows.explain import ExplainOptions, explain
from warpsmith.kernels.units import KernelFile
from warpsmith.report.analysis.html.page import analysis_html
from warpsmith.report.analysis.model import AnalysisReport, Reported
from warpsmith.report.pages.page import page
from warpsmith.report.simulation.html import simulation_html, simulation_svg
from warpsmith.report.simulation.model import (
    BranchRow,
    Column,
    LaunchRow,
    MemoryRow,
    Mistake,
    OutputRow,
    SimulationReport,
    TimelineGroup,
    WarpStep,
    Work,
)
from warpsmith.report.survey.html import survey_html
from warpsmith.report.survey.model import (
    Blocker,
    Spot,
    SurveyDependence,
    SurveyLoop,
    SurveyReason,
    SurveyReport,
)
from warpsmith.report.timeline.events import TimelineEvent
from warpsmith.report.timeline.svg import timeline_svg
from warpsmith.settings.read import Wanted, read_settings

REPORT = Path(__file__).parents[3] / "src" / "warpsmith" / "report"
HOSTILE = "<script>alert(1)</script>&\"'"
KERNELS = """\
__global__ void k(float *a, const float *b, int n) // {name}
{{
    __shared__ float tile[32][32];
    int t = threadIdx.x;
    if (t & 1)
        tile[t][0] = b[t * 32]; /* {name} */
    if (n > 3)
        a[t * 16] = tile[t][1];
}}
"""


class _Reader(HTMLParser):
    """Tags with the names of their attributes, and apart from these all words."""

    def __init__(self) -> None:
        super().__init__()
        self.shape: list[tuple[str, ...]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.shape.append((tag, *(name for name, _ in attrs)))
        self.words += [value or "" for _, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        self.shape.append(("/", tag))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def _read(text: str) -> _Reader:
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return reader


def _analysis(name: str) -> str:
    """Return the page about a file of this name, whose text has it as well; kernels, arrays and words get it, too."""
    file = KernelFile(f"{name}.cu", "cuda", text=KERNELS.format(name=name))
    settings = read_settings(Wanted(files=False, environment=False))
    report = explain([file], ExplainOptions(settings, diagrams=True))
    assert report.findings
    diagnostic = Finding("INP001", "error", name, None, (name,))
    kernels = tuple(
        msgspec.structs.replace(
            kernel,
            name=name,
            diagrams=tuple(
                msgspec.structs.replace(
                    one, nodes=tuple(msgspec.structs.replace(n, title=name, note=name) for n in one.nodes)
                )
                for one in kernel.diagrams
            ),
        )
        for kernel in report.kernels
    )
    assert kernels[0].diagrams
    findings = tuple(_renamed(one, name) for one in report.findings)
    kept = msgspec.structs.replace(findings[0], hidden="suppressed", reason=name)
    accesses = tuple(msgspec.structs.replace(one, kernel=name, variable=name, index=name) for one in report.accesses)
    whole: AnalysisReport = msgspec.structs.replace(
        report,
        kernels=kernels,
        findings=findings,
        kept_back=(kept,),
        diagnostics=(*report.diagnostics, diagnostic),
        accesses=accesses,
        branches=tuple(msgspec.structs.replace(one, kernel=name) for one in report.branches),
    )
    return analysis_html(whole)


def _renamed(one: Reported, name: str) -> Reported:
    finding = msgspec.structs.replace(
        one.finding,
        message=f"{one.finding.message} {name}",
        label=name,
        help=(name,),
        assumptions=(name,),
        why=tuple(msgspec.structs.replace(step, text=name) for step in one.finding.why),
    )
    return msgspec.structs.replace(one, kernel=name, finding=finding)


def _survey(name: str) -> str:
    here = Spot(f"{name}.c", 9, 9, 9, 12)
    pair = SurveyDependence("flow", name, here, here, (1,), ("<",), name, name)
    first = SurveyReason("POR003", name, None, (name,), pair)
    loop = SurveyLoop(
        id=f"{name}/i",
        spot=here,
        head=f"for (int i = 0; i < n && {name}; i++)",
        function=name,
        variable=name,
        label=name,
        depth=1,
        category="parallel",
        reasons=(first, first),
        assumptions=((name, "guarded"),),
        units=(here.file,),
        construct=name,
        share=0.5,
        own=0.5,
        work=3.0,
    )
    return survey_html(
        SurveyReport(
            inputs=(here.file,),
            status="incomplete",
            root=name,
            units=1,
            read=1,
            lines=9,
            loops=(loop,),
            blockers=(Blocker(name, 1, 0.5, here),),
            findings=(Finding("PRJ006", "error", name, None, (name,)),),
        )
    )


def _run(name: str) -> SimulationReport:
    file = SourceFile(f"{name}.cu", KERNELS.format(name=name))
    span = Span(file, file.text.index("tile[t][0]"), file.text.index(" = b"))
    return SimulationReport(
        inputs=(file.path,),
        status="negative",
        exit_code=1,
        kernel=name,
        device=name,
        launch=LaunchRow((1, 1, 1), (32, 1, 1), 0, (f"a={name}",), 0, 1),
        work=Work(10, 100, 10, 2),
        checks=("race",),
        branches=(BranchRow(span, "if", 1, 1, 16),),
        memory=(MemoryRow(span, "store", "shared", name, 1, 16, 1, 1, 4),),
        mistakes=(Mistake("race", Finding("SIM001", "error", name, span), 0, 1, 3),),
        outputs=(OutputRow(name, "f32", 4, 2, ("1", "2"), f"{name}.npy"),),
        timeline=(TimelineGroup((WarpStep(0, 1, 5, name),), (Column(((0, 0),), (5,)),)),),
    )


def _timeline(name: str) -> str:
    events = [
        TimelineEvent("function", 0, name),
        TimelineEvent("loop", 1, name),
        TimelineEvent("data region", 1, name, "1"),
        TimelineEvent("to device", 2, name, name, name),
        TimelineEvent("kernel", 2, name),
        TimelineEvent("data region", 1, name),
        TimelineEvent("branch", 1, name),
        TimelineEvent("to host", 2, name, name),
        TimelineEvent("suspended", 1, name),
    ]
    return timeline_svg(events, name)


PAGES: dict[str, Callable[[str], str]] = {
    "analysis": _analysis,
    "survey": _survey,
    "simulation": lambda name: simulation_html(_run(name)),
    "masks": lambda name: simulation_svg(_run(name)),
    "timeline": _timeline,
}
LEAST = {"analysis": 12, "survey": 12, "simulation": 5, "masks": 1, "timeline": 8}
"""In how many places of each page the name stands at least."""


@pytest.mark.parametrize("kind", PAGES)
def test_no_name_is_markup(kind: str) -> None:
    hostile, plain = _read(PAGES[kind](HOSTILE)), _read(PAGES[kind]("x" * len(HOSTILE)))
    assert hostile.shape == plain.shape
    assert sum(HOSTILE in words or HOSTILE[:20] in words for words in hostile.words) >= LEAST[kind]
    assert not any(re.search(r"&(amp|lt|gt|quot|#\d+);", words) for words in hostile.words), "escaped twice"


@pytest.mark.parametrize("kind", ["masks", "timeline"])
def test_pictures_that_stand_alone_are_xml(kind: str) -> None:
    root = ElementTree.fromstring(PAGES[kind](HOSTILE))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"


def test_what_a_template_lacks_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        page("simulation/alone.svg")


def test_no_template_and_no_module_trusts_a_text() -> None:
    templates = [*REPORT.rglob("*.html"), *REPORT.rglob("*.svg")]
    assert len(templates) >= 8
    trusted = re.compile(r"\|\s*safe\b|autoescape|Markup")
    assert not [path for path in templates if trusted.search(path.read_text())]
    code = [path for path in REPORT.rglob("*.py") if path.name != "page.py" or path.parent.name != "pages"]
    assert not [
        path for path in code if re.search(r"Markup\(|import Markup|jinja2|html import escape", path.read_text())
    ]


def test_the_engine_is_loaded_where_a_page_is_written_alone() -> None:
    modules = ", ".join(f"warpsmith.app.cli.commands.{name}" for name in ("analyze", "port", "simulate", "survey"))
    program = f"import {modules}, sys; print('jinja2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
