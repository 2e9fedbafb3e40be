"""A run of a kernel as one HTML file: what every line cost."""

from __future__ import annotations

from msgspec.structs import replace

from tests.report.simulation.samples import at, run
from warpsmith.report.simulation.html import Cell, _tables, simulation_svg
from warpsmith.report.simulation.model import SimulationReport


def lines(report: SimulationReport) -> dict[int, tuple[Cell, ...]]:
    (table,) = _tables(report)
    return {number: cells for number, cells, _ in table.rows}


def test_lines_from_the_first_to_the_last_with_those_around() -> None:
    assert list(lines(run())) == [2, 3, 4, 5]
    assert list(lines(run(memory=(), branches=(replace(run().branches[0], span=at(1)),)))) == [1, 2]
    assert list(_tables(run(memory=(), branches=()))) == []


def test_branches_of_a_line() -> None:
    assert lines(run())[3][:3] == (Cell("10", 0), Cell("5", 2), Cell("20", 4))
    assert lines(run())[4][:3] == (Cell("", 0),) * 3


def test_accesses_of_a_line() -> None:
    assert lines(run())[4][3:] == (Cell("32.0, ideal 4.0", 4), Cell("12", 3))
    quiet = replace(run().memory[1], bank_conflicts=0)
    assert lines(run(memory=(quiet,)))[4][3:] == (Cell("", 0), Cell("0", 0))


def test_the_picture_is_of_the_warps_that_do_most_alike() -> None:
    (most,) = run().timeline
    few = replace(most, columns=(replace(most.columns[0], warps=((9, 9),)),))
    made = simulation_svg(run(timeline=(few, most)))
    assert "block 0 warp 0 and 1 like it" in made and "block 9 warp 9" not in made
