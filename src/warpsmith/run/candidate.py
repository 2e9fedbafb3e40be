"""The candidate, built once and run under one schedule after the other.

A program with device code runs on the emulation; one without any CUDA is an ordinary program and runs natively, where a
"schedule" is only another content of uninitialized memory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from warpsmith.base.findings import Finding, Note
from warpsmith.run.cuda_text import has_cuda_syntax
from warpsmith.run.emulated_build import Executable, build_emulated, schedule_environment
from warpsmith.run.emulated_reports import Seen, read_reports
from warpsmith.run.programs import Built, Outcome, RunSetting, build_native, run_program
from warpsmith.run.reference import run_environment, runtime_files
from warpsmith.run.verification import Race, Sources, VerifyOptions

__all__ = ["Candidate", "Trial", "is_cuda"]

_FLAGS = ("-O1", "-fno-strict-aliasing", "-ffp-contract=off")
# The ports' own pool would hand out memory with an older content: every request is to get fresh, poisoned memory.
_EMULATION_FLAGS = ("-DWS_POOL=0",)
_CUDA_API = re.compile(r"#\s*include\s*[<\"]cuda(_runtime(_api)?)?\.h[>\"]")


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of the candidate: how it ended, what the emulation saw; `idle`: no kernel was seen to be launched."""

    outcome: Outcome
    idle: bool = False
    races: tuple[Race, ...] = ()
    failures: tuple[Finding, ...] = ()
    notes: tuple[Finding, ...] = ()


def is_cuda(sources: Sources) -> bool:
    """Whether a file of the program needs CUDA to be compiled."""
    return any(
        f.path.endswith((".cu", ".cuh")) or _CUDA_API.search(f.text) or has_cuda_syntax(f.text) for f in sources.files
    )


class Candidate:
    """The candidate's build; `problem` says why there is none."""

    def __init__(
        self, sources: Sources, options: VerifyOptions, work: Path, pattern: tuple[str, ...], *, harness: bool
    ) -> None:
        self._options = options
        self._work = work
        self._sources = sources
        self._emulated: Executable | None = None
        self.problem: Finding | None = None
        work.mkdir(parents=True)
        runtime = runtime_files(clock=True, harness=harness)
        if is_cuda(sources):
            flags = (*_EMULATION_FLAGS, *pattern)
            self._emulated = build_emulated(sources, work / "build", extra_files=runtime, flags=flags)
            self.problem = self._emulated.finding
            self._built = Built(self._emulated.command)
        else:
            whole = replace(sources, files=(*sources.files, *runtime))
            self._built = build_native(whole, (*_FLAGS, *pattern), work / "build")
            if self._built.message:
                self.problem = Finding("VER001", "error", self._built.message)

    def run(self, number: int, skip_cases: tuple[int, ...]) -> Trial:
        """Run schedule `number`: 0 is descending, the others are permutations seeded by the user's seed."""
        work = self._work / f"run_{number}"
        work.mkdir(parents=True)
        report, launches = work / "reports", work / "launches"
        environment = {
            **run_environment(3 + number + self._options.seed),
            **schedule_environment(number, report, launches, seed=self._options.seed),
            "WS_SKIP": ",".join(map(str, skip_cases)),
        }
        outcome = run_program(
            self._built.command, self._options, RunSetting(work, environment, self._options.timeout_s)
        )
        if self._emulated is None:
            return Trial(outcome)
        seen = read_reports(report, Path(self._emulated.command[0]), self._sources, self._emulated.directory)
        return self._trial(outcome, seen, idle=not launches.is_file())

    def _trial(self, outcome: Outcome, seen: Seen, *, idle: bool) -> Trial:
        races = seen.races
        failures = [_race_finding(race, "error") for race in seen.races]
        notes = [*seen.notes]
        if self._sources.captured:
            # In a port of ours no two threads may write one element, whatever they write.
            races += seen.silent_races
            failures += [_race_finding(race, "error") for race in seen.silent_races]
        else:
            notes += [_race_finding(race, "warning") for race in seen.silent_races]
        return Trial(outcome, idle, races, (*failures, *seen.failures), tuple(notes))


def _race_finding(race: Race, severity: str) -> Finding:
    related = tuple(Note(span, "the other access") for span in race.spans[1:])
    span = race.spans[0] if race.spans else None
    if severity == "warning":
        return Finding(
            "VER024", "warning", f"threads write one value at the same time: {race.text}", span, related=related
        )
    return Finding("VER040", "error", f"race: {race.text}", span, related=related)
