"""Which instructions wait for others, and which do nothing."""

from __future__ import annotations

from warpsmith.simt.meeting.waiting import is_grid_barrier, says_nothing, waits_for_others
from warpsmith.ssa.nodes import ASYNCHRONOUS, GRID_BARRIER
from warpsmith.ssa.reader import parse_module

TEXT = f"""
kernel @k(out 8 align 8 i64)
start:
  barrier [waits] 0:i32
  unmodeled ['{GRID_BARRIER}']
  unmodeled ['{ASYNCHRONOUS}']
  unmodeled ['anything']
  %x:i32 = add 1:i32 2:i32
  return
end
"""


def test_what_waits_and_what_does_nothing() -> None:
    found = [i for _, i in parse_module(TEXT).functions[0].instructions()]
    assert [waits_for_others(i) for i in found] == [True, True, False, False, False]
    assert [is_grid_barrier(i) for i in found] == [False, True, False, False, False]
    assert [says_nothing(i) for i in found] == [False, False, True, False, False]
