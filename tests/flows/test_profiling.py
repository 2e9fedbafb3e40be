"""Findings about a counted run: how it ended, and every loop that it says nothing of."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.report.survey.samples import report
from warpsmith.base.errors import UsageError
from warpsmith.flows import profiling as flow
from warpsmith.flows.profiling import profile_build, report_not_counted
from warpsmith.project.model import Project
from warpsmith.project.profile.model import Profile, UncountedLoop
from warpsmith.project.profile.run import RunRequest


def told(monkeypatch: pytest.MonkeyPatch, folder: Path, profile: Profile) -> list[tuple[str, str, tuple[str, ...]]]:
    asked: list[RunRequest] = []

    def run(request: RunRequest) -> Profile:
        asked.append(request)
        return profile

    monkeypatch.setattr(flow, "profile_run", run)
    (folder / "src").mkdir(exist_ok=True)
    project, found = profile_build(Project(str(folder / "src"), ()), ["make"], "./p", folder, timeout_s=1)
    assert found is profile and asked[0].root == folder
    return [(one.rule, one.message, one.help) for one in project.findings]


def test_a_run_that_went_well_has_nothing_to_say(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert told(monkeypatch, tmp_path, Profile({}, 1.0)) == []


def test_how_a_run_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ((rule, message, helps),) = told(monkeypatch, tmp_path, Profile({}, 1.0, 3))
    assert (rule, message, helps) == ("PRF005", "the counted run of './p' ended with exit code 3", ())
    ((_, message, helps),) = told(monkeypatch, tmp_path, Profile({}, 1.0, -11))
    assert message.endswith("ended with signal 11") and helps == ("loops that were running then have no time",)


def test_loops_that_were_not_counted_are_told_by_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lost = [
        UncountedLoop(str(tmp_path / "a.c"), line, reason) for line, reason in ((3, "goto"), (9, "goto"), (4, "asm"))
    ]
    assert told(monkeypatch, tmp_path, Profile({}, 1.0, 0, tuple(lost))) == [
        ("PRF006", "1 loop was not counted: asm", ("a.c:4",)),
        ("PRF006", "2 loops were not counted: goto", ("a.c:3, a.c:9",)),
    ]


def test_a_run_needs_the_command_that_builds(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--run needs the command that builds the program"):
        profile_build(Project(str(tmp_path), ()), [], "./p", tmp_path, timeout_s=1)


def test_loops_of_macros_are_told_once() -> None:
    loop = report().loops[0]
    loops = [
        replace(loop, measured=True),
        replace(loop, measured=True),
        replace(loop, measured=True, entries=1.0),
        loop,
    ]
    (finding,) = report_not_counted(loops, None, "/p")
    assert finding.message.startswith("1 loop was not counted: written in a macro")
    known = Profile({}, 1.0, 0, (UncountedLoop(f"/p/{loop.spot.file}", loop.spot.line, "x"),))
    assert report_not_counted(loops, known, "/p") == [] and report_not_counted([loop], None, "/p") == []
