"""The numbers of the kernel table, its footnotes, and the last line."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.report.analysis.samples import access, fix, kernel, report, reported
from warpsmith.analysis.uniformity.facts import Count
from warpsmith.report.analysis.model import AccessEntry
from warpsmith.report.analysis.numbers import closing, count_noun, fix_words, footnotes, kernel_rows, sort_findings


def cells(**changes: object) -> tuple[str, ...]:
    (row,) = kernel_rows(report(**changes))
    return row.cells


def test_a_row_of_the_table() -> None:
    assert cells() == (
        "k",
        "h100",
        "32x8",
        "32*",
        "4,224 B",
        "75%*",
        "- / 32.0",
        "2-way",
        "1 of 2",
        "1 warning, 1 note",
    )


@pytest.mark.parametrize(("block", "text"), [((64, 1, 1), "64"), ((8, 4, 2), "8x4x2"), ((1, 2, 1), "1x2")])
def test_blocks(block: tuple[int, int, int], text: str) -> None:
    assert cells(kernels=(kernel(block=block),))[2] == text
    assert cells(kernels=(kernel(block=block, block_assumed=("so",)),))[2] == f"{text}?"


@pytest.mark.parametrize(
    ("accesses", "text"),
    [
        ((), "- / -"),
        ((access(kind="load"), access(kind="load", sectors=Count(4, 8))), "18.0-20.0 / -"),
        ((access(kind="atomic"), access(sectors=None)), "- / 32.0+?"),
        ((access(sectors=None),), "- / ?"),
        ((access(sectors_aligned=Count(4, 4)),), "- / 4.0"),
        ((access(space="local"), access(kernel="other"), access(input="x.cu")), "- / -"),
    ],
)
def test_sectors(accesses: tuple[AccessEntry, ...], text: str) -> None:
    assert cells(accesses=accesses)[6] == text


def test_bank_ways() -> None:
    known, unknown = (access(space="shared", bank_ways=ways) for ways in (Count(1, 3), None))
    assert [cells(accesses=found)[7] for found in ((known,), (known, unknown), (unknown,))] == ["3-way", "3-way+?", "?"]


def test_findings_of_another_device_are_not_counted() -> None:
    assert cells(findings=(replace(reported(), devices=("a100",)),))[9] == "none"
    assert cells(kernels=(kernel(divergent_branches=0, grid_assumed=("g",)),))[8] == "none†"


def test_footnotes_say_what_is_in_the_table() -> None:
    assert footnotes(report(accesses=())) == ["* estimated from what is live at once; exact with ptxas"]
    exact = kernel(resources=replace(kernel().resources, source="ptxas"), block_assumed=("b",), grid_assumed=("g",))
    assert footnotes(report(kernels=(exact, exact), accesses=(access(sectors=None),))) == [
        "? a likely block, since nothing says it: --block X,Y,Z",
        "† if g, since nothing says it: --grid X,Y,Z",
        "+? besides accesses whose addresses are not known",
    ]


def test_the_last_line() -> None:
    assert closing(report()) == (
        "Found 1 warning, 1 note in 1 kernel (0.75 s). 1 suppressed. 1 less certain: --min-certainty heuristic."
    )
    quiet = report(findings=(), kept_back=(), below=0)
    assert closing(quiet) == "Found nothing in 1 kernel (0.75 s)."
    assert closing(report(kernels=(), findings=())) == "No kernel was analyzed (0.75 s)."
    assert closing(report(kernels=())) == "No kernel was analyzed (0.75 s). Found 1 warning, 1 note."
    hidden = replace(reported(), hidden="baseline")
    assert "2 in the baseline." in closing(report(kept_back=(hidden, hidden)))
    twice = report(kernels=(kernel(), kernel(device="a100")))
    assert "in 1 kernel " in closing(twice)


def test_what_edits_would_mend() -> None:
    safe, unsafe = replace(reported(), fix=fix()), replace(reported(), fix=fix(safe=False))
    assert "2 fixable with --fix. 1 more fixable with --fix --unsafe-fixes." in closing(
        report(findings=(safe, safe, unsafe))
    )
    assert " 1 fixable with --fix --unsafe-fixes." in closing(report(findings=(unsafe,)))
    assert fix_words(fix()).endswith("(safe: --fix)") and "may change results" in fix_words(fix(safe=False))


def test_orders() -> None:
    found = report(findings=(
        reported("MEM010", 9, impact=1.0), reported("DIV001", 20, severity="note", impact=9.0),
        reported("MEM001", 3, impact=2.0), reported("ARI001", None, severity="error", impact=0.0),
    ))  # fmt: skip

    def order(by: str) -> list[str]:
        return [one.finding.rule for one in sort_findings(found, by).findings]

    assert order("impact") == ["ARI001", "MEM001", "MEM010", "DIV001"]
    assert order("rule") == ["ARI001", "DIV001", "MEM001", "MEM010"]
    assert order("line") == ["ARI001", "MEM001", "MEM010", "DIV001"]


def test_counts() -> None:
    assert [count_noun(number, "loop") for number in (0, 1, 1234)] == ["0 loops", "1 loop", "1,234 loops"]
