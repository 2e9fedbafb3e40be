"""What is live at once, and registers that are estimated from it; benchmarks/registers.py compares them with ptxas."""

from __future__ import annotations

import pytest

from warpsmith.analysis.resources.registers import estimate_registers, live_registers
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.reader import parse_module


def live(body: str) -> int:
    text = f"kernel @k(n 4 align 4 i32)\nstart:\n  %n:i32 = param [n+0]\n{body}\n  return\nend\n"
    return live_registers(parse_module(text).functions[0])


@pytest.mark.parametrize(
    ("body", "most"),
    [
        ("", 0),
        ("  %a:i32 = add %n 1:i32", 1),
        ("  %a:i32 = add %n 1:i32\n  %b:i32 = add %n %a\n  %c:i32 = add %b %n", 2),
        ("  %a:i64 = sext %n\n  %b:i64 = add %a %a", 2),
        ("  %a:i64 = sext %n\n  %b:i64 = sext %n\n  %c:i64 = add %a %b", 4),
        ("  %a:i8 = trunc %n\n  %b:i8 = add %a 1:i8\n  %c:i8 = add %a %b", 2),
        # predicates have registers of their own
        ("  %c:i1 = slt %n 3:i32\n  %a:i32 = select %c %n 5:i32", 1),
    ],
)
def test_what_is_live_at_once(body: str, most: int) -> None:
    assert live(body) == most


def test_what_a_phi_reads_is_live_at_the_end_of_its_way() -> None:
    body = """
  %a:i32 = add %n 1:i32
  %b:i32 = add %n 2:i32
  %d:i32 = add %n 3:i32
  branch 1:i1 yes end
yes:
  jump end
end:
  %u:i32 = phi start %a yes 0:i32
  %v:i32 = phi start %b yes 0:i32
  %w:i32 = phi start %d yes 0:i32"""
    assert live(body) == 3


def test_what_is_used_behind_a_loop_is_live_in_it() -> None:
    body = """
  %a:i32 = add %n 1:i32
  jump head
head:
  %i:i32 = phi start 0:i32 tail %k
  %c:i1 = slt %i 9:i32
  branch %c next done
next:
  %j:i32 = add %i 1:i32
  %k:i32 = mul %i %j
  jump tail
tail:
  jump head
done:
  %e:i32 = add %a %i"""
    # a, i and j
    assert live(body) == 3
    assert live(body.replace("%e:i32 = add %a %i", "")) == 2


def test_blocks_that_nobody_comes_to_hold_nothing() -> None:
    assert live("  return\nlost:\n  %a:i64 = sext %n\n  %b:i64 = sext %n\n  %c:i64 = add %a %b") == 0


LOOP = """kernel @k(a 8 align 8 i64, n 4 align 4 i32)
start:
  %a:i64 = param [a+0]
  %n:i32 = param [n+0]
  jump head
head:
  %i:i32 = phi start 0:i32 body %j
  %c:i1 = slt %i BOUND
  branch %c body done
body:
  INSIDE
  %j:i32 = add %i STEP
  jump body_end
done:
  return
end
"""
LOADS = "%x:f64 = load [global +0 align 8] %a\n  %y:f64 = load [global +8 align 8] %a"


def estimate(text: str) -> int:
    function = parse_module(text).functions[0]
    return estimate_registers(function, Graph.of(function))


def loop(inside: str = LOADS, bound: str = "%n", step: str = "1:i32") -> int:
    text = LOOP.replace("  jump body_end\n", "  jump head\n")
    return estimate(text.replace("INSIDE", inside).replace("BOUND", bound).replace("STEP", step))


def test_no_kernel_has_less_than_the_least() -> None:
    assert estimate("kernel @k(n 4 align 4 i32)\nstart:\n  return\nend\n") == 8


def test_arguments_are_read_where_they_lie() -> None:
    text = "kernel @k(a 80 align 8 i64)\nstart:\n{}{}  return\nend\n"
    read = "".join(f"  %a{n}:i64 = param [a+{8 * n}]\n" for n in range(8))
    used = "".join(f"  store [global +0 align 4] %a{n} 1:i32\n" for n in range(8))
    assert estimate(text.format(read, used)) == 8
    function = parse_module(text.format(read, used)).functions[0]
    assert live_registers(function) == 16


def test_a_loop_that_counts_and_loads_is_unrolled() -> None:
    assert loop() == 30
    assert loop(bound="9:i32") == 30 and loop(step="-1:i32") == 30


@pytest.mark.parametrize(
    ("inside", "bound", "step"),
    [
        ("%x:f64 = load [global +0 align 8] %a", "%n", "1:i32"),  # little is on the way
        (LOADS + "\n  barrier [waits] 0:i32", "%n", "1:i32"),  # every iteration waits
        (LOADS + "\n  %s:i32 = load [global +16 align 4] %a", "%n", "%s"),  # memory says how far it goes
        ("\n  ".join([LOADS, *(f"%z{n}:i32 = add %i {n}:i32" for n in range(60))]), "%n", "1:i32"),  # it is long
    ],
)
def test_other_loops_are_not(inside: str, bound: str, step: str) -> None:
    assert loop(inside, bound, step) < 20


def test_a_loop_with_two_ways_out_is_not_unrolled() -> None:
    inside = LOADS + "\n  %e:i1 = foeq %x %y\n  branch %e done more\nmore:"
    assert loop(inside) < 20


def test_a_division_of_64_bits_is_a_function_that_is_called() -> None:
    text = "kernel @k(a 16 align 8 f64)\nstart:\n  %a:f64 = param [a+0]\n  %b:f64 = param [a+8]\n{}\n  return\nend\n"
    assert estimate(text.format("  %c:f64 = fdiv %a %b")) - estimate(text.format("  %c:f64 = fadd %a %b")) == 14 - 8
