"""An analysis as Markdown: nothing of the user's is taken for markup."""

from __future__ import annotations

from tests.report.analysis.samples import kernel, report, reported
from warpsmith.report.analysis.markdown import analysis_markdown


def test_findings_kernels_and_diagnostics() -> None:
    text = analysis_markdown(
        report(findings=(reported(certainty="conditional"), reported(line=9, certainty="conditional")))
    )
    head, lost, found, table, notes = text.split("\n\n")
    assert head.startswith("## Found 1 warning at 2 places in 1 kernel")
    assert lost == "- **error** `INP001` no such file"
    assert found.split("\n") == [
        "- **warning** `MEM001` `src/k.cu:3` uncoalesced store to out (kernel `k`)",
        "  - if n \\>= 8",
        "  - swap the loops",
        "  - also: the same, line 9",
    ]
    assert table.split("\n")[2].startswith("| `k` | h100 | 32x8 |")
    assert notes.startswith("\\* estimated")


def test_letters_that_mean_something() -> None:
    odd = report(findings=(reported(message="a*b_c <b> [x] \\ |", kernel="k`<`"),), kernels=(kernel("a|b"),))
    text = analysis_markdown(odd)
    assert "a\\*b\\_c \\<b\\> \\[x\\] \\\\ |" in text
    assert "(kernel `k'<'`)" in text and "| `a&#124;b` |" in text


def test_a_finding_without_a_place() -> None:
    assert "- **warning** `MEM001` `src/k.cu` unc" in analysis_markdown(report(findings=(reported(line=None),)))


def test_empty_parts_are_left_out() -> None:
    assert analysis_markdown(report(findings=(), kernels=(), diagnostics=())).count("\n") == 0
