"""Writing results: all files or none, never over an existing one without leave, never half of one."""

from __future__ import annotations

import difflib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, readable
from warpsmith.emit.files import OutputFile

__all__ = ["holds", "unified_diff", "write_files"]


def write_files(directory: str, files: Sequence[OutputFile], *, force: bool) -> tuple[str, ...]:
    """Write `files` below `directory` and return their paths.

    Raises UsageError, with nothing written, where a file exists (without `force`) or cannot be written.
    """
    base = Path(directory)
    targets = [base / file.path for file in files]
    present = [str(target) for target in targets if target.exists()]
    if present and not force:
        message = f"{', '.join(present)} already exist{'s' if len(present) == 1 else ''}; nothing was written"
        raise UsageError(
            Finding("OUT001", "error", message, help=("--force overwrites", "-o DIR names another folder"))
        )
    staged: list[tuple[str, Path]] = []
    try:
        for target, file in zip(targets, files, strict=True):
            target.parent.mkdir(parents=True, exist_ok=True)
            staged.append((_stage(target.parent, file.data()), target))
        for temporary, target in staged:
            Path(temporary).replace(target)
    except OSError as error:
        message = f"cannot write below {directory}: {(error.strerror or str(error)).lower()}"
        raise UsageError(
            Finding("OUT002", "error", message, help=("choose a folder that can be written: -o DIR",))
        ) from error
    finally:
        for temporary, _ in staged:
            Path(temporary).unlink(missing_ok=True)
    return tuple(str(target) for target in targets)


def holds(path: str, text: str) -> bool:
    """Whether the file at `path` already has this text."""
    try:
        return Path(path).read_bytes() == text.encode()
    except OSError:
        return False


def _stage(directory: Path, data: bytes) -> str:
    handle, name = tempfile.mkstemp(prefix=".warpsmith-", dir=directory)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
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
