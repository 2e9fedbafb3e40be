"""Small projects on disk for tests of the survey."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from warpsmith.flows.survey import SurveyOptions, survey
from warpsmith.poly.facts import PolyOptions
from warpsmith.project.command_line import language_of
from warpsmith.project.model import CompileCommand, Project
from warpsmith.report.survey.model import SurveyReport
from warpsmith.survey.limits import SurveyLimits

__all__ = ["by_place", "compiled", "surveyed", "written"]


def written(folder: Path, files: Mapping[str, str]) -> None:
    """Write files by their names."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def compiled(folder: Path, *units: str | tuple[str, ...]) -> Project:
    """Return the project of files, each alone or with its options."""
    commands = []
    for unit in units:
        name, *arguments = (unit,) if isinstance(unit, str) else unit
        language = language_of(name)
        commands.append(CompileCommand(str(folder / name), str(folder), "gcc", tuple(arguments), None, language))
    return Project(str(folder), tuple(commands))


def surveyed(project: Project, cache: Path | None = None, jobs: int = 1) -> SurveyReport:
    """Return the survey of a project."""
    return survey(project, SurveyOptions(SurveyLimits(poly=PolyOptions(described=1)), jobs, cache))


def by_place(report: SurveyReport) -> dict[str, str]:
    """Return the category of every loop by `file:line` (two on one line: the first)."""
    return {str(loop.spot): loop.category for loop in reversed(report.loops)}
