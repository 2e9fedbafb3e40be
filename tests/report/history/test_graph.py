"""The control flow of a run: blocks, ways of single lanes, clocks; a diamond is one though waves walk it arm by arm."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from tests.report.history.samples import listing
from tests.report.history.test_profile import history_of
from tests.simt.clocks.test_fast import random_launch
from tests.simt.mask.programs import example, program, random_text, views_for
from warpsmith.report.history.graph import block_starts, count_graph, history_graph
from warpsmith.report.words import Speech
from warpsmith.simt.clocks.model import ClockLaunch
from warpsmith.simt.mask.resources import place_views
from warpsmith.simt.mask.run import waves_of
from warpsmith.simt.mask.step import begin_wave, step


def test_blocks_begin_at_labels_and_behind_what_parts_joins_or_jumps() -> None:
    made = example("nested")
    lines = [made.instructions[start].span.line for start in block_starts(made)]
    assert lines == [2, 5, 8, 9, 15, 18, 20, 22]


def test_two_halves_are_a_diamond() -> None:
    counts = count_graph(listing("two_halves"))
    assert counts.edges == {(0, 1): 16, (0, 2): 16, (1, 3): 16, (2, 3): 16}
    assert counts.clocks == {0: 3, 1: 2, 2: 2, 3: 1}
    assert (counts.active[1], counts.lanes[1]) == (32, 64)


def test_a_stair_goes_around_once_for_each_lane_and_round() -> None:
    """Lane i goes around 16 - i times; blocks: before, the test, the body, the end."""
    counts = count_graph(listing("up_to_16"))
    rounds = sum(16 - lane for lane in range(16))
    assert counts.edges == {(0, 1): 32, (1, 2): rounds, (2, 1): rounds, (1, 3): 32}


def _ways(launch: ClockLaunch) -> dict[tuple[int, int], int]:
    """Return the edges of all lanes, each followed for itself through a run without clocks."""
    starts, views = block_starts(launch.program), place_views(launch.program, launch.views)
    block = {index: max(n for n, start in enumerate(starts) if start <= index) for index in range(500)}
    found: dict[tuple[int, int], int] = {}
    for number, (first, count) in enumerate(waves_of(launch.groups, launch.machine.width)):
        wave = begin_wave(number, first, count, launch.machine.width, (launch.program.registers, 64))
        last: dict[int, int] = {}
        while not wave.ended:
            pc = wave.stack.pc
            for lane in range(wave.width):
                if wave.stack.exec >> lane & 1:
                    if lane in last and (block[last[lane]] != block[pc] or pc <= last[lane]):
                        edge = block[last[lane]], block[pc]
                        found[edge] = found.get(edge, 0) + 1
                    last[lane] = pc
            step(wave, launch.program.instructions[pc], views, 0)
    return found


@pytest.mark.parametrize("seed", range(40))
def test_edges_are_the_ways_of_single_lanes(seed: int) -> None:
    drawn = random_launch(seed)
    shape = replace(drawn.machine, threading="smt", stack=64, registers=400, formation="none")
    threads = drawn.groups.size * drawn.groups.count
    launch = ClockLaunch(program(random_text(seed)), shape, views_for(threads, seed), drawn.groups)
    history = history_of(launch)
    counts = count_graph(history)
    assert counts.edges == _ways(launch)
    assert sum(counts.clocks.values()) == history.run.totals.slot_clocks[1]


def test_the_picture_names_blocks_clocks_and_lanes() -> None:
    text = history_graph(listing("two_halves"))
    assert text.count("<rect") == 4 + 2 and text.count('marker-end="url(#plain)"') == 4
    assert "ELSE:" in text and "2 clocks, 50 % of lanes active" in text and text.count(">16 lanes<") == 4
    channels = history_graph(replace(listing("two_halves"), words=Speech("intel")))
    assert "16 channels" in channels and not re.search(r"\blanes\b", channels)
