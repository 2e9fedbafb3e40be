"""Small CUDA programs, built and run on the emulation under its three schedules."""

from __future__ import annotations

import tempfile
from pathlib import Path

from warpsmith.emit.files import OutputFile
from warpsmith.run.emulated.build import Executable, RunResult, build_emulated, run_emulated
from warpsmith.run.native.tools import RunLimits
from warpsmith.run.verification import Sources

SCHEDULES = (0, 1, 2)
_LIMITS = RunLimits(seconds=30.0)


def program(body: str, *, arguments: tuple[str, ...] = (), name: str = "p.cu") -> Sources:
    """Return a one-file program; the standard headers are in the first line, so `body` starts at line 2."""
    head = "#include <cstdio>\n" if name.endswith(".cu") else "#include <stdio.h>\n"
    return Sources((OutputFile(name, head + body.lstrip("\n")),), arguments)


def run_all(
    sources: Sources, schedules: tuple[int, ...] = SCHEDULES, *, limits: RunLimits = _LIMITS
) -> list[RunResult]:
    """Build once, run under each schedule."""
    with tempfile.TemporaryDirectory() as folder:
        built = build_emulated(sources, Path(folder))
        assert built.finding is None, built.finding
        return [run_emulated(built, schedule, limits=limits) for schedule in schedules]


def build(sources: Sources, folder: Path) -> Executable:
    return build_emulated(sources, folder)


def outputs(results: list[RunResult]) -> list[str]:
    """Return what each run printed, after checking that it ended well and nothing was reported."""
    for result in results:
        said = result.ran.stdout.decode() + result.ran.stderr.decode()
        assert result.ran.exit_code == 0, said
        assert not result.seen.races, result.seen.races[0].text
        assert not result.seen.silent_races, result.seen.silent_races[0].text
        assert not result.seen.failures, result.seen.failures[0].message
    return [result.ran.stdout.decode() for result in results]
