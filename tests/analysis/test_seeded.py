"""Bugs that are put into the analyses of memory and barriers, and that the runs must show."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from msgspec.structs import replace

from tests.analysis.memory import test_accesses
from tests.analysis.sync import test_barriers
from warpsmith.analysis.affine import guards
from warpsmith.analysis.affine.symbols import Form, constant_form
from warpsmith.analysis.memory import phases, spread
from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.memory.lanes import BlockLanes
from warpsmith.analysis.memory.presence import Presences, ThreadPresence
from warpsmith.analysis.memory.wrapping import Wrapping
from warpsmith.analysis.sync import barriers, decide, races
from warpsmith.analysis.sync.races import Judge
from warpsmith.analysis.uniformity.facts import Count
from warpsmith.ssa.graph import Graph

Patch = pytest.MonkeyPatch
Bug = Callable[[Patch], None]


def nothing_wraps(patch: Patch) -> None:
    patch.setattr(Wrapping, "wraps", lambda self, form, *, signed: constant_form(0, 64))


def lanes_wrap_together(patch: Patch) -> None:
    patch.setattr(Wrapping, "steps_together", lambda self, form: True)


def everything_is_aligned(patch: Patch) -> None:
    patch.setattr(Form, "residue", lambda self, aligned=None: (0, self.bits))


def one_start_is_enough(patch: Patch) -> None:
    def first(offsets: spread.Offsets, residue: tuple[int, int], access: tuple[str, int, int]) -> Count:
        cost = spread.COSTS[access[0]]({lane: residue[0] + o for lane, o in offsets}, access[1])
        return Count(cost, cost)

    patch.setattr(spread, "_count", first)


def everyone_is_there(patch: Patch) -> None:
    patch.setattr(Presences, "_at", lambda self, block: ThreadPresence("all", self.everyone))


def guards_are_taken_at_their_word(patch: Patch) -> None:
    def next_ones(graph: Graph, branches: Iterable[str]) -> dict[str, int]:
        after = [(graph.rank[branch], graph.successors[branch]) for branch in branches]
        return {name: sum(1 << rank for rank, names in after if name in names) for name in graph.order}

    patch.setattr(guards, "find_diverged", next_ones)


def loops_end_together(patch: Patch) -> None:
    patch.setattr(Forms, "_late", lambda self, atom, block: None)


def ways_never_meet(patch: Patch) -> None:
    original = Forms._join

    def join(self: Forms, phi: object, block: str, incoming: object, key: object) -> Form:
        self.answer.diverged_joins.clear()
        return original(self, phi, block, incoming, key)  # type: ignore[arg-type]

    patch.setattr(Forms, "_join", join)


def loops_are_looked_at_once(patch: Patch) -> None:
    patch.setattr(Forms, "_revise", lambda self, *, last: False)


def tables_are_lines(patch: Patch) -> None:
    patch.setattr(BlockLanes, "_linear", lambda self, table, bits: Form(bits, {(self.axes[0],): table[1] - table[0]}))


def classes_share_nothing(patch: Patch) -> None:
    original = spread._classes

    def apart(*given: object) -> spread.Spread:
        found = original(*given)  # type: ignore[arg-type]
        return replace(found, proven=found.apart or found.proven)

    patch.setattr(spread, "_classes", apart)


def loops_do_not_turn(patch: Patch) -> None:
    patch.setattr(phases._Walk, "_cross_edge", lambda self, turns, before, after: turns)


def only_the_first_interval(patch: Patch) -> None:
    original = phases.intervals
    patch.setattr(races, "intervals", lambda *given: original(*given)[:1])


def iterations_are_one(patch: Patch) -> None:
    patch.setattr(Judge, "_at", lambda self, atom, ahead, bits: Form(bits, {(atom,): 1}))
    patch.setattr(Judge, "_shift", lambda self, header, ahead: 0)


def only_first_bytes_count(patch: Patch) -> None:
    original = races.overlap
    patch.setattr(races, "overlap", lambda mine, yours, sizes, warp: original(mine, yours, (1, 1, sizes[2]), warp))


def barriers_are_reached_by_all(patch: Patch) -> None:
    patch.setattr(barriers, "come_together", lambda presences, block: True)
    patch.setattr(decide, "come_together", lambda presences, block: True)


def no_barrier_orders(patch: Patch) -> None:
    patch.setattr(barriers._Ordered, "holds_without", lambda self, barrier: (True, ()))


BUGS: list[tuple[Bug, int]] = [
    (nothing_wraps, 53),
    (lanes_wrap_together, 8),
    (everything_is_aligned, 1),
    (one_start_is_enough, 8),
    (everyone_is_there, 0),
    (guards_are_taken_at_their_word, 9),
    (loops_end_together, 23),
    (ways_never_meet, 8),
    (loops_are_looked_at_once, 1),
    (tables_are_lines, 1),
    (classes_share_nothing, 1),
]
BARRIER_BUGS: list[tuple[Bug, int]] = [
    (loops_do_not_turn, 71),
    (only_the_first_interval, 5),
    (iterations_are_one, 59),
    (only_first_bytes_count, 48),
    (barriers_are_reached_by_all, 6),
    (no_barrier_orders, 7),
]


@pytest.mark.slow
@pytest.mark.parametrize(("bug", "seed"), BUGS, ids=lambda given: getattr(given, "__name__", ""))
def test_a_bug_in_what_is_said_of_accesses_is_seen(bug: Bug, seed: int, monkeypatch: Patch) -> None:
    assert not list(test_accesses.wrong(test_accesses.run(seed)))
    bug(monkeypatch)
    assert list(test_accesses.wrong(test_accesses.run(seed)))


@pytest.mark.parametrize(("bug", "seed"), BARRIER_BUGS, ids=lambda given: getattr(given, "__name__", ""))
def test_a_bug_in_what_is_said_of_barriers_is_seen(bug: Bug, seed: int, monkeypatch: Patch) -> None:
    assert not _barrier_errors(seed)
    bug(monkeypatch)
    assert _barrier_errors(seed)


def _barrier_errors(seed: int) -> list[str]:
    made = test_accesses.run(seed, barriers=True)
    return [*test_barriers.wrong(made), *test_barriers.still_ordered(made, seed)]
