"""Bugs put into the search: each is caught by one of the checks of this room."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.flows.optimizing import (
    test_beam,
    test_gains,
    test_kept,
    test_nests,
    test_scored,
    test_search,
    test_structures,
)
from tests.flows.optimizing.begun import PAIR, begin
from warpsmith.flows.optimizing import beam, kept, placements, scored, search, structures
from warpsmith.flows.optimizing.kept import CandidateOutcome
from warpsmith.flows.optimizing.nests import NestSearch, PlacedNest
from warpsmith.flows.optimizing.setting import Setting
from warpsmith.flows.optimizing.times import KernelTimes
from warpsmith.flows.porting import predicted
from warpsmith.machine.devices import Device
from warpsmith.offload.gain.model import KernelTime
from warpsmith.report.model import KernelPrediction
from warpsmith.tree.program import Kernel

Check = Callable[[Path], None]
Bug = Callable[[pytest.MonkeyPatch], None]


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WARPSMITH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(placements, "_VOLUMES", (64,))
    monkeypatch.setattr(placements, "_NARROWEST", 32)


def check_candidates(folder: Path) -> None:
    test_nests.check_candidates(begin(PAIR, folder, test_nests.ANY), "turn/i")


def check_whole(folder: Path) -> None:
    test_search.test_the_best_is_planned_as_a_whole_and_scored_by_that(folder)


def check_scores(folder: Path) -> None:
    test_scored.test_a_port_is_the_sum_of_what_is_predicted_of_it(folder)


def check_rules(folder: Path) -> None:
    test_scored.test_what_is_the_same_in_both_hides_nothing()
    test_scored.test_more_sectors_must_be_faster_by_as_much()
    test_scored.test_a_kernel_without_a_time_is_in_both()


def check_beam(folder: Path) -> None:
    test_beam.test_a_narrow_beam_goes_on_from_the_cheapest()


def check_key(folder: Path) -> None:
    test_kept.test_the_key_has_all_that_outcomes_rest_on(folder)


def check_tables(folder: Path) -> None:
    test_gains.test_tables_in_constant_memory_are_better_as_they_run(folder)


def check_structures(folder: Path) -> None:
    test_structures.test_structs_are_split_where_loops_come_back_to_them(folder)
    test_structures.test_loops_that_wait_beside_kernels_may_be_one_thread(folder)


def check_fillings(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        test_gains.test_the_search_takes_them((16, 16), "padding=1", folder, patch)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(placements, "_WIDTHS", (16, 32))
        begun = begin(test_gains.PRODUCT, folder, replace(test_nests.ANY, tiles=1))
        found, nest = test_nests.nest_of(begun, "product/i")
        found.best(nest)
        tried = [one for one in begun.shared.record.candidates if "double-buffer" in " ".join(one.steps)]
        assert tried and all("width=32" in " ".join(one.steps) for one in tried)


def stale_score(patch: pytest.MonkeyPatch) -> None:
    """A launch in another block is taken for the one before."""
    known = KernelTimes.key

    def key(times: KernelTimes, kernel: Kernel, text: str, launched: KernelTime | None) -> str:
        return known(times, replace(kernel, block=(1, 1, 1)), text, launched)

    patch.setattr(KernelTimes, "key", key)


def old_launches(patch: pytest.MonkeyPatch) -> None:
    """A kernel of one block is launched as often as threads of another."""
    known = KernelTimes.predict

    def predict(times: KernelTimes, kernel: Kernel, text: str, launched: KernelTime | None) -> KernelPrediction:
        return known(times, replace(kernel, elements=(2, 1, 1)), text, launched)

    patch.setattr(KernelTimes, "predict", predict)


def refused_taken(patch: pytest.MonkeyPatch) -> None:
    """What a step is refused for counts as fast."""
    known = NestSearch._in_block

    def in_block(tried: NestSearch, base: Kernel | str, *rest: object) -> CandidateOutcome:
        if rest[0] == (64, 1, 1):
            return CandidateOutcome(1e-9, "the launch")
        return known(tried, base, *rest)  # type: ignore[arg-type]

    patch.setattr(NestSearch, "_in_block", in_block)


def copies_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Copies cost nothing."""

    def free(gpu: Device, moved: float, copies: float) -> float:
        return 0.0

    patch.setattr(scored, "copy_seconds", free)


def same_axes(patch: pytest.MonkeyPatch) -> None:
    """The kernel of the first axes is that of all."""
    known = NestSearch._kernel
    first: dict[str, Kernel | str] = {}

    def kernel(tried: NestSearch, nest: PlacedNest, steps: Iterable[object]) -> Kernel | str:
        return first.setdefault(nest.fragment.region, known(tried, nest, tuple(steps)))  # type: ignore[arg-type]

    patch.setattr(NestSearch, "_kernel", kernel)


def worst_first(patch: pytest.MonkeyPatch) -> None:
    """The beam goes on from the slowest."""

    def slowest(found: Iterable[object], key: Callable[[object], float]) -> list[object]:
        return sorted(found, key=lambda one: -key(one))

    patch.setattr(beam, "sorted", slowest, raising=False)


def lost_times(patch: pytest.MonkeyPatch) -> None:
    """A kernel without a time is no kernel."""

    def none(outcome: CandidateOutcome) -> Iterator[str]:
        return iter(())

    patch.setattr(scored, "_lacking", none)


def sectors_ignored(patch: pytest.MonkeyPatch) -> None:
    """What asks memory for more is as good as any."""

    def one(*_: CandidateOutcome) -> float:
        return 1.0

    patch.setattr(scored, "more_of", one)


def sizes_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Outcomes for one size are kept for all."""

    def text(options: object) -> str:
        return ""

    patch.setattr(kept, "_options_text", text)


def constants_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Outcomes of one program are kept for another with other numbers."""

    def no_values(node: object) -> Iterator[str]:
        return iter(())

    patch.setattr(kept, "_values", no_values)


def parts_of_the_winner(patch: pytest.MonkeyPatch) -> None:
    """The score of the best is what was added up on the way, for another host."""
    known = scored.score

    def twice(planned: object, times: KernelTimes, host: float | None) -> CandidateOutcome:
        found = known(planned, times, host)  # type: ignore[arg-type]
        return replace(found, seconds=0.5 * (found.seconds or 0.0))

    patch.setattr(search, "score", twice)


def stays_unnoticed(patch: pytest.MonkeyPatch) -> None:
    """A best placement is not the one that is planned."""
    known = Setting.place

    def place(setting: Setting, prepared: object, placing: tuple[object, ...]) -> object:
        return known(setting, prepared, placing[:-1])  # type: ignore[arg-type]

    patch.setattr(Setting, "place", place)


def tables_for_nothing(patch: pytest.MonkeyPatch) -> None:
    """What is copied to constant memory before each launch takes no time."""
    known = predicted._add_up

    def add_up(found: KernelPrediction, kernel: Kernel, *rest: Any) -> KernelPrediction:
        return known(found, replace(kernel, constants=()), *rest)

    patch.setattr(predicted, "_add_up", add_up)


def threads_alone(patch: pytest.MonkeyPatch) -> None:
    """Loops whose iterations run at once may be one thread as well."""
    patch.setattr(structures, "Proved", ())


def structs_stay(patch: pytest.MonkeyPatch) -> None:
    """What gathers members is never a kernel."""
    patch.setattr(structures, "_headers", lambda _: frozenset())


def first_alike(patch: pytest.MonkeyPatch) -> None:
    """The slowest tiles are filled otherwise."""
    patch.setattr(NestSearch, "_fastest", lambda _, tried: [max(tried, key=lambda one: one[1].seconds or 0)[0]])


def unpadded(patch: pytest.MonkeyPatch) -> None:
    """Rows of tiles are never longer."""
    patch.setattr(placements, "_PADDINGS", (0,))


BUGS: tuple[tuple[Bug, Check], ...] = (
    (stale_score, check_candidates),
    (old_launches, check_candidates),
    (refused_taken, check_candidates),
    (same_axes, check_candidates),
    (copies_forgotten, check_scores),
    (worst_first, check_beam),
    (lost_times, check_rules),
    (sectors_ignored, check_rules),
    (sizes_forgotten, check_key),
    (constants_forgotten, check_key),
    (parts_of_the_winner, check_whole),
    (stays_unnoticed, check_whole),
    (tables_for_nothing, check_tables),
    (threads_alone, check_structures),
    (structs_stay, check_structures),
    (unpadded, check_fillings),
    (first_alike, check_fillings),
)


LONG = (check_fillings, check_tables, check_structures)


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, marks=[pytest.mark.slow] if check in LONG else [])
        for check in dict.fromkeys(c for _, c in BUGS)
    ],
)
def test_without_a_bug_nothing_is_found(check: Check, tmp_path: Path) -> None:
    check(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("bug", "check"), BUGS, ids=lambda one: getattr(one, "__name__", ""))
def test_each_bug_is_caught(bug: Bug, check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bug(monkeypatch)
    with pytest.raises(AssertionError):
        check(tmp_path)
