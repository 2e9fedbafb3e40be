"""The instructions that may run between the same two barriers, and how often loops were gone around since the first."""

from __future__ import annotations

from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.memory.phases import ALL_LANES, around, full_barrier, intervals, warp_barrier
from warpsmith.analysis.memory.solved import solved_forms
from warpsmith.analysis.uniformity.facts import LaunchShape
from warpsmith.analysis.uniformity.seeds import Threads
from warpsmith.analysis.uniformity.uniformity import uniformity
from warpsmith.ssa.nodes import Barrier, Constant, Instruction, Memory, Value
from warpsmith.ssa.reader import parse_module
from warpsmith.ssa.types import I32

KERNEL = """
kernel @k(n 4 align 4 i32, p 8 align 8 i64)
start:
  %n:i32 = param [n+0]
  %p:i64 = param [p+0]
BODY
end
"""
WAIT = "  barrier [waits] 0:i32"


def store(place: int) -> str:
    return f"  store [global +{place} align 4] %p %n"


def forms(body: str) -> Forms:
    module = parse_module(KERNEL.replace("BODY", body))
    answer = uniformity(module.functions[0], Threads("block", (64, 1, 1)))
    return solved_forms(module, answer, LaunchShape((64, 1, 1)))


def stores(of: Forms) -> list[Instruction]:
    return [i for block in of.blocks.values() for i in block.instructions if i.op == "store"]


def place(i: Instruction) -> int:
    assert isinstance(i.detail, Memory)
    return i.detail.offset


def told(of: Forms) -> list[dict[int, list[dict[str, int | None]]]]:
    """Return, for each interval, the turns of each way to each store in it."""
    found = intervals(of, stores(of), full_barrier)
    return [{place(i): [dict(turns) for turns in ways] for i, ways in one.inside.items()} for one in found]


def test_straight_code_is_cut_at_barriers() -> None:
    of = forms("\n".join((store(0), WAIT, store(4), store(8), WAIT, "  return")))
    assert told(of) == [{0: [{}]}, {4: [{}], 8: [{}]}, {}]
    assert [one.start is None for one in intervals(of, stores(of), full_barrier)] == [True, False, False]


LOOP = f"""
{store(0)}
  jump head
head:
  %i:i32 = phi start 0:i32 head %j
{store(4)}
  %j:i32 = add %i 1:i32
BARRIER
{store(8)}
  %c:i1 = slt %j %n
  branch %c head done
done:
{store(12)}
  return"""


def test_a_loop_with_a_barrier_is_gone_around_once_in_an_interval() -> None:
    assert told(forms(LOOP.replace("BARRIER", WAIT))) == [
        {0: [{}], 4: [{"head": 0}]},
        {8: [{"head": 0}], 4: [{"head": 1}], 12: [{}]},
    ]


def test_a_loop_without_a_barrier_is_gone_around_as_each_thread_likes() -> None:
    assert told(forms(LOOP.replace("BARRIER", ""))) == [{0: [{}], 4: [{"head": None}], 8: [{"head": None}], 12: [{}]}]


def test_a_barrier_behind_a_branch_leaves_ways_without_it() -> None:
    body = LOOP.replace("BARRIER", f"  %d:i1 = slt %n 5:i32\n  branch %d wait on\nwait:\n{WAIT}\n  jump on\non:")
    body = body.replace("phi start 0:i32 head %j", "phi start 0:i32 on %j")
    first, behind = told(forms(body))
    # any number of iterations without it: 0, 1 and what varies
    assert [turns["head"] for turns in first[4]] == [0, 1, None]
    assert {turns["head"] for turns in behind[8]} == {0, 1, None}


def test_an_inner_loop_begins_anew() -> None:
    body = f"""
  jump outer
outer:
  %i:i32 = phi start 0:i32 next %k
  jump inner
inner:
  %j:i32 = phi outer 0:i32 inner %l
{WAIT}
{store(0)}
  %l:i32 = add %j 1:i32
  %c:i1 = slt %l %n
  branch %c inner next
next:
  %k:i32 = add %i 1:i32
  %d:i1 = slt %k %n
  branch %d outer done
done:
  return"""
    _, one = told(forms(body))
    assert one == {0: [{"inner": 0, "outer": 0}]}


def test_what_may_happen_around_a_barrier() -> None:
    of = forms(LOOP.replace("BARRIER", WAIT))
    (barrier,) = (i for i in of.blocks["head"].instructions if i.op == "barrier")
    before, behind = around(of, stores(of), full_barrier, barrier)
    assert {place(i) for i in before} == {0, 4, 8}
    assert {place(i) for i in behind} == {4, 8, 12}
    assert around(of, stores(of), full_barrier, Instruction("barrier", (), ())) == (set(), set())


def test_two_barriers_in_a_block_end_each_others_intervals() -> None:
    of = forms("\n".join((store(0), WAIT, store(4), WAIT, store(8), "  return")))
    _, second = (i for i in of.blocks["start"].instructions if i.op == "barrier")
    before, behind = around(of, stores(of), full_barrier, second)
    assert ({place(i) for i in before}, {place(i) for i in behind}) == ({4}, {8})


def barrier(*operands: int, waits: bool = True, reduces: str = "") -> Instruction:
    made = tuple(Constant(I32, number) for number in operands)
    return Instruction("barrier", made, (Value(I32),) if reduces else (), Barrier(waits, "count" if reduces else ""))


def test_which_barriers_hold_all_threads() -> None:
    assert full_barrier(barrier(0)) and full_barrier(barrier()) and full_barrier(barrier(0, 1, reduces="count"))
    assert not full_barrier(barrier(0, 64)) and not full_barrier(barrier(0, waits=False))
    assert not full_barrier(barrier(0, 64, 1, reduces="count"))
    assert not full_barrier(Instruction("fence", (), ()))


def test_which_barriers_hold_all_lanes() -> None:
    def of(*mask: int) -> Instruction:
        return Instruction("warp_barrier", tuple(Constant(I32, number) for number in mask), ())

    assert warp_barrier(barrier(0)) and warp_barrier(of()) and warp_barrier(of(ALL_LANES))
    assert not warp_barrier(of(0xFFFF)) and not warp_barrier(Instruction("warp_barrier", (Value(I32),), ()))
    assert not warp_barrier(barrier(0, 64)) and not warp_barrier(Instruction("fence", (), ()))
