"""A build is run once with compiler wrappers first in PATH, and what they saw becomes a project.

    PATH=/tmp/…/bin:$PATH make -j8      bin/gcc: note folder and words in a file of its own, then exec the real gcc
                                        bin/ar: likewise      bin/cmake: note, and run without the wrappers

Invariant: the build does what it would have done: wrappers exec the real tool with the same words. cmake records where
the compiler is, so it must not see a wrapper: its own compile_commands.json is read instead. Where another build writes
down the path of a wrapper, the user is notified. One file a call, so that -j cannot mix them up.

Limits: a compiler that is called by an absolute path is not seen, unless it is given as CC=/…; a compiler server that
starts compilers elsewhere neither. Objects that are linked and whose compilation was not seen are reported.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.errors import InputError, UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.scratch import lasting_folder
from warpsmith.project.archives import read_archive
from warpsmith.project.command_line import add_implied, commands_of, compiler_family, read_call
from warpsmith.project.database import NAME, project_root, read_database
from warpsmith.project.filling import fill_template
from warpsmith.project.model import CompileCommand, LinkCommand, Project

__all__ = ["capture_build"]

_VARIABLES: Final = ("CC", "CXX", "NVCC", "MPICC", "MPICXX", "LD", "LINK", "CCC", "HOSTCC", "HOSTCXX")
_LAUNCHERS: Final = ("ccache", "sccache", "distcc", "icecc")
_ARCHIVER = re.compile(r"(?:^|-)(?:ar|gcc-ar|llvm-ar)(?:-[0-9.]+)?$")
_MOST: Final = 4 << 20
"""A larger file is no place where a build writes down what its tools are."""


def capture_build(command: Sequence[str]) -> Project:
    """Run a build in this folder and return what it compiled and linked; its output goes to standard error.

    A build that fails is a finding of the project. Raises UsageError where the command cannot be run, InputError where
    nothing was seen.
    """
    if shutil.which(command[0]) is None:
        message = f"the build command {command[0]} is not found"
        raise UsageError(Finding("PRJ006", "error", message, None, ("check its name: warpsmith survey -- make -j8",)))
    with tempfile.TemporaryDirectory(prefix="warpsmith-capture-") as folder:
        wrappers = _Wrappers.make(Path(folder))
        # what a build of the user's keeps beside itself, it keeps
        words, environment = wrappers.apply_to(command, os.environ | {"TMPDIR": lasting_folder()})
        sys.stderr.flush()
        started = time.time()
        code = subprocess.run(words, env=environment, stdout=_standard_error(), check=False).returncode
        seen = list(_read_calls(wrappers.log))
        findings = _named_wrappers(Path.cwd(), wrappers, started)
    findings += [_report_failure(command, code)] if code != 0 else []
    return _project(seen, str(Path.cwd()), findings)


def _standard_error() -> int:
    """Return where the build's output goes: standard output is for the survey."""
    try:
        return sys.stderr.fileno()
    except OSError:  # somebody holds our standard error in memory
        return 2


class _Wrappers(Struct, frozen=True):
    """The folder of wrappers, and the one where they note what they see."""

    folder: Path
    log: Path
    real: Mapping[str, str]

    @classmethod
    def make(cls, base: Path) -> _Wrappers:
        """Write a wrapper for every compiler and archiver that PATH has."""
        folder, log = base / "bin", base / "log"
        folder.mkdir()
        log.mkdir()
        made = cls(folder, log, _tools(os.environ.get("PATH", os.defpath)))
        for name, real in made.real.items():
            made.write(name, real)
        return made

    def write(self, name: str, real: str) -> str:
        """Write one wrapper and return its path."""
        place = self.folder / name
        text = fill_template(
            "cmake.sh" if name == "cmake" else "compiler.sh",
            {
                "log": str(self.log),
                "folder": str(self.folder),
                "real": shlex.quote(real),
                "path": shlex.quote(os.environ.get("PATH", os.defpath)),
            },
        )
        place.write_text(text)
        place.chmod(0o755)
        return str(place)

    def apply_to(self, command: Sequence[str], environment: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
        """Return a command and its environment such that the wrappers stand first, also for CC=/absolute/path."""
        changed = dict(environment)
        for name in _VARIABLES:
            if name in changed:
                changed[name] = self._behind(changed[name])
        changed["PATH"] = f"{self.folder}{os.pathsep}{environment.get('PATH', os.defpath)}"
        words = [self._variable(word) for word in command]
        if "/" not in words[0] and words[0] in self.real:
            words[0] = str(self.folder / words[0])
        return words, changed

    def _variable(self, word: str) -> str:
        name, equals, value = word.partition("=")
        return f"{name}={self._behind(value)}" if equals and name in _VARIABLES else word

    def _behind(self, value: str) -> str:
        """Return what CC is set to, with a wrapper in place of an absolute path."""
        first, space, rest = value.partition(" ")
        if not first.startswith("/") or compiler_family(first) is None or not os.access(first, os.X_OK):
            return value
        name = Path(first).name
        if self.real.get(name) != first:
            name = f"at-{first.strip('/').replace('/', '-')}"
            return self.write(name, first) + space + rest
        return str(self.folder / name) + space + rest


def _tools(path: str) -> dict[str, str]:
    """Return the compilers, archivers and cmake that a PATH leads to, by name."""
    found: dict[str, str] = {}
    for folder in path.split(os.pathsep):
        try:
            names = sorted(place.name for place in Path(folder or ".").iterdir())
        except OSError:
            continue
        for name in names:
            wanted = compiler_family(name) or name in (*_LAUNCHERS, "cmake") or _ARCHIVER.search(name)
            place = Path(folder or ".", name).absolute()
            if wanted and name not in found and place.is_file() and os.access(place, os.X_OK):
                found[name] = str(place)
    return found


def _read_calls(log: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the folder and the words of every call, in the order in which they were made."""
    for place in sorted(log.iterdir(), key=lambda p: (p.stat().st_mtime_ns, p.name)):
        words = place.read_bytes().decode("utf-8", "surrogateescape").split("\0")
        if len(words) >= 3:
            yield words[0], words[1:-1]


class _Gathered(Struct):
    commands: list[CompileCommand] = field(default_factory=list)
    links: list[LinkCommand] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def _project(seen: Iterable[tuple[str, list[str]]], root: str, findings: list[Finding]) -> Project:
    gathered = _Gathered()
    for folder, words in seen:
        _gather(folder, words, gathered)
    if Path(root, "CMakeCache.txt").is_file():  # its makefiles name the compiler by an absolute path
        gathered.folders.append(root)
    for place in dict.fromkeys(gathered.folders):
        if Path(place, NAME).is_file():
            known = read_database(place)
            gathered.commands += known.commands
            findings += known.findings
    commands = list(dict.fromkeys(gathered.commands))
    there = [c for c in commands if Path(c.file).is_file()]
    findings += [_report_gone(c.file) for c in commands if not Path(c.file).is_file() and c.file.startswith(root)]
    findings += [_no_response(place) for place in dict.fromkeys(gathered.missing)]
    if not there:
        raise InputError(*findings, _nothing(gathered.folders))
    unseen = _find_unseen(there, gathered.links, root)
    whole = root if all(c.file.startswith(f"{root}/") for c in there) else project_root(there)
    return Project(whole, tuple(there), tuple(dict.fromkeys(gathered.links)), (*findings, *unseen))


def _gather(folder: str, words: list[str], into: _Gathered) -> None:
    name = words[0].rsplit("/", 1)[-1]
    if name == "cmake":
        into.folders.append(_build_folder(folder, words[1:]))
    elif _ARCHIVER.search(name):
        archive = read_archive(words, folder)
        into.links += [archive] if archive is not None else []
    else:
        call = read_call(words, folder)
        if call is not None:
            into.missing += call.missing
            made, link = commands_of(add_implied(call))
            into.commands += made
            into.links += [replace(link, inputs=(*link.inputs, *_libraries(link)))] if link is not None else []


def _build_folder(folder: str, words: Sequence[str]) -> str:
    """Return the build folder of a cmake call."""
    for number, word in enumerate(words):
        if word in ("-B", "--build", "--install") and number + 1 < len(words):
            return os.path.normpath(Path(folder, words[number + 1]))
        if word.startswith("-B") and len(word) > 2:
            return os.path.normpath(Path(folder, word[2:]))
    return folder


def _libraries(link: LinkCommand) -> Iterator[str]:
    """Yield the archives and libraries of the project that `-l` options of a link name."""
    folders = [Path(link.directory, word[2:]) for word in link.arguments if word.startswith("-L")]
    for word in link.arguments:
        names = (f"lib{word[2:]}.a", f"lib{word[2:]}.so") if word.startswith("-l") else ()
        yield from (os.path.normpath(p / n) for p in folders for n in names if (p / n).is_file())


def _find_unseen(commands: Sequence[CompileCommand], links: Sequence[LinkCommand], root: str) -> list[Finding]:
    """Return a finding where objects or the project's archives were linked that nobody was seen to make."""
    made = {c.output for c in commands} | {link.output for link in links}
    used = {i for link in links for i in link.inputs if i not in made}
    objects = sorted(i for i in used if i.endswith(".o") or (i.endswith(".a") and i.startswith(f"{root}/")))
    if not objects:
        return []
    shown = ", ".join(Path(o).name for o in objects[:3]) + (", …" if len(objects) > 3 else "")
    message = (
        f"{len(objects)} objects were linked whose compilation was not seen ({shown}): their files are missing here"
    )
    helps = (
        "they were up to date: clean first, or `make -B`",
        "or their compiler has an absolute path in the build file: `make CC=gcc`",
    )
    return [Finding("PRJ004", "error", message, None, helps)]


def _nothing(folders: Sequence[str]) -> Finding:
    helps = [
        "everything was up to date: `make clean` first, or `make -B`",
        "or the compiler has an absolute path in the build file: `make CC=gcc`",
    ]
    if folders:
        export = f"cmake {folders[0]} -DCMAKE_EXPORT_COMPILE_COMMANDS=ON"
        helps = [f"cmake keeps the compiler's absolute path: `{export}`, then `warpsmith survey -p {folders[0]}`"]
    return Finding("PRJ004", "error", "the build compiled nothing that could be seen", None, tuple(helps))


def _report_failure(command: Sequence[str], code: int) -> Finding:
    words = " ".join(command)
    how = f"exit code {code}" if code > 0 else f"signal {-code}"
    helps = ("its output stands above; what it compiled before it failed is surveyed",)
    return Finding("PRJ006", "error", f"the build failed: `{words}` ended with {how}", None, helps)


def _named_wrappers(root: Path, wrappers: _Wrappers, started: float) -> list[Finding]:
    """Return a finding where the build wrote down where a wrapper is: that place is gone when we are."""
    found: list[str] = []
    mark = os.fsencode(wrappers.folder)
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in (".git", ".hg", ".svn")]
        for place in (Path(folder, name) for name in names):
            try:
                known = place.lstat()
                changed = stat.S_ISREG(known.st_mode) and known.st_mtime >= started - 2 and known.st_size <= _MOST
                if changed and mark in place.read_bytes():
                    found.append(os.path.relpath(place, root))
            except OSError:
                continue
    if not found:
        return []
    shown = ", ".join(sorted(found)[:3]) + (", …" if len(found) > 3 else "")
    message = f"the build asked where its compiler is, and wrote down a wrapper of ours, which is gone now: {shown}"
    return [
        Finding("PRJ007", "warning", message, None, ("make that anew without us: `make clean`, or configure again",))
    ]


def _report_gone(file: str) -> Finding:
    remedy = "the build makes it and deletes it again: its loops are not listed"
    return Finding("PRJ002", "warning", f"{file} was compiled, and is not there any more", None, (remedy,))


def _no_response(place: str) -> Finding:
    message = f"the options in {place} are not known: the file is not there any more"
    return Finding("PRJ003", "warning", message, None, ("keep the file during the build",))
