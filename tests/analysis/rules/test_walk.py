"""Threads that are followed through a kernel: where they go, and where they leave an array."""

from __future__ import annotations

import pytest

from tests.analysis.test_kernel import told
from warpsmith.analysis.rules.walk import Escape, count_visits, describe_tests, find_escapes
from warpsmith.analysis.uniformity.facts import Dim, LaunchShape

TAIL = "  %p:i32 = add %t %e\n  store [shared +0 align 4] %p %x\n"
LOOP = """
  jump head
head:
  %j:i32 = phi start 0:i32 body %k
  %c:i1 = slt %j {}
  branch %c body done
body:
  %m:i32 = mul %j 256:i32
  %o:i32 = mul %x 4:i32
  %e:i32 = add %m %o
  %p:i32 = add %t %e
  store [shared +0 align 4] %p %x
  %k:i32 = add %j 1:i32
  jump head
done:
"""


def escapes(body: str, size: int, block: Dim = (64, 1, 1)) -> list[Escape]:
    facts = told(body, LaunchShape(block))
    return find_escapes(facts, {"tile": size})


@pytest.mark.parametrize(("size", "found"), [(1024, []), (1020, [((63, 0, 0), 1020)]), (512, [((0, 0, 0), 512)])])
def test_a_loop_that_is_counted(size: int, found: list[tuple[Dim, int]]) -> None:
    assert [(one.thread, one.offset) for one in escapes(LOOP.format("4:i32"), size)] == found
    assert count_visits(told(LOOP.format("4:i32"), LaunchShape((64, 1, 1))))["head"] == 5


def test_a_loop_that_is_not_counted_is_passed_over() -> None:
    assert escapes(LOOP.format("%n"), 4) == []


def behind(test: str) -> str:
    lines = "".join(f"  {line.strip()}\n" for line in test.split(";"))
    return f"{lines}  branch %c yes end\nyes:\n  %e:i32 = mul %x 4:i32\n{TAIL}  jump end\nend:"


@pytest.mark.parametrize(
    ("test", "assumed"),
    [
        ("%c:i1 = slt %x 63:i32", [0]),  # thread 62 is at the border
        ("%c:i1 = slt %x 62:i32", None),
        ("%c:i1 = slt %n 9:i32", [1]),  # one for the block
        ("%c:i1 = slt %i %n", [1]),  # a bounds check of the grid
        # whatever n is, no thread beyond 63, or 61, is let through
        ("%g0:i1 = slt %i %n; %m:i32 = smin %n 64:i32; %g1:i1 = slt %x %m; %c:i1 = and %g1 %g0", [1]),
        ("%g0:i1 = slt %i %n; %m:i32 = smin %n 62:i32; %g1:i1 = slt %x %m; %c:i1 = and %g1 %g0", None),
        ("%c:i1 = slt %x %n", None),  # may be just what keeps threads away
        ("%v:i32 = load [global +0 align 4] %a; %c:i1 = slt %v 3:i32", None),
    ],
)
def test_what_a_test_lets_through(test: str, assumed: list[int] | None) -> None:
    found = escapes(behind(test), 4 * 62)
    assert [len(one.tests) for one in found] == (assumed or [])
    facts = told(behind(test), LaunchShape((64, 1, 1)))
    assert [list(describe_tests(facts, one)) for one in found] == [["a thread gets there"] * n for n in assumed or []]


def test_what_a_skipped_way_may_set_is_not_known() -> None:
    body = """
  %v:i32 = load [global +0 align 4] %a
  %c:i1 = slt %v 3:i32
  branch %c yes end
yes:
  %w:i32 = load [global +4 align 4] %a
  jump end
end:
  %e:i32 = phi start 4096:i32 yes 0:i32
"""
    assert escapes(body + TAIL, 64) == []
    assert len(escapes(body.replace("start 4096", "start 4096") + TAIL.replace("%t %e", "%t 4096:i32"), 64)) == 1


def test_a_failed_assertion_is_no_way() -> None:
    body = "  %v:i32 = load [global +0 align 4] %a\n  %c:i1 = slt %v 3:i32\n  branch %c on no\nno:\n  trap\non:\n"
    (one,) = escapes(body + "  %e:i32 = mul %x 8:i32\n" + TAIL, 256)
    assert (one.thread, one.tests) == ((63, 0, 0), ())


def test_a_place_moves_both_ways() -> None:
    down = "  %f:i32 = mul %x 4:i32\n  %e:i32 = sub 8:i32 %f\n"
    (one,) = escapes(down + TAIL, 256)
    assert one.offset < 0
