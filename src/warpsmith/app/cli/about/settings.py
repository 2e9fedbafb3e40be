"""The settings of a command: its options, the environment and the configuration files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from warpsmith.app.cli.global_options import global_options
from warpsmith.app.cli.options import text, texts
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.settings.model import Setting, Settings
from warpsmith.settings.read import Wanted, read_settings

__all__ = ["BASELINE", "baseline_path", "default_settings", "is_found", "processes", "settings_of"]


def settings_of(given: Mapping[str, object]) -> Settings:
    """Return the settings for the options of a command; those that were not given do not count."""
    flags: dict[str, Setting] = {}
    lists = {
        "device": "device", "select": "rules.select", "extend_select": "rules.extend-select", "ignore": "rules.ignore",
    }  # fmt: skip
    for option, key in lists.items():
        if found := texts(given.get(option)):
            flags[key] = tuple(part.strip() for one in found for part in one.split(","))
    for key in ("fail-on", "min-certainty", "evidence", "sort", "baseline", "data", "copies"):
        value = text(given.get(key.replace("-", "_")))
        if value is not None:
            flags[key] = value
    said = global_options()
    numbers = {"context": given.get("context"), "limit": given.get("limit"), "jobs": said.jobs}
    numbers |= {"timeout": said.timeout, "runs": given.get("runs")}
    flags |= {key: number for key, number in numbers.items() if isinstance(number, int | float)}
    settings = read_settings(Wanted(flags, said.config, not (said.isolated or said.no_config), not said.isolated))
    _check(settings)
    return settings


def _check(settings: Settings) -> None:
    """Raise UsageError where a value makes no sense that only the commands about kernels can judge."""
    if not settings.texts("device"):
        message = f"{settings.origins['device']}: 'device' names no GPU model"
        raise UsageError(Finding("CFG002", "error", message, help=('for example device = ["sm_80"]',)))
    tables = [(f'kernels."{kernel.pattern}".assume', kernel.assume) for kernel in settings.kernels]
    for name, assumed in [("assume", settings.texts("assume")), *tables]:
        if assumed:
            _check_bounds(name, assumed)


def _check_bounds(name: str, assumed: tuple[str, ...]) -> None:
    # loaded where something is assumed: it knows kernels, of which a port has none
    from warpsmith.kernels.shape import bounds_of

    try:
        bounds_of(assumed)
    except UsageError as error:
        (found,) = error.findings
        message = found.message.replace("--assume", f"'{name}' of the configuration")
        raise UsageError(replace(found, rule="CFG002", message=message)) from error


def default_settings() -> Settings:
    """Return the settings where nothing is set."""
    return read_settings(Wanted(files=False, environment=False))


BASELINE = "warpsmith-baseline.json"


def baseline_path(settings: Settings) -> str:
    """Return the baseline that is set; else where one lies that nobody names: beside the configuration."""
    return settings.text("baseline") or os.path.relpath(Path(settings.root, BASELINE))


def is_found(path: str, settings: Settings) -> bool:
    """Whether `analyze` comes to this baseline by itself."""
    said = global_options()
    set_here = (
        "" if said.isolated or said.no_config else baseline_path(replace(settings, values=_find_unsaid(settings)))
    )
    return bool(set_here) and Path(set_here).resolve() == Path(path).resolve()


def _find_unsaid(settings: Settings) -> dict[str, Setting]:
    """Return the values without a baseline that only this command line names."""
    said = {"baseline": ""} if settings.origins["baseline"] == "command line" else {}
    return {**settings.values, **said}


def processes(settings: Settings) -> int:
    """Return how many processes a survey may use: as -j or the setting says, else as many as processors."""
    said = settings.number("jobs") if settings.origins["jobs"] != "default" else 0
    return said or os.cpu_count() or 1
