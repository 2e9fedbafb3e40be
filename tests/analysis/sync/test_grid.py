"""Places that threads of different blocks touch in one launch, as far as addresses say it plainly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.analysis.sync.kernels_of_text import judge_of
from tests.analysis.test_kernel import told
from warpsmith.analysis.sync import grid as across
from warpsmith.analysis.sync.grid import may_order_blocks
from warpsmith.analysis.uniformity.facts import Dim, LaunchShape, RaceFact
from warpsmith.ssa.reader import parse_module

AT = "  %o{0}:i64 = smulwide {1} 4:i32\n  %p{0}:i64 = add %a %o{0}\n"
STORE = "  store [global {1:+d} align 4] %p{0} %x\n"
LOAD = "  %v{0}:i32 = load [global {1:+d} align 4] %p{0}\n"


def races(body: str, grid: Dim | None = (4, 1, 1), block: Dim = (64, 1, 1), **arguments: int) -> list[RaceFact]:
    found = told(body, LaunchShape(block, grid, arguments)).races
    return [race for race in found if race.reach == "grid"]


def store(index: str, offset: int = 0, name: str = "s") -> str:
    return AT.format(name, index) + STORE.format(name, offset)


def load(index: str, offset: int = 0, name: str = "l") -> str:
    return AT.format(name, index) + LOAD.format(name, offset)


def test_a_store_without_the_index_of_the_block_is_made_by_all_blocks() -> None:
    (race,) = races(store("%x"))
    assert (race.variable, race.space, race.certainty) == ("a", "global", "conditional")
    assert race.first == race.second
    assert race.assumptions == ("the launch is as given",)
    assert races(store("%x"), None)[0].assumptions == ("the grid has several blocks",)
    assert not races(store("%x"), (1, 1, 1))
    assert not races(store("%i"))
    assert not races(load("%x"))


QUOTIENT = "  %q:i32 = sdiv %b 2:i32\n  %r:i32 = srem %b 2:i32\n  %q4:i32 = mul %q 128:i32\n  %r4:i32 = mul %r 64:i32\n"
TURNS = """  %first:i32 = mul %b 64:i32
  jump head
head:
  %k:i32 = phi start {0} head %k2
  %k64:i32 = mul %k 64:i32
  %e:i32 = add %k64 %x
{1}  %k2:i32 = add %k 1:i32
  %end:i32 = add %first 64:i32
  %go:i1 = slt %k2 %end
  branch %go head done
done:
"""


def test_an_index_that_is_made_of_that_of_the_block_is_none_of_all_blocks() -> None:
    parts = QUOTIENT + "  %qr:i32 = add %q4 %r4\n  %e:i32 = add %qr %x\n"
    assert not races(parts + store("%e"))
    # a counter that starts at its block's part, and one that starts at 0
    assert not races(TURNS.format("%first", store("%e")))
    assert races(TURNS.format("0:i32", store("%e")))


def test_a_store_of_the_block_whose_test_lets_one_through() -> None:
    def behind(test: str) -> str:
        return f"  %c:i1 = {test}\n  branch %c yes no\nyes:\n" + store("%x") + "  jump no\nno:\n"

    assert not races(behind("eq %i 0:i32")) and not races(behind("eq %b 0:i32"))
    (race,) = races(behind("eq %x 0:i32"))
    assert "more than one block gets there" in race.assumptions
    assert races(behind("slt %b 7:i32"))


def test_a_neighbor_of_another_block() -> None:
    (race,) = races(store("%i") + load("%i", 4))
    one, two = race.first, race.second
    assert one.thread is not None and two.thread is not None
    # thread 63 reads what thread 0 of the next block writes
    assert (one.thread.index, two.thread.index) == ((0, 0, 0), (63, 0, 0))
    (race,) = races(store("%i") + load("%i", -4))
    assert race.first.thread is not None and race.first.thread.index == (63, 0, 0)
    assert not races(store("%i") + load("%i"))


def test_who_no_test_lets_through_meets_no_neighbor() -> None:
    def behind(test: str, name: str, access: str) -> str:
        branch = f"  %c{name}:i1 = {test}\n  branch %c{name} in{name} out{name}\n"
        return f"{branch}in{name}:\n{access}  jump out{name}\nout{name}:\n"

    def both(test: str) -> list[RaceFact]:
        return races(behind(test, "s", store("%i")) + behind(test, "l", load("%i", 128)))

    # threads 32 to 63 read what the next block writes, the others do not
    assert not both("slt %x 32:i32")
    (race,) = both("slt %x 33:i32")
    assert race.second.thread is not None and race.second.thread.index == (32, 0, 0)
    # a step of a reduction for larger blocks than this one
    assert not both("sle 512:i32 64:i32")
    assert not races(behind("sle 512:i32 64:i32", "s", store("%x")))
    (race,) = races(behind("slt 7:i32 %x", "s", store("%x")))
    assert race.first.thread is not None and race.first.thread.index == (8, 0, 0)


def test_pieces_of_more_than_a_block_apart_do_not_meet_their_neighbors() -> None:
    assert not races(store("%i") + load("%i", 4096))
    # each block owns twice as much as it writes
    wide = "  %b2:i32 = shl %b 7:i32\n  %w2:i32 = add %b2 %x\n"
    assert not races(wide + store("%w2") + load("%w2", 4))
    assert not races(wide + store("%w2") + load("%w2", 256))
    assert races(wide + store("%w2") + load("%w2", 512))


def test_blocks_that_may_wait_for_each_other_are_not_told() -> None:
    assert not races(store("%x") + "  fence [device]\n")
    plain = parse_module("kernel @k()\nstart:\n  return\nend\n").functions[0]
    calling = parse_module("kernel @k()\nstart:\n  call [@f]\n  return\nend\n").functions[0]
    assert not may_order_blocks(plain) and may_order_blocks(calling)


def test_addresses_of_data_are_not_told() -> None:
    for read in ("%i", "%x"):
        loaded = load(read, name="j") + "  %k:i32 = and %vj 63:i32\n"
        assert not races(loaded + AT.format("s", "%k") + STORE.format("s", 4096))
    # all blocks write one element, whatever n is
    divided = "  %k:i32 = sdiv %n 3:i32\n"
    assert races(divided + store("%k"))


def test_an_unknown_number_between_two_places_is_not_told() -> None:
    moved = "  %k:i32 = add %i %n\n"
    assert not races(moved + store("%i") + load("%k"))
    assert races(moved + store("%i") + load("%k"), n=1)
    # of both, it cancels
    assert races(moved + store("%k") + load("%k", 4))


def test_a_loop_counter_is_plain() -> None:
    body = """
  jump head
head:
  %j:i64 = phi start 0:i64 head %k
  %k:i64 = add %j 4:i64
  %p:i64 = add %a %j
  store [global +0 align 4] %p %x
  %c:i1 = slt %k %a
  branch %c head done
done:
"""
    assert races(body)


BUGS = [
    ("_is_of_block", lambda judge, place: False, test_a_store_without_the_index_of_the_block_is_made_by_all_blocks),
    ("_is_of_block", lambda judge, place: True, test_a_store_without_the_index_of_the_block_is_made_by_all_blocks),
    ("_of_one_block", lambda judge, place: False, test_a_store_of_the_block_whose_test_lets_one_through),
    ("may_order_blocks", lambda function: False, test_blocks_that_may_wait_for_each_other_are_not_told),
    ("_is_plain", lambda place: True, test_addresses_of_data_are_not_told),
    ("overlap", lambda *given: (0, 64), test_pieces_of_more_than_a_block_apart_do_not_meet_their_neighbors),
    ("_meet", lambda judge, store, load: None, test_a_neighbor_of_another_block),
    ("_meet", lambda judge, store, load: (0, 0), test_an_unknown_number_between_two_places_is_not_told),
]  # fmt: skip


@pytest.mark.parametrize(("name", "wrong", "test"), BUGS)
def test_a_bug_is_seen(
    name: str, wrong: Callable[..., object], test: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(across, name, wrong)
    with pytest.raises((AssertionError, ValueError)):
        test()


@pytest.mark.parametrize(
    ("body", "ordered"),
    [
        ("volatile int *v = b; while (v[blockIdx.x] == 0) {} a[0] = n; v[blockIdx.x + 1] = 1;", True),
        ("volatile int *v = b; if (v[blockIdx.x] == 0) a[0] = n;", False),
        ("while (b[blockIdx.x] == 0) n++; a[0] = n;", False),
    ],
)
def test_blocks_that_poll_may_be_ordered(body: str, *, ordered: bool, tmp_path: Path) -> None:
    judge, _ = judge_of(body, tmp_path)
    assert may_order_blocks(judge.forms.answer.function) == ordered
