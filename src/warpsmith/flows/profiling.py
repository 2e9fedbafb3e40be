"""PROFILE FIRST: the project is built and run once in a copy that counts its loops, before a survey ranks them."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.progress import Activity, Progress, ignore_progress
from warpsmith.project.model import Project
from warpsmith.project.profile.model import Profile
from warpsmith.project.profile.run import RunRequest, profile_run
from warpsmith.report.survey.model import SurveyLoop

__all__ = ["profile_build", "report_not_counted", "run_request"]


def profile_build(
    project: Project,
    build: Sequence[str],
    run: str,
    directory: Path,
    *,
    timeout_s: float,
    progress: Progress = ignore_progress,
) -> tuple[Project, Profile]:
    """Return the profile of `run` in `directory`, and the project with findings on what it does not tell.

    Raises UsageError where the project cannot be built or run in a copy.
    """
    if not build:
        message = "--run needs the command that builds the program, because a copy of it is built that counts its loops"
        raise UsageError(Finding("INP000", "error", message, None, (f"warpsmith survey --run '{run}' -- make",)))
    request = run_request(project, build, run, directory, timeout_s)
    progress(Activity("counting loops", run))
    profile = profile_run(request)
    return replace(project, findings=(*project.findings, *_findings(profile, request.root, run))), profile


def run_request(project: Project, build: Sequence[str], run: str, directory: Path, timeout_s: float) -> RunRequest:
    """Return what a run in a copy needs: all that the build may ask for, the sources and the folder where it starts."""
    root = Path(os.path.commonpath([project.root, directory.resolve()]))
    return RunRequest(root, directory, build, run, timeout_s)


def _findings(profile: Profile, root: Path, run: str) -> list[Finding]:
    """Return what the user must know about the run: how it ended, and every loop that it says nothing of."""
    findings: list[Finding] = []
    if profile.status != 0:
        how = f"exit code {profile.status}" if profile.status > 0 else f"signal {-profile.status}"
        helps = ("loops that were running then have no time",) if profile.status < 0 else ()
        findings.append(Finding("PRF005", "warning", f"the counted run of '{run}' ended with {how}", None, helps))
    by_reason: defaultdict[str, list[str]] = defaultdict(list)
    for loop in profile.uncounted:
        by_reason[loop.reason].append(f"{os.path.relpath(loop.file, root)}:{loop.line}")
    return [*findings, *(_report_uncounted(reason, places) for reason, places in sorted(by_reason.items()))]


def report_not_counted(loops: Sequence[SurveyLoop], profile: Profile | None, root: str) -> list[Finding]:
    """Return a note on the loops of a survey that have no text of their own in which they could be counted."""
    known = {(u.file, u.line) for u in profile.uncounted} if profile is not None else set()
    missing = [loop for loop in loops if loop.measured and loop.entries is None]
    places = [str(loop.spot) for loop in missing if (str(Path(root, loop.spot.file)), loop.spot.line) not in known]
    reason = "written in a macro, or in a file outside the folder of the run"
    return [_report_uncounted(reason, sorted(set(places)))] if places else []


def _report_uncounted(reason: str, places: Sequence[str]) -> Finding:
    loops = "1 loop was" if len(places) == 1 else f"{len(places)} loops were"
    return Finding("PRF006", "note", f"{loops} not counted: {reason}", None, (", ".join(places),))
