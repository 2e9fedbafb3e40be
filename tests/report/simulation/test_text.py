"""A run of a kernel as text."""

from __future__ import annotations

from msgspec.structs import replace

from tests.report.simulation.samples import run
from warpsmith.report.simulation.model import Column, LaunchRow, TimelineGroup, WarpStep
from warpsmith.report.simulation.text import checks_line, head_line, outputs_lines, simulation_text, work_line

LAUNCH = LaunchRow((2, 1, 1), (8, 4, 1), 64, (), 3, 1234)


def test_the_launch() -> None:
    assert head_line(run()) == (
        "k<<<2,(8,4)>>>  1,234 warps of 32 lanes, 64 bytes of dynamic shared memory, policy maximal reconvergence"
    )
    small = replace(LAUNCH, warps=1, shared_bytes=0, grid=(1, 2, 3))
    assert head_line(run(launch=small)) == "k<<<(1,2,3),(8,4)>>>  1 warp of 32 lanes, policy maximal reconvergence"


def test_the_work() -> None:
    assert work_line(run()) == (
        "lanes active 25.0% (100 of 400 lane slots, 10 warp instructions)   branches that part warps 1 of 2   "
        "7 slots of lanes that the block does not fill"
    )


def test_what_was_checked() -> None:
    assert checks_line(run()) == (
        "checks  races 1   out of bounds none   uninitialized reads not checked   barriers not checked"
    )
    assert "out of bounds none so far" in checks_line(run(status="incomplete"))
    fault = replace(run().mistakes[0], check="fault")
    assert checks_line(run(mistakes=(fault, fault))).endswith("faults 2")


def test_arrays() -> None:
    assert list(outputs_lines(run())) == ["a  f32[9], 2 changed: 1 2 …   written to a.npy"]
    whole = replace(run().outputs[0], elements=2, file="")
    assert list(outputs_lines(run(outputs=(whole,)))) == ["a  f32[2], 2 changed: 1 2"]


def test_tables_and_mistakes() -> None:
    text = simulation_text(run())
    rows = [line.split() for line in text.split("\n")]
    assert ["3", "if", "10", "5", "20", "line", "3;"] in rows and ["?", "bra", "4", "0", "0"] in rows
    assert ["4", "load", "a", "2", "32.0", "4.0", "-", "line", "4;"] in rows
    assert ["4", "store", "shared", "s", "4", "-", "-", "12", "line", "4;"] in rows
    assert "data race" in text and "   = also: 3 times at this place" in text
    assert simulation_text(run(work=None)) == ""


def test_lanes_of_each_step_and_warps_that_do_not_fit_side_by_side() -> None:
    wide, narrow = simulation_text(run(), 130), simulation_text(run(), 60)
    assert wide.count("instr  line") == 1 and narrow.count("instr  line") == 2
    assert "1-4" in wide and "####----------------------------" in wide and "4/32 0/32" in wide
    long = TimelineGroup(tuple(WarpStep(n, 1, 3, "x") for n in range(203)), (Column(((0, 0),), (1,) * 203),))
    assert "… and 3 more steps" in simulation_text(run(timeline=(long,)))
