"""Launches of kernels in the files that include theirs: `needle.cu` has `#include "needle_kernel.cu"` and the launches.

Files in the kernels' folder and in the one above are looked at; what names the file in an `#include`, itself or by a
file between, and launches something, is read. Where such a file launches a kernel and this cannot be read, nothing is
known of that kernel.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from warpsmith.base.c_text import find_includes
from warpsmith.front.cuda.chevrons import launches_something
from warpsmith.front.inputs import Source
from warpsmith.front.kernels import LaunchSite, load_kernels
from warpsmith.front.load import FrontOptions
from warpsmith.kernels.host_files import read_around

__all__ = ["launches_elsewhere"]

_SUFFIXES: Final = frozenset({".cu", ".cuh", ".cpp", ".cc", ".cxx", ".h", ".hpp", ".inc"})
_COMPILED: Final = frozenset({".cu", ".cpp", ".cc", ".cxx"})


def launches_elsewhere(source: Source, kernels: Sequence[str], timeout_s: float) -> tuple[LaunchSite, ...]:
    """Return the launches of a CUDA file's kernels by the files that include it."""
    place = Path(source.path)
    if not kernels or source.language != "cuda" or not place.is_file():
        return ()
    found: list[LaunchSite] = []
    for path, text in _includers(place).items():
        including = Source(str(path), source.arguments, "cuda")
        sites = load_kernels(including, FrontOptions(timeout_s=timeout_s)).launches
        found += (site for site in sites if site.kernel in kernels)
        seen = {site.kernel.partition("<")[0] for site in sites}
        missed = (name for name in kernels if name.partition("<")[0] not in seen and _launches(text, name))
        found += (LaunchSite(name, (None,) * 3, (None,) * 3, None, None) for name in missed)
    return tuple(found)


def _includers(file: Path) -> Mapping[Path, str]:
    """Return the compiled files that include a file, itself or by others, and launch something, with their texts."""
    texts = dict(read_around(file, _SUFFIXES))
    reached, pending = {file.resolve()}, [file.resolve()]
    while pending:
        wanted = pending.pop()
        fresh = {path for path, text in texts.items() if path not in reached and _names(path, text, wanted)}
        reached |= fresh
        pending += sorted(fresh)
    return {
        path: texts[path]
        for path in sorted(reached - {file.resolve()})
        if path.suffix.lower() in _COMPILED and launches_something(texts[path])
    }


def _names(path: Path, text: str, wanted: Path) -> bool:
    """Whether a text includes a file; `path` is where the text stands."""
    if wanted.name not in text:
        return False
    written = (name.strip('"<>') for name in find_includes(text))
    return any(Path(name).name == wanted.name and (path.parent / name).resolve() == wanted for name in written)


def _launches(text: str, kernel: str) -> bool:
    """Whether a text launches a kernel of this name, as far as a look at it tells."""
    name = re.escape(kernel.partition("<")[0].rpartition("::")[2])
    return re.search(rf"\b{name}\s*(?:<[^;{{}}]*>)?\s*<<\s*<", text) is not None
