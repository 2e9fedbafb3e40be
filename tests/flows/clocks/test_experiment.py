"""Cost by width in clocks: what the first document says of its figures 8 and 9, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simt.mask.programs import EXAMPLES
from warpsmith.base.errors import UsageError
from warpsmith.base.source import SourceFile
from warpsmith.flows.clocks.experiment import experiment_clocks
from warpsmith.flows.clocks.simulate import ClockOptions, simulate_clocks
from warpsmith.report.experiment.model import ExperimentReport, Varied

MACHINE = "example,lanes_per_alu=1,alus=1,issue=4,scheduler=round-robin"
INPUTS = {"random": ("t0=rand:u32[256]:below=64",), "sorted": ("t0=each:u32[256]=i/4",)}


def counted(
    varied: Varied = "width", *values: str, block: int | None = 256, machine: str = MACHINE
) -> ExperimentReport:
    file = SourceFile.read(str(EXAMPLES / "counted.mask"))
    options = ClockOptions(machine, block, arguments=("u0=zeros:u32[256]",))
    return experiment_clocks(file, varied, options, values, INPUTS)


def test_the_loss_is_large_at_8_already_and_sorted_counts_are_nearly_twice_as_fast() -> None:
    report = counted()
    clocks = {(int(point.value), point.input): point.clocks for point in report.points}
    assert report.exit_code == 0 and len(clocks) == 14
    random = {width: clocks[width, "random"] / clocks[1, "random"] for width in (1, 2, 4, 8, 16, 32, 64)}
    assert list(random.values()) == sorted(random.values())
    assert random[8] > 1.6 and random[64] < 2 and (random[8] - 1) / (random[64] - 1) > 0.75
    assert all(1.55 < clocks[width, "random"] / clocks[width, "sorted"] < 2 for width in (8, 16, 32, 64))
    # the one ALU is never idle for long: clocks are what it takes, lane after lane
    assert all(point.clocks < 1.05 * point.issued_slots for point in report.points)


def remedies(*values: str) -> dict[tuple[str, str], int]:
    """Return the clocks of the loop with a short branch, by width and remedy."""
    majority, select = "machine.scheduler=majority", f"program={EXAMPLES / 'counted_select.mask'}"
    inputs = {
        "random": (), "sorted": INPUTS["sorted"], "predicated": (select,),
        "homes": ("machine.formation=homes", majority), "crossbar": ("machine.formation=crossbar", majority),
        "both": ("machine.formation=homes", majority, select),
        "greedy": ("machine.formation=homes", "machine.scheduler=greedy"),
    }  # fmt: skip
    options = ClockOptions(MACHINE, 256, arguments=("u0=zeros:u32[256]", *INPUTS["random"]))
    report = experiment_clocks(
        SourceFile.read(str(EXAMPLES / "counted_branch.mask")), "width", options, values, {**inputs}
    )
    assert report.exit_code == 0
    return {(point.value, point.input): point.clocks for point in report.points}


@pytest.mark.slow
def test_remedies_side_by_side() -> None:
    clocks = remedies("8", "16", "32", "64")
    for width in ("8", "16", "32", "64"):
        order = [clocks[width, name] for name in ("crossbar", "both", "homes", "random", "predicated")]
        assert order == sorted(order) and clocks[width, "sorted"] < order[0]
        assert (
            clocks[width, "crossbar"]
            < 1.3 * clocks["8", "sorted"]
            < 1.45 * clocks["8", "sorted"]
            < clocks[width, "random"]
        )
        assert width == "64" or clocks[width, "greedy"] > clocks[width, "random"]
    gain = [clocks[width, "random"] / clocks[width, "homes"] for width in ("8", "16", "32", "64")]
    assert gain == sorted(gain, reverse=True) and gain[0] > 1.25


def test_a_program_of_an_input_that_is_not_there() -> None:
    with pytest.raises(UsageError, match=r"no\.mask cannot be read"):
        experiment_clocks(
            SourceFile("e.mask", "ret\n"), "input", ClockOptions(MACHINE, 8), inputs={"a": ("program=no.mask",)}
        )


def test_inputs_alone_run_on_the_machine_as_it_is() -> None:
    points = counted("input", machine="example").points
    assert [(point.value, point.input) for point in points] == [("random", "random"), ("sorted", "sorted")]
    assert points[1].clocks < points[0].clocks


def test_what_does_not_end_is_told() -> None:
    endless = SourceFile("e.mask", "A:\njmp A\n")
    report = experiment_clocks(endless, "width", ClockOptions(MACHINE, 8, most=50), ("8",))
    assert (report.exit_code, report.status) == (3, "incomplete") and report.points[0].stopped.startswith("stopped: ")


def test_what_makes_no_sense_is_refused() -> None:
    refused: tuple[Varied, ...] = ("policy", "block")
    for varied in refused:
        with pytest.raises(UsageError, match="width or input varies"):
            counted(varied)
    with pytest.raises(UsageError, match="needs --block"):
        counted(block=None)
    with pytest.raises(UsageError, match="divides the width"):
        counted("width", "8", machine="example")
    with pytest.raises(UsageError, match="needs inputs"):
        experiment_clocks(SourceFile("e.mask", "ret\n"), "input", ClockOptions(block=8))


def test_a_branch_and_its_select_form_agree_and_which_is_faster_hangs_on_control() -> None:
    found = {}
    for name in ("branch", "select"):
        for control in (1, 8):
            options = ClockOptions(f"example,control={control}", 1024, arguments=("u0=zeros:u32[1024]",))
            history = simulate_clocks(SourceFile.read(str(EXAMPLES / f"{name}.mask")), options).history
            threads = np.arange(1024, dtype=np.uint32)
            assert (history.run.views["u", 0].words == np.where(threads % 3 == 0, threads * threads, 0)).all()
            found[name, control] = history.clocks
    assert found["branch", 1] < found["select", 1] and found["select", 8] < found["branch", 8]
