"""One thread's own element against one that another thread picks by a loaded index: told where nothing is between."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.analysis.test_kernel import told
from warpsmith.analysis.sync import by_data as data
from warpsmith.analysis.sync.by_data import BY_DATA
from warpsmith.analysis.sync.by_data import PICKED as TWICE
from warpsmith.analysis.sync.races import Judge
from warpsmith.analysis.uniformity.facts import LaunchShape, RaceFact

SHAPE = LaunchShape((64, 1, 1))
PICKED = """
  %g0:i64 = smulwide %i 4:i32
  %g1:i64 = add %a %g0
  %j:i32 = load [global +0 align 4] %g1
  %j4:i32 = shl %j 2:i32
  %q:i32 = add %t %j4
"""
OWN = "  %o:i32 = shl %x 2:i32\n  %p:i32 = add %t %o\n"
ZERO, COUNT = "  store [shared +0 align 4] %p 0:i32\n", "  %was:i32 = atomic_add [shared +0 align 4] %q 1:i32\n"
BARRIER = "  barrier [waits] 0:i32\n"


def by_data(body: str, shape: LaunchShape = SHAPE) -> list[RaceFact]:
    return [race for race in told(body, shape).races if BY_DATA in race.assumptions]


def test_an_element_that_is_set_and_then_counted_in_without_a_barrier() -> None:
    (race,) = by_data(PICKED + OWN + ZERO + COUNT)
    assert race.certainty == "conditional"
    assert {race.first.access.kind, race.second.access.kind} == {"store", "atomic"}
    assert race.first.thread != race.second.thread


def test_the_other_order_is_told_as_well() -> None:
    assert by_data(PICKED + OWN + COUNT + ZERO)


def test_a_barrier_between_orders_them() -> None:
    assert not by_data(PICKED + OWN + ZERO + BARRIER + COUNT)
    assert not by_data(PICKED + OWN + COUNT + BARRIER + ZERO)


def test_a_barrier_before_both_orders_nothing() -> None:
    assert by_data(PICKED + OWN + BARRIER + ZERO + COUNT)
    assert by_data(PICKED + OWN + BARRIER + ZERO + "  jump next\nnext:\n" + COUNT)


def test_in_other_blocks_of_code() -> None:
    branch = "  %c:i1 = slt %n 3:i32\n  branch %c yes no\nyes:\n"
    assert by_data(PICKED + OWN + ZERO + branch + COUNT + "  jump no\nno:\n")
    assert not by_data(PICKED + OWN + ZERO + branch + BARRIER + COUNT + "  jump no\nno:\n")
    # one or the other
    assert not by_data(PICKED + OWN + branch + ZERO + "  jump end\nno:\n" + COUNT + "  jump end\nend:\n")
    # the barrier stands in the block between
    between = "  jump mid\nmid:\n" + BARRIER + "  jump last\nlast:\n"
    assert not by_data(PICKED + OWN + ZERO + between + COUNT)
    assert by_data(PICKED + OWN + ZERO + between.replace(BARRIER, "") + COUNT)


def test_a_barrier_on_every_way_between_keeps_them_apart() -> None:
    loop = """
  jump head
head:
  %s:i32 = phi start 0:i32 tail %r
  %c:i1 = slt %x 32:i32
  branch %c one two
one:
ZERO  jump tail
two:
COUNT  jump tail
tail:
WAIT  %r:i32 = add %s 1:i32
  %d:i1 = slt %r 9:i32
  branch %d head done
done:
""".replace("ZERO", ZERO).replace("COUNT", COUNT)
    assert not by_data(PICKED + OWN + loop.replace("WAIT", BARRIER))
    assert by_data(PICKED + OWN + loop.replace("WAIT", ""))


LAYOUTS = {
    "a part of the array for each thread": "  %x4:i32 = shl %x 4:i32\n  %q2:i32 = add %q %x4\n",
    "another array in the same memory": "  %q2:i32 = add %q 256:i32\n",
    "of the launch alone": "  %n4:i32 = shl %n 2:i32\n  %q2:i32 = add %t %n4\n",
}


def test_layouts_that_may_keep_threads_apart_are_not_told() -> None:
    for what, picked in LAYOUTS.items():
        assert not by_data(PICKED + OWN + picked + ZERO + COUNT.replace("%q ", "%q2 ")), what


def test_two_picked_elements_are_not_told() -> None:
    assert not by_data(PICKED + COUNT + "  store [shared +0 align 4] %q 0:i32\n")


def test_device_memory_is_not_told() -> None:
    body = PICKED + "  %j8:i64 = sext %j4\n  %d:i64 = add %a %j8\n  store [global +0 align 4] %g1 0:i32\n"
    assert not by_data(body + "  %was:i32 = atomic_add [global +0 align 4] %d 1:i32\n")


def test_one_thread_alone_meets_nobody() -> None:
    assert not by_data(PICKED + OWN + ZERO + COUNT, LaunchShape((1, 1, 1)))


def test_a_barrier_of_the_warp_may_order_them() -> None:
    wait = "  warp_barrier %n\n"
    assert not by_data(PICKED + OWN + ZERO + wait + COUNT)


MASKED = PICKED.replace("shl %j 2:i32", "shl %m 2:i32").replace("  %j4", "  %m:i32 = and %j 7:i32\n  %j4")
ADDED = """
  %v:i32 = load [shared +0 align 4] %q
  %w:i32 = add %v 1:i32
  store [shared +0 align 4] %q %w
"""


def picked_twice(body: str) -> int:
    return sum(TWICE in race.assumptions for race in told(body, SHAPE).races)


def test_an_element_that_a_mask_picks_is_picked_twice() -> None:
    assert picked_twice(MASKED + ADDED) == 1
    assert not picked_twice(PICKED + ADDED), "a number for each thread, as far as is known"
    assert not picked_twice(MASKED + ADDED.replace("  %w", BARRIER + "  %w"))
    assert not picked_twice(MASKED + "  %c:i1 = slt %x 1:i32\n  branch %c yes no\nyes:\n" + ADDED + "  jump no\nno:\n")


BUGS = [
    (data, "_follows", lambda judge, a, b: True, test_a_barrier_on_every_way_between_keeps_them_apart),
    (data, "_follows", lambda judge, a, b: False, test_the_other_order_is_told_as_well),
    (data, "full_barrier", lambda i: False, test_a_barrier_on_every_way_between_keeps_them_apart),
    (data, "_start_together", lambda a, b: True, test_layouts_that_may_keep_threads_apart_are_not_told),
    (data, "_is_own", lambda place: True, test_two_picked_elements_are_not_told),
    (data, "_is_picked", lambda place: True, test_layouts_that_may_keep_threads_apart_are_not_told),
    (Judge, "may_be_ordered", lambda self, meeting: False, test_a_barrier_of_the_warp_may_order_them),
    (data, "_is_narrowed", lambda judge, place: True, test_an_element_that_a_mask_picks_is_picked_twice),
    (data, "_NARROWING", (), test_an_element_that_a_mask_picks_is_picked_twice),
]  # fmt: skip


@pytest.mark.parametrize(("where", "name", "wrong", "test"), BUGS)
def test_a_bug_is_seen(
    where: object, name: str, wrong: object, test: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, name, wrong)
    with pytest.raises((AssertionError, ValueError)):
        test()
