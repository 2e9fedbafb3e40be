"""Which files of a project see a header that changes, determined from the text of their `#include` lines.

    image.hpp changed      filter.hpp includes "image.hpp"      main.cpp includes "filter.hpp": it is concerned

By the last part of the name alone: a file that is named once too often is compiled with a macro that it does not need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from warpsmith.base.c_text import find_includes

__all__ = ["find_concerned"]

_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".ipp", ".tpp", ".cuh")


def find_concerned(changed: Sequence[str], compiled: Sequence[str], read: Callable[[str], str | None]) -> list[str]:
    """Return the changed files that are compiled themselves, and the compiled ones that include a changed header.
    Paths are below the project's root; `read` gives the text of one."""
    headers = [path for path in changed if path.endswith(_HEADERS) and path not in compiled]
    found = [path for path in changed if path not in headers]
    if not headers:
        return found
    wanted = {PurePosixPath(path).name for path in headers}
    texts: dict[str, frozenset[str]] = {}
    return [*found, *(p for p in compiled if p not in found and _reaches(p, wanted, read, texts))]


def _reaches(path: str, wanted: set[str], read: Callable[[str], str | None], texts: dict[str, frozenset[str]]) -> bool:
    """Whether a file includes one of the names, through others as well."""
    seen, pending = {path}, [path]
    while pending:
        current = pending.pop()
        if current not in texts:
            texts[current] = frozenset(name[1:-1] for name in find_includes(read(current) or "") if name[0] in '<"')
        for name in texts[current]:
            if PurePosixPath(name).name in wanted:
                return True
            folder = PurePosixPath(current).parent
            for other in (str(_plain(folder / name)), *(str(_plain(base / name)) for base in _bases(path))):
                if other not in seen and read(other) is not None:
                    seen.add(other)
                    pending.append(other)
    return False


def _bases(path: str) -> Sequence[PurePosixPath]:
    """Return where a header may stand whose folder is an option of the build: beside the usual names."""
    parents = [*PurePosixPath(path).parents]
    return [*parents, *(folder / name for folder in parents for name in ("include", "inc", "src"))]


def _plain(path: PurePosixPath) -> PurePosixPath:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return PurePosixPath(*parts)
