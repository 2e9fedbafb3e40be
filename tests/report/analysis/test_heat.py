"""The heat map of a kernel's lines: the worst that stands on each, with the lines around."""

from __future__ import annotations

from tests.report.analysis.samples import TEXT, access, branch, kernel, report, reported, span
from warpsmith.analysis.uniformity.facts import Count
from warpsmith.base.source import SourceFile
from warpsmith.report.analysis.heat import HeatLine, HeatMap, heat_maps


def lines(**changes: object) -> dict[int, HeatLine]:
    given = {"accesses": (), "branches": (), "findings": (), "kernels": (kernel(),)} | changes
    (one,) = heat_maps(report(**given))
    return {line.number: line for line in one.lines if line is not None}


def numbers(found: HeatMap) -> list[int | None]:
    return [None if line is None else line.number for line in found.lines]


def test_lines_around_those_of_which_something_is_said() -> None:
    assert list(lines()) == [1, 2]
    assert list(lines(findings=(reported(line=30),))) == [1, 2, 29, 30, 31]
    # up to three lines in a row stay, more are left out
    (near,) = heat_maps(report(findings=(reported(line=6),), accesses=(), branches=()))
    assert numbers(near) == [1, 2, 3, 4, 5, 6, 7]
    (far,) = heat_maps(report(findings=(reported(line=8),), accesses=(), branches=()))
    assert numbers(far) == [1, 2, None, 7, 8, 9]


def test_the_worst_branch_of_a_line() -> None:
    uniform, warps, lanes = branch(3, "uniform", "uniform"), branch(3, "uniform"), branch(3)
    assert lines(branches=(uniform,))[3].parts == "uniform"
    assert lines(branches=(warps, uniform))[3].parts == "warps"
    assert lines(branches=(lanes, warps))[3].parts == "lanes"
    assert lines(branches=(branch(None),)).keys() == {1, 2}


def test_the_dearest_access_of_a_line() -> None:
    cheap, dear = access(3, sectors=Count(8, 8)), access(3, sectors=Count(16, 16), ideal_sectors=1)
    for order in ((cheap, dear), (dear, cheap)):
        found = lines(accesses=order)[3]
        assert (found.sectors, found.ideal, found.factor) == (16, 1, 16.0)
    aligned = lines(accesses=(access(3, sectors_aligned=Count(4, 4)),))[3]
    assert (aligned.sectors, aligned.factor) == (4, 1.0)
    unknown = lines(accesses=(access(3, sectors=None),))[3]
    assert (unknown.unknown, unknown.factor) == (True, 0.0)


def test_shared_memory_and_other_spaces() -> None:
    two = access(3, space="shared", sectors=None, bank_ways=Count(2, 2))
    four = access(3, space="shared", sectors=None, bank_ways=Count(1, 4))
    assert (lines(accesses=(two, four, two))[3].ways, lines(accesses=(two, four))[3].factor) == (4, 4.0)
    assert lines(accesses=(access(3, space="shared", sectors=None),))[3].unknown
    assert 3 not in lines(accesses=(access(3, space="constant"), access(None)))


def test_each_rule_of_a_line_at_its_worst() -> None:
    found = lines(findings=(reported(), reported(severity="note"), reported("DIV001", severity="note")))
    assert found[3].rules == {"MEM001": "warning", "DIV001": "note"}
    assert lines(findings=(reported(line=None),)).keys() == {1, 2}


def test_instances_of_a_template_share_a_map_and_headers_have_their_own() -> None:
    header = SourceFile("h.cuh", TEXT)
    made = report(
        kernels=(kernel("k<int>"), kernel("k<float>"), kernel("other", 20)), branches=(), accesses=(),
        findings=(reported(kernel="k<float>"), reported(line=4, kernel="k<int>", file=header)),
    )  # fmt: skip
    found = [(one.kernels, one.file.path) for one in heat_maps(made)]
    assert found == [(("k<int>", "k<float>"), "src/k.cu"), (("other",), "src/k.cu")]
    inside = report(findings=(reported(line=4),), branches=(), accesses=(), kernels=(kernel(span=span(2, header)),))
    assert [one.file.path for one in heat_maps(inside)] == ["h.cuh", "src/k.cu"]
    nowhere = report(kernels=(kernel(span=None),), findings=(), branches=(), accesses=())
    assert heat_maps(nowhere) == []
