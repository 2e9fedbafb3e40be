"""An analysis as one HTML file: cards, excerpts, certainty. That no name is markup: tests/report/pages/test_page.py."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.analysis.patterns.samples import spaces
from tests.report.analysis.samples import FILE, report, reported
from warpsmith.base.findings import Note
from warpsmith.base.source import SourceFile, Span
from warpsmith.report.accesses.kernel import kernel_spaces
from warpsmith.report.analysis.groups import group_findings
from warpsmith.report.analysis.html.page import Card, ExcerptLine, _card, _excerpt, analysis_html
from warpsmith.report.analysis.model import Reported


def card(*found: Reported) -> Card:
    (group,) = group_findings(found)
    return _card(group)


def test_a_finding_has_its_lines_and_those_related_to_it() -> None:
    one = card(reported())
    assert [[line.number for line in excerpt] for excerpt in one.excerpts] == [["1", "2", "3", "4", "5"], list("1234")]
    assert one.excerpts[0][2] == ExcerptLine("3", "", "line", " 3;", "the label")
    assert one.excerpts[0][1] == ExcerptLine("2", "line 2;")
    assert one.certainty == "proven" and not one.folded and one.others is None
    assert len(one.evidence) == 1 and one.evidence[0][1] is None


def test_notes_are_folded_and_conditions_said() -> None:
    assert card(reported(severity="note")).folded
    without = replace(reported(severity="note", line=None))
    bare = replace(without, finding=replace(without.finding, related=()))
    assert not card(bare).folded and card(bare).excerpts == ()
    assert card(reported(certainty="conditional")).certainty == "conditional, if n >= 8"


def test_other_places() -> None:
    assert card(reported(), reported(line=9)).others == ("1 other place", "line 9")
    two = card(reported(), reported(line=9), reported(line=7, message="less")).others
    assert two == ("2 other places", "line 9; line 7 (less)")


def test_excerpts_at_the_ends_of_a_file_and_of_several_lines() -> None:
    last = _excerpt(Note(Span(FILE, FILE.offset(30), FILE.offset(30) + 4), ""))
    assert [line.number for line in last][:3] == ["28", "29", "30"]
    long = _excerpt(Note(Span(FILE, FILE.offset(3) + 2, FILE.offset(5) + 2), "x"))
    assert long[2] == ExcerptLine("3", "li", "ne 3;", "", "x")
    wide = SourceFile("w.cu", "x" * 2000)
    (line,) = _excerpt(Note(Span(wide, 1000, 1010), ""))
    assert (len(line.before), line.marked, len(line.after)) == (400, "x" * 10, 400)


def test_the_page_has_the_kernels_and_every_cause_once() -> None:
    said = "uncoalesced store to out"
    text = analysis_html(report(findings=(reported(), reported(line=9), reported("DIV008", 5, "a check", "note"))))
    assert text.count(said) == analysis_html(report()).count(said) > 0
    assert "Found 1 warning, 1 note at 3 places in 1 kernel" in text
    assert "nothing" in analysis_html(report(inputs=()))


_WIDE = """for (int k = 0; k < n; k++)
    y[blockIdx.y * n + 16 * blockIdx.x + threadIdx.x] += x[(8 * blockIdx.y + threadIdx.y) * n + k];"""
_MEASURE = """<script>
const boxes = [...document.querySelectorAll("article.reference")];
const right = element => element.getBoundingClientRect().right;
const inside = box => [...box.querySelectorAll("table, svg, code")].every(part => right(part) <= right(box));
const shown = boxes.filter(box => box.offsetHeight > 0 && inside(box)).length;
const said = document.getElementById("count").textContent;
const links = [...document.querySelectorAll("a")].filter(a => document.querySelector(a.getAttribute("href"))).length;
document.title = `${shown} of ${boxes.length} readable, ${links} links, ${said}`;
</script>"""


def _page_of_accesses(folder: Path) -> str:
    (space,) = kernel_spaces(spaces(_WIDE, folder), "saxpy", (16, 8, 1), str)
    one = report()
    return analysis_html(replace(one, kernels=tuple(replace(kernel, patterns=(space,)) for kernel in one.kernels)))


def test_the_page_has_the_accesses_of_a_kernel(tmp_path: Path) -> None:
    text = _page_of_accesses(tmp_path)
    (heading,) = re.findall(r'<h2 id="accesses-1">(.*)</h2>', text)
    assert heading.endswith("blocks of 16 x 8 x 1")
    assert '<a href="#accesses-1">' in text
    assert "loop k of line 1 (outermost first), rank 5" in text
    assert "line 2: read, row-major" in text
    assert text.count('<article class="reference">') == 2


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="no Chromium")
def test_the_accesses_can_be_read_in_a_browser(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(_page_of_accesses(tmp_path).replace("</body>", _MEASURE + "</body>"), "utf-8")
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,800", "--dump-dom"]
    done = subprocess.run([*command, page.as_uri()], capture_output=True, text=True, timeout=120, check=True)
    assert re.findall("<title>(.*)</title>", done.stdout)[:1] == ["2 of 2 readable, 1 links, 2 of 2 findings"]
