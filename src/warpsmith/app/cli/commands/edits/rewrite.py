"""Writing files of the user's back in place: whole or not at all, their bytes, permissions and links kept."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from warpsmith.app.cli.stops import defer_stops
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, readable

__all__ = ["edits_diff", "rewrite_files"]


@defer_stops()
def rewrite_files(edited: Sequence[tuple[SourceFile, str]]) -> None:
    """Give files their new text.

    Raises UsageError, with nothing written, where one has changed since it was read, or cannot be written.
    """
    staged: list[tuple[Path, Path]] = []
    try:
        for file, text in edited:
            target = Path(file.path).resolve()
            if target.read_bytes() != file.data():
                raise UsageError(_report_failure(f"{file.path} has changed since it was read", "run it again"))
            staged.append((_stage(target, text.encode("latin-1")), target))
        for temporary, target in staged:
            temporary.replace(target)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        message = f"{error.filename or 'a file'} cannot be written: {why}"
        raise UsageError(_report_failure(message, "check its permissions")) from error
    finally:
        for temporary, _ in staged:
            temporary.unlink(missing_ok=True)


def _report_failure(message: str, remedy: str) -> Finding:
    return Finding("OUT002", "error", message, help=(remedy,))


def _stage(target: Path, data: bytes) -> Path:
    if not os.access(target, os.W_OK):
        raise PermissionError(13, "permission denied", str(target))
    handle, name = tempfile.mkstemp(prefix=".warpsmith-", dir=target.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    shutil.copymode(target, name)
    return Path(name)


def _lines(text: str) -> list[str]:
    """Return the lines with their ends; the bytes of letters are no line ends."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def edits_diff(edited: Sequence[tuple[SourceFile, str]]) -> str:
    """Return what would be written as one unified diff."""
    parts: list[str] = []
    for file, text in edited:
        name = file.path.replace("\\", "/").lstrip("/")
        for line in difflib.unified_diff(_lines(file.text), _lines(text), f"a/{name}", f"b/{name}"):
            parts.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return readable("".join(parts))
