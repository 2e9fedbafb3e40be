"""Local memory becomes values where nobody can tell."""

from __future__ import annotations

import pytest

from tests.ssa.passes.test_tidy import one
from warpsmith.ssa.passes.promote import promote_memory
from warpsmith.ssa.passes.prune import prune_unused
from warpsmith.ssa.text import print_function
from warpsmith.ssa.verify import faults


def test_local_memory_becomes_values_where_its_address_stays() -> None:
    text = """
kernel @k(n 4 align 4 i32)
  local @x i32 x 1 align 4
  local @pair f32 x 2 align 8
  local @a i32 x 4 align 4
  local @kept i32 x 1 align 4
entry:
  %x:i64 = address [@x]
  %g:i64 = to_generic ['local'] %x
  %n:i32 = param [n+0]
  store [generic +0 align 4] %g 1:i32
  %p:i64 = address [@pair]
  store [local +0 align 8] %p 0x3f800000:f32 0x40000000:f32
  jump head
head:
  %v:i32 = load [local +0 align 4] %x
  %w:i32 = add %v %n
  store [generic +0 align 4] %g %w
  %c:i1 = slt %w 10:i32
  branch for %c head after
after:
  %second:i64 = add %p 4:i64
  %y:i32 = load [local +0 align 4] %second
  %a:i64 = address [@a]
  %i:i64 = sext %n
  %e:i64 = add %a %i
  store [local +0 align 4] %e %y
  %k:i64 = address [@kept]
  unmodeled ['it may do anything'] %k
  return
end
"""
    made = prune_unused(promote_memory(one(text)))
    assert faults(made) == ()
    assert {symbol.name for symbol in made.symbols} == {"a", "kept"}
    printed = print_function(made)
    assert "phi entry 1:i32 head" in printed
    assert "bitcast 0x40000000:f32" in printed or "1073741824:i32" in printed


def test_pieces_that_overlap_stay_in_memory() -> None:
    text = """
kernel @k(n 4 align 4 i32)
  local @x i32 x 2 align 8
entry:
  %x:i64 = address [@x]
  %n:i32 = param [n+0]
  store [local +0 align 4] %x %n
  %v:i64 = load [local +0 align 8] %x
  store [global +0 align 8] %v %v
  return
end
"""
    assert [symbol.name for symbol in promote_memory(one(text)).symbols] == ["x"]


@pytest.mark.parametrize(
    ("line", "stays"),
    [
        ("%y:i64 = add %x 4:i64", False),
        ("store [global +0 align 8] %p %x", True),  # the address is stored
        ("store [local +0 align 4 volatile] %x 2:i32", True),
        ("%y:i64 = mul %x 4:i64", True),
        ("%y:i64 = add %x %p", True),
        ("%y:i32 = atomic_add [local +0 align 4] %x 1:i32", True),
        ("%y:i64 = to_generic ['shared'] %x", True),
        ("%y:i64 = select 1:i1 %x %p", True),
        ("call [@f] %x", True),
        ("%y:f32 = load [local +0 align 4] %x", False),
        ("%y:i32 = load [local +2 align 2] %x", True),  # overlaps
        ("%y:i32 = load [local +4 align 4] %x", False),
    ],
)
def test_what_keeps_a_variable_in_memory(line: str, stays: bool) -> None:
    text = f"""
kernel @k(p 8 align 8 i64)
  local @x i32 x 2 align 8
entry:
  %p:i64 = param [p+0]
  %x:i64 = address [@x]
  store [local +0 align 4] %x 1:i32
  {line}
  %v:i32 = load [local +0 align 4] %x
  store [global +0 align 4] %p %v
  return
end
"""
    made = promote_memory(one(text))
    assert [symbol.name for symbol in made.symbols] == ["x"] * stays
    assert faults(made) == () and ("store [global +0 align 4] %p 1:i32" in print_function(made)) is not stays
