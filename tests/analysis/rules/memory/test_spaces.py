"""MEM012 and MEM014: arrays of the thread's own that are in memory, constants that lanes ask for apart."""

from __future__ import annotations

import pytest

from tests.analysis.rules.test_arithmetic import compiled
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.rules.memory.spaces import other_spaces
from warpsmith.analysis.uniformity.facts import LaunchShape
from warpsmith.machine.devices import device
from warpsmith.ssa.reader import parse_module

HEAD = """
constant @table i32 x 64 align 4
kernel @k(n 4 align 4 i32)
  local @own i32 x 8 align 4
start:
  %n:i32 = param [n+0]
  %x:i32 = query [tid.x]
  %t:i64 = address [@table]
  %o:i64 = address [@own]
"""


def found(body: str, *, ptx: bool = False) -> list[KernelFinding]:
    module = parse_module(f"{HEAD}{body}\n  return\nend\n")
    facts = examine(module, "k", LaunchShape((64, 1, 1)), device("h100"))
    return list(other_spaces(compiled(facts) if ptx else facts))


def at(array: str, index: str) -> str:
    return f"  %f:i64 = smulwide {index} 4:i32\n  %p:i64 = add {array} %f\n"


LOAD, STORE = "  %v:i32 = load [local +0 align 4] {}\n", "  store [local +4 align 4] {} {}\n"


def test_an_array_that_the_thread_indexes() -> None:
    (one,) = found(at("%o", "%n") + STORE.format("%o", "%x") + LOAD.format("%p"))
    assert (one.rule, one.certainty) == ("MEM012", "conditional")
    assert one.message == "the private array own of 32 bytes is in local memory, that is, in device memory"
    assert one.subject.startswith("load")
    (sure,) = found(at("%o", "%n") + STORE.format("%o", "%x") + LOAD.format("%p"), ptx=True)
    assert (sure.certainty, sure.assumptions) == ("proven", ())


def test_numbers_that_a_call_is_handed_are_no_array() -> None:
    assert found(STORE.format("%o", "%x") + at("%o", "1:i32") + STORE.format("%p", "%n"), ptx=True) == []


def test_constant_places_are_registers_and_tables_a_guess() -> None:
    assert found(STORE.format("%o", "%x") + LOAD.format("%o")) == []
    assert found(at("%o", "%n") + STORE.format("%o", "3:i32") + LOAD.format("%p"))[0].certainty == "heuristic"
    assert found(at("%o", "%n") + STORE.format("%p", "3:i32"))[0].certainty == "conditional"


@pytest.mark.parametrize(("limit", "told"), [("8:i32", []), ("80:i32", ["heuristic"]), ("%n", ["conditional"])])
def test_a_counter_of_a_loop_that_a_compiler_can_unroll(limit: str, told: list[str]) -> None:
    body = f"""
{STORE.format("%o", "%x")}
  jump head
head:
  %j:i32 = phi start 0:i32 head %k
  %f:i64 = smulwide %j 4:i32
  %p:i64 = add %o %f
{LOAD.format("%p")}
  %k:i32 = add %j 1:i32
  %c:i1 = slt %k {limit}
  branch %c head done
done:"""
    assert [one.certainty for one in found(body)] == told


def constant(index: str) -> list[KernelFinding]:
    return found(at("%t", index) + "  %v:i32 = load [constant +0 align 4] %p")


def test_constants_that_lanes_ask_for_apart() -> None:
    (one,) = constant("%x")
    assert (one.rule, one.certainty, one.impact) == ("MEM014", "proven", 32.0)
    assert "differs between lanes: 32 words, one by one" in one.message
    assert constant("%n") == [] and constant("5:i32") == []


def test_an_unknown_factor_may_make_them_the_same() -> None:
    (one,) = found("  %m:i32 = mul %x %n\n" + at("%t", "%m") + "  %v:i32 = load [constant +0 align 4] %p")
    assert one.certainty == "conditional" and one.assumptions[-1] == "the indices differ between lanes"


def test_other_spaces_are_not_looked_at() -> None:
    assert found("") == []
