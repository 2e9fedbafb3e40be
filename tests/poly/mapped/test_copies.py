"""What is stale after writes and copies, and after two ways that meet."""

from __future__ import annotations

from msgspec.structs import replace

from tests.poly.mapped.test_extents import extent
from warpsmith.base.source import SourceFile, Span
from warpsmith.poly.mapped.copies import CopyPair, Stale, join_copies, transferred

SPAN = Span(SourceFile("t.c", "text"), 0, 4)
WHOLE, HALF = extent("[0:n]"), extent("[0:n/2]")
STALE = Stale("device", "a", SPAN, WHOLE)


def test_a_write_of_all_elements_leaves_nothing_stale_and_one_of_a_part_the_rest() -> None:
    assert STALE.without(WHOLE) is None and STALE.without(None) is STALE
    left = STALE.without(HALF)
    assert left is not None and left.misses(HALF) and not left.misses(WHOLE) and not left.meets(WHOLE)


def test_what_is_stale_is_certainly_met_only_where_both_are_known() -> None:
    assert STALE.meets(HALF) and not STALE.meets(None) and not STALE.misses(None)
    assert not STALE.perhaps_without(HALF).meets(HALF)
    assert STALE.perhaps_without(extent("[n:m]")).meets(HALF)
    assert STALE.meets(HALF, whole=False)
    other = replace(STALE, extent=HALF)
    assert other.meets(WHOLE) and not other.meets(WHOLE, whole=False)


def test_a_copy_makes_its_part_as_good_as_the_source() -> None:
    assert transferred((), (STALE,), WHOLE) == frozenset()
    assert transferred((STALE,), (), HALF) == {replace(STALE, extent=HALF)}
    assert transferred((STALE,), (), extent("[n:m]")) == frozenset()
    assert transferred((), (STALE,), None) == transferred((STALE,), (), None) == {replace(STALE, sure=False)}
    for part, left in (("[m:n]", "[m:n-m]"), ("[m:k]", "[0:n]")):
        assert transferred((STALE,), (), extent(part)) == {replace(STALE, extent=extent(left), sure=False)}


def test_ways_that_meet_know_what_both_know() -> None:
    one = join_copies(CopyPair(1, WHOLE, host=frozenset({STALE})), CopyPair(1, WHOLE))
    assert one is not None and [stale.sure for stale in one.host] == [False]
    assert join_copies(CopyPair(1), CopyPair()) is None
