"""Lost lane clocks: by hand, and on random programs against a count of single lanes in single clocks."""

from __future__ import annotations

from collections import Counter

import pytest
from msgspec.structs import replace

from tests.report.history.samples import listing, small
from tests.simt.clocks.test_fast import random_launch
from tests.simt.clocks.traces import machine
from tests.simt.mask.programs import program, random_text, views_for
from warpsmith.machine.simt.parameters import ClockMachine, Formation
from warpsmith.report.history.model import History, line_of, shares
from warpsmith.report.history.profile import profile_of
from warpsmith.simt.clocks.fast import run_clocks
from warpsmith.simt.clocks.model import ClockLaunch
from warpsmith.simt.mask.nodes import LaneRegister, sources_of
from warpsmith.simt.mask.resources import place_views
from warpsmith.simt.mask.run import Groups, waves_of
from warpsmith.simt.mask.step import begin_wave, step

SEEDS = range(60)


def history_of(launch: ClockLaunch) -> History:
    """Return the history of a launch."""
    return History("test", "", launch.program, launch.machine, run_clocks(launch))


def random_history(seed: int, *, formed: bool = False) -> History:
    """Return the history of a random launch on a random machine that forms waves anew, or does not."""
    launch = random_launch(seed)
    formation: Formation = "none" if not formed else "homes" if seed % 2 else "crossbar"
    return history_of(replace(launch, machine=replace(launch.machine, formation=formation)))


def of_text(text: str, shape: ClockMachine, groups: Groups) -> History:
    """Return the history of a program without views."""
    return history_of(ClockLaunch(program(text), shape, {}, groups))


def by_line(history: History) -> dict[int, tuple[int, int, int, int, int]]:
    """Return what each line lost, masked off, to memory, results, ready, and its active clocks."""
    return {
        line_of(history, row.index)[0]: (row.masked, row.memory, row.dependency, row.ready, row.active)
        for row in profile_of(history).rows
    }


def parted(history: History) -> dict[int, int]:
    """Return the clocks of lanes that are masked off, by the line that parted them."""
    return {line_of(history, one.index)[0]: one.masked for one in profile_of(history).parted}


def test_two_halves_by_hand() -> None:
    """Each arm has two instructions for 16 lanes, while the other 16 wait; the branch is line 4."""
    found = by_line(listing("two_halves"))
    assert {line: lost for line, lost in found.items() if any(lost[:4])} == dict.fromkeys(
        (6, 7, 10, 11), (16, 0, 0, 0, 16)
    )
    assert parted(listing("two_halves")) == {4: 64}
    profile = profile_of(listing("two_halves"))
    assert (profile.lost, profile.active, profile.unfilled) == (64, 6 * 32 - 64 + 64, 0)


def test_a_stair_by_hand() -> None:
    """Lanes 0 to 15 of 32 go around 16 - lane times. In round k (0 to 16) the test runs with what passed the round
    before, the body with lanes that pass: 16 - k."""
    tested = [32, *range(16, 0, -1)]
    found = by_line(listing("up_to_16"))
    for line in (6, 7, 8):
        assert found[line] == (sum(32 - n for n in tested), 0, 0, 0, sum(tested))
    for line in (10, 11):
        assert found[line] == (sum(range(16, 32)), 0, 0, 0, sum(range(1, 17)))
    assert parted(listing("up_to_16")) == {8: sum(32 - n for n in tested) * 3 + sum(range(16, 32)) * 2}


def test_memory_a_result_and_a_turn_that_does_not_come() -> None:
    """pipe 3, no cache, memory 10 clocks: 0 ld (there at 12), ready at 0 of the other wave …"""
    found = by_line(small())
    assert found[4][1] > 0 and found[1][3] > 0
    chain = of_text("mov r0.x, u(1)\nadd.u32 r1.x, r0.x, u(1)\nret\n", machine(pipe=3), Groups(4))
    # mov at 0; its result at 3; add at 3, its result at 6; ret at 6: two clocks of four lanes each wait at add and ret
    assert by_line(chain) == {1: (0, 0, 0, 0, 4), 2: (0, 0, 8, 0, 4), 3: (0, 0, 8, 0, 4)}
    two = of_text("mov r0.x, u(1)\nret\n", machine(waves=2), Groups(4, 2))
    # one issue: 0 mov, wave 1 ready; 1 ret; 2 mov; 3 ret; wave 1 is ready in clocks 0 and 1
    assert by_line(two) == {1: (0, 0, 0, 8, 8), 2: (0, 0, 0, 0, 8)}


def test_lanes_that_no_thread_has_are_not_lost() -> None:
    profile = profile_of(of_text("mov r0.x, u(1)\nret\n", machine(), Groups(3)))
    assert (profile.lost, profile.active, profile.unfilled) == (0, 6, 2)


def test_lanes_that_wait_for_the_other_arm_wait_since_the_branch() -> None:
    """Lane 3 never comes in (line 2); lanes 1, 2 part at line 3: each arm, with its pop, takes two clocks."""
    text = (
        "push_mask ALL\nlt.u32 r0.x, lane_id, u(3)\nmask_nz r0.x\nlt.u32 r0.y, lane_id, u(1)\nbr_push r0.y, E, J\n"
        "mov r1.x, u(1)\npop_mask\nE:\nmov r1.x, u(2)\npop_mask\nJ:\npop_mask\nALL:\nret\n"
    )
    # lane 3 is off from line 4 on: lt, br_push, two arms of two, pop: 7 clocks. Arms: 2 * 2 lanes, then 2 * 1
    assert parted(of_text(text, machine(), Groups(4))) == {3: 7, 5: 2 * 2 + 2 * 1}


def test_a_group_of_instructions_of_one_clock_parts_at_its_last() -> None:
    """Interleaved, two instructions a clock: what is shown is the mov, what parts is line 3 behind it."""
    text = "push_mask ALL\nmov r0.x, lane_id\nmask_nz lane_id\nmov r1.x, u(1)\npop_mask\nALL:\nret\n"
    found = of_text(text, machine(threading="interleaved", issue=4, alus=4), Groups(4))
    assert parted(found) == {3: 1}


@pytest.mark.parametrize("seed", SEEDS)
def test_sums_are_those_of_the_run(seed: int) -> None:
    history = random_history(seed)
    profile, totals, width = profile_of(history), history.run.totals, history.machine.width
    held = shares(history)
    assert profile.active == held["active"]
    assert sum(row.masked for row in profile.rows) + profile.unfilled == held["masked"]
    assert sum(row.memory + row.dependency for row in profile.rows) == held["stalled"]
    assert sum(row.ready for row in profile.rows) == held["ready"]
    assert sum(one.masked for one in profile.parted) == sum(row.masked for row in profile.rows)
    if history.run.fault is None:  # else the last clock is counted on cores that had gone through it
        assert profile.lost + profile.active + profile.unfilled == width * sum(totals.slot_clocks[1:])


@pytest.mark.parametrize("seed", SEEDS)
def test_lines_are_those_of_single_lanes(seed: int) -> None:
    history = random_history(seed)
    there = [count for _, count in waves_of(random_launch(seed).groups, history.machine.width)]
    counted: Counter[tuple[int, str]] = Counter()
    for one in history.run.stretches:
        for lane in range(there[one.wave] if one.wave >= 0 else 0):
            state = one.state if one.mask >> lane & 1 else "masked"
            counted[one.index, state] += one.end - one.start
    for row in profile_of(history).rows:
        for state in ("active", "masked", "memory", "dependency", "ready"):
            assert getattr(row, state) == counted.pop((row.index, state), 0), (row.index, state)
    assert not +counted


def _owners(launch: ClockLaunch, wave: int) -> list[tuple[int, int, dict[int, int]]]:
    """Return each instruction of a wave that runs alone, with its mask, and what parted each lane that is off: by a
    stack that knows who pushed."""
    made, views = launch.program, place_views(launch.program, launch.views)
    first, lanes = waves_of(launch.groups, launch.machine.width)[wave]
    one = begin_wave(wave, first, lanes, launch.machine.width, (made.registers, 64))
    pushed: list[int] = []
    off: dict[int, int] = {}
    found = []
    while not one.ended:
        pc, mask, deep = one.stack.pc, one.stack.exec, len(one.stack.entries)
        found.append((pc, mask, dict(off)))
        instruction = made.instructions[pc]
        branch = instruction.op.form == "branch"
        true = 0
        if branch:
            (read,) = (source for source in sources_of(instruction) if isinstance(source, LaneRegister))
            words = one.registers[read.number, read.components[0]]
            true = sum(1 << lane for lane in range(one.width) if words[lane]) & mask
        step(one, instruction, views, 0)
        popped = len(one.stack.entries) < deep + (1 + bool(mask & ~true) if branch else 0)
        cause = pc
        if instruction.op.form == "push" or branch:
            pushed += [pc] * (1 + bool(branch and mask & ~true))
        if popped and instruction.op.form != "push":
            cause = pushed.pop()
        for lane in range(one.width):
            if one.stack.exec >> lane & 1:
                off.pop(lane, None)
            elif mask >> lane & 1:
                off[lane] = cause
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_what_parts_lanes_is_what_a_stack_says_that_knows_who_pushed(seed: int) -> None:
    drawn = random_launch(seed)
    made = program(random_text(seed))  # no clock: its masks are those of a wave that runs alone
    shape = replace(drawn.machine, threading="smt", stack=64, registers=400, formation="none")
    threads = drawn.groups.size * drawn.groups.count
    launch = ClockLaunch(made, shape, views_for(threads, seed), drawn.groups)
    history = history_of(launch)
    assert history.run.fault is None
    counted: Counter[int] = Counter()
    stretches = sorted((one for one in history.run.stretches if one.wave >= 0), key=lambda one: (one.wave, one.start))
    for wave in {one.wave for one in stretches}:
        way = iter(_owners(launch, wave))
        pc, mask, off = next(way)
        for one in (held for held in stretches if held.wave == wave):
            while (pc, mask) != (one.index, one.mask):
                pc, mask, off = next(way)
            for cause in off.values():
                counted[cause] += one.end - one.start
    assert {one.index: one.masked for one in profile_of(history).parted if one.masked} == dict(+counted)


def test_random_programs_part_lanes() -> None:
    assert sum(len(profile_of(random_history(seed)).parted) > 1 for seed in SEEDS) > 5
    assert any(profile_of(random_history(seed)).unfilled for seed in SEEDS)


@pytest.mark.parametrize("seed", SEEDS)
def test_waves_that_are_formed_anew_have_free_lanes(seed: int) -> None:
    history = random_history(seed, formed=True)
    profile, held = profile_of(history), shares(history)
    assert (profile.active, profile.unfilled, profile.parted) == (held["active"], 0, ())
    assert sum(row.masked for row in profile.rows) == held["masked"]
    assert profile.lost == held["masked"] + held["stalled"] + held["ready"]
