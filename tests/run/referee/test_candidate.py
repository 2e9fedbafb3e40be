"""The candidate: when it is one with device code, how its runs differ, what its races are."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.run.referee.stand_ins import CUDA, ORIGINAL, Candidates, candidates
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.emit.files import OutputFile
from warpsmith.run.emulated.counts import RunCounts
from warpsmith.run.emulated.reports import Seen
from warpsmith.run.referee.candidate import Candidate, is_cuda
from warpsmith.run.verification import PortedRegion, Race, Sources, VerifyOptions

FILE = SourceFile("k.cu", "one two")
RACE = Race("a", 3, ("?", "?"), (Span(FILE, 0, 3), Span(FILE, 4, 7)), "loud")
SILENT = Race("b", 4, ("?", "?"), (), "silent")
FAILURE, NOTE = Finding("VER041", "error", "outside"), Finding("VER044", "warning", "expected")
PLAIN = replace(ORIGINAL, captured=False)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Candidates:
    made = candidates(monkeypatch)
    made.seen = Seen((RACE,), (SILENT,), (FAILURE,), (NOTE,))
    return made


def make(sources: Sources, folder: Path, **options: int) -> Candidate:
    asked = VerifyOptions(timeout_s=9, seed=options.get("seed", 1))
    return Candidate(sources, asked, folder / "work", ("-pattern",), harness=bool(options.get("harness")))


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        (CUDA, True),
        (Sources((OutputFile("a.cuh", ""),)), True),
        (Sources((OutputFile("a.cpp", "#include <cuda_runtime.h>"),)), True),
        (Sources((OutputFile("a.cpp", '# include "cuda.h"'),)), True),
        (Sources((OutputFile("a.c", "int a;"), OutputFile("b.h", "void f() { k<<<1, 2>>>(); }"))), True),
        (Sources((OutputFile("a.c", "#include <cudahelper.h>\nint main(void) { return 1 << 2; }"),)), False),
        (Sources(()), False),
    ],
)
def test_cuda_is_recognized_by_suffix_headers_and_launches(sources: Sources, expected: bool) -> None:
    assert is_cuda(sources) == expected


def test_a_program_with_device_code_runs_on_the_emulation(world: Candidates, tmp_path: Path) -> None:
    made = make(CUDA, tmp_path)
    assert made.has_kernels and made.problem is None
    assert world.flags == ("-DWS_POOL=0", "-pattern") and world.files == ("ws_log.h", "ws_runtime.c")
    trial = made.run(0, ())
    assert trial.counts == RunCounts({"run_0": 1})


def test_a_program_without_runs_natively_and_has_no_launches(world: Candidates, tmp_path: Path) -> None:
    made = make(PLAIN, tmp_path)
    assert not made.has_kernels and world.flags[0] == "-O1" and world.flags[-1] == "-pattern"
    assert world.files == ("a.c", "ws_log.h", "ws_runtime.c")
    trial = made.run(1, ())
    assert (trial.counts, trial.races, trial.failures) == (None, (), ())


@pytest.mark.parametrize(("sources", "rule"), [(CUDA, "VER031"), (PLAIN, "VER001")])
def test_what_cannot_be_built_is_the_problem(world: Candidates, sources: Sources, rule: str, tmp_path: Path) -> None:
    world.message = "not C"
    problem = make(sources, tmp_path).problem
    assert problem is not None and (problem.rule, problem.message) == (rule, "not C")


def test_each_run_has_other_memory_and_another_order(world: Candidates, tmp_path: Path) -> None:
    made = make(CUDA, tmp_path)
    world.settings.clear()
    for number in range(3):
        made.run(number, (4, 5))
    runs = [setting.environment for setting in world.settings]
    assert [run["WARPSMITH_EMULATION_SCHEDULE"] for run in runs] == ["0", "1", "2"]
    assert len({run["WS_FILL"] for run in runs}) == len({run["WS_POISON"] for run in runs}) == 3
    # other values are recorded once
    assert ["WS_DISTURB" in run for run in runs] == [True, False, False]
    assert {run["WS_SKIP"] for run in runs} == {"4,5"} and {setting.timeout_s for setting in world.settings} == {9}
    assert all("capability=80" in run["WARPSMITH_EMULATION_DEVICE"] for run in runs)


def test_disturbed_runs_are_as_the_first_but_for_what_kernels_write(world: Candidates, tmp_path: Path) -> None:
    made = make(CUDA, tmp_path)
    world.settings.clear()
    made.run(0, ())
    for kernel in ("*", "-k"):
        made.run_disturbed(kernel, (), 3.0)
    first, *others = world.settings
    assert [run.environment["WARPSMITH_EMULATION_DISTURB"] for run in others] == ["*", "-k"]
    assert len({run.work for run in world.settings}) == 3 and {run.timeout_s for run in others} == {3.0}
    for name in ("WS_FILL", "WS_POISON", "WARPSMITH_EMULATION_SCHEDULE", "WARPSMITH_EMULATION_SEED"):
        assert {run.environment[name] for run in others} == {first.environment[name]}


def test_a_race_is_an_error_at_its_lines(world: Candidates, tmp_path: Path) -> None:
    trial = make(CUDA, tmp_path).run(0, ())
    race, outside = trial.failures
    assert (race.rule, race.message, outside) == ("VER040", "race: loud", FAILURE)
    assert race.span is not None and race.span.text == "one" and [note.span.text for note in race.related] == ["two"]


@pytest.mark.parametrize(("ours", "rules", "notes"), [(True, 3, ["VER044"]), (False, 2, ["VER044", "VER024"])])
def test_writes_of_one_value_are_an_error_of_our_ports_only(
    world: Candidates, tmp_path: Path, ours: bool, rules: int, notes: list[str]
) -> None:
    trial = make(Sources(CUDA.files, captured=ours), tmp_path).run(0, ())
    assert len(trial.failures) == rules and [note.rule for note in trial.notes] == notes
    assert trial.races == ((RACE, SILENT) if ours else (RACE,))
    assert all(note.severity == "warning" and note.span is None for note in trial.notes)


@pytest.mark.parametrize(
    ("said", "kernel", "accepted"),
    [("b", "ws_k", True), ("b", "ws_k_kernel_1", True), ("a", "ws_k", False), ("b", "ws_k2", False)],
)
def test_writes_of_one_value_are_as_the_user_has_said(
    world: Candidates, tmp_path: Path, said: str, kernel: str, accepted: bool
) -> None:
    world.seen = Seen(silent_races=(replace(SILENT, kernel=kernel),))
    regions = (PortedRegion("f/i", "ws_k", one_value=(said,)), PortedRegion("g/i", "ws_k2"))
    trial = make(Sources(CUDA.files, captured=True, regions=regions), tmp_path).run(0, ())
    assert [note.rule for note in trial.notes] == ["VER024"] * accepted
    assert len(trial.failures) == len(trial.races) == (not accepted)
