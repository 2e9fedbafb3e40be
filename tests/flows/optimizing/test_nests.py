"""The placement of one nest: every candidate takes what a port of it is predicted to take, and the best is taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.flows.optimizing.begun import PAIR, PRODUCT, ROWS, Begun, again, begin
from warpsmith.base.errors import RefusedError
from warpsmith.catalogue import STEPS
from warpsmith.flows.optimizing import nests, placements
from warpsmith.flows.optimizing.budget import Budget
from warpsmith.flows.optimizing.kept import CandidateOutcome
from warpsmith.flows.optimizing.nests import NestSearch, PlacedNest, outcome_of
from warpsmith.flows.optimizing.scored import predict_kernels
from warpsmith.flows.optimizing.shared import SearchEffort, Shared
from warpsmith.flows.porting.predicted import predict_port
from warpsmith.loops.step import Step
from warpsmith.recipes.transforms import transforms
from warpsmith.tree.program import Kernel

ANY = SearchEffort(least=1.0, tiles=9)


def nest_of(begun: Begun, region: str) -> tuple[NestSearch, PlacedNest]:
    planned = begun.root.planned
    prediction, text = predict_kernels(planned, begun.shared.times)[region]
    fragment, placing = next(one for one in begun.root.nests() if one[0].region == region)
    launched = planned.estimate.kernels[fragment.kernel.name]
    key = begun.shared.times.key(fragment.kernel, text, launched)
    search = NestSearch(begun.shared, (), begun.root.prepared, planned.port.program)
    return search, PlacedNest(key, fragment, placing, launched, prediction)


def planned_outcome(begun: Begun, region: str, steps: tuple[Step, ...]) -> CandidateOutcome:
    """Return what comes of a placement when the whole port is planned and predicted as `port` does it."""
    others = [step for step in begun.root.placing if not is_about(step, region)]
    placed = begun.shared.setting.place(begun.root.prepared, (*others, *steps))
    predicted = predict_port(placed.prepared, placed.port, begun.shared.setting.options)
    assert predicted is not None
    (kernel,) = [f.kernel.name for f in placed.port.plan.fragments if f.region == region]
    return outcome_of(next(one for one in predicted.kernels if one.name == kernel))


def is_about(step: Step, region: str) -> bool:
    address = getattr(step, "loop", "")
    return address == region or address.startswith(f"{region}/")


def check_candidates(begun: Begun, region: str) -> None:
    """Fail where a candidate is not what planning all of it anew makes, or a better one than the best was tried."""
    search, nest = nest_of(begun, region)
    steps, best = search.best(nest)
    fresh = again(begun, ANY)
    own = outcome_of(nest.prediction)
    least = own.weighed(own)
    for candidate in begun.shared.record.candidates:
        made = tuple(listed.step for listed in transforms(candidate.steps))
        if candidate.refused:
            with pytest.raises(RefusedError):
                planned_outcome(fresh, region, made)
            continue
        outcome = planned_outcome(fresh, region, made)
        assert candidate.seconds == pytest.approx(outcome.seconds), candidate
        least = min(least, outcome.weighed(own))
    assert best.weighed(own) == pytest.approx(least)
    assert planned_outcome(fresh, region, steps).seconds == pytest.approx(best.seconds)


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placements, "_VOLUMES", (64,))
    monkeypatch.setattr(placements, "_NARROWEST", 16)
    monkeypatch.setattr(placements, "_TILE_BLOCKS", ((16, 16), (32, 32)))
    monkeypatch.setattr(placements, "_ELEMENTS", ((2, 2), (16, 8)))


def test_numbers_are_those_of_a_plan_of_them(tmp_path: Path) -> None:
    check_candidates(begin(PAIR, tmp_path, ANY), "turn/i")


@pytest.mark.slow
def test_tiles_are_those_of_a_plan_of_them_and_refused_ones_say_why(tmp_path: Path) -> None:
    begun = begin(PRODUCT, tmp_path, ANY)
    check_candidates(begun, "product/i")
    refused = [one for one in begun.shared.record.candidates if one.refused]
    assert refused and all(one.why and one.seconds is None for one in refused)
    assert {step.name for step in STEPS} >= {text.partition("=")[0] for one in refused for text in one.steps}


CROSS = """
static double p[512][512], q[512][512];
void cross(void) {
    for (int i = 1; i < 511; i++) for (int j = 1; j < 511; j++)
        p[i][j] = q[i][j] + q[i - 1][j] + q[i + 1][j] + q[i][j - 1] + q[i][j + 1];
}
"""


@pytest.mark.slow
def test_halos_are_those_of_a_plan_of_them(tmp_path: Path) -> None:
    begun = begin(CROSS, tmp_path, ANY)
    check_candidates(begun, "cross/i")
    tried = [text for one in begun.shared.record.candidates for text in one.steps]
    assert tried.count("halo-tile=cross/i") == 5


def test_what_is_not_clearly_faster_changes_nothing(tmp_path: Path) -> None:
    for effort in (SearchEffort(least=1000.0, tiles=0), SearchEffort(least=1.0, tiles=0)):
        begun = begin(ROWS, tmp_path, effort)
        search, nest = nest_of(begun, "rows/i")
        steps, outcome = search.best(nest)
        assert (steps == nest.placing) == (effort.least > 1) and outcome.seconds is not None
        assert len(begun.shared.record.candidates) > 1


def test_a_nest_that_takes_no_longer_than_its_launch_is_left(tmp_path: Path) -> None:
    begun = begin(PAIR, tmp_path, ANY)
    search, nest = nest_of(begun, "scale/i")
    assert search.best(nest)[0] == nest.placing and not begun.shared.record.candidates


def test_the_best_until_the_budget_ends_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = begin(PAIR, tmp_path, ANY)
    now = 0.0

    def counted(tried: NestSearch, base: Kernel | str, block: tuple[int, int, int], *rest: object) -> CandidateOutcome:
        nonlocal now
        now += 1.0
        return CandidateOutcome(10.0 - now)

    monkeypatch.setattr(nests.NestSearch, "_in_block", counted)
    shared = Shared(begun.shared.setting, begun.shared.times, begun.shared.answers, begun.shared.record,
                    Budget(7.0, lambda: now), ANY)  # fmt: skip
    search, nest = nest_of(begun, "turn/i")
    search = NestSearch(shared, (), search.prepared, search.ported)
    steps, best = search.best(nest)
    assert best.seconds == nest.prediction.seconds and steps == nest.placing
    assert begun.shared.record.ended and len(begun.shared.record.candidates) == 7


@pytest.mark.slow
def test_where_mappings_alone_are_tried_tiles_stay_and_other_nests_have_none(tmp_path: Path) -> None:
    only = SearchEffort(least=1.0, tiles=9, mappings_only=True)
    for text, region, tried in ((PRODUCT, "product/i", False), (PAIR, "turn/i", True)):
        begun = begin(text, tmp_path, only)
        search, nest = nest_of(begun, region)
        steps, _ = search.best(nest)
        candidates = [step for one in begun.shared.record.candidates for step in one.steps]
        assert bool(candidates) == tried and bool(nest.fragment.tiles) != tried
        assert all(step.startswith("map=") or step.endswith(",width=0") for step in candidates)
        assert steps == nest.placing or tried
