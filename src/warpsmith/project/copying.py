"""A copy of a project in which it can be built and run, and that leads nowhere else.

Invariant: no link in the copy leads into the user's folder, and no file that a build configured names it. What builds
have made (objects, libraries, programs) stays behind: the copy is built anew.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding

__all__ = ["copy_project", "fingerprint"]

_LEFT_FOLDERS: Final = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules", ".cache"})
_LEFT_SUFFIXES: Final = frozenset({".o", ".lo", ".obj", ".a", ".la", ".so", ".d", ".gch", ".pch"})
_OBJECT: Final = (b"\x7fELF", b"!<arch>\n", b"!<thin>\n")
_TEXT_LIMIT: Final = 4 << 20


def fingerprint(root: Path) -> dict[str, tuple[int, int]]:
    """Return size and time of change of every file below a folder, by its path there."""
    found: dict[str, tuple[int, int]] = {}
    for path in _walk(root):
        state = path.lstat()
        found[str(path.relative_to(root))] = (state.st_size, state.st_mtime_ns)
    return found


def copy_project(root: Path, copy: Path, most_bytes: int) -> None:
    """Copy a project; raises UsageError (PRF001) where it is larger than `most_bytes` or cannot be read."""
    try:
        total = 0
        wanted = list(_walk(root))
        for path in wanted:
            total += path.stat().st_size if path.exists() else 0
            if total > most_bytes:
                raise UsageError(_too_large(root, most_bytes))
        copy.mkdir(parents=True)
        for path in wanted:
            _copy_one(path, root, copy)
    except OSError as error:
        message = f"{root} cannot be copied: {error.filename or ''}: {(error.strerror or str(error)).lower()}"
        raise UsageError(Finding("PRF001", "error", message)) from error


def _walk(root: Path) -> Iterator[Path]:
    """Yield the files and links below a folder; links to folders outside are followed."""
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name not in _LEFT_FOLDERS)
        yield from (Path(folder, name) for name in names if Path(folder, name).is_symlink())
        yield from (Path(folder, name) for name in sorted(files))


def _copy_one(path: Path, root: Path, copy: Path) -> None:
    target = copy / path.relative_to(root)
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():
        _copy_link(path, root, copy, target)
    elif path.is_file() and not _is_made(path):
        data = path.read_bytes() if path.stat().st_size <= _TEXT_LIMIT else b""
        if data and b"\0" not in data and os.fsencode(root) in data:
            target.write_bytes(data.replace(os.fsencode(root), os.fsencode(copy)))
            shutil.copymode(path, target)
        else:
            shutil.copy2(path, target)


def _copy_link(path: Path, root: Path, copy: Path, target: Path) -> None:
    """A link inside the project stays one, in the copy; what one leads to elsewhere is copied."""
    leads = path.resolve()
    if leads == root or root in leads.parents:
        place = copy / leads.relative_to(root)
        target.symlink_to(os.path.relpath(place, target.parent))
    elif leads.is_dir():
        shutil.copytree(leads, target, symlinks=False, ignore_dangling_symlinks=True)
    elif leads.exists():
        shutil.copy2(leads, target)


def _is_made(path: Path) -> bool:
    """Whether a build has made the file: objects, archives, programs."""
    if path.suffix in _LEFT_SUFFIXES:
        return True
    with path.open("rb") as file:
        return file.read(8).startswith(_OBJECT)


def _too_large(root: Path, most_bytes: int) -> Finding:
    message = f"{root} has more than {most_bytes >> 20:,} MiB, the most that is copied for a counted run"
    return Finding("PRF001", "error", message, None, ("run from a folder that holds only what the run needs",))
