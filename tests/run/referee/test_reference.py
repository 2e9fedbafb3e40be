"""The original: which builds and runs of it are made, when, and what they leave open."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.run.compare.test_judge import log, record
from tests.run.referee.stand_ins import ORIGINAL, Originals, originals, outcome
from warpsmith.run.compare.tolerance import Allowance
from warpsmith.run.native.programs import RunOutcome
from warpsmith.run.referee.reference import ReferenceProgram, pattern_flags, run_environment, runtime_files
from warpsmith.run.verification import Sources, VerifyOptions


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Originals:
    return originals(monkeypatch)


def both(said: str) -> RunOutcome:
    return outcome(said, files={"f.txt": said.encode()})


def make(folder: Path, sources: Sources = ORIGINAL, options: VerifyOptions | None = None) -> ReferenceProgram:
    return ReferenceProgram(sources, options or VerifyOptions(), folder)


def test_a_steady_program_runs_twice(world: Originals, tmp_path: Path) -> None:
    made = make(tmp_path)
    assert made.is_steady and made.bent is made.again is made.moved
    assert all(made.run_filled(number) is made.base for number in range(3))
    assert world.names == ["base_1", "base_2"]
    first, second = (setting.environment for setting in world.runs)
    assert first["WS_FILL"] != second["WS_FILL"] and first["WS_POISON"] != second["WS_POISON"]
    assert first["WS_EPOCH"] == second["WS_EPOCH"] and ("WS_CLOCK" in first, "WS_CLOCK" in second) == (False, True)


@pytest.mark.parametrize("other", [outcome("other"), outcome(code=1), outcome(logged=log(record([1.0])))])
def test_one_that_is_not_is_run_again_with_the_memory_of_each_run(
    world: Originals, tmp_path: Path, other: RunOutcome
) -> None:
    world.answer = lambda name: other if name == "base_2" else outcome()
    made = make(tmp_path)
    assert not made.is_steady
    assert made.run_filled(0) is made.base
    assert made.run_filled(2) is made.run_filled(2) is not made.base
    assert made.bent is not made.again and made.moved is not made.bent
    assert world.names == ["base_1", "base_2", "filled_2", "bent", "moved"]
    base, _, filled, bent, moved = (setting.environment for setting in world.runs)
    assert (filled["WS_FILL"], filled["WS_POISON"]) == (run_environment(2, 1)["WS_FILL"], base["WS_POISON"])
    # time and addresses alone
    assert bent["WS_FILL"] == base["WS_FILL"] and bent["WS_POISON"] != base["WS_POISON"] and bent["WS_CLOCK"] == "1"
    assert {**bent, "WS_DAY": "1"} == moved


def test_a_run_that_fails_with_other_memory_is_no_reference(world: Originals, tmp_path: Path) -> None:
    world.answer = lambda name: outcome(name, failure="it crashed" if name == "filled_1" else "")
    made = make(tmp_path)
    assert made.run_filled(1) is made.base
    assert made.run_filled(2) is not made.base


@pytest.mark.parametrize(("captured", "reordered", "count"), [(True, False, 3), (True, True, 7), (False, False, 7)])
def test_other_orders_of_sums_are_built_where_the_port_may_sum_so(
    world: Originals, tmp_path: Path, captured: bool, reordered: bool, count: int
) -> None:
    made = make(tmp_path, replace(ORIGINAL, captured=captured, reordered_bits=64 if reordered else 0))
    assert len(made.variants) == count
    flags = [flags for name, flags in world.builds.items() if name.startswith("variant")]
    assert any("-fassociative-math" in one for one in flags) == (count == 7)
    assert all(one[-1].startswith("-ftrivial-auto-var-init") for one in flags)
    assert {one[0] for one in flags} == {"-O0", "-O3"}


def test_a_build_or_run_that_fails_says_nothing(world: Originals, tmp_path: Path) -> None:
    world.fails = {"variant_0"}
    world.answer = lambda name: outcome(code=int(name == "variant_1"), failure="crashed" if name == "variant_2" else "")
    assert make(tmp_path).variants == ()


def test_zeroed_variables_are_another_build_where_the_compiler_can(world: Originals, tmp_path: Path) -> None:
    assert len(make(tmp_path).zeroed) == 1
    assert world.builds["zero"][-1] == "-ftrivial-auto-var-init=zero"
    world.fails = {"probe_pattern"}
    assert make(tmp_path / "other").zeroed == ()
    assert pattern_flags("pattern", tmp_path) == ()
    world.fails = set()
    assert pattern_flags("zero", tmp_path) == ("-ftrivial-auto-var-init=zero",)


def test_the_first_evidence_makes_no_other_builds(world: Originals, tmp_path: Path) -> None:
    made = make(tmp_path)
    first = made.known_evidence()
    assert (first.variants, len(first.unwritten), first.given) == ((), 1, None)
    assert not any(name.startswith(("variant", "zero")) for name in world.builds)
    (heap,) = first.unwritten
    assert [fills for _, fills in heap] == [b"\x40", b"\xbf"]
    full = made.full_evidence()
    assert len(full.variants) == 3 and len(full.unwritten) == 2
    assert made.known_evidence().variants == full.variants


def test_the_users_tolerance_stands_in_for_the_builds(world: Originals, tmp_path: Path) -> None:
    made = make(tmp_path, options=VerifyOptions(relative=0.5))
    assert made.full_evidence().variants == () and made.first_evidence().given == Allowance(0.0, 0.5)
    assert not any(name.startswith("variant") for name in world.builds)
    rule = made.output_rule(None, 0.25)
    assert (rule.absolute, rule.relative, rule.rounding) == (None, 0.5, 0.25)
    assert make(tmp_path / "other", options=VerifyOptions(absolute=2.0)).first_evidence().given == Allowance(2.0, 0.0)


def test_what_differs_with_time_is_masked_in_output_and_files(world: Originals, tmp_path: Path) -> None:
    world.answer = lambda name: both("t 2" if name in ("base_2", "bent") else "t 1")
    made = make(tmp_path)
    for name in (None, "f.txt"):
        assert made.plain_rule(name).masked
    assert not made.plain_rule("other.txt").masked


def test_leaving_out_cases_runs_it_again(world: Originals, tmp_path: Path) -> None:
    made = make(tmp_path)
    first = made.base
    assert made.is_steady
    made.restart((3, 1))
    assert made.base is not first and made.is_steady
    assert [setting.environment["WS_SKIP"] for setting in world.runs] == ["", "", "3,1", "3,1"]
    assert list(world.builds) == ["probe_pattern", "base"]


def test_fills_are_repeated_and_never_the_same_in_a_row() -> None:
    fills = [run_environment(number, 0)["WS_FILL"] for number in range(7)]
    assert len(set(fills)) == 6 and fills[0] == fills[6]


@pytest.mark.parametrize(("clock", "harness"), [(False, False), (True, False), (True, True)])
def test_the_runtime_is_one_file_with_the_parts_that_are_asked_for(clock: bool, harness: bool) -> None:
    header, runtime = runtime_files(clock=clock, harness=harness)
    assert (header.path, runtime.path) == ("ws_log.h", "ws_runtime.c")
    assert ("clock_gettime" in runtime.text, "ws_capture(" in runtime.text) == (clock, True)
    assert ("ws_case" in runtime.text or "harness" in runtime.text) == harness
