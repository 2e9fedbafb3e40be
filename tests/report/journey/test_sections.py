"""Sections have what every stage came to; no row and no reason is lost."""

from __future__ import annotations

from msgspec.structs import replace

from tests.report.journey.made import made_journey
from warpsmith.report.analysis.numbers import COLUMNS, ESTIMATED, NOT_KNOWN
from warpsmith.report.journey.model import MachineRow, MachineStage
from warpsmith.report.journey.sections import closing_line, sections


def test_verdicts_stand_below_their_versions() -> None:
    ran = sections(made_journey())[4]
    assert {row[0]: row[1] for row in ran.tables[0].rows} == {
        "interpreter": "equal, 4 elements",
        "mask machine": "not run",
        "PTX, read back": "differs in 2 of 4, up to 3 ulp",
        "GCN machine": "stopped",
    }
    assert ran.notes == (
        "mask machine, port: a.cu:4:2: the mask ISA has no shared memory",
        "PTX, read back, port: x[1] is 2, not 3",
        "GCN machine, port: the run was stopped: outside",
    )


def test_a_reason_stands_once_for_all_that_it_is_of() -> None:
    rows = tuple(MachineRow("port", name, "", "not run", why="no input") for name in ("a", "b"))
    made = replace(made_journey(), ran=MachineStage(rows=rows))
    assert sections(made)[4].notes == ("a, port; b, port: no input",)


def test_an_original_that_changes_nothing_is_told() -> None:
    made = made_journey()
    still = replace(made, ran=replace(made.ran, changed=0))
    assert "equal says little" in sections(still)[4].lines[1]


def test_every_policy_has_a_cell_for_every_width() -> None:
    table = sections(made_journey())[5].tables[0]
    assert table.header == ("k1 (port, launch 2 of 3)", "8 lanes")
    assert table.rows == (
        ("as counted", "1,000 (75 %)"), ("sectors", "16"), ("ipdom", "1,100 (70 %)"), ("per-lane", "stopped"),
    )  # fmt: skip


def test_the_last_line_counts_what_was_compared() -> None:
    assert closing_line(made_journey()) == "2 of 4 outputs differ from the original's; 1 not run."
    assert closing_line(made_journey(stopped=False)) == "All 3 outputs are the original's; 1 not run."
    nothing = replace(made_journey(), ran=MachineStage(), rewritten=type(made_journey().rewritten)(), streams=None)
    assert closing_line(nothing) == "No output was compared."


def test_what_signs_of_figures_mean_is_said_where_they_stand() -> None:
    made = made_journey()
    assert sections(made)[1].notes == ("races in k1 (port): none, proven for blocks of 64",)
    row = made.found.figures[0]
    cells = tuple({"regs": "8*", "load / store sectors": "4.0+? / -"}.get(name, "-") for name in COLUMNS)
    signed = replace(made, found=replace(made.found, figures=(replace(row, cells=cells),)))
    assert sections(signed)[1].notes[:2] == (ESTIMATED, NOT_KNOWN)
