"""PORT inside a project: its build says what is compiled how, the result is a series of patches.

compile commands ──► one program's files ──► port (flows/port.py) ──► additions, kernels, rules ──► patches
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.flows.porting.series import Earlier, ProjectBuild, Series, earlier_port, make_series
from warpsmith.flows.porting.targets import build_folder, build_root, inner_folders, sources_below, target_commands
from warpsmith.front.inputs import Source
from warpsmith.project.model import CompileCommand, Project
from warpsmith.tree.nodes import NOT_MADE, While
from warpsmith.tree.text.additions import remove_additions
from warpsmith.tree.walk import loop_names

__all__ = ["PortedProject", "port_project", "project_of"]


class PortedProject(Struct, frozen=True):
    """The port and its patches; no `series` where nothing was ported or the referee rejects."""

    root: str
    result: PortResult
    series: Series | None


def project_of(paths: Sequence[str], arguments: tuple[str, ...]) -> Project:
    """Return files that were named as a project: each compiled with these options, below the folder of all."""
    files = [os.path.realpath(path) for path in paths]
    here = os.path.realpath(".")
    commands = tuple(CompileCommand(file, here, "cc", arguments) for file in files)
    return Project(os.path.commonpath([os.path.dirname(file) for file in files]), commands)  # noqa: PTH120


def port_project(project: Project, target: str | None, options: PortOptions) -> PortedProject:
    """Port loops of one program of a project in place; the project is only read.

    What an earlier port has made parallel stays so: its loops are ported anew, together with those that are asked for.
    Raises UsageError where the program or a loop is not there, InputError where nothing can be read.
    """
    root = build_root(project)
    earlier = earlier_port(root)
    commands = target_commands(project, target)
    _check_headers(root, earlier, project)
    sources = sources_below(commands, root, earlier.added)
    wanted = _loops(options.loops, sources, earlier)
    result = port(sources, replace(options, root=root, loops=wanted))
    rejected = result.verification is not None and result.verification.status == "fail"
    if result.in_place is None or rejected:
        return PortedProject(root, result, None)
    compiled = [os.path.relpath(command.file, root) for command in project.commands]
    loops = _ported_loops(result, root)
    built = ProjectBuild(tuple(dict.fromkeys(compiled)), build_folder(project, root), inner_folders(project, root))
    return PortedProject(root, result, make_series(root, result.in_place, loops, built))


def _check_headers(root: str, earlier: Earlier, project: Project) -> None:
    """Raise where an earlier port has changed a header: what is included is read as it stands."""
    compiled = {os.path.relpath(command.file, root) for command in project.commands}
    changed = next((path for path in earlier.added if path not in compiled and _has_additions(root, path)), None)
    if changed is not None:
        message = f"{changed} was changed by an earlier port, and a header cannot be ported anew on top of that"
        remedy = "take the earlier port out (git apply -R PATCH), then port all of it again"
        raise UsageError(Finding("PRJ013", "error", message, help=(remedy,)))


def _has_additions(root: str, path: str) -> bool:
    try:
        text = Path(root, path).read_bytes().decode("latin-1")
    except OSError:
        return False
    return remove_additions(text) != text


def _loops(asked: tuple[str, ...], sources: Sequence[Source], earlier: Earlier) -> tuple[str, ...]:
    """Return the loops that were asked for as they are called without the additions of an earlier port, and its own."""
    if not asked:
        return ()
    before = [loop for loops in earlier.loops.values() for loop in loops]
    return tuple(dict.fromkeys([*(_move_address(loop, sources) for loop in asked), *before]))


def _move_address(loop: str, sources: Sequence[Source]) -> str:
    """Return FILE:LINE with the line that it has without additions."""
    file, _, line = loop.rpartition(":")
    for source in sources:
        if not (file and line.isdecimal() and source.text is not None and source.path.endswith(file)):
            continue
        with open(source.path, "rb") as given:  # noqa: PTH123
            text = given.read().decode("latin-1")
        start = sum(len(one) + 1 for one in text.split("\n")[: int(line) - 1])
        return f"{file}:{remove_additions(text[:start]).count(chr(10)) + 1}"
    return loop


def _ported_loops(result: PortResult, root: str) -> dict[str, tuple[str, ...]]:
    """Return the addresses of the user's loops that run on the device, by file."""
    found: dict[str, list[str]] = {}
    fragments = result.plan.fragments if result.plan else ()
    spans = [statement.span for fragment in fragments for statement in fragment.statements]
    for _, function in result.program.functions():
        for loop, name in loop_names(function).items():
            if isinstance(loop, While) and loop.reason == NOT_MADE:
                continue
            if any(span.contains(loop.span) for span in spans):
                names = found.setdefault(os.path.relpath(function.span.file.path, root), [])
                names += [name] if not any(name == other or name.startswith(f"{other}/") for other in names) else []
    return {path: tuple(names) for path, names in found.items()}
