"""NaN: the interpreter and machine code give the same bits wherever they are seen, and no work is done elsewhere."""

from __future__ import annotations

import struct

from tests.simt.engine.agree import Case, agree
from warpsmith.simt.engine.ops.seen import values_seen
from warpsmith.simt.launch import Launch
from warpsmith.ssa.reader import parse_module

__all__ = ["nan_case"]

KERNEL = """
kernel @k(a 8 align 8 i64, out 8 align 8 i64)
start:
  %a:i64 = param [a+0]
  %out:i64 = param [out+0]
  %x:i32 = query [tid.x]
  %o:i64 = umulwide %x 4:i32
  %p:i64 = add %a %o
  %q:i64 = add %out %o
  %v:f32 = load [global +0 align 4] %p
  jump loop
loop:
  %n:i32 = phi start 0:i32 loop %m
  %s:f32 = phi start %v loop %t
  %root:f32 = sqrt %s
  %u:f32 = fsub %root %v
  %t:f32 = fadd %u %s
  %m:i32 = add %n 1:i32
  %more:i1 = ult %m 3:i32
  branch %more loop behind
behind:
  %turned:f32 = fneg %t
  %low:i1 = folt %v 0x40000000:f32
  %w:f32 = select %low %turned %v
  store [global +0 align 4] %q %w
  %least:f32 = fmin %t %v
  %bits:i32 = bitcast %least
  store [global +256 align 4] %q %bits
  %old:f32 = atomic_fadd [global +512 align 4] %out %root
  return
end
"""
PAYLOADS = (0x7FC00001, 0xFFC12345, 0x7F800001, 0xFF800000, 0x7F800000, 0x80000000, 0xBF800000, 0x40400000)


def nan_case(patterns: tuple[int, ...] = PAYLOADS) -> Case:
    """Return a launch with a thread for each pattern, many of them NaN."""
    launch = Launch((1, 1, 1), (len(patterns), 1, 1), {}, warp=8)
    arrays = {"a": (struct.pack(f"<{len(patterns)}I", *patterns), True), "out": (bytes(520), True)}
    return Case(parse_module(KERNEL), "k", launch, arrays)


def test_bits_of_nan_are_the_same() -> None:
    assert agree(nan_case()) == ""
    assert agree(nan_case(PAYLOADS[::-1] * 2)) == ""


def test_values_that_only_compute_are_not_seen() -> None:
    (function,) = parse_module(KERNEL).functions
    names = {value.name for value in values_seen(function)}
    # %root goes into an atomic op; %u and %s only into sums and roots; %v is stored as it is
    assert {"t", "turned", "w", "least", "root", "v"} == names & {"t", "turned", "w", "least", "root", "v", "u", "s"}
