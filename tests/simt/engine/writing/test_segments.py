"""Parts of blocks that lanes go through without a stop."""

from __future__ import annotations

from warpsmith.simt.engine.writing.segments import split_blocks, waits_for_block, waits_for_others
from warpsmith.ssa.reader import parse_module

TEXT = """
kernel @k(a 8 align 8 i64)
start:
  %x:i32 = query [tid.x]
  barrier 0:i32
  warp_barrier 255:i32
  jump last
last:
  return
end
"""


def test_a_block_ends_a_segment_and_so_does_what_waits() -> None:
    blocks = parse_module(TEXT).functions[0].blocks

    def rows(waits: object) -> list[tuple[str, int, int, int]]:
        found = split_blocks(blocks, waits)  # type: ignore[arg-type]
        return [(s.block.name, s.start, s.stop, s.count) for s in found]

    assert rows(lambda _: False) == [("start", 0, 4, 4), ("last", 0, 1, 1)]
    assert rows(waits_for_block) == [("start", 0, 2, 2), ("start", 2, 4, 2), ("last", 0, 1, 1)]
    assert rows(waits_for_others) == [("start", 0, 2, 2), ("start", 2, 3, 1), ("start", 3, 4, 1), ("last", 0, 1, 1)]
