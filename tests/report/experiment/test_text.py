"""An experiment as a table."""

from __future__ import annotations

from msgspec.structs import replace

from tests.report.experiment.samples import by_clocks, by_input, by_width
from warpsmith.report.experiment.text import experiment_text


def test_a_row_for_each_run() -> None:
    lines = experiment_text(by_width()).splitlines()
    assert lines[0] == "k, by width"
    assert lines[2].split()[:2] == ["width", "input"]
    assert lines[3].split() == ["8", "random", "10", "80", "1.60", "1.250", "30", "2", "4", "20"]
    assert lines[5].split()[-3:] == ["-", "0", "0"]
    assert lines[6].rstrip().endswith("stopped: too many steps")
    assert lines[-1].startswith("hot line")


def test_inputs_that_are_varied_have_no_column_of_their_own() -> None:
    lines = experiment_text(by_input()).splitlines()
    assert lines[2].split()[:2] == ["input", "warp"] and "hot line  the" not in lines[-1]
    assert experiment_text(replace(by_input(), points=())) == ""


def test_clocks_stand_first() -> None:
    lines = experiment_text(by_clocks()).splitlines()
    assert lines[2].split()[:3] == ["width", "clocks", "relative"]
    assert lines[4].split() == ["16", "150", "1.500", "6", "96", "1.92", "46"]
    assert "stopped: no end" in lines[5] and "relative  clocks against the fewest of the table" in lines
