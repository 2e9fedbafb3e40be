"""Bugs that are put into what is known of threads by their index, and that runs of random kernels must show."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from tests.analysis.lane_kernels import lane_module
from tests.analysis.uniformity import test_uniformity
from warpsmith.analysis.affine import privates
from warpsmith.analysis.uniformity import tables, uniformity
from warpsmith.analysis.uniformity.active_threads import ActiveThreadSets
from warpsmith.analysis.uniformity.seeds import Threads
from warpsmith.analysis.uniformity.tables import UNIFORM, ThreadTable, ThreadTables

Patch = pytest.MonkeyPatch
Bug = Callable[[Patch], None]


def carries_are_forgotten(patch: Patch) -> None:
    patch.setattr(ThreadTables, "_split", lambda self, table, rest: tuple(n & ((1 << rest) - 1) for n in table.numbers))


def what_is_shared_has_any_low_bits(patch: Patch) -> None:
    patch.setattr(tables, "_least", lambda *rests: max((r for r in rests if r is not None), default=None))


def orders_go_by_the_numbers(patch: Patch) -> None:
    patch.setattr(ThreadTables, "_decide_order", lambda self, i, o, test: UNIFORM)


def rows_are_moved_anyhow(patch: Patch) -> None:
    patch.setattr(ThreadTables, "_find_offset", lambda self, one, other: 0)


def ways_do_not_matter_to_rows(patch: Patch) -> None:
    original = ThreadTables.join
    patch.setattr(ThreadTables, "join", lambda self, found, *, diverged: original(self, found, diverged=False))


def only_the_first_warp_is_compared(patch: Patch) -> None:
    patch.setattr(ThreadTables, "_alike", lambda self, numbers: len(set(numbers[: self.warp])) == 1)


def masks_keep_all_bits(patch: Patch) -> None:
    patch.setitem(tables._RULES, "and", lambda self, i, o: ThreadTable(o[0].numbers, o[0].rest))


def every_equality_picks_one(patch: Patch) -> None:
    patch.setattr(ThreadTables, "picks_one", lambda self, i, operands: True)


def few_are_one(patch: Patch) -> None:
    patch.setattr(ThreadTables, "at_most_one", lambda self, threads: threads.bit_count() <= 2)


def both_sides_are_one_side(patch: Patch) -> None:
    original = ThreadTables.holders
    patch.setattr(ThreadTables, "holders", lambda self, table, *, value: original(self, table, value=True))


def others_computed_alike(patch: Patch) -> None:
    patch.setattr(uniformity._Analysis, "_narrow", lambda self, operand, depth=4: False)


def loops_give_back_what_they_took(patch: Patch) -> None:
    original = ActiveThreadSets._behind

    def behind(self: ActiveThreadSets, name: str) -> object:
        self._around = dict.fromkeys(self._around, frozenset())
        return original(self, name)

    patch.setattr(ActiveThreadSets, "_behind", behind)


def arrays_do_not_meet(patch: Patch) -> None:
    patch.setattr(privates, "_frontier", lambda graph, blocks: set())


def arrays_forget_where(patch: Patch) -> None:
    original = privates.privates

    def found(*given: object) -> privates.Privates:
        made = original(*given)  # type: ignore[arg-type]
        made.stores = {i: replace(new, operands=new.operands[1:]) for i, new in made.stores.items()}
        return made

    patch.setattr(uniformity, "privates", found)


def arguments_are_of_whole_blocks(patch: Patch) -> None:
    original = ThreadTables.__init__

    def rounded(self: ThreadTables, threads: Threads, arguments: dict[str, int] | None = None) -> None:
        original(self, threads, dict.fromkeys(arguments or {}, 0))

    patch.setattr(ThreadTables, "__init__", rounded)


BUGS: list[tuple[Bug, int]] = [
    (carries_are_forgotten, 0),
    (what_is_shared_has_any_low_bits, 10),
    (orders_go_by_the_numbers, 6),
    (rows_are_moved_anyhow, 8),
    (ways_do_not_matter_to_rows, 107),
    (only_the_first_warp_is_compared, 2),
    (masks_keep_all_bits, 10),
    (every_equality_picks_one, 2),
    (few_are_one, 4),
    (both_sides_are_one_side, 10),
    (others_computed_alike, 135),
    (loops_give_back_what_they_took, 35),
    (arrays_do_not_meet, 20),
    (arrays_forget_where, 336),
]


@pytest.mark.parametrize(("bug", "seed"), BUGS, ids=lambda given: getattr(given, "__name__", ""))
def test_a_bug_in_what_is_said_of_lanes_is_seen(bug: Bug, seed: int, monkeypatch: Patch) -> None:
    assert not _wrong(seed)
    bug(monkeypatch)
    assert _wrong(seed)


def _wrong(seed: int) -> list[str]:
    return test_uniformity.wrong(lane_module(seed), test_uniformity.shape(seed))


@pytest.mark.slow
def test_a_wrong_argument_is_seen(monkeypatch: Patch) -> None:
    assert not any(_wrong_of_five(seed) for seed in range(30))
    arguments_are_of_whole_blocks(monkeypatch)
    assert any(_wrong_of_five(seed) for seed in range(30))


def _wrong_of_five(seed: int) -> list[str]:
    return test_uniformity.wrong(lane_module(seed), test_uniformity.shape(seed), 5)
