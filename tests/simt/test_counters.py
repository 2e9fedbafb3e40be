"""The numbers of the counters, against numbers worked out by hand."""

from __future__ import annotations

import struct

from warpsmith.simt.counters import BranchCount, Counters, MemoryCount
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.reader import parse_module

STRIDED = """
shared @tile f32 x 64 align 4
kernel @k(a 8 align 8 i64)
start:
  %a:i64 = param [a+0]
  %x:i32 = query [tid.x]
  %o:i64 = umulwide %x 16:i32
  %p:i64 = add %a %o
  %v:i32 = load [global +0 align 4] %p
  %t:i32 = address [@tile]
  %d:i32 = and %x 1:i32
  %s:i32 = shl %d 7:i32
  %q:i32 = add %t %s
  store [shared +0 align 4] %q %v
  %odd:i1 = eq %d 1:i32
  branch %odd then done
then:
  %w:i32 = load [global +0 align 4] %a
  jump done
done:
  return
end
"""


def test_requests_and_ways_are_counted_once_a_warp() -> None:
    module = parse_module(STRIDED)
    memory = LaunchMemory()
    start = memory.allocate("a", bytes(256)).address
    counters = Counters()
    launch = Launch((1, 1, 1), (16, 1, 1), {"a": struct.pack("<q", start)}, warp=8)
    interpret(module, "k", launch, memory, counters)
    (function,) = module.functions
    places = {i.op if i.op == "store" else f"{block.name} {i.op}": i for block, i in function.instructions()}
    memory_counts = counters.memory()
    # two warps of 8 lanes, 16 bytes apart: 4 sectors each; both words of one bank: 2 ways
    assert memory_counts[places["start load"]] == MemoryCount(2, 16, 8, 0)
    assert memory_counts[places["store"]] == MemoryCount(2, 16, 0, 2)
    assert memory_counts[places["then load"]] == MemoryCount(2, 8, 2, 0)
    branches = {block.name: count for block, count in counters.branches().items()}
    assert branches["start"] == BranchCount(2, 2, 16)
    assert branches["then"] == BranchCount(2, 0, 8)
