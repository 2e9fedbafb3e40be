"""compile_commands.json becomes a project.

    [ {"directory": "/p/build", "command": "g++ -I../inc -c ../a.cpp -o a.o", "file": "../a.cpp"},
      {"directory": "/p/build", "arguments": ["gcc", "@flags.rsp", "-c", "b.c"], "file": "b.c", "output": "b.o"} ]

An entry that cannot be used is a finding that names it and says what to do; the others are served. Entries that say
the same twice count once; a file with two sets of options has two commands.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from warpsmith.base.errors import InputError, UsageError
from warpsmith.base.findings import Finding
from warpsmith.project.command_line import add_implied, commands_of, language_of, read_call, split_words
from warpsmith.project.model import CompileCommand, Project

__all__ = ["NAME", "find_database", "project_of_files", "project_root", "read_database", "write_database"]

NAME = "compile_commands.json"
_HOW = (
    "cmake -B build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON writes one; "
    "for other builds: `warpsmith survey -- make -j8` watches the compilers itself"
)


def find_database(path: str) -> Path:
    """Return the database that `path` names: the file, or the one in the folder; raises InputError."""
    place = Path(path)
    if place.is_dir():
        found = next((p for p in (place / NAME, place / "build" / NAME) if p.is_file()), None)
        if found is None:
            raise InputError(_error(f"there is no {NAME} in {path}", _HOW))
        return found
    if not place.is_file():
        raise InputError(_error(f"{path} does not exist", _HOW))
    return place


def read_database(path: str) -> Project:
    """Return the project of a compile_commands.json, or of the folder that holds it.

    Raises InputError where it cannot be read or names nothing; `findings` of the project tell what was left out.
    """
    place = find_database(path)
    entries = _entries(place)
    commands: list[CompileCommand] = []
    findings: list[Finding] = []
    for number, entry in enumerate(entries, start=1):
        made = _commands(place, number, entry, findings)
        commands += made
    commands = list(dict.fromkeys(commands))
    if not commands:
        raise InputError(*(findings or [_error(f"{place} names no source file", _HOW)]))
    findings += _missing(commands)
    return Project(project_root(commands), tuple(commands), (), tuple(findings))


def write_database(project: Project, path: str) -> None:
    """Write the commands of a project as a compile_commands.json. Raises UsageError where that fails."""
    entries = [_entry(command) for command in project.commands]
    try:
        Path(path).write_bytes((json.dumps(entries, indent=2) + "\n").encode("utf-8", "surrogateescape"))
    except OSError as error:
        message = f"{path} cannot be written: {(error.strerror or str(error)).lower()}"
        raise UsageError(Finding("OUT002", "error", message, help=("choose another place",))) from error


def _entry(command: CompileCommand) -> dict[str, object]:
    made = ("-o", command.output) if command.output is not None else ()
    words = [command.compiler, *command.arguments, "-c", *made, command.file]
    return {"directory": command.directory, "file": command.file, "arguments": words, **_output(command)}


def _output(command: CompileCommand) -> dict[str, object]:
    return {} if command.output is None else {"output": command.output}


def project_of_files(files: Sequence[str]) -> Project:
    """Return the project of files that are named one by one; what of them is not there is the reader's to say."""
    places = dict.fromkeys(os.path.normpath(Path.cwd() / file) for file in files)
    commands = [CompileCommand(file, str(Path.cwd()), "cc", (), None, language_of(file)) for file in places]
    missing = [c for c in commands if not Path(c.file).is_file()]
    if len(missing) == len(commands):
        raise InputError(
            *(Finding("INP001", "error", f"{c.file} does not exist", None, ("check the path",)) for c in missing)
        )
    findings = [Finding("INP001", "error", f"{c.file} is not a file", None, ("check the path",)) for c in missing]
    here = str(Path.cwd())
    below = all(command.file.startswith(f"{here}/") for command in commands)
    return Project(here if below else project_root(commands), tuple(commands), (), tuple(findings))


def project_root(commands: Iterable[CompileCommand]) -> str:
    """Return the folder that holds all sources."""
    folders = {str(Path(command.file).parent) for command in commands}
    return os.path.commonpath(sorted(folders))


def _entries(place: Path) -> Sequence[object]:
    try:
        loaded = json.loads(place.read_bytes().decode("utf-8-sig", "surrogateescape"))
    except OSError as error:
        message = f"{place} cannot be read: {(error.strerror or str(error)).lower()}"
        raise InputError(_error(message, "check its permissions")) from error
    except (ValueError, RecursionError) as error:
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(_error(f"{place}{line} is not JSON", f"make it anew: {_HOW}")) from error
    if not isinstance(loaded, list):
        raise InputError(_error(f"{place} is not a list of compile commands", f"make it anew: {_HOW}"))
    return loaded


def _commands(place: Path, number: int, entry: object, findings: list[Finding]) -> Sequence[CompileCommand]:
    """Return what an entry compiles; adds a finding where it cannot be used or not wholly."""
    where = f"{place}: entry {number}"
    fields = entry if isinstance(entry, dict) else {}
    file, directory = fields.get("file"), fields.get("directory", ".")
    if not isinstance(file, str) or not isinstance(directory, str) or "\0" in file + directory:
        findings.append(_entry_error(f"{where} has no file", 'an entry needs "directory", "file" and "command"'))
        return ()
    folder = os.path.normpath(Path(place.resolve().parent, directory))
    source = os.path.normpath(Path(folder, file))
    words = _words(fields)
    if not words:
        findings.append(_entry_error(f"{where} ({file}) has no command", 'an entry needs "command" or "arguments"'))
        return ()
    call = read_call(words, folder)
    if call is None:
        # a compiler that we have not heard of takes the common options as the others do
        call = read_call(["cc", *words[1:]], folder)
        assert call is not None
        call = replace(call, compiler=words[0])
    findings += [_no_response(where, file, missing) for missing in call.missing]
    made, _ = commands_of(add_implied(replace(call, stage="compile")))
    named = [c for c in made if os.path.realpath(c.file) == os.path.realpath(source)] or list(made)
    if not named:
        named = [CompileCommand(source, folder, call.compiler, call.arguments, call.output)]
    output = fields.get("output")
    if isinstance(output, str):
        named = [replace(c, output=os.path.normpath(Path(folder, output))) for c in named]
    return [replace(c, file=source) for c in named[:1]]


def _words(fields: dict[object, object]) -> list[str]:
    """Return the command of an entry as words, empty where there is none."""
    arguments, command = fields.get("arguments"), fields.get("command")
    if isinstance(arguments, list) and arguments and all(isinstance(word, str) for word in arguments):
        return [str(word) for word in arguments]
    if isinstance(command, str):
        try:
            return split_words(command)
        except ValueError:
            return command.split()
    return []


def _missing(commands: Sequence[CompileCommand]) -> list[Finding]:
    gone = sorted({command.file for command in commands if not Path(command.file).is_file()})
    remedy = "the database may be older than the sources, or the file is made by the build: build the project first"
    return [Finding("PRJ002", "error", f"{file} does not exist", None, (remedy,)) for file in gone]


def _no_response(where: str, file: str, missing: str) -> Finding:
    message = f"{where} ({file}): the options in {missing} are not known: it cannot be read"
    return Finding("PRJ003", "error", message, None, ("build the project first: its build writes this file",))


def _error(message: str, remedy: str) -> Finding:
    return Finding("PRJ001", "error", message, None, (remedy,))


def _entry_error(message: str, remedy: str) -> Finding:
    return Finding("PRJ001", "error", message, None, (remedy,))
