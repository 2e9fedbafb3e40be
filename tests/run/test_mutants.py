"""Every mutant of three correct ports is caught, races by name, index and threads; the ports themselves pass."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.run.mutant_programs import PROGRAMS
from tests.run.mutants import MUTANTS, Mutant
from warpsmith.emit.files import OutputFile
from warpsmith.run.referee import judge_program
from warpsmith.run.reference import Reference
from warpsmith.run.verification import Verification, VerifyOptions

OPTIONS = VerifyOptions(timeout_s=30)


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reference]:
    """The originals, built once for all their mutants."""
    root = tmp_path_factory.mktemp("originals")
    return {name: Reference(original, OPTIONS, root / name) for name, (original, _) in PROGRAMS.items()}


def judge(references: dict[str, Reference], name: str, text: str, work: Path) -> Verification:
    candidate = replace(PROGRAMS[name][0], files=(OutputFile(f"{name}.cu", text),))
    return judge_program(references[name], candidate, OPTIONS, work)


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_the_correct_port_passes(references: dict[str, Reference], name: str, tmp_path: Path) -> None:
    got = judge(references, name, PROGRAMS[name][1], tmp_path)
    assert (got.status, got.schedules, got.races, got.reasons) == ("pass", 3, (), ())
    assert got.output_equal


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_the_mutant_is_caught(references: dict[str, Reference], mutant: Mutant, tmp_path: Path) -> None:
    port = PROGRAMS[mutant.program][1]
    assert port.count(mutant.old) == 1
    got = judge(references, mutant.program, port.replace(mutant.old, mutant.new), tmp_path)
    assert got.status == "fail"
    assert all(reason.message for reason in got.reasons)
    if mutant.race is None:
        assert not got.races
        return
    race = next(race for race in got.races if race.variable == mutant.race)
    assert race.threads[0] != race.threads[1] and all("thread" in thread for thread in race.threads)
    assert f"{mutant.race}[{race.index}]" in race.text
    assert len(race.spans) == 2 and all(span.file.path == f"{mutant.program}.cu" for span in race.spans)


def test_there_are_enough_mutants_over_all_programs() -> None:
    assert len(MUTANTS) >= 15 and {mutant.program for mutant in MUTANTS} == set(PROGRAMS)
