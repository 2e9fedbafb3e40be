"""Whatever a rule says of memory and barriers is seen when kernels run; bugs that are put into rules are seen too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache

import pytest

from tests.analysis.rules.idioms import idiom_module
from tests.analysis.rules.judged import CHECKS, judged
from warpsmith.analysis.affine.symbols import constant_form
from warpsmith.analysis.memory import spread
from warpsmith.analysis.memory.accesses import _Access
from warpsmith.analysis.memory.presence import Presences, ThreadPresence
from warpsmith.analysis.rules.memory import memory, shared
from warpsmith.analysis.rules.origins import Numbers
from warpsmith.analysis.sync import barriers, grid, races
from warpsmith.analysis.sync.races import Judge
from warpsmith.analysis.uniformity.facts import AccessFact
from warpsmith.report.rules import load_rules
from warpsmith.ssa.nodes import Module

Patch = pytest.MonkeyPatch
NOT_RUN = {"MEM004", "MEM011", "MEM013"}
"""Rules that claim nothing of a run: what data decide, a budget, what the host does."""


@lru_cache(maxsize=64)
def module(seed: int) -> Module:
    return idiom_module(seed)


def checked(start: int, end: int) -> Counter[str]:
    """Hold the rules against runs; return how many findings of each were."""
    mix: Counter[str] = Counter()
    for seed in range(start, end):
        found = judged(seed, module(seed))
        assert not found.wrong, f"{seed}: {found.wrong[:3]}"
        mix += found.checked
    return mix


def test_every_rule_about_memory_and_barriers_is_held_against_runs() -> None:
    codes = {code for code in load_rules() if code.startswith(("MEM", "SYN"))}
    assert codes - NOT_RUN == set(CHECKS)


def test_what_rules_say_is_seen_when_kernels_run() -> None:
    mix = checked(0, 44)
    assert min(mix["MEM001"], mix["MEM010"], mix["MEM021"], mix["SYN002"], mix["SYN006"], mix["SYN008"]) >= 5, mix
    assert len(mix) >= 14, mix


def test_a_race_between_the_arms_of_a_test_that_numbers_decide() -> None:
    """Of the first block one thread stores, and the others read what it stores."""
    assert not judged(698, module(698)).wrong


@pytest.mark.slow
def test_what_rules_say_is_seen_when_many_kernels_run() -> None:
    mix = checked(44, 2000)
    assert all(mix[code] >= 20 for code in CHECKS), mix


# --- bugs


def one_bad_request_is_enough(patch: Patch) -> None:
    def scattered(access: AccessFact) -> bool:
        return access.sectors is not None and access.sectors.most >= 2 * max(1, access.ideal_sectors)

    patch.setattr(memory, "_is_scattered", scattered)


def addresses_are_aligned_as_their_array_is(patch: Patch) -> None:
    patch.setattr(_Access, "_alignment", lambda self: 1 << self.place.base.residue[1] if self.place.base else 0)


def expressions_are_all_one(patch: Patch) -> None:
    patch.setattr(Numbers, "of", lambda self, operand: 0)


def addresses_do_not_move(patch: Patch) -> None:
    patch.setattr(_Access, "_step", lambda self, address, header: constant_form(0, 64))


def lanes_never_share_a_word(patch: Patch) -> None:
    patch.setitem(spread.COSTS, "banks", lambda addresses, size: len(addresses))


def constants_come_by_sectors(patch: Patch) -> None:
    patch.setitem(spread.COSTS, "words", spread.COSTS["sectors"])


def local_memory_is_not_interleaved(patch: Patch) -> None:
    patch.setitem(spread.COSTS, "local", spread.COSTS["sectors"])


def guards_do_not_matter(patch: Patch) -> None:
    patch.setattr(shared, "_certain", lambda facts, block: True)


def nothing_comes_before(patch: Patch) -> None:
    patch.setattr(shared, "_comes_before", lambda facts, load, mine, writers: False)


def nobody_waits_on_the_way(patch: Patch) -> None:
    patch.setattr(Judge, "_may_wait", lambda self, above, below: False)


def what_meets_elsewhere_needs_no_barrier(patch: Patch) -> None:
    patch.setattr(barriers, "around", lambda *given: (set(), set()))


def some_lane_is_always_missing(patch: Patch) -> None:
    patch.setattr(barriers, "_missing", lambda *given: True)


def no_lane_is_missing(patch: Patch) -> None:
    patch.setattr(Presences, "_at", lambda self, block: ThreadPresence("all", self.everyone))


def blocks_are_all_at_one_place(patch: Patch) -> None:
    patch.setattr(grid, "_is_of_block", lambda judge, place: False)


def warps_do_not_wait(patch: Patch) -> None:
    patch.setattr(races._Related, "may_meet", lambda self, *given: True)


def guards_let_the_first_thread_through(patch: Patch) -> None:
    patch.setattr(Presences, "may_hold", lambda self, guard: frozenset({0}))


BUGS: list[tuple[Callable[[Patch], None], int]] = [
    (one_bad_request_is_enough, 0),
    (lanes_never_share_a_word, 0),
    (no_lane_is_missing, 3),
    (addresses_are_aligned_as_their_array_is, 6),
    (some_lane_is_always_missing, 14),
    (local_memory_is_not_interleaved, 16),
    (blocks_are_all_at_one_place, 22),
    (addresses_do_not_move, 37),
    (warps_do_not_wait, 40),
    (guards_do_not_matter, 47),
    (nothing_comes_before, 85),
    (constants_come_by_sectors, 91),
    (expressions_are_all_one, 108),
    (nobody_waits_on_the_way, 313),
    (what_meets_elsewhere_needs_no_barrier, 313),
    (guards_let_the_first_thread_through, 3),
]


@pytest.mark.slow
@pytest.mark.parametrize(("bug", "seed"), BUGS, ids=lambda given: getattr(given, "__name__", ""))
def test_a_bug_in_a_rule_is_seen(bug: Callable[[Patch], None], seed: int, monkeypatch: Patch) -> None:
    assert not judged(seed, module(seed)).wrong
    bug(monkeypatch)
    # counts are kept from one kernel to the next
    spread._count.cache_clear()
    wrong = judged(seed, module(seed)).wrong
    spread._count.cache_clear()
    assert wrong
