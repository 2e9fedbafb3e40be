"""Compilers and runs that answer as a test tells them: what the referee makes of them is under test, not they."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from msgspec import Struct, field

from warpsmith.base.findings import Finding
from warpsmith.emit.files import OutputFile
from warpsmith.run.compare.captures import CaptureLog
from warpsmith.run.emulated.build import Executable
from warpsmith.run.emulated.counts import RunCounts
from warpsmith.run.emulated.reports import Seen
from warpsmith.run.native.programs import BuiltProgram, RunOutcome, RunSetting
from warpsmith.run.referee import candidate, reference
from warpsmith.run.verification import Sources, VerifyOptions

ORIGINAL = Sources((OutputFile("a.c", "int main(void) { return 0; }"),), captured=True)
CUDA = Sources((OutputFile("a.cu", "int main() { return 0; }"),))


def outcome(
    said: str = "same",
    logged: CaptureLog | None = None,
    *,
    failure: str = "",
    code: int = 0,
    files: Mapping[str, bytes] | None = None,
    stderr: str = "",
) -> RunOutcome:
    return RunOutcome(code, failure, said.encode(), stderr, files or {}, logged or CaptureLog(), 1.0)


class Originals:
    """The builds and runs of the original; `answer` is asked with the name of a run."""

    def __init__(self) -> None:
        self.builds: dict[str, tuple[str, ...]] = {}
        self.runs: list[RunSetting] = []
        self.fails: set[str] = set()
        self.answer: Callable[[str], RunOutcome] = lambda _: outcome()

    def build(self, sources: Sources, flags: tuple[str, ...], directory: Path) -> BuiltProgram:
        name = directory.name.removeprefix("build_")
        self.builds[name] = tuple(flags)
        return BuiltProgram((), "no") if name in self.fails else BuiltProgram((name,))

    def run(self, command: tuple[str, ...], options: VerifyOptions, setting: RunSetting) -> RunOutcome:
        self.runs.append(setting)
        return self.answer(setting.work.name)

    @property
    def names(self) -> list[str]:
        return [setting.work.name for setting in self.runs]


class Candidates(Struct):
    """The build and runs of the candidate; `seen`: what the emulation saw in each. `answer` is asked with what is
    disturbed in a run."""

    flags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    settings: list[RunSetting] = field(default_factory=list)
    message: str = ""
    seen: Seen = Seen()
    answer: Callable[[str], RunOutcome] = lambda _: outcome()

    def emulated(
        self, sources: Sources, folder: Path, *, extra_files: tuple[OutputFile, ...], flags: tuple[str, ...]
    ) -> Executable:
        self.flags, self.files = flags, tuple(f.path for f in extra_files)
        found = Finding("VER031", "error", self.message) if self.message else None
        return Executable(("emulated",), folder, sources, found)

    def native(self, sources: Sources, flags: tuple[str, ...], folder: Path) -> BuiltProgram:
        self.flags, self.files = flags, tuple(f.path for f in sources.files)
        return BuiltProgram((), self.message) if self.message else BuiltProgram(("native",))

    def run(self, command: tuple[str, ...], options: VerifyOptions, setting: RunSetting) -> RunOutcome:
        assert setting.work.is_dir()
        self.settings.append(setting)
        return self.answer(setting.environment.get("WARPSMITH_EMULATION_DISTURB", ""))


def originals(monkeypatch: pytest.MonkeyPatch) -> Originals:
    made = Originals()
    monkeypatch.setattr(reference, "build_native", made.build)
    monkeypatch.setattr(reference, "run_program", made.run)
    return made


def candidates(monkeypatch: pytest.MonkeyPatch) -> Candidates:
    made = Candidates()
    monkeypatch.setattr(candidate, "build_emulated", made.emulated)
    monkeypatch.setattr(candidate, "build_native", made.native)
    monkeypatch.setattr(candidate, "run_program", made.run)
    monkeypatch.setattr(candidate, "read_reports", lambda *_: made.seen)
    monkeypatch.setattr(candidate, "read_counts", lambda path: RunCounts({path.parent.name: 1}))
    return made
