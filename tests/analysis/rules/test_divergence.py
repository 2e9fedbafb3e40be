"""DIV: what is said of a branch that parts a warp, the one thing that fits best."""

from __future__ import annotations

import pytest

from tests.analysis.test_kernel import ROW, TILE, told
from warpsmith.analysis.rules.divergence import divergence
from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.uniformity.facts import LaunchShape

STORE = "  store [shared +0 align 4] %t %x\n"


def work(count: int, name: str) -> str:
    """Return so many instructions."""
    lines = [f"  %{name}{k}:i32 = add %x {k}:i32\n" for k in range(count - 1)]
    return "".join(lines) + STORE


def found(body: str, shape: LaunchShape = ROW) -> list[KernelFinding]:
    return list(divergence(told(body, shape)))


def rules(body: str, shape: LaunchShape = ROW) -> list[str]:
    return [one.rule for one in found(body, shape)]


def if_else(condition: str, then: int, other: int) -> str:
    body = "\n".join(f"  {line.strip()}" for line in condition.split(";"))
    return (f"{body}\n  branch %c yes no\nyes:\n{work(then, 'y')}  jump end\nno:\n"
            f"{work(other, 'z')}  jump end\nend:\n{STORE}")  # fmt: skip


DATA = "%v:i32 = load [global +0 align 4] %a; %m:i32 = add %v %x; %c:i1 = slt %m 3:i32"


def test_both_sides_run_one_after_the_other() -> None:
    (one,) = found(if_else(DATA, 20, 10))
    assert (one.rule, one.certainty) == ("DIV001", "conditional")
    assert "20 and 10 instructions" in one.message
    assert one.estimate is not None and one.estimate.value == 1.5
    assert one.assumptions == ("values that are loaded from memory differ between the lanes of a warp",)


def test_a_short_side_is_as_well_run_by_all() -> None:
    assert rules(if_else(DATA, 20, 8)) == []
    assert rules(if_else(DATA, 20, 9)) == ["DIV001"]


def test_lanes_that_are_known_to_part_are_shown() -> None:
    (one,) = found(if_else("%c:i1 = slt %x 40:i32", 20, 10))
    assert (one.rule, one.certainty, one.assumptions) == ("DIV001", "proven", ())
    rows = one.evidence[0].rows
    assert rows[0][1] == "0xffffffff" and rows[1][1:] == ("0x000000ff", "#" * 8 + "-" * 24)
    assert len(rows) == 4


def test_whole_warps_that_take_a_side_do_not_part() -> None:
    assert rules(if_else("%c:i1 = slt %x 64:i32", 20, 10)) == []
    assert rules(if_else("%c:i1 = slt %n 64:i32", 20, 10)) == []


def test_every_few_lanes_another_side() -> None:
    (one,) = found(if_else("%m:i32 = and %x 1:i32; %c:i1 = eq %m 0:i32", 4, 2))
    assert (one.rule, one.certainty) == ("DIV002", "proven")
    assert one.message.startswith("every warp runs both sides") and "modulo 2" in one.message
    assert one.evidence[0].rows == (("all", "0x55555555", "#-" * 16),)
    (half,) = found(
        "  %m:i32 = and %x 1:i32\n  %c:i1 = eq %m 0:i32\n  branch %c yes no\nyes:\n" + STORE + "  jump no\nno:\n"
    )
    assert half.message.startswith("every warp runs it with a part") and half.estimate is None


def test_of_one_warp_among_several_no_lane_can_be_given_to_another() -> None:
    inner = if_else("%m:i32 = and %x 1:i32; %d:i1 = eq %m 0:i32", 4, 2).replace("branch %c", "branch %d")
    body = f"  %c:i1 = slt %x {{}}:i32\n  branch %c in out\nin:\n{inner}  jump out\nout:\n"
    assert "DIV002" not in rules(body.format(32))
    assert "DIV002" in rules(body.format(64))
    assert "DIV002" in rules(body.format(32), LaunchShape((32, 1, 1)))


def loop(test: str, step: str = "add %j 1:i32", start: str = "0:i32") -> str:
    return f"""
  jump head
head:
  %j:i32 = phi start {start} head %k
  %k:i32 = {step}
{STORE}  %v:i32 = load [global +0 align 4] %a
  %c:i1 = {test}
  branch %c head done
done:"""


def test_lanes_leave_a_loop_in_different_iterations() -> None:
    (one,) = found(loop("slt %k %x"))
    assert (one.rule, one.certainty) == ("DIV003", "conditional") and "the thread's index" in one.message
    own = "  %o:i64 = smulwide %x 4:i32\n  %p:i64 = add %a %o\n"
    (data,) = found(own + loop("slt %k %v").replace("align 4] %a", "align 4] %p"))
    assert data.rule == "DIV003" and "loaded data" in data.message
    assert rules(loop("slt %k %n", "add %j %w", "%x")) == []
    assert rules(loop("slt %k %n")) == []


def test_a_bounds_check_is_nothing_to_gain() -> None:
    (one,) = found(if_else("%c:i1 = slt %i %n", 20, 10))
    assert (one.rule, one.impact) == ("DIV008", 0.0)


def early(tail: int, condition: str = "%l:i32 = and %x 31:i32\n  %c:i1 = ugt %l 1:i32") -> str:
    return f"  {condition}\n  branch %c gone rest\nrest:\n{work(tail, 'r')}  jump gone\ngone:\n"


def test_lanes_that_leave_early() -> None:
    (one,) = found(early(24))
    assert one.rule == "DIV005" and "24 instructions follow" in one.message
    assert rules(early(23)) == []
    # of each warp one lane goes on, and a bounds check
    assert rules(early(24, "%l:i32 = and %x 31:i32\n  %c:i1 = ne %l 3:i32")) == []
    assert rules(early(24, "%l:i32 = and %x 31:i32\n  %m:i32 = sub %n %l\n  %c:i1 = slt %m 1:i32")) == []


def test_a_switch_is_run_target_by_target() -> None:
    body = f"  switch %x 0 a 1 b end\na:\n{STORE}  jump end\nb:\n{STORE}  jump end\nend:\n"
    (one,) = found(body)
    assert one.rule == "DIV006" and "a switch with 3 targets" in one.message
    assert rules(body.replace("switch %x", "switch %n")) == []


def test_a_chain_of_tests_of_one_value_is_a_switch() -> None:
    body = """
  %m:i32 = mul %x %n
  %c0:i1 = eq %m 0:i32
  branch %c0 a l1
l1:
  %c1:i1 = eq %m 1:i32
  branch %c1 b l2
l2:
  %c2:i1 = eq %m 2:i32
  branch %c2 d end
a:
  store [shared +0 align 4] %t %x
  jump end
b:
  store [shared +4 align 4] %t %x
  jump end
d:
  store [shared +8 align 4] %t %x
  jump end
end:"""
    (one,) = found(body)
    assert one.rule == "DIV006" and "4 targets" in one.message
    # of two values it is none
    assert rules(body.replace("eq %m 1", "eq %x 1")) != ["DIV006"]


def test_fewer_and_fewer_lanes_of_every_warp() -> None:
    body = """
  jump head
head:
  %s:i32 = phi start 1:i32 tail %r
  %r:i32 = shl %s 1:i32
  %m:i32 = urem %x %r
  %c:i1 = eq %m {}:i32
  branch %c work tail
work:
  store [shared +0 align 4] %t %s
  jump tail
tail:
  %d:i1 = slt %r 256:i32
  branch %d head done
done:"""
    (one,) = found(body.format(0))
    assert (one.rule, one.certainty) == ("DIV004", "proven")
    assert rules(body.format(1)) == []
    mask = body.replace("%m:i32 = urem %x %r", "%k:i32 = sub %r 1:i32\n  %m:i32 = and %k %x")
    assert rules(mask.format(0)) == ["DIV004"]
    # one bit splits the lanes in halves, as in a bitonic sort
    assert rules(body.replace("urem %x %r", "and %s %x").format(0)) == []
    assert rules(body.replace("urem %x %r", "urem %r %x").format(0)) == []


def test_threads_that_meet_too_late() -> None:
    # a goto into the other side: 12 instructions of `both` are run twice
    body = f"""
  %m:i32 = mul %x %n
  %c:i1 = slt %m 3:i32
  branch %c one two
one:
{work(3, "p")}  %d:i1 = slt %n 3:i32
  branch %d both end
two:
{work(3, "q")}  %e:i1 = slt %n 5:i32
  branch %e both end
both:
{work(12, "b")}  jump end
end:
{STORE}"""
    (one,) = found(body)
    assert (one.rule, one.certainty) == ("DIV007", "conditional") and "12 instructions are on both ways" in one.message
    assert rules(body.replace(work(12, "b"), work(8, "b"))) == []


@pytest.mark.parametrize(("operand", "expected"), [("%m", ["DIV006"]), ("%a", [])])
def test_a_call_by_a_pointer_that_differs(operand: str, expected: list[str]) -> None:
    own = "  %o:i64 = smulwide %x 8:i32\n  %p:i64 = add %a %o\n  %m:i64 = load [global +0 align 8] %p\n"
    assert rules(f"{own}  call [@%f] {operand}") == expected


def test_rows_that_are_whole_warps_do_not_part() -> None:
    assert rules(if_else("%c:i1 = slt %y 3:i32", 20, 10), TILE) == []


LADDER = """
  %c:i1 = eq %x 5:i32
  branch %c one test
test:
  %d:i1 = eq %x 9:i32
  branch %d {} {}
one:
  store [shared +0 align 4] %t %x
  jump end
two:
  store [shared +4 align 4] %t %x
  jump end
end:
  store [shared +8 align 4] %t %x
"""


def test_tests_that_lead_to_one_place_are_no_switch() -> None:
    assert rules(LADDER.format("two", "end")) == ["DIV006"]
    assert rules(LADDER.format("one", "end").replace("two:", "two:\n")) == []
    (one,) = found(LADDER.format("two", "end"))
    assert "3 targets" in one.message


def test_a_leave_that_rests_on_data_says_so() -> None:
    body = f"  {'; '.join(DATA.split('; ')[:2])}; %c:i1 = slt %m 3:i32".replace("; ", "\n  ")
    (one,) = found(f"{body}\n  branch %c out on\nout:\n  return\non:\n{work(40, 'y')}")
    assert (one.rule, one.certainty) == ("DIV005", "conditional")
    assert one.assumptions == ("values that are loaded from memory differ between the lanes of a warp",)
