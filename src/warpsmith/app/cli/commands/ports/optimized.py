"""`port --optimize`: its options, and the page of what was tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

import click

from warpsmith.app.cli.options import text
from warpsmith.app.cli.output import check_free, write_files
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.source import decode_text
from warpsmith.emit.files import OutputFile
from warpsmith.flows.port import PortOptions, PortResult
from warpsmith.offload.plan import MappingModel

__all__ = ["best_port", "check_search", "mapping_model", "optimize_options", "searches", "write_search"]

_BUDGET: Final = 10.0
_MOST: Final = 86_400.0
C = TypeVar("C", bound=Callable[..., object])


def optimize_options(command: C) -> C:
    """Add the options to a command."""
    command = click.option(
        "--model",
        type=click.Choice(["lines", "tables", "time"]),
        default="lines",
        show_default=True,
        help="What chooses axes and blocks: lines counted by a formula, the printed tables, or predicted times.",
    )(command)
    command = click.option("--tried", metavar="FILE.html", help="Write a page of all that --optimize tried.")(command)
    command = click.option(
        "--budget",
        type=click.FloatRange(0.0, _MOST),
        metavar="SECONDS",
        help="Time for --optimize, or --model time [default: 10].",
    )(command)
    return click.option(
        "--optimize", is_flag=True, help="Try steps, and take those with which the port is predicted to be faster."
    )(command)


def check_search(given: Mapping[str, object], *, project: bool, force: bool) -> None:
    """Raise UsageError where options make no sense with a search, or without one, and where its page cannot be
    written; `project`: the port is made inside one."""
    page = text(given["tried"])
    if given["model"] != "lines":
        _check_model(str(given["model"]), given)
    if not given["optimize"] and given["model"] != "time":
        for name in ("budget", "tried"):
            if given[name] is not None:
                raise _usage(f"--{name} is about a search for a faster port", "add --optimize")
        return
    asked = "--optimize" if given["optimize"] else "--model time"
    if project:
        raise _usage(f"{asked} searches files, not projects", "name the C files to port")
    for name in ("recipe", "survey"):
        if given[name]:
            raise _usage(f"{asked} looks for steps, and --{name} tries none", f"leave out {asked}, or --{name}")
    if page is not None:
        if Path(page).suffix != ".html":
            raise _usage(f"{page}: what was tried is a page (.html)", "for example --tried tried.html")
        check_free(str(Path(page).parent), [Path(page).name], force=force)


def _check_model(model: str, given: Mapping[str, object]) -> None:
    """Raise UsageError where a model has nothing to choose."""
    if given["optimize"]:
        raise _usage(f"--optimize tries all mappings by time, and --model {model} takes one", "leave out one of them")
    if given["survey"]:
        raise _usage(f"--survey maps no loop, and --model {model} says how", "leave out one of them")


def best_port(paths: Sequence[str], options: PortOptions, given: Mapping[str, object]) -> PortResult:
    """Return the best port of files that is found in time; without --optimize, of those that map loops otherwise."""
    # loaded where they are wanted
    from warpsmith.flows.optimizing.optimize import OptimizeOptions
    from warpsmith.flows.optimizing.ported import port_optimized
    from warpsmith.flows.optimizing.shared import SearchEffort

    budget = given["budget"]
    effort = SearchEffort() if given["optimize"] else SearchEffort(depth=0, mappings_only=True)
    wanted = OptimizeOptions(budget=budget if isinstance(budget, float) else _BUDGET, effort=effort)
    return port_optimized(paths, options, wanted)


def searches(given: Mapping[str, object]) -> bool:
    """Whether options ask for a search by predicted times."""
    return bool(given["optimize"]) or given["model"] == "time"


def mapping_model(given: Mapping[str, object]) -> MappingModel:
    """Return what chooses axes and blocks."""
    models: tuple[MappingModel, ...] = ("lines", "tables", "time")
    return next(model for model in models if model == given["model"])


def write_search(
    paths: tuple[str, ...], result: PortResult, given: Mapping[str, object], *, force: bool
) -> tuple[str, ...]:
    """Write the page of a search, where one was asked for; return what was written."""
    page = text(given["tried"])
    if page is None or result.search is None:
        return ()
    from warpsmith.report.search.html import search_html

    made = OutputFile(Path(page).name, decode_text(search_html(result.search, paths)))
    write_files(str(Path(page).parent), [made], force=force)
    return (page,)


def _usage(message: str, help: str) -> UsageError:
    return UsageError(Finding("INP000", "error", message, help=(help,)))
