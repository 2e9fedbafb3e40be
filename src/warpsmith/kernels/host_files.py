"""The files around one with kernels, where its host code may be: its folder, and the one above."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Final

__all__ = ["read_around"]

_MOST_FILES: Final = 200
_LARGEST: Final = 2 << 20


def read_around(file: Path, suffixes: Collection[str]) -> Iterator[tuple[Path, str]]:
    """Yield the files around `file` whose suffixes are among `suffixes`, with their texts (a character a byte)."""
    count = 0
    for folder in dict.fromkeys((file.resolve().parent, file.resolve().parent.parent)):
        for path in sorted(_list_files(folder)):
            if path.suffix.lower() not in suffixes or count >= _MOST_FILES:
                continue
            text = _read(path)
            if text is not None:
                count += 1
                yield path, text


def _read(path: Path) -> str | None:
    """Return the text of a file; None where it is too large, or may not be read."""
    try:
        return path.read_bytes().decode("latin-1") if path.stat().st_size <= _LARGEST else None
    except OSError:
        return None


def _list_files(folder: Path) -> Iterable[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_file()]
    except OSError:
        return []
