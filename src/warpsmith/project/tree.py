"""A copy of a project's folder, to look at and to build in: the user's own is never touched.

Left out are version control's folders; a copy is as large as the project, so a folder beyond the limit is refused.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding

__all__ = ["copy_of", "relocate"]

_LEFT_OUT = (".git", ".hg", ".svn")
_LIMIT = 2 << 30


@contextmanager
def copy_of(root: str, changes: Mapping[str, str | None] | None = None) -> Iterator[Path]:
    """Yield a temporary copy of the folder `root` in which the files `changes` (relative paths; None: gone) are
    different; raises RefusedError where the folder is too large to be copied."""
    _check_size(root)
    with tempfile.TemporaryDirectory(prefix="warpsmith-tree-") as folder:
        copy = Path(folder, Path(root).resolve().name or "root")
        shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns(*_LEFT_OUT))
        for path, text in (changes or {}).items():
            target = copy / path
            if text is None:
                target.unlink(missing_ok=True)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode("latin-1"))
        yield copy


def relocate(word: str, old: str, new: str) -> str:
    """Return an option or a path with the folder `old` in it replaced by `new`."""
    return word.replace(old + os.sep, new + os.sep) if old + os.sep in word else _whole(word, old, new)


def _whole(word: str, old: str, new: str) -> str:
    return word[: -len(old)] + new if word.endswith(old) else word


def _check_size(root: str) -> None:
    total = 0
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if name not in _LEFT_OUT]
        total += sum(os.lstat(Path(folder, file)).st_size for file in files)
        if total > _LIMIT:
            message = f"{root} holds more than {_LIMIT >> 30} GiB: too much to build in a copy of it"
            remedy = "clean its build folders, or move data out of it"
            raise RefusedError(Finding("PRJ010", "error", message, help=(remedy,)))
