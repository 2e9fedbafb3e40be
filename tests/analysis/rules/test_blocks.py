"""SYN008: a block reads what another block writes, where both addresses are one sum but for a number."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.analysis.test_kernel import told
from warpsmith.analysis.rules import blocks
from warpsmith.analysis.rules.blocks import between_blocks
from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.uniformity.facts import Dim, LaunchShape

HEAD = "  %o:i64 = smulwide %i 4:i32\n  %p:i64 = add %a %o\n"
STORE, LOAD = "  store [global +0 align 4] %p %x\n", "  %v:i32 = load [global {:+d} align 4] %p\n"


def found(body: str, grid: Dim | None = None, block: Dim = (64, 1, 1)) -> list[KernelFinding]:
    # what the sums themselves show to be a race is told as one already
    return list(between_blocks(replace(told(body, LaunchShape(block, grid)), races=())))


def test_a_race_that_is_told_is_not_told_again() -> None:
    facts = told(HEAD + STORE + LOAD.format(4), LaunchShape((64, 1, 1), (4, 1, 1)))
    assert any(race.reach == "grid" for race in facts.races)
    assert not list(between_blocks(facts))


def test_an_element_ahead_and_one_back() -> None:
    (ahead,) = found(HEAD + STORE + LOAD.format(4))
    assert (ahead.rule, ahead.certainty) == ("SYN008", "conditional")
    assert "reaches 1 element ahead" in ahead.message
    assert [row[0] for row in ahead.evidence[0].rows] == ["(63, 0, 0) of block b", "(0, 0, 0) of block b + 1"]
    (back,) = found(HEAD + STORE + LOAD.format(-8))
    assert "reaches 2 elements back" in back.message
    assert [row[0] for row in back.evidence[0].rows] == ["(0, 0, 0) of block b", "(62, 0, 0) of block b - 1"]


def test_a_grid_that_is_known_needs_no_assumption() -> None:
    (unknown,), (known,) = (found(HEAD + STORE + LOAD.format(4), grid) for grid in (None, (4, 1, 1)))
    assert "the grid has more than one block" in unknown.assumptions
    assert "the grid has more than one block" not in known.assumptions
    assert not found(HEAD + STORE + LOAD.format(4), (1, 1, 1))


@pytest.mark.parametrize(
    "body",
    [
        HEAD + STORE + LOAD.format(0),
        HEAD + STORE + LOAD.format(2),
        HEAD + STORE,
        HEAD + LOAD.format(4),
        # flags may order blocks
        HEAD + STORE + "  fence [device]\n" + LOAD.format(4),
        HEAD + STORE + "  %v:i32 = load [global +4 align 4 volatile] %p\n",
        # no piece of its own for each block
        HEAD.replace("%i 4", "%x 4") + STORE + LOAD.format(4),
        HEAD.replace("%i 4", "%i 8") + STORE + LOAD.format(8),
        # threads are n elements apart, and one more: a[i * n + i - 1] is no other thread's
        "  %r:i32 = mul %i %n\n  %d:i32 = add %r %i\n" + HEAD.replace("%i 4", "%d 4") + STORE + LOAD.format(-4),
        "  %r:i32 = mul %b %n\n  %d:i32 = add %r %i\n" + HEAD.replace("%i 4", "%d 4") + STORE + LOAD.format(-4),
    ],
)
def test_what_is_no_reach_into_another_block(body: str) -> None:
    assert not found(body)


def test_a_block_with_rows_is_not_looked_at() -> None:
    assert not found(HEAD + STORE + LOAD.format(4), block=(32, 2, 1))


TEST = "  %c:i1 = {}\n  branch %c yes no\nyes:\n"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [("slt %x 63:i32", True), ("slt %i %n", False), ("slt %n 3:i32", False), ("eq %b 0:i32", False)],
)
def test_a_test_of_the_index_in_the_block_may_keep_threads_from_the_border(condition: str, *, expected: bool) -> None:
    facts = told(HEAD + STORE + TEST.format(condition) + LOAD.format(4) + "  jump no\nno:\n", LaunchShape((64, 1, 1)))
    assert blocks.tests_thread(facts, "yes") == expected
    assert not blocks.tests_thread(facts, "no") and not blocks.tests_thread(facts, "start")
    assert bool(list(between_blocks(replace(facts, races=())))) != expected


def test_a_test_of_data_counts_and_holds_for_all_that_is_behind_it() -> None:
    body = "  %v:i32 = load [global +0 align 4] %a\n" + TEST.format("slt %v 3:i32")
    body += "  %d:i1 = slt %n 5:i32\n  branch %d in out\nin:\n  jump out\nout:\n  jump no\nno:\n"
    facts = told(body, LaunchShape((64, 1, 1)))
    assert [blocks.tests_thread(facts, name) for name in ("yes", "in", "out", "no")] == [True, True, True, False]


@pytest.mark.parametrize(
    ("index", "terms", "number"),
    [
        ("a + 4·tid.x - 8", {"a": 1, "tid.x": 4}, -8),
        ("-a - tid.x + n", {"a": -1, "tid.x": -1, "n": 1}, 0),
        ("-4·tid.x + 12", {"tid.x": -4}, 12),
        ("n·m + 4·n·tid.x + n·m", {"n·m": 2, "n·tid.x": 4}, 0),
        ("7", {}, 7),
    ],
)
def test_terms_of_a_sum(index: str, terms: dict[str, int], number: int) -> None:
    assert blocks._terms(index) == (terms, number)
