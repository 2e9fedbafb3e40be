"""Lanes put together to warps: against counts by hand, and sums that must come out."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.corpus.reading import runs
from tests.corpus.running import ran
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch, Outcome
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.tally import Tally, Totals, WarpPiece, block_counts, totals
from warpsmith.ssa.nodes import Branch, Module
from warpsmith.ssa.reader import parse_module

# rounds[tid] times through a loop of 4 instructions (with the branch); the lane with rounds 0 leaves at once
TRIPS = """
kernel @k(a 8 align 8 i64)
start:
  %a:i64 = param [a+0]
  %x:i32 = query [tid.x]
  %o:i64 = umulwide %x 4:i32
  %p:i64 = add %a %o
  %v:i32 = load [global +0 align 4] %p
  jump loop
loop:
  %i:i32 = phi start 0:i32 loop %j
  %j:i32 = add %i 1:i32
  %z:i32 = add %j %j
  %more:i1 = ult %j %v
  branch %more loop done
done:
  return
end
"""


def watched(module: Module, numbers: list[int], width: int, seed: int = 0) -> tuple[Tally, Outcome]:
    memory = LaunchMemory()
    start = memory.allocate("a", struct.pack(f"<{len(numbers)}I", *numbers)).address
    launch = Launch((1, 1, 1), (len(numbers), 1, 1), {"a": struct.pack("<q", start)}, warp=width, seed=seed)
    tally = Tally()
    outcome = interpret(module, "k", launch, memory, tally)
    assert outcome.complete
    return tally, outcome


def test_lanes_that_leave_a_loop_wait_for_the_rest() -> None:
    tally, outcome = watched(parse_module(TRIPS), [1, 2, 3, 5], 4)
    ((_, pieces),) = tally.warps()
    assert [(piece.count, f"{piece.mask:04b}") for piece in pieces] == [
        (6, "1111"), (4, "1111"), (4, "1110"), (4, "1100"), (4, "1000"), (4, "1000"), (1, "1111"),
    ]  # fmt: skip
    sums = totals(tally, 4)
    assert (sums.warp_instructions, sums.lane_instructions) == (27, outcome.steps)
    assert sums.lane_instructions == 6 * 4 + 4 * (4 + 3 + 2 + 1 + 1) + 4
    assert dict(sums.lost) == {pieces[1].block.terminator: 4 * (1 + 2 + 3 + 3)}
    assert sums.unfilled == sums.other == 0


NESTED = """
kernel @k(a 8 align 8 i64)
start:
  %a:i64 = param [a+0]
  %x:i32 = query [tid.x]
  %low:i1 = ult %x 4:i32
  branch %low inner out
inner:
  %odd:i32 = and %x 1:i32
  %is:i1 = eq %odd 1:i32
  branch %is left right
left:
  %l:i32 = add %x 1:i32
  %m:i32 = add %l 1:i32
  jump join
right:
  %r:i32 = add %x 1:i32
  jump join
join:
  %e:i1 = eq %x 0:i32
  branch %e gone out
gone:
  exit
out:
  %f:i32 = add %x 1:i32
  return
end
"""


def test_lost_slots_go_to_the_branch_where_lanes_parted() -> None:
    module = parse_module(NESTED)
    tally, outcome = watched(module, [0] * 6, 8)
    sums = totals(tally, 8)
    (function,) = module.functions
    branches = {block.name: block.terminator for block in function.blocks if isinstance(block.terminator, Branch)}
    # 6 lanes; start 4, inner 3 (lanes 0-3), left 3 (1, 3), right 2 (0, 2), join 2 (0-3), gone 1 (0), out 2 (1-5)
    assert sums.warp_instructions == 4 + 3 + 3 + 2 + 2 + 1 + 2
    assert sums.lane_instructions == outcome.steps == 4 * 6 + 3 * 4 + 3 * 2 + 2 * 2 + 2 * 4 + 1 + 2 * 5
    assert sums.unfilled == 2 * sums.warp_instructions
    # lanes 4 and 5 wait for all that 0-3 do: 11 instructions; of 0-3 two wait in each arm; then 1-3 wait for lane 0's
    # exit, and lane 0 is missing in the end
    assert sums.lost == {
        branches["start"]: 2 * (3 + 3 + 2 + 2 + 1),
        branches["inner"]: 2 * 3 + 2 * 2,
        branches["join"]: 3 * 1 + 1 * 2,
    }
    assert sums.other == 0


def test_blocks_have_their_visits_lanes_and_lost_slots() -> None:
    module = parse_module(NESTED)
    tally, _ = watched(module, [0] * 6, 8)
    found = {block.name: count for block, count in block_counts(tally).items()}
    assert {name: (c.visits, c.lanes, c.divergences, c.lost) for name, c in found.items()} == {
        "start": (1, 6, 1, 0),
        "inner": (1, 4, 1, 2 * 3),
        "left": (1, 2, 0, 4 * 3),
        "right": (1, 2, 0, 4 * 2),
        "join": (1, 4, 1, 2 * 2),
        "gone": (1, 1, 0, 5 * 1),
        "out": (1, 5, 0, 1 * 2),
    }


def test_the_sums_come_out_and_do_not_depend_on_turns() -> None:
    module = parse_module(TRIPS)
    for seed in range(6):
        numbers = [random.Random(seed).randrange(1, 9) for _ in range(21)]
        found: list[Totals] = []
        for turns in (0, 1):
            tally, outcome = watched(module, numbers, 8, seed=turns)
            sums = totals(tally, 8)
            assert sums.lane_instructions == outcome.steps
            lost = sum(sums.lost.values())
            assert sums.issued_slots == sums.lane_instructions + lost + sums.unfilled
            found.append(sums)
            for key, pieces in tally.warps():
                _check_order(pieces, tally, key)
        assert found[0] == found[1]


def _check_order(pieces: list[WarpPiece], tally: Tally, key: tuple[int, int]) -> None:
    """Each lane meets its pieces in the order in which it went."""
    warp = tally._warps[key]
    for lane, way in warp.ways.items():
        mine = [(piece.block, piece.start) for piece in pieces if piece.mask >> lane & 1]
        assert mine == [warp.pieces[number] for number in way]


ALTERNATE = """
kernel @k(a 8 align 8 i64)
start:
  %x:i32 = query [tid.x]
  jump loop
loop:
  %i:i32 = phi start 0:i32 next %j
  %s:i32 = add %i %x
  %b:i32 = and %s 1:i32
  %odd:i1 = eq %b 1:i32
  branch %odd body next
body:
  %w:i32 = add %s 1:i32
  jump next
next:
  %j:i32 = add %i 1:i32
  %more:i1 = ult %j 4:i32
  branch %more loop done
done:
  return
end
"""


def test_lanes_are_together_in_one_iteration_only() -> None:
    """Each lane goes through the body twice, never in the iteration in which its neighbor does."""
    tally, outcome = watched(parse_module(ALTERNATE), [0, 0], 2)
    ((_, pieces),) = tally.warps()
    assert [piece.mask for piece in pieces if piece.block.name == "body"] == [2, 1, 2, 1]
    sums = totals(tally, 2)
    assert sums.warp_instructions == 2 + 4 * (4 + 2 + 3) + 1
    assert sums.lane_instructions == outcome.steps == 2 * sums.warp_instructions - 4 * 2
    assert sum(sums.lost.values()) == 4 * 2


KERNELS = sorted((Path(__file__).parents[2] / "examples" / "kernels").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("path", KERNELS, ids=[path.name for path in KERNELS])
def test_the_sums_come_out_on_the_corpus(path: Path) -> None:
    unit = read_unit(KernelFile(str(path), instances=("reduce_unrolled<128>",) if path.stem == "reductions" else ()))
    assert isinstance(unit, KernelUnit)
    names = {function.name.partition("<")[0]: function.name for function in unit.module.functions}
    launches = [replace(run, kernel=names[run.kernel]) for run in runs(path.read_text())]
    assert launches
    for run in launches:
        tally = Tally()
        outcome, _ = ran(unit.module, run, 0, tally)
        assert outcome.complete, run.kernel
        sums = totals(tally, 32)
        assert sums.lane_instructions == outcome.steps, run.kernel
        assert sums.other == 0, run.kernel
        lost = sum(sums.lost.values())
        assert sums.issued_slots == sums.lane_instructions + lost + sums.unfilled, run.kernel
        visits: dict[object, int] = {}
        for key, pieces in tally.warps():
            _check_order(pieces, tally, key)
            for piece in pieces:
                visits[piece.ends] = visits.get(piece.ends, 0) + 1
        for block, count in tally.branches().items():
            assert visits[block.terminator] == count.visits, run.kernel
            if isinstance(block.terminator, Branch) and not count.divergences:
                assert block.terminator not in sums.lost, run.kernel
