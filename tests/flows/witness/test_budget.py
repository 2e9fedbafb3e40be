"""Which kernels are run, in which order, within which time; what of that replaces what their texts tell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.flows.witness.kernels import facts_of, text_of, unit_of
from warpsmith.base.time_limit import NO_TIME
from warpsmith.flows.witness import attempt, budget, plan, tell
from warpsmith.flows.witness.attempt import FailedLaunch
from warpsmith.flows.witness.budget import RunBudget, suspicion, with_witnesses
from warpsmith.kernels.units import KernelFile
from warpsmith.simt.launch import KernelProblem

SECONDS = 60


def test_kernels_without_a_run_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = unit_of(tmp_path, text_of("one", races=True))
    facts = facts_of(unit)
    name = facts.function.name
    late, none = RunBudget(SECONDS), RunBudget(0)
    late.seconds = 0
    assert with_witnesses(unit, KernelFile("k.cu"), facts, late) is facts and late.without == {NO_TIME: [name]}
    assert with_witnesses(unit, KernelFile("k.cu"), facts, none) is facts and not none.without, "nobody asked for them"
    listing, asked = replace(unit, language="ptx"), RunBudget(SECONDS)
    assert with_witnesses(listing, KernelFile("k.ptx"), facts, asked) is facts and not asked.without, "it has no types"
    with monkeypatch.context() as patch:
        patch.setattr(budget, "find_spec", lambda name: None)
        alone = RunBudget(SECONDS)
        assert with_witnesses(unit, KernelFile("k.cu"), facts, alone) is facts
        assert alone.without == {"llvmlite is not installed": [name]}
    changes: dict[str, tuple[str, object]] = {
        "more than 3 instructions": ("LARGEST", 3),
        "it goes wrong": (
            "try_launch",
            lambda planned, made, expected: FailedLaunch(KernelProblem("it goes wrong", None, 0, 0)),
        ),
        "made up": ("make_arguments", lambda *given: ()),
    }
    for reason, (what, instead) in changes.items():
        runs = RunBudget(SECONDS)
        with monkeypatch.context() as patch:
            patch.setattr(plan if what == "LARGEST" else tell, what, instead)
            assert with_witnesses(unit, KernelFile("k.cu"), facts, runs) is facts
        assert [(reason in why, names) for why, names in runs.without.items()] == [(True, [name])]


def test_time_that_is_up_ends_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = RunBudget(0.5)
    monkeypatch.setattr(attempt, "why_refused", lambda *given: "the interpreter is to take it")
    monkeypatch.setattr(attempt, "INTERPRETED", 1_000_000_000)
    endless = text_of("one", races=True).replace("int t =", "for (int i = 0; i >= 0; i = in[i] < 9 ? 1 : 2);\nint t =")
    unit = unit_of(tmp_path, endless)
    with_witnesses(unit, KernelFile("k.cu"), facts_of(unit), runs)
    assert list(runs.without) == [NO_TIME] and runs.seconds == 0


def test_what_the_text_decides_is_not_run(tmp_path: Path) -> None:
    unit = unit_of(tmp_path, text_of("one", races=True))
    facts = facts_of(unit)
    assert budget._may_race(facts), "its race is conditional"
    known = replace(facts, races=tuple(replace(race, certainty="proven") for race in facts.races))
    assert facts.races_complete and facts.own_bytes and not budget._may_race(known)
    assert budget._may_race(replace(known, races_complete=False))
    assert budget._may_race(replace(known, races_assumptions=("n is 4",)))
    assert budget._may_race(replace(known, block_assumed=("a block has 64 threads",)))
    assert budget._may_race(replace(known, own_bytes=False))
    assert not budget._may_race(replace(known, own_bytes=False, accesses=()))


def test_what_is_likely_to_race_is_run_first(tmp_path: Path) -> None:
    facts = facts_of(unit_of(tmp_path, text_of("one", races=True)))
    known = replace(facts, races=tuple(replace(race, certainty="proven") for race in facts.races))
    calm = replace(facts, races=())
    rising = [known, calm, facts, replace(calm, races_complete=False)]
    assert [suspicion(one) for one in rising] == [0, 1, 2, 3]


def test_what_runs_need_is_imported_when_there_is_one() -> None:
    text = "import sys, warpsmith.flows.explain; print(*{'numpy', 'llvmlite'} & sys.modules.keys())"
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""


def test_of_two_facts_of_the_same_places_the_more_certain_one_is_kept(tmp_path: Path) -> None:
    unit = unit_of(tmp_path, text_of("one", races=True))
    facts = facts_of(unit)
    (told,) = [race for race in facts.races if race.reach == "block"]
    assert told.certainty == "conditional"
    found = with_witnesses(unit, KernelFile("k.cu"), facts, RunBudget(SECONDS))
    (kept,) = [race for race in found.races if race.reach == "block"]
    assert kept.certainty == "witnessed" and kept.places == told.places and kept.replay
    proven = replace(facts, races=(replace(told, certainty="proven"),), races_complete=False)
    (kept,) = with_witnesses(unit, KernelFile("k.cu"), proven, RunBudget(SECONDS)).races
    assert kept.certainty == "proven" and not kept.replay


def test_a_race_that_stays_within_warps_does_so_where_a_run_sees_it(tmp_path: Path) -> None:
    text = """__global__ void rows(float *out, int n) {
        __shared__ float s[2][32];
        int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        for (int i = 0; i < n; i++) {
            s[warp][lane] = out[i * 64 + threadIdx.x];
            __syncwarp();
            out[i * 64 + threadIdx.x] = s[warp][31 - lane];
        }
    }
    void host(float *out) { rows<<<1, 64>>>(out, 8); }
    """
    unit = unit_of(tmp_path, text)
    facts = facts_of(unit)
    facts = replace(facts, races=tuple(replace(race, certainty="heuristic") for race in facts.races))
    assert {race.one_warp for race in facts.races} == {True}
    found = with_witnesses(unit, KernelFile("k.cu"), facts, RunBudget(SECONDS)).races
    assert {race.one_warp for race in found if race.replay} == {True}
    mixed = replace(facts, races=(*facts.races, *(replace(race, one_warp=False) for race in facts.races)))
    found = with_witnesses(unit, KernelFile("k.cu"), mixed, RunBudget(SECONDS)).races
    assert {race.one_warp for race in found if race.replay} == {False}
