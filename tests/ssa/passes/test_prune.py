"""Values that nothing needs are left out; what does something stays."""

from __future__ import annotations

from tests.ssa.passes.test_tidy import one
from warpsmith.ssa.passes.prune import prune_unused

TEXT = """
kernel @k(p 8 align 8 i64)
entry:
  %p:i64 = param [p+0]
  %unused:i64 = add %p 1:i64
  %chain:i64 = add %unused 2:i64
  %load:i32 = load [global +0 align 4] %p
  %insists:i32 = load [global +0 align 4 volatile] %p
  %old:i32 = atomic_add [global +0 align 4] %p 1:i32
  %vote:i1 = vote [any] 1:i1 4294967295:i32
  %call:i32 = call [@f] %p
  %math:f32 = lanewise ['sin'] 0x0:f32
  %needed:i32 = mul 2:i32 3:i32
  jump head
head:
  %i:i32 = phi entry %needed head %next
  %dead:i32 = phi entry 0:i32 head %more
  %next:i32 = add %i 1:i32
  %more:i32 = add %dead 1:i32
  %c:i1 = slt %next 10:i32
  branch for %c head after
after:
  %x:i32 = phi head %i
  return
end
"""


def test_only_what_is_needed_or_does_something_stays() -> None:
    made = prune_unused(one(TEXT))
    names = [value.name for _, i in made.instructions() for value in i.results]
    assert names == ["p", "insists", "old", "vote", "call", "needed", "next", "c"]
    assert [phi.result.name for block in made.blocks for phi in block.phis] == ["i"]
    assert [block.name for block in made.blocks] == ["entry", "head", "after"]
