"""Writing results: all files or none, never over an existing one without leave, never half of one."""

from __future__ import annotations

import difflib
import errno
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from warpsmith.app.cli.stops import defer_stops
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, readable
from warpsmith.emit.files import OutputFile

_ELSEWHERE = "choose a place that can be written: -o PATH"

__all__ = [
    "check_free",
    "holds",
    "not_writable",
    "refuse_dash",
    "unified_diff",
    "write_files",
    "write_result",
]


@defer_stops()
def write_files(directory: str, files: Sequence[OutputFile], *, force: bool) -> tuple[str, ...]:
    """Write `files` below `directory` and return their paths.

    Raises UsageError, with nothing written, where a file exists (without `force`) or cannot be written.
    """
    base = Path(directory)
    targets = [base / file.path for file in files]
    present = [str(target) for target in targets if target.exists()]
    if not force:
        _refuse_present(present)
    staged: list[tuple[str, Path]] = []
    at = base
    try:
        for target, file in zip(targets, files, strict=True):
            at = target
            target.parent.mkdir(parents=True, exist_ok=True)
            staged.append((_stage(target.parent, file.data()), target))
        for temporary, at in staged:
            Path(temporary).replace(at)
    except OSError as error:
        raise not_writable(str(at), error, _ELSEWHERE) from error
    finally:
        for temporary, _ in staged:
            Path(temporary).unlink(missing_ok=True)
    return tuple(str(target) for target in targets)


def refuse_dash(path: str | None, option: str) -> None:
    """Raise UsageError where `-` is given for a file beside the results: no file gets that name."""
    if path == "-":
        message = f"{option}: - is standard output, which is for the results"
        raise UsageError(Finding("INP000", "error", message, help=("name a file",)))


def check_free(directory: str, names: Sequence[str], *, force: bool) -> None:
    """Raise UsageError where `names` cannot be written below `directory`: reported before anything is worked out."""
    base = Path(directory)
    known = base
    while not known.exists() and known != known.parent:
        known = known.parent
    if not known.is_dir():
        raise not_writable(f"{directory}/", NotADirectoryError(errno.ENOTDIR, f"{known} is no folder"), _ELSEWHERE)
    if not os.access(known, os.W_OK | os.X_OK):
        raise not_writable(f"{directory}/", PermissionError(errno.EACCES, "permission denied"), _ELSEWHERE)
    if not force:
        _refuse_present([str(base / name) for name in names if (base / name).exists()])


def _refuse_present(present: Sequence[str]) -> None:
    if present:
        message = f"{', '.join(present)} already exist{'s' if len(present) == 1 else ''}; nothing was written"
        raise UsageError(Finding("OUT001", "error", message, help=("--force overwrites", "-o names another place")))


def write_result(path: str, result: str | bytes, *, remedy: str = "choose another place") -> None:
    """Write one result to the file `path`, whole or not at all; a device or a pipe is written to as it is.

    Raises UsageError where that cannot be done.
    """
    # names that are no UTF-8 are shown as they are on the terminal
    data = result if isinstance(result, bytes) else result.encode("utf-8", "backslashreplace")
    target = Path(path)
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            _replace(target.resolve(), data)
    except OSError as error:
        raise not_writable(path, error, remedy) from error


@defer_stops()
def _replace(target: Path, data: bytes) -> None:
    """Give a file its bytes, at once."""
    staged = _stage(target.parent, data)
    try:
        Path(staged).replace(target)
    finally:
        Path(staged).unlink(missing_ok=True)


def not_writable(path: str, error: OSError, *remedies: str) -> UsageError:
    """Return the error that says why `path` cannot be written."""
    message = f"{path} cannot be written: {(error.strerror or str(error)).lower()}"
    return UsageError(Finding("OUT002", "error", message, help=remedies))


def holds(path: str, text: str) -> bool:
    """Whether the file at `path` already has this text."""
    try:
        return Path(path).read_bytes() == text.encode("utf-8", "surrogateescape")
    except OSError:
        return False


def _stage(directory: Path, data: bytes) -> str:
    handle, name = tempfile.mkstemp(prefix=".warpsmith-", dir=directory)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
    except BaseException:
        Path(name).unlink()
        raise
    # mkstemp makes files private; what we write should look like any file that the user makes
    umask = os.umask(0)
    os.umask(umask)
    Path(name).chmod(0o666 & ~umask)
    return name


def unified_diff(originals: Sequence[SourceFile], files: Sequence[OutputFile]) -> str:
    """Return what the port changes as one unified diff; new files are diffed against nothing."""
    by_name = {Path(source.path).name: source for source in originals}
    parts: list[str] = []
    for file in files:
        source = by_name.get(Path(file.path).name)
        old, new = ("" if source is None else source.text), file.text
        name = f"a/{file.path}" if source is not None else "/dev/null"
        lines = difflib.unified_diff(_lines(old), _lines(new), name, f"b/{file.path}")
        parts += [line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines]
    return readable("".join(parts))


def _lines(text: str) -> list[str]:
    pieces = text.split("\n")
    return [piece + "\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])
