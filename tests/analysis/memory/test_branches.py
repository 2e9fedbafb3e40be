"""Branches: whether they part a warp or a block, and the reasons, from the condition back to where threads differ."""

from __future__ import annotations

from tests.analysis.test_kernel import ROW, TILE, told
from warpsmith.analysis.memory.branches import reasons
from warpsmith.analysis.uniformity.facts import BranchFact, LaunchShape


def branches(body: str, shape: LaunchShape = ROW) -> tuple[BranchFact, ...]:
    return told(body, shape).branches


IF = "  %c:i1 = slt {} {}\n  branch %c yes no\nyes:\n  jump no\nno:"


def test_a_branch_on_the_index_parts_a_warp_and_says_why() -> None:
    (fact,) = branches(IF.format("%x", "%n"))
    assert (fact.warp, fact.block, fact.op, fact.depth) == ("divergent", "divergent", "bra", 0)
    assert fact.why == ("%c", "%x", "the thread's own index, %tid.x")
    assert len(fact.lines) == len(fact.why)
    assert fact.place.name == "start"


def test_a_branch_on_an_argument_parts_nobody_and_has_no_reasons() -> None:
    (fact,) = branches(IF.format("%n", "7:i32"))
    assert (fact.warp, fact.block, fact.why, fact.lines) == ("uniform", "uniform", (), ())


def test_rows_part_the_block_only_where_each_is_a_warp() -> None:
    (fact,) = branches(IF.format("%y", "3:i32"), TILE)
    assert (fact.warp, fact.block) == ("uniform", "divergent")
    # why it parts the block is said, where the warp stays together
    assert fact.why[-1] == "the thread's own index, %tid.y"


def test_a_switch_is_one() -> None:
    body = "  switch %x 0 a 1 b rest\na:\n  jump rest\nb:\n  jump rest\nrest:"
    (fact,) = branches(body)
    assert (fact.op, fact.warp) == ("switch", "divergent")


def test_a_value_that_two_ways_brought_leads_back_to_their_branch() -> None:
    body = """
  %c:i1 = slt %x 3:i32
  branch %c yes no
yes:
  jump no
no:
  %v:i32 = phi start 1:i32 yes 2:i32
  %d:i1 = eq %v 1:i32
  branch %d this that
this:
  jump that
that:"""
    _, fact = branches(body)
    assert fact.why == ("%d", "%v", "threads come different ways", "%x", "the thread's own index, %tid.x")
    assert fact.warp == "divergent"


LOOP = """
  jump head
head:
  %i:i32 = phi start 0:i32 head %j
  %j:i32 = add %i 1:i32
  %c:i1 = slt %j LIMIT
  branch %c head done
done:
  %d:i1 = slt %j 9:i32
  branch %d this that
this:
  jump that
that:"""


def test_a_count_of_a_loop_that_threads_leave_apart_differs_behind_it() -> None:
    inner, behind = branches(LOOP.replace("LIMIT", "%x"))
    assert (inner.depth, behind.depth) == (1, 0)
    assert (inner.warp, behind.warp) == ("divergent", "divergent")
    assert "threads leave a loop apart" in behind.why
    assert behind.why[-1] == "the thread's own index, %tid.x"
    inner, behind = branches(LOOP.replace("LIMIT", "%n"))
    assert (inner.warp, behind.warp) == ("uniform", "uniform")


def test_blocks_that_nobody_comes_to_have_no_facts() -> None:
    body = "  jump end\nlost:\n  %c:i1 = slt %x 3:i32\n  branch %c end end2\nend2:\n  jump end\nend:"
    assert branches(body) == ()


def test_no_cause_has_no_reasons() -> None:
    assert reasons(told("", ROW).warp_level, None) == ((), ())
