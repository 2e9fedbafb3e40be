"""The two sides of a branch: their blocks and costs, the loop it leaves, what it compares."""

from __future__ import annotations

import pytest

from tests.analysis.test_kernel import ROW, told
from warpsmith.analysis.rules.sides import comparison, cost_of, ends_kernel, loop_left_by, sides_of
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.ssa.graph import EXIT
from warpsmith.ssa.nodes import Constant, Value

BODY = """
  %c:i1 = slt %x %n
  branch %c yes no
yes:
  %d:i32 = add %x 1:i32
  %e:i1 = slt %d 9:i32
  branch %e both end
no:
  store [shared +0 align 4] %t %x
  jump both
both:
  store [shared +4 align 4] %t %x
  store [shared +8 align 4] %t %x
  jump end
end:
  %f:i1 = slt %x 3:i32
  branch %f gone last
last:
  store [shared +4 align 4] %t %x
  jump gone
gone:
  jump out
out:"""


@pytest.fixture(scope="module")
def facts() -> KernelFacts:
    return told(BODY, ROW)


def test_sides_end_where_the_ways_meet(facts: KernelFacts) -> None:
    first, second, third = facts.branches
    sides = sides_of(facts, first)
    assert sides is not None
    assert (sides.then, sides.other, sides.join) == (frozenset({"yes", "both"}), frozenset({"no", "both"}), "end")
    # what both run is nobody's
    assert (sides.then_cost, sides.other_cost, sides.least, sides.most) == (3, 1, 1, 3)
    inner = sides_of(facts, second)
    assert inner is not None and (inner.then_cost, inner.other_cost) == (2, 0)
    assert sides_of(facts, third) is not None


def test_a_switch_and_a_branch_to_one_place_have_no_sides() -> None:
    switch = told("  switch %x 0 a b\na:\n  jump b\nb:", ROW)
    assert sides_of(switch, switch.branches[0]) is None
    same = told("  %c:i1 = slt %x 3:i32\n  branch %c a a\na:", ROW)
    assert [sides_of(same, branch) for branch in same.branches] in ([None], [])


def test_a_side_stops_at_the_branch_itself() -> None:
    loop = told("  jump head\nhead:\n  %j:i32 = phi start 0:i32 head %k\n  %k:i32 = add %j 1:i32\n"
                "  %c:i1 = slt %k %n\n  branch %c head done\ndone:", ROW)  # fmt: skip
    (branch,) = loop.branches
    sides = sides_of(loop, branch)
    assert sides is not None and (sides.then, sides.other) == (frozenset(), frozenset())
    cycle = loop_left_by(loop, branch)
    assert cycle is not None and cycle.header == "head"


def test_the_innermost_loop_that_is_left() -> None:
    nest = told("""
  jump outer
outer:
  jump inner
inner:
  %c:i1 = slt %x %n
  branch %c inner next
next:
  %d:i1 = slt %x 3:i32
  branch %d outer both
both:
  %e:i1 = slt %n 3:i32
  branch %e done end
done:
  jump end
end:""", ROW)  # fmt: skip
    assert [cycle and cycle.header for cycle in (loop_left_by(nest, b) for b in nest.branches)] == [
        "inner", "outer", None
    ]  # fmt: skip


def test_costs_and_ends(facts: KernelFacts) -> None:
    assert cost_of(facts, []) == 0 and cost_of(facts, ["both", "end"]) == 4
    assert ends_kernel(facts, "gone") and ends_kernel(facts, "out") and ends_kernel(facts, EXIT)
    assert not ends_kernel(facts, "last") and not ends_kernel(facts, "end")


def test_a_circle_of_empty_blocks_is_no_end() -> None:
    endless = told("  %c:i1 = slt %x 3:i32\n  branch %c a done\na:\n  jump b\nb:\n  jump a\ndone:", ROW)
    assert not ends_kernel(endless, "a")


@pytest.mark.parametrize(
    ("lines", "op"),
    [
        ("%e:i1 = slt %x %n", "slt"),
        ("%d:i1 = slt %x %n; %e:i1 = not %d", "sge"),
        ("%d:i1 = ult %x %n; %e:i1 = xor %d 1:i1", "uge"),
        ("%d:i1 = sle %x %n; %e:i1 = eq %d 0:i1", "sgt"),
        ("%d:i1 = sle %x %n; %e:i1 = ne %d 0:i1", "sle"),
        ("%d:i1 = eq %x %n; %e:i1 = eq %d 1:i1", "eq"),
        ("%d:i1 = eq %x %n; %f:i1 = not %d; %e:i1 = ne %f 1:i1", "eq"),
        ("%d:i1 = eq %x %n; %f:i1 = slt %x 3:i32; %e:i1 = and %d %f", None),
        ("%e:i1 = trunc %x", None),
        ("%d:i1 = eq %x %n; %e:i1 = xor %d 0:i1", None),
    ],
)
def test_what_a_condition_compares(lines: str, op: str | None) -> None:
    found = told("\n".join(f"  {line.strip()}" for line in lines.split(";")), ROW)
    condition = next(value for value in found.warp_level.definitions if value.name == "e")
    test = comparison(found, condition)
    assert (None if test is None else test.op) == op
    if test is not None:
        assert isinstance(test.left, Value) and test.left.name == "x"
    assert comparison(found, Constant(condition.type, 1)) is None
