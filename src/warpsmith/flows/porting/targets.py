"""Which files of a project are ported together: those of one program.

compile commands ── --target, or the only main ──► one command a file, in the project's order
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from warpsmith.base.c_lexer import GAPS
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.front.inputs import Source
from warpsmith.project.buildfiles.makefile import makefile_in
from warpsmith.project.command_line import language_of
from warpsmith.project.model import CompileCommand, Project
from warpsmith.tree.text.additions import remove_additions
from warpsmith.tree.text.lexical import tokens

__all__ = ["build_folder", "build_root", "inner_folders", "sources_below", "target_commands"]

_CACHE = "CMakeCache.txt"
_CONFIGURED = re.compile(rb"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", re.MULTILINE)
_CMAKE = re.compile(r"CMakeFiles/([^/]+)\.dir/")


def target_commands(project: Project, target: str | None) -> tuple[CompileCommand, ...]:
    """Return the commands of the program `target` (its path, its name or CMake's name for it), one a file; without
    one, of the project's only program, or of all of a library.

    Raises UsageError where there are several programs, or none is called so.
    """
    commands = tuple(c for c in project.commands if _language(c) in ("c", "c++") and Path(c.file).is_file())
    programs = {c: _text_has_main(c.file) for c in commands}
    if target is not None:
        return _once(_select_named(project, commands, target, programs))
    mains = list(dict.fromkeys(c.file for c, main in programs.items() if main))
    if len(mains) > 1:
        names = ", ".join(sorted(_names(project, commands, programs)))
        message = f"the project has {len(mains)} programs: {names}"
        raise UsageError(Finding("PRJ011", "error", message, help=("--target NAME says which one shall be ported",)))
    return _once(commands)


def _language(command: CompileCommand) -> str | None:
    return command.language or language_of(command.file)


def _select_named(
    project: Project, commands: Sequence[CompileCommand], target: str, programs: dict[CompileCommand, bool]
) -> Sequence[CompileCommand]:
    for link in project.links:
        if link.output in (str(Path(target).resolve()), target) or Path(link.output).name == target:
            held = set(project.target(link.output))
            return [c for c in commands if c in held]
    mine = [c for c in commands if target in _target_names(c)]
    if not mine:
        names = ", ".join(sorted(_names(project, commands, programs)))
        raise UsageError(Finding("PRJ011", "error", f"no program is called {target}", help=(f"there are: {names}",)))
    # What the link commands would tell is not known: every file that is no other program may belong to it.
    others = {name for c, main in programs.items() if main for name in _target_names(c)} - {target}
    return [c for c in commands if c in mine or not (programs[c] or others & set(_target_names(c)))]


def _names(
    project: Project, commands: Sequence[CompileCommand], programs: dict[CompileCommand, bool]
) -> dict[str, None]:
    linked = [Path(link.output).name for link in project.links if not link.output.endswith((".a", ".so"))]
    found = [_target_names(c)[0] for c in commands if programs[c]]
    return dict.fromkeys(linked or found)


def _target_names(command: CompileCommand) -> tuple[str, ...]:
    """Return what the program of a command may be called: CMake's target, else the file's own name."""
    made = _CMAKE.search(command.output or "")
    return (made[1],) if made else (Path(command.file).stem,)


def _once(commands: Sequence[CompileCommand]) -> tuple[CompileCommand, ...]:
    found: dict[str, CompileCommand] = {}
    for command in commands:
        found.setdefault(command.file, command)
    return tuple(found.values())


def _text_has_main(path: str) -> bool:
    """Whether a file defines `main`, lexically: `main (` outside of every brace."""
    depth, before = 0, ""
    for token in tokens(Path(path).read_bytes().decode("latin-1")):
        if token.kind in GAPS:
            continue
        if token.sign == "(" and before == "main" and depth == 0:
            return True
        depth += (token.sign == "{") - (token.sign == "}")
        before = token.spelling
    return False


def build_root(project: Project) -> str:
    """Return the folder from which the project is built and patched: the nearest one around all sources that has a
    Makefile, or the outermost of those with a CMakeLists.txt; without one, the one around all sources."""
    around = [Path(project.root), *Path(project.root).parents]
    listed = next((n for n, folder in enumerate(around) if (folder / "CMakeLists.txt").is_file()), None)
    made = next((n for n, folder in enumerate(around) if makefile_in(folder) is not None), None)
    if listed is not None and (made is None or listed <= made):
        while (around[listed].parent / "CMakeLists.txt").is_file():
            listed += 1
        return str(around[listed])
    limit = next((n for n, folder in enumerate(around) if (folder / ".git").exists()), len(around))
    return str(around[made]) if made is not None and made <= limit else project.root


def build_folder(project: Project, root: str) -> str:
    """Return the folder with the build file, as a path below `root`: `root` itself, unless only the folder that the
    build ran in (or was configured from) has one."""
    if _has_build_file(Path(root)):
        return "."
    found = {
        _find_build_root(Path(folder), Path(root)) for folder in {command.directory for command in project.commands}
    }
    (one,) = found if len(found) == 1 else (None,)
    return os.path.relpath(one, root) if one is not None else "."


def inner_folders(project: Project, root: str) -> tuple[str, ...]:
    """Return the folders below `root`, as paths from there, that have a build file and that compilers ran in."""
    folders = sorted({Path(command.directory) for command in project.commands})
    return tuple(os.path.relpath(one, root) for one in folders if Path(root) in one.parents and _has_build_file(one))


def _find_build_root(folder: Path, root: Path) -> Path | None:
    """Return the outermost folder around `folder`, below `root`, with a build file that nobody generated."""
    cache = next((around / _CACHE for around in (folder, *folder.parents) if (around / _CACHE).is_file()), None)
    if cache is not None:
        home = _CONFIGURED.search(cache.read_bytes())
        folder = Path(os.fsdecode(home[1])) if home else folder
    around = [one for one in (folder, *folder.parents) if root in one.parents and _has_build_file(one)]
    return around[-1] if around else None


def _has_build_file(folder: Path) -> bool:
    return (folder / "CMakeLists.txt").is_file() or makefile_in(folder) is not None


def sources_below(commands: Sequence[CompileCommand], root: str, ported: Collection[str]) -> tuple[Source, ...]:
    """Return the inputs of the commands; the files `ported` (paths below `root`) without what was added to them."""
    found = []
    for command in commands:
        path = os.path.relpath(command.file)
        path = command.file if path.startswith("..") else path
        arguments = tuple(a for a in command.arguments if a != "-DWARPSMITH")
        text: str | None = None
        if os.path.relpath(command.file, root) in ported:
            text = remove_additions(Path(command.file).read_bytes().decode("latin-1"))
        found.append(Source(path, arguments, command.language, text))
    return tuple(found)
