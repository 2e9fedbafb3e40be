"""A race that only the grid's first block would have is claimed only where that block gets there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.lower.harness import lowered
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.sync import first_block, reached
from warpsmith.analysis.sync import races as meeting
from warpsmith.analysis.sync.races import FIRST_BLOCK
from warpsmith.analysis.uniformity.facts import LaunchShape, RaceFact
from warpsmith.machine.devices import device

# places 1024 elements apart for each block before: in the first block threads are one element apart
RACE = "a[threadIdx.x] = 0; a[1024 * blockIdx.x + threadIdx.x + 1] = 1;"


def races(body: str, folder: Path) -> tuple[RaceFact, ...]:
    """Return the races inside of a block."""
    text = f"__global__ void k(int *a, const int *b, int n) {{ {body} }}\n"
    facts = examine(lowered(text, folder, "k.cu").module, "k", LaunchShape((64, 1, 1)), device("h100"))
    return tuple(race for race in facts.races if race.reach == "block")


THROUGH = [
    "",
    "if (n > 3)",
    "if (b[0] == 7)",
    "if (blockIdx.x * 64 + threadIdx.x < n)",
    "if (blockIdx.x * 64 < n)",
    "for (int t = 0; t < 4; t++)",
    "while (true)",
]
AWAY = [
    "if (blockIdx.x > 0)",
    "if (blockIdx.x == 0) return;",
    "if (b[blockIdx.x])",
    "int i = blockIdx.x * 64 + threadIdx.x; if (i >= 64)",
    "switch (blockIdx.x) { case 0: return; default: break; }",
]


@pytest.mark.parametrize("before", THROUGH)
def test_a_test_that_lets_the_first_block_through_hides_no_race(before: str, tmp_path: Path) -> None:
    (race,) = races(f"{before} {{ {RACE} }}", tmp_path)
    assert FIRST_BLOCK in race.assumptions
    assert "the index of a does not overflow" in race.assumptions


@pytest.mark.parametrize("before", AWAY)
def test_no_race_is_claimed_where_the_first_block_may_not_get(before: str, tmp_path: Path) -> None:
    assert not races(_behind(before), tmp_path)


def _behind(before: str) -> str:
    return f"{before} {{ {RACE} }}" if not before.endswith(("return;", "}")) else f"{before} {RACE}"


@pytest.mark.parametrize(
    ("before", "argument"),
    [("if (blockIdx.x > 0 || n > 3)", "n is 256"), ("int k = n > 2 ? blockIdx.x : 1; if (k)", "n is 1")],
)
def test_an_argument_is_named_that_lets_the_first_block_through(before: str, argument: str, tmp_path: Path) -> None:
    (race,) = races(f"{before} {{ {RACE} }}", tmp_path)
    assert {FIRST_BLOCK, argument} <= set(race.assumptions)


@pytest.mark.parametrize("more", ["4 * n", "n * blockIdx.x + n"])
def test_what_is_apart_by_something_else_is_not_that_of_the_first_block(more: str, tmp_path: Path) -> None:
    found = races(f"a[threadIdx.x] = 0; a[{more} + threadIdx.x + 1] = 1;", tmp_path)
    assert not found


def test_a_variable_that_is_named_like_the_index_of_the_block_is_not_that(tmp_path: Path) -> None:
    assert not races(f"int ctaid = 1; if (n > 3) ctaid = n; {RACE.replace('blockIdx.x', 'ctaid')}", tmp_path)


def test_what_is_apart_in_the_first_block_is_no_race_of_it(tmp_path: Path) -> None:
    assert not races("a[threadIdx.x] = 0; a[64 * blockIdx.x + 64 + 63 - threadIdx.x] = 1;", tmp_path)


BUGS = [
    (meeting, "may_miss_first_block", lambda *given: False),
    (reached, "asks_for_block", lambda forms, operand: False),
    (reached, "tests_before", lambda forms, block: []),
    (first_block, "_is_bound", lambda forms, condition: True),
    (first_block, "asks_for_block", lambda forms, operand: False),
    (first_block, "_is_block_index", lambda made: False),
    (first_block, "tests_before", lambda forms, block: []),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("where", "name", "wrong"), BUGS)
def test_a_bug_is_seen(
    where: object, name: str, wrong: Callable[..., object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(where, name, wrong)
    hidden = [before for before in THROUGH if not races(f"{before} {{ {RACE} }}", tmp_path)]
    assert hidden or [before for before in AWAY if races(_behind(before), tmp_path)]
