"""`warpsmith port -p compile_commands.json --patch OUT`: a port inside a project, as patches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, TypeVar

import click

from warpsmith.app.cli.global_options import global_options
from warpsmith.app.cli.options import text
from warpsmith.app.cli.output import check_free, refuse_dash, write_files
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.source import readable
from warpsmith.emit.files import OutputFile

# Loaded where a project is ported: other ports need none of it.
if TYPE_CHECKING:
    from warpsmith.flows.in_place import PortedProject
    from warpsmith.flows.port import PortOptions

__all__ = [
    "apply_command",
    "check_patches",
    "is_project",
    "ported_project",
    "project_options",
    "show_series",
    "write_patches",
]

F = TypeVar("F", bound=Callable[..., object])
_ONE_FILE = (".patch", ".diff", ".mbox")


def project_options(function: F) -> F:
    """Add the options of a port inside a project."""
    for option in (
        click.option(
            "--patch", metavar="OUT", help="Port in place; a patch series goes to OUT, a file (.patch) or a folder."
        ),
        click.option("--target", metavar="NAME", help="The program of the project to port."),
        click.option("-p", "--project", metavar="FILE", help="compile_commands.json, or the folder that holds it."),
    ):
        function = option(function)
    return function


def is_project(given: Mapping[str, object]) -> bool:
    """Whether the port is one inside a project."""
    return given["project"] is not None or given["patch"] is not None


def ported_project(paths: tuple[str, ...], given: Mapping[str, object], options: PortOptions) -> PortedProject:
    """Port the program that the options name; raises UsageError where they do not go together."""
    from warpsmith.flows.in_place import port_project, project_of
    from warpsmith.project.database import read_database

    database = text(given["project"])
    if (database is None) == (not paths):
        message = "name the files, or with -p the build's compile_commands.json: one of the two"
        raise UsageError(Finding("INP000", "error", message))
    named = {"output": global_options().output, "recipe": given["recipe"], "save_recipe": given["save_recipe"]}
    for word, value in named.items():
        if value is not None:
            message = f"a port in place is written with --patch; --{word.replace('_', '-')} has no meaning for it"
            raise UsageError(Finding("INP000", "error", message))
    project = project_of(paths, options.front.arguments) if database is None else read_database(database)
    return port_project(project, text(given["target"]), options)


def patches_text(ported: PortedProject) -> str:
    """Return one patch that does what the whole series does."""
    return ported.series.whole if ported.series is not None else ""


def check_patches(out: str, *, force: bool) -> None:
    """Raise UsageError where the series cannot be written to `out`: reported before anything is worked out."""
    refuse_dash(out, "--patch")
    if out.endswith(_ONE_FILE):
        check_free(str(Path(out).parent), [Path(out).name], force=force)
    else:
        check_free(out, sorted(path.name for path in Path(out).glob("[0-9][0-9][0-9][0-9]-*.patch")), force=force)


def write_patches(out: str, ported: PortedProject, *, force: bool) -> tuple[str, ...]:
    """Write the series to the file or the folder `out`; return what was written."""
    from warpsmith.project.patches import patch_name

    patches = ported.series.patches if ported.series is not None else ()
    if not patches:
        return ()
    if out.endswith(_ONE_FILE):
        return write_files(str(Path(out).parent), [OutputFile(Path(out).name, patches_text(ported))], force=force)
    files = [OutputFile(patch_name(number, patch), patch) for number, patch in enumerate(patches, start=1)]
    return write_files(out, files, force=force)


def apply_command(ported: PortedProject, written: tuple[str, ...]) -> str:
    """Return the command that applies the patches `written`, from wherever it is given."""
    from warpsmith.project.patches import find_patch_root

    folder = Path(written[0]).resolve().parent
    whole = len(written) > 1 and {p.name for p in folder.glob("*.patch")} == {Path(w).name for w in written}
    paths = [f"{quote(str(folder))}/*.patch"] if whole else [quote(str(Path(w).resolve())) for w in written]
    return f"cd {quote(find_patch_root(ported.root))} && git apply {' '.join(paths)}"


def show_series(ported: PortedProject) -> str:
    """Return the series as a person reads it."""
    return readable(patches_text(ported))
