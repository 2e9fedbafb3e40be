"""The candidate, built once and run under one schedule after the other.

A program with device code runs on the emulation; one without any CUDA is an ordinary program and runs natively, where a
"schedule" is only another content of uninitialized memory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.findings import Finding, Note
from warpsmith.run.compare.left import read_left
from warpsmith.run.emulated.build import Executable, build_emulated, schedule_environment
from warpsmith.run.emulated.counts import RunCounts, read_counts
from warpsmith.run.emulated.device import device_environment
from warpsmith.run.emulated.reports import Seen, read_reports
from warpsmith.run.native.cuda_text import has_cuda_syntax
from warpsmith.run.native.programs import BuiltProgram, RunOutcome, RunSetting, build_native, run_program
from warpsmith.run.referee.reference import run_environment, runtime_files
from warpsmith.run.verification import Race, Sources, VerifyOptions, is_made_for

__all__ = ["Candidate", "CandidateRun", "is_cuda"]

_FLAGS = ("-O1", "-fno-strict-aliasing", "-ffp-contract=off")
# The ports' own pool would hand out memory with an older content: every request is to get fresh, poisoned memory.
_EMULATION_FLAGS = ("-DWS_POOL=0",)
_CUDA_API = re.compile(r"#\s*include\s*[<\"]cuda(_runtime(_api)?)?\.h[>\"]")


class CandidateRun(Struct, frozen=True):
    """One run of the candidate: how it ended, what the emulation saw; `counts`: its launches and copies, None where
    the program has no device code; `left`: the memory that came back from the device, as it was when it died;
    `stayed`: what kernels wrote and nobody copied."""

    outcome: RunOutcome
    counts: RunCounts | None = None
    races: tuple[Race, ...] = ()
    failures: tuple[Finding, ...] = ()
    notes: tuple[Finding, ...] = ()
    left: tuple[bytes, ...] | None = None
    stayed: tuple[bytes, ...] | None = None


def is_cuda(sources: Sources) -> bool:
    """Whether a file of the program needs CUDA to be compiled."""
    return any(
        f.path.endswith((".cu", ".cuh")) or _CUDA_API.search(f.text) or has_cuda_syntax(f.text) for f in sources.files
    )


class Candidate:
    """The candidate's build; `problem` says why there is none. `zeroes`: memory that nobody wrote holds zeroes."""

    def __init__(
        self,
        sources: Sources,
        options: VerifyOptions,
        work: Path,
        pattern: tuple[str, ...],
        *,
        harness: bool,
        zeroes: bool = False,
    ) -> None:
        self._zeroes = zeroes
        self._options = options
        self._work = work
        self.sources = sources
        self._emulated: Executable | None = None
        self._disturbed = 0
        self.problem: Finding | None = None
        work.mkdir(parents=True)
        runtime = runtime_files(clock=True, harness=harness)
        if is_cuda(sources):
            flags = (*_EMULATION_FLAGS, *pattern)
            self._emulated = build_emulated(sources, work / "build", extra_files=runtime, flags=flags)
            self.problem = self._emulated.finding
            self._built = BuiltProgram(self._emulated.command)
        else:
            whole = replace(sources, files=(*sources.files, *runtime))
            self._built = build_native(whole, (*_FLAGS, *pattern), work / "build")
            if self._built.message:
                self.problem = Finding("VER001", "error", self._built.message)

    @property
    def has_kernels(self) -> bool:
        """Whether the program is one with device code."""
        return self._emulated is not None

    def run(self, number: int, skip_cases: tuple[int, ...]) -> CandidateRun:
        """Run schedule `number`: 0 is descending, the others are permutations seeded by the user's seed. In run 0
        captures record as well what they would see if the kernels had written other values."""
        work = self._work / f"run_{number}"
        report, counts = work / "reports", work / "counts"
        environment = {
            **run_environment(None if self._zeroes else number, 3 + number + self._options.seed),
            **schedule_environment(number, report, counts, seed=self._options.seed),
            **device_environment(self._options.device),
            **({} if number else _record_environment(work)),
        }
        outcome = self._run(work, environment, skip_cases, self._options.timeout_s)
        if self._emulated is None:
            return CandidateRun(outcome)
        seen = read_reports(report, Path(self._emulated.command[0]), self.sources, self._emulated.directory)
        trial = self._trial(outcome, seen, read_counts(counts))
        return replace(trial, left=read_left(work / "left"), stayed=read_left(work / "stayed"))

    def run_disturbed(self, kernel: str, skip_cases: tuple[int, ...], timeout_s: float) -> RunOutcome:
        """Run schedule 0 with all that `kernel` (`*`: every kernel) writes changed at the end of each launch; with a
        minus sign before the name, the sign changes."""
        self._disturbed += 1
        work = self._work / f"disturbed_{self._disturbed}"
        environment = {
            **run_environment(None if self._zeroes else 0, 3 + self._options.seed),
            **schedule_environment(0, work / "reports", seed=self._options.seed),
            **device_environment(self._options.device),
            "WARPSMITH_EMULATION_DISTURB": kernel,
        }
        return self._run(work, environment, skip_cases, timeout_s)

    def _run(
        self, work: Path, environment: Mapping[str, str], skip_cases: tuple[int, ...], timeout_s: float
    ) -> RunOutcome:
        work.mkdir(parents=True)
        skip = {"WS_SKIP": ",".join(map(str, skip_cases))}
        return run_program(self._built.command, self._options, RunSetting(work, {**environment, **skip}, timeout_s))

    def _trial(self, outcome: RunOutcome, seen: Seen, counts: RunCounts) -> CandidateRun:
        races = seen.races
        failures = [_race_finding(race, "error") for race in seen.races]
        notes = [*seen.notes]
        harmless = seen.silent_races
        if self.sources.captured:
            # In a port of ours no two threads may write one element, whatever they write, unless the user has said so.
            harmless = tuple(race for race in seen.silent_races if self._is_granted(race))
            wrong = [race for race in seen.silent_races if race not in harmless]
            races += tuple(wrong)
            failures += [_race_finding(race, "error") for race in wrong]
        notes += [_race_finding(race, "warning") for race in harmless]
        return CandidateRun(outcome, counts, races, (*failures, *seen.failures), tuple(notes))

    def _is_granted(self, race: Race) -> bool:
        """Whether the user has said that threads of a kernel of ours which write one element write one value."""
        mine = (one for one in self.sources.regions if is_made_for(one.kernel, race.kernel))
        return any(race.variable in one.one_value for one in mine)


def _record_environment(work: Path) -> dict[str, str]:
    """Return the environment of a run that writes down what it leaves in memory."""
    stayed = str(work / "stayed")
    return {"WS_DISTURB": "1", "WS_LEFT": str(work / "left"), "WARPSMITH_EMULATION_STAYED": stayed}


def _race_finding(race: Race, severity: str) -> Finding:
    related = tuple(Note(span, "the other access") for span in race.spans[1:])
    span = race.spans[0] if race.spans else None
    if severity == "warning":
        return Finding(
            "VER024", "warning", f"threads write one value at the same time: {race.text}", span, related=related
        )
    return Finding("VER040", "error", f"race: {race.text}", span, related=related)
