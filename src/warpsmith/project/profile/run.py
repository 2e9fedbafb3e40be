"""One run of a project in a copy whose loops count themselves.

    root ── copied ──► scratch/copy ── instrumented ──► built by the user's own command ──► run ──► counters ──► Profile

Invariant: nothing below `root` is written. What names `root` by its absolute path (a configured build folder, a
command) names the copy instead; where the build writes to `root` all the same, the run is refused.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.project.copying import copy_project, fingerprint
from warpsmith.project.profile.instrument import instrument, runtime_header
from warpsmith.project.profile.model import CountedLoop, Profile, UncountedLoop, profile_of, read_counters

__all__ = [
    "RunRequest", "build_copy", "check_untouched", "clear", "environment_of", "profile_run",
]  # fmt: skip

_SOURCES: Final = (".c", ".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".inl", ".tpp", ".ipp")
_DEVICE_SOURCES: Final = (".cu", ".cuh", ".cl", ".hip")
_TAIL: Final = 15


class RunRequest(Struct, frozen=True):
    """`root` holds the project; `build` is its build command ("" and nothing: none is needed), `run` the command to be
    measured, both as a shell reads them, started where `directory` (in `root`) is in the copy."""

    root: Path
    directory: Path
    build: Sequence[str]
    run: str
    timeout_s: float = 3600.0
    most_bytes: int = 2 << 30
    scratch: Path | None = field(default=None)


def profile_run(request: RunRequest) -> Profile:
    """Build and run the project once in a copy, and return what its loops did.

    Raises UsageError (PRF001 … PRF004) where it cannot be copied, built or run; the user's files are as they were.
    """
    root = request.root.resolve()
    before = fingerprint(root)
    with tempfile.TemporaryDirectory(prefix="warpsmith-profile-", dir=request.scratch) as folder:
        # The user's files, without what builds have made of them.
        copy, data = Path(folder, root.name or "copy"), Path(folder, "counters")
        copy_project(root, copy, request.most_bytes)
        data.mkdir()
        # Every loop that can count itself does.
        places, uncounted = _instrument_all(copy, root, Path(folder, "ws_profile.h"), data)
        if not places:
            message = f"no file below {root} has a loop that can be counted"
            raise UsageError(Finding("PRF001", "error", message, None, ("name the folder of the project's sources",)))
        where = copy / request.directory.resolve().relative_to(root)
        # The user's own build, in the copy.
        build_copy(request, root, copy, where)
        check_untouched(root, before, "the build")
        clear(data)
        # The user's own run.
        status, seconds = _run(request, root, copy, where)
        check_untouched(root, before, "the run")
        loops = read_counters(sorted(data.iterdir()), places)
    if not any(loop.entries for loop in loops):
        helps = ("does the command run the program that was built?", "is it built from sources below the folder?")
        message = f"'{request.run}' ran no loop of the project"
        raise UsageError(Finding("PRF004", "error", message, None, helps))
    return profile_of(loops, seconds, status, tuple(uncounted))


def _instrument_all(copy: Path, root: Path, header: Path, data: Path) -> tuple[list[CountedLoop], list[UncountedLoop]]:
    """Instrument every source file of the copy; return where the counted loops stand, by number, and the others."""
    places: list[CountedLoop] = []
    uncounted: list[UncountedLoop] = []
    for path in sorted(_files(copy)):
        original = str(root / path.relative_to(copy))
        made = instrument(path.read_bytes().decode("latin-1"), str(header), len(places))
        if path.suffix.lower() in _DEVICE_SOURCES:
            uncounted += [
                UncountedLoop(original, line, "it is in a file for a device")
                for line in dict.fromkeys(loop.line for loop in made.loops)
            ]
            continue
        places += [CountedLoop(original, loop.line, loop.column, loop.around) for loop in made.loops]
        uncounted += [UncountedLoop(original, each.line, each.reason) for each in made.uncounted]
        if made.loops:
            path.write_bytes(made.text.encode("latin-1"))
    header.write_text(runtime_header(str(data), len(places)), "utf-8", "surrogateescape")
    return places, uncounted


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.suffix.lower() in (*_SOURCES, *_DEVICE_SOURCES) and path.is_file() and not path.is_symlink():
            yield path


def build_copy(request: RunRequest, root: Path, copy: Path, where: Path) -> None:
    """Build the project in its copy, by the user's own command. Raises UsageError where that fails."""
    if not request.build:
        return
    words = [word.replace(str(root), str(copy)) for word in request.build]
    try:
        done = subprocess.run(
            words, cwd=where, env=environment_of(root, copy), capture_output=True, text=True, errors="replace",
            timeout=request.timeout_s, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        message = (
            f"the build of the copy that counts its loops, {' '.join(words)}, took more than {request.timeout_s:g} s"
        )
        raise UsageError(Finding("INP009", "error", message, None, ("raise --timeout",))) from error
    except OSError as error:
        message = f"the build of the copy that counts its loops: {' '.join(words)}: {error}"
        raise UsageError(Finding("PRF002", "error", message)) from error
    if done.returncode != 0:
        said = (done.stdout + done.stderr).replace(str(copy), str(root)).strip().splitlines()[-_TAIL:]
        message = f"the build of the copy that counts its loops failed (exit {done.returncode})"
        helps = ("your files are as they were", "the build's last lines:\n" + "\n".join(said))
        raise UsageError(Finding("PRF002", "error", message, None, helps))


def _run(request: RunRequest, root: Path, copy: Path, where: Path) -> tuple[int, float]:
    """Run the command; return how it ended and the seconds that it took. Its output goes to standard error."""
    started = time.perf_counter()
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", request.run.replace(str(root), str(copy))], cwd=where, env=environment_of(root, copy),
            stdout=2, timeout=request.timeout_s, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        message = f"'{request.run}' took more than {request.timeout_s:g} s"
        helps = ("raise --timeout, or give it a smaller problem",)
        raise UsageError(Finding("INP009", "error", message, None, helps)) from error
    if done.returncode in (126, 127):
        helps = (f"the command runs in a copy of {request.directory}; is the program built there?",)
        raise UsageError(Finding("PRF003", "error", f"'{request.run}' could not be started", None, helps))
    return done.returncode, time.perf_counter() - started


def environment_of(root: Path, copy: Path) -> Mapping[str, str]:
    """Return the environment of what happens in the copy: what names the project there names the copy."""
    changed = {key: value.replace(str(root), str(copy)) for key, value in os.environ.items()}
    return changed | {"CCACHE_DISABLE": "1"}


def clear(data: Path) -> None:
    """Forget what programs counted that the build itself has run."""
    for path in data.iterdir():
        path.unlink()


def check_untouched(root: Path, before: Mapping[str, tuple[int, int]], what: str) -> None:
    """Raise UsageError where something below `root` is not what it was before."""
    after = fingerprint(root)
    changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    if changed:
        named = ", ".join(changed[:3])
        message = f"{what} has written below {root}: {named}"
        helps = ("something there names the folder by its absolute path", "or another program has written meanwhile")
        raise UsageError(Finding("PRF002", "error", message, None, helps))
