"""The part of the page about kernels: cells of each line, marks, pictures."""

from __future__ import annotations

import pytest

from tests.report.analysis.samples import access, branch, kernel, report, reported
from warpsmith.analysis.resources.diagrams import Diagram, DiagramEdge, DiagramNode
from warpsmith.analysis.uniformity.facts import Count
from warpsmith.report.analysis.html.kernels import HeatRow, kernel_sections


def row(**changes: object) -> HeatRow:
    """Return line 3 of the only kernel."""
    given = {"accesses": (), "branches": (), "findings": ()} | changes
    (section,) = kernel_sections(report(**given))
    return next(one for one in section.rows if one is not None and one.number == 3)


@pytest.mark.parametrize(
    ("sectors", "ideal", "text", "step"),
    [(4, 4, "4/4", ""), (5, 4, "5/4", "1"), (8, 4, "8/4", "2"), (16, 4, "16/4", "3"), (32, 4, "32/4", "4")],
)
def test_traffic_is_darker_the_more_it_is(sectors: int, ideal: int, text: str, step: str) -> None:
    cell = row(accesses=(access(3, sectors=Count(sectors, sectors), ideal_sectors=ideal),)).cells[1]
    assert (cell.text, cell.step) == (text, step)


def test_what_is_not_known_is_a_question() -> None:
    unknown = access(3, sectors=None)
    assert row(accesses=(unknown,)).cells[1].text == "?"
    assert row(accesses=(unknown, access(3))).cells[1].text == "32/4+?"


def test_branches_banks_and_marks() -> None:
    assert [row(branches=(one,)).cells[0].text for one in (branch(3), branch(3, "uniform"))] == [
        "lanes part", "warps part"
    ]  # fmt: skip
    banks = row(accesses=(access(3, space="shared", sectors=None, bank_ways=Count(8, 8)),)).cells[2]
    assert (banks.text, banks.step) == ("8-way", "4")
    found = row(findings=(reported("DIV001", severity="note"), reported("MEM010"), reported("MEM001")))
    assert found.marks == (("MEM001", "warning"), ("MEM010", "warning"), ("DIV001", "note"))
    assert found.source == "line 3;"


def test_few_kernels_are_open_from_the_start() -> None:
    many = [kernel(f"k{number}", 2 * number) for number in range(1, 5)]
    assert [one.opened for one in kernel_sections(report(kernels=tuple(many[:3])))] == [True] * 3
    assert [one.opened for one in kernel_sections(report(kernels=tuple(many)))] == [False] * 4


def test_pictures_of_a_kernel_are_shown_once() -> None:
    node = DiagramNode("a", "line 1", (), "block", "together")
    flow = Diagram("control flow", (node,), (DiagramEdge("a", "a"),), 7)
    (section,) = kernel_sections(report(kernels=(kernel(diagrams=(flow, Diagram("data", (), ()))),)))
    (picture,) = section.pictures
    assert picture.title == "Control flow" and picture.words.endswith("The first 1 of 8 nodes.")
    both = report(kernels=(kernel("k<int>", diagrams=(flow,)), kernel("k<float>", diagrams=(flow,))), findings=())
    assert [len(one.pictures) for one in kernel_sections(both)] == [1]
