"""Functions with one fault each: the fault is named; and the text form of every detail."""

from __future__ import annotations

import pytest

from warpsmith.ssa.reader import parse_module
from warpsmith.ssa.verify import faults

GOOD = """
shared @tile f32 x 256 align 4
constant @table i32 x 2 align 4 = 0x1 0xff
kernel @scale(n 4 align 4 i32, a 8 align 8 i64, s 24 align 8) [most 256, least 2]
  local @mine i32 x 4 align 4
entry:
  %i:i32 = query [tid.x]
  %n:i32 = param [n+0]
  %a:i64 = param [a+0]
  %p:i1 = slt %i %n
  branch uniform %p body done
body:
  %t:i64 = address [@tile]
  %w:i64 = zext %i
  %o:i64 = shl %w 2:i32
  %at:i64 = add %a %o
  %x:f32 %y:f32 = load [global +8 align 8 volatile cached read only] %at
  %z:f32 = fadd [nearest flush] %x 0x3f800000:f32
  %r:i32 = ftosi [zero saturate] %z
  store [shared +0 align 4] %t %z undef:f32
  barrier [waits] 0:i32
  %c:i32 = barrier [waits count] 0:i32 %p
  warp_barrier 4294967295:i32
  fence [device]
  %b:i32 = vote [ballot] %p 4294967295:i32
  %h:f32 %q:i1 = shuffle [down] %z 1:i32 31:i32 4294967295:i32
  %m:i32 = match [any unmasked] %r
  %old:i32 = atomic_add [global +0 align 4 relaxed scope device] %at %r
  %f:i32 = call [@twice] %r
  %g:i32 = unmodeled ['vadd4.s32 %r1, %r2'] %r
  switch %f 1 done 2 body2 done
body2:
  trap
done:
  %k:i32 = phi entry 0:i32 body %f
  return
end
function @twice(x 4 align 4 i32) -> i32 [exact 32 1 1]
entry:
  %x:i32 = param [x+0]
  %y:i32 = add %x %x
  return %y
end
"""


@pytest.mark.parametrize(
    ("right", "wrong", "fault"),
    [
        ("%p:i1 = slt %i %n", "%p:i32 = slt %i %n", "slt"),
        ("%p:i1 = slt %i %n", "%p:i1 = slt %i 5:i64", "slt"),
        ("%o:i64 = shl %w 2:i32", "%o:i64 = shl %w 2:i64", "shl"),
        ("%z:f32 = fadd [nearest flush] %x 0x3f800000:f32", "%z:f32 = add %x 0x3f800000:f32", "add"),
        ("%p:i1 = slt %i %n", "%p:i1 = slt %i %r", "entry: %r is used where its definition may not have run"),
        ("body2 done\n", "body3 done\n", "there is no block body3"),
        ("phi entry 0:i32 body %f", "phi entry 0:i32", "%k does not name its predecessors"),
        ("phi entry 0:i32 body %f", "phi entry 0:i64 body %f", "%k has an operand of another type"),
        ("%m:i32 = match", "%c:i32 = match", "%c is defined twice"),
        ("  return %y", "  return", "returns other types"),
        ("branch uniform %p", "branch uniform %n", "is no predicate"),
        ("switch %f", "switch %z", "is no integer"),
        ("%c:i32 = barrier [waits count] 0:i32 %p", "%c:i32 = barrier [waits count] 0:i32", "barrier"),
        ("= call [@twice] %r", "= frobnicate %r", "there is no such op"),
    ],
)
def test_a_fault_is_named(right: str, wrong: str, fault: str) -> None:
    assert right in GOOD
    module = parse_module(GOOD.replace(right, wrong))
    found = [sentence for function in module.functions for sentence in faults(function)]
    assert any(fault in sentence for sentence in found), found
