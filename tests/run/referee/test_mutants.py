"""Every mutant of four correct ports is caught, races by name, index and threads; the ports themselves pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.run.referee.mutant_programs import PROGRAMS
from tests.run.referee.mutants import COPIES_IN_A_LOOP, HOST_CONSTANTS, MUTANTS, Mutant
from tests.sampling import one_in
from warpsmith.emit.files import OutputFile
from warpsmith.flows.porting.device_code import host_uses
from warpsmith.run.referee.referee import judge_program
from warpsmith.run.referee.reference import ReferenceProgram
from warpsmith.run.verification import Copies, Sources, Verification, VerifyOptions

OPTIONS = VerifyOptions(timeout_s=30)


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ReferenceProgram]:
    """The originals, built once for all their mutants."""
    root = tmp_path_factory.mktemp("originals")
    return {name: ReferenceProgram(original, OPTIONS, root / name) for name, (original, _) in PROGRAMS.items()}


def judge(references: dict[str, ReferenceProgram], name: str, text: str, work: Path) -> Verification:
    candidate = replace(PROGRAMS[name][0], files=(OutputFile(f"{name}.cu", text),))
    return judge_program(references[name], candidate, OPTIONS, work)


def mutated(mutant: Mutant) -> str:
    port = PROGRAMS[mutant.program][1]
    assert port.count(mutant.old) == 1
    return port.replace(mutant.old, mutant.new)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_the_correct_port_passes(references: dict[str, ReferenceProgram], name: str, tmp_path: Path) -> None:
    got = judge(references, name, PROGRAMS[name][1], tmp_path)
    assert (got.status, got.schedules, got.races, got.reasons) == ("pass", 3, (), ())
    assert got.output_equal
    assert host_uses(Sources((OutputFile(f"{name}.cu", PROGRAMS[name][1]),))) == ()


@pytest.mark.slow
@pytest.mark.parametrize("mutant", one_in(6, MUTANTS), ids=lambda m: m.name)
def test_the_mutant_is_caught(references: dict[str, ReferenceProgram], mutant: Mutant, tmp_path: Path) -> None:
    got = judge(references, mutant.program, mutated(mutant), tmp_path)
    assert got.status == "fail"
    assert all(reason.message for reason in got.reasons)
    assert mutant.rule in (None, got.reasons[0].rule)
    if mutant.race is None:
        assert not got.races
        return
    race = next(race for race in got.races if race.variable == mutant.race)
    assert race.threads[0] != race.threads[1] and all("thread" in thread for thread in race.threads)
    assert f"{mutant.race}[{race.index}]" in race.text
    assert len(race.spans) == 2 and all(span.file.path == f"{mutant.program}.cu" for span in race.spans)


@pytest.mark.parametrize("mutant", HOST_CONSTANTS, ids=lambda m: m.name)
def test_what_only_a_compiler_for_devices_rejects(mutant: Mutant) -> None:
    port = OutputFile(f"{mutant.program}.cu", mutated(mutant))
    (found,) = host_uses(Sources((port,)))
    assert found.rule == mutant.rule and found.span is not None
    assert mutant.new in port.text.splitlines()[found.span.line - 1]


@pytest.mark.parametrize("mutant", COPIES_IN_A_LOOP, ids=lambda m: m.name)
def test_a_copy_in_a_host_loop_is_counted(
    references: dict[str, ReferenceProgram], mutant: Mutant, tmp_path: Path
) -> None:
    good = judge(references, mutant.program, PROGRAMS[mutant.program][1], tmp_path / "good").copies
    got = judge(references, mutant.program, mutated(mutant), tmp_path / "slow")
    assert got.status == "pass"
    # one copy each way, and one more for each of the loop's 20 iterations, of 20 × 20 numbers
    size = 8 * 20 * 20
    to_device, to_host = (1 + 20 * mutant.new.count(way) for way in ("HostToDevice", "DeviceToHost"))
    assert good == Copies(1, size, 1, size)
    assert got.copies == Copies(to_device, to_device * size, to_host, to_host * size)


def test_there_are_enough_mutants_over_all_programs() -> None:
    assert len(MUTANTS) >= 15 and {mutant.program for mutant in MUTANTS} == set(PROGRAMS)
