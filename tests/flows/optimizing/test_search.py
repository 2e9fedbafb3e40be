"""The whole search: with a wide beam it finds what trying everything finds; with other starts nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from tests.flows.optimizing.begun import ROWS, Begun, again, begin
from tests.flows.optimizing.test_gains import ROD
from warpsmith.base.errors import RefusedError
from warpsmith.flows.optimizing import placements
from warpsmith.flows.optimizing.budget import BudgetEndedError
from warpsmith.flows.optimizing.kept import CandidateOutcome
from warpsmith.flows.optimizing.placements import blocks_of, list_axes, mapped
from warpsmith.flows.optimizing.scored import score
from warpsmith.flows.optimizing.search import FoundPort, Search
from warpsmith.flows.optimizing.setting import PlannedPort, nests_of
from warpsmith.flows.optimizing.shared import SearchEffort
from warpsmith.flows.optimizing.structures import Structure, headers_of, list_steps
from warpsmith.loops.step import Step
from warpsmith.offload.steps.time_tile import TimeTile

# columns are read; three kernels, two of which might be one, and a small loop that the host does as well
TEXT = """
static double a[700][800], b[800][700], c[700][800], s[40];
void all(void) {
    for (int i = 0; i < 700; i++)
        for (int j = 0; j < 800; j++)
            a[i][j] = 0.5 * b[j][i];
    for (int i = 0; i < 40; i++)
        s[i] = 0.25 * i;
    for (int i = 0; i < 40; i++)
        s[i] = s[i] + 1.0;
}
"""
PLACING = SearchEffort(depth=0, least=1.0, tiles=0)
EVERYTHING = SearchEffort(width=99, depth=3, least=1.0)


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placements, "_VOLUMES", (64,))
    monkeypatch.setattr(placements, "_NARROWEST", 16)
    monkeypatch.setattr(placements, "_TILE_BLOCKS", ((32, 16),))


def structures(begun: Begun, depth: int) -> Iterator[Structure]:
    """Yield all ports whose loops stand otherwise, each planned from the start."""
    search = begun.search()
    search._there = frozenset(span for nest in nests_of(begun.root.planned.port) for span in headers_of(nest))
    level = [begun.root]
    for _ in range(depth):
        yield from level
        found = []
        for parent in level:
            for step in list_steps(parent, keeps=True):
                try:
                    found.append(search._after(parent, step))
                except RefusedError:
                    continue
        level = found
    yield from level


def placed(structure: Structure) -> Iterator[tuple[Step, ...]]:
    """Yield every combination of placements of a port's nests."""
    choices = [
        [own, *(mapped(nest, axes, block) for axes in list_axes(nest) for block in blocks_of(nest))]
        for nest, own in structure.nests()
    ]
    moved = {id(step) for _, own in structure.nests() for step in own}
    others = tuple(step for step in structure.placing if id(step) not in moved)
    for chosen in product(*choices):
        yield (*(step for steps in chosen for step in steps), *others)


def plan_all(begun: Begun) -> dict[tuple[Step, ...], CandidateOutcome]:
    """Return the score of every port that there is, each planned as a whole."""
    host = begun.root.planned.estimate.host
    found: dict[tuple[Step, ...], CandidateOutcome] = {}
    for structure in structures(begun, EVERYTHING.depth):
        for placing in placed(structure):
            planned = begun.shared.setting.place(structure.prepared, placing)
            found[(*structure.steps, *placing)] = score(planned, begun.shared.times, host)
    return found


def run(begun: Begun) -> tuple[FoundPort, FoundPort]:
    return begun.search().run(begun.root, frozenset(), keeps=True)


def plan(begun: Begun, found: FoundPort) -> PlannedPort:
    return begun.shared.setting.place(found.structure.prepared, found.placing)


@pytest.mark.slow
def test_a_wide_beam_finds_what_trying_everything_finds(tmp_path: Path) -> None:
    begun = begin(TEXT, tmp_path, EVERYTHING)
    first, best = run(begun)
    known = plan_all(again(begun, EVERYTHING))
    start = first.outcome
    weighed = {steps: outcome.weighed(start) for steps, outcome in known.items()}
    assert len(known) > 100 and best.outcome.weighed(start) == pytest.approx(min(weighed.values()))
    assert best.outcome.weighed(start) < start.weighed(start)


def test_the_best_is_planned_as_a_whole_and_scored_by_that(tmp_path: Path) -> None:
    begun = begin(TEXT, tmp_path, SearchEffort(width=2, depth=1))
    first, best = run(begun)
    before, after = first.outcome.seconds, best.outcome.seconds
    fresh = again(begun, SearchEffort())
    planned = score(plan(fresh, best), fresh.shared.times, begun.root.planned.estimate.host)
    assert planned.seconds == after
    assert before is not None and after is not None and after < before


def test_a_search_is_the_same_each_time(tmp_path: Path) -> None:
    runs = []
    for _ in range(2):
        begun = begin(TEXT, tmp_path, SearchEffort(width=2, depth=1))
        first, best = run(begun)
        runs.append((first.outcome, best.outcome, best.placing, begun.shared.record.candidates))
    assert runs[0] == runs[1]


def test_what_the_user_has_placed_is_not_moved(tmp_path: Path) -> None:
    begun = begin(ROWS, tmp_path, PLACING)
    _, moved = run(begun)
    assert moved.placing != begun.root.placing
    fresh = again(begun, PLACING)
    _, left = fresh.search().run(fresh.root, frozenset({"rows/i/j"}), keeps=True)
    assert left.placing == fresh.root.placing and not fresh.shared.record.candidates
    pair = begin(TEXT, tmp_path, SearchEffort(depth=1))
    pair.search().run(pair.root, frozenset({"all/i", "all/i#3"}), keeps=True)
    assert {step for one in pair.shared.record.candidates for step in one.steps if not one.about} == {
        "keep=all/i#2", "fuse=all/i#2"
    }  # fmt: skip


def test_a_best_that_cannot_be_planned_as_a_whole_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = begin(ROWS, tmp_path, PLACING)

    def refuse(*_: object) -> PlannedPort:
        raise RefusedError

    monkeypatch.setattr("warpsmith.flows.optimizing.setting.Setting.place", refuse)
    first, best = run(begun)
    assert best is first and begun.shared.record.candidates


def test_what_the_budget_left_unsettled_may_be_the_best(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = begin(ROD, tmp_path)
    settle = Search._settle

    def ended(search: Search, structure: Structure) -> FoundPort:
        if structure.steps:
            raise BudgetEndedError
        return settle(search, structure)

    monkeypatch.setattr(Search, "_settle", ended)
    first, best = begun.search().run(begun.root, frozenset(), keeps=False)
    assert begun.shared.record.ended
    assert [type(step) for step in best.structure.steps] == [TimeTile]
    assert best.outcome.seconds is not None and first.outcome.seconds is not None
    assert best.outcome.seconds < first.outcome.seconds
