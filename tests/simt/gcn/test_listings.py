"""The listings of document 001 for GCN run, as printed and as corrected; masks are those that the C text says, for each
instruction, at 64 lanes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simt.gcn.listings import PRINTED
from tests.simt.gcn.programs import masks, program
from warpsmith.base.source import SourceFile
from warpsmith.simt.gcn.run import run_gcn
from warpsmith.simt.gcn.start import GcnTask
from warpsmith.simt.gcn.text.read import read_gcn
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory

EXAMPLES = Path(__file__).parents[3] / "examples" / "gcn"
ALL = (1 << 64) - 1
ODD = 0xAAAAAAAAAAAAAAAA
BELOW = 0xFFFF


def _counted(iteration: int) -> int:
    """Return the lanes that are still in the loop: lane + iteration < 16."""
    return sum(1 << lane for lane in range(64) if lane + iteration < 16)


LOOP = [_counted(turn + (at == 3)) for turn in range(16) for at in range(4)]
EXPECTED = {
    "odd_lanes": [ALL] * 6 + [ODD] * 2 + [ALL],
    "up_to_16": [ALL] * 7 + [BELOW] + LOOP + [0, ALL],
    "two_halves": [ALL] * 6 + [BELOW] * 2 + [ALL & ~BELOW] * 2 + [ALL],
}


@pytest.mark.parametrize("name", PRINTED)
def test_a_printed_listing_has_the_masks_of_its_text(name: str) -> None:
    assert masks(PRINTED[name]) == EXPECTED[name]


RESULTS = {
    "odd_lanes": [lane & 1 for lane in range(64)],
    "up_to_16": [max(0, 16 - lane) for lane in range(64)],
    "two_halves": [1 if lane < 16 else 2 for lane in range(64)],
    "forks": [(1 if lane & 1 else 3) if lane < 16 else 2 for lane in range(64)],
}


@pytest.mark.parametrize("name", RESULTS)
def test_an_example_leaves_what_its_text_says(name: str) -> None:
    """Both groups of 64 threads find their number in s12, as the first listing has it."""
    made = read_gcn(SourceFile.read(str(EXAMPLES / f"{name}.s")))
    memory = LaunchMemory(checks=False)
    address = memory.allocate("out", bytes(4 * (1024 + 64))).address
    first = 28 if name == "forks" else 2
    registers: dict[int, int | str] = {12: "x", first: address & 0xFFFFFFFF, first + 1: address >> 32}
    outcome = run_gcn(GcnTask(made, None, Launch((2, 1, 1), (64, 1, 1)), registers), memory)
    assert outcome.stop is None
    words = memoryview(memory.buffers[0].data).cast("I").tolist()
    assert words[:64] == words[1024:] == RESULTS[name]


def test_the_smaller_arm_of_a_fork_goes_first() -> None:
    made = program((EXAMPLES / "forks.s").read_text())
    seen: list[tuple[str, int]] = []
    memory = LaunchMemory(checks=False)
    address = memory.allocate("out", bytes(256)).address
    task = GcnTask(made, None, Launch((1, 1, 1), (64, 1, 1)), {28: address & 0xFFFFFFFF, 29: address >> 32})
    run_gcn(task, memory, lambda block, wave, index, mask: seen.append((made.instructions[index].span.text, mask)))
    arms = [(text.split()[-1], mask.bit_count()) for text, mask in seen if text.startswith("v_mov_b32       v4")]
    assert arms == [("1", 8), ("3", 8), ("2", 48)]
