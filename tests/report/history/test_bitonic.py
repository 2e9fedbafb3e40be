"""Bitonic sorts in the mask ISA: they sort, do what the document counts, and what is compared in the manual holds."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from tests.simt.mask.programs import example
from warpsmith.machine.simt.parameters import named_machine
from warpsmith.report.history.graph import count_graph
from warpsmith.report.history.model import History
from warpsmith.simt.clocks.fast import run_clocks
from warpsmith.simt.clocks.model import ClockLaunch, ClockRun
from warpsmith.simt.clocks.reference import run_reference
from warpsmith.simt.mask.resources import words_of
from warpsmith.simt.mask.run import Groups

VERSIONS = ("branches", "operands", "selects")


def launch(version: str, numbers: list[int], width: int, machine: str = "example") -> ClockLaunch:
    """Return a sort of numbers, as many in a wave as it has lanes."""
    words = words_of(np.array(numbers, np.uint32))
    shape = named_machine(machine)
    if width != shape.width:
        shape = replace(shape, width=width, lanes_per_alu=width)
    views = {("u", 0): words, ("t", 0): words, ("t", 1): words_of([width])}
    groups = Groups(width, len(numbers) // width)
    return ClockLaunch(example(f"bitonic_{version}"), shape, views, groups)  # type: ignore[arg-type]


def sorts(run: ClockRun, width: int) -> bool:
    """Return whether each wave has its numbers in order."""
    held = run.views["u", 0].words.reshape(-1, width)
    return run.fault is None and bool((np.sort(held, axis=1) == held).all())


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("width", [2, 8, 64])
def test_all_versions_sort(version: str, width: int) -> None:
    for seed in range(5):
        numbers = np.random.default_rng(seed).integers(0, 50, 2 * width).tolist()
        run = run_clocks(launch(version, numbers, width))
        assert sorts(run, width) and sorted(run.views["u", 0].words[:width].tolist()) == sorted(numbers[:width])


def test_the_reference_sees_what_the_other_view_wrote() -> None:
    assert sorts(run_reference(launch("branches", [3, 2, 4, 1], 4)), 4)


def test_3_2_4_1_takes_3_passes_6_comparisons_4_exchanges() -> None:
    """A pass begins with `and` (line 16); lanes compare where they load (lines 25, 33), exchange where they store."""
    given = launch("branches", [3, 2, 4, 1], 4)
    run = run_clocks(given)
    lines = {
        one.start: given.program.instructions[one.index].span.line for one in run.stretches if one.state == "active"
    }
    assert sum(line == 16 for line in lines.values()) == 3
    lanes = dict.fromkeys((27, 35, 29, 37), 0)
    for one in run.stretches:
        line = given.program.instructions[one.index].span.line if one.index >= 0 else 0
        if one.state == "active" and line in lanes:
            lanes[line] += one.mask.bit_count()
    assert lanes[27] + lanes[35] == 6 and lanes[29] + lanes[37] == 4
    edges = count_graph(History("", "", given.program, given.machine, run)).edges
    assert sorted(edges.values()) == [1, 1, 1, 4, 4, 4, 4, 5, 6, 6, 6, 8, 8, 8, 8, 12, 12]


def gains(machine: str, waves: int) -> tuple[float, float, float, float]:
    """Return by how many percent the second and third version are faster, in instructions and in clocks."""
    numbers = np.random.default_rng(1).integers(0, 100, 32 * waves).tolist()
    runs = [run_clocks(launch(version, numbers, 32, machine)).totals for version in VERSIONS]
    first, *others = runs
    instructions = [100 * (first.instructions / one.instructions - 1) for one in others]
    clocks = [100 * (first.clocks / one.clocks - 1) for one in others]
    return instructions[0], instructions[1], clocks[0], clocks[1]


def test_what_the_manual_says_of_the_versions() -> None:
    fewer, fewest, faster, fastest = gains("example", 1)
    assert 8 < fewer < 11 and 14 < fewest < 17
    assert 13 < faster < 17 and 13 < fastest < 18
    assert all(abs(gain) < 5 for gain in gains("volta", 8)[2:])  # the memory unit decides
