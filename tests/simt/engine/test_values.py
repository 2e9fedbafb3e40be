"""Which values of a kernel have slots, which of these are written under the mask, and which are copied."""

from __future__ import annotations

from warpsmith.simt.engine.values import Homes
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.reader import parse_module

TEXT = """
kernel @k(a 8 align 8 i64)
start:
  %x:i32 = query [tid.x]
  %y:i32 = add %x 1:i32
  jump loop
loop:
  %i:i32 = phi start 0:i32 loop %j
  %j:i32 = add %i 1:i32
  %z:i32 = add %j %y
  %more:i1 = ult %j %x
  branch %more loop done
done:
  %w:i32 = add %z 1:i32
  return
end
"""


def test_what_leaves_its_block_is_kept_and_what_leaves_its_loop_is_copied() -> None:
    (function,) = parse_module(TEXT).functions
    homes = Homes.of(function, Graph.of(function), frozenset())
    assert {value.name for value in homes.kept} == {"x", "y", "i", "z"}
    assert {value.name: made for value, made in homes.copied.items()} == {"z": "loop"}
    assert not homes.blended


def test_where_lanes_may_be_anywhere_all_is_blended_and_nothing_copied() -> None:
    (function,) = parse_module(TEXT).functions
    homes = Homes.of(function, Graph.of(function), frozenset(), linear=False)
    assert homes.blended == homes.kept
    assert not homes.copied


def test_a_block_that_is_left_in_the_middle_keeps_all_that_it_uses() -> None:
    (function,) = parse_module(TEXT).functions
    homes = Homes.of(function, Graph.of(function), frozenset({"loop"}))
    assert {value.name for value in homes.kept} == {"x", "y", "i", "j", "z", "more"}
