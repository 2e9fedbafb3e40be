"""Launches of OpenCL's kernels by host code: `bfs.cpp` beside `bfs.cl` has `clCreateKernel(program, "bfs", …)`.

Files in the kernels' folder and in the one above are looked at: those that name a kernel and launch something, and
those that launch what others have made. Where some name the kernels' file, those that do not, and that name a kernel or
another such file, belong to another program, as those do that have a `main` where these have one. A launch of a kernel
that is not known is taken for one of each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from warpsmith.front.enqueues import load_enqueues
from warpsmith.front.inputs import Source
from warpsmith.front.kernels import LaunchSite
from warpsmith.front.load import FrontOptions
from warpsmith.kernels.host_files import read_around

__all__ = ["enqueued_elsewhere"]

_SUFFIXES: Final = frozenset({".c", ".cpp", ".cc", ".cxx"})
_CREATES: Final = re.compile(r"\bclCreateKernel")
_FILES: Final = re.compile(r"[\w-]\.cl\b")
_MAIN: Final = re.compile(r"\bmain\s*\(")
_ENQUEUES: Final = re.compile(r"\bclEnqueueNDRangeKernel\s*\(")


def enqueued_elsewhere(file: Source, kernels: Sequence[str], timeout_s: float) -> tuple[LaunchSite, ...]:
    """Return the launches of a file's kernels by the host code around it."""
    place = Path(file.path)
    if not kernels or file.language != "opencl" or not place.is_file():
        return ()
    return tuple(site for host in _hosts(place, kernels) for site in _launches(host, kernels, timeout_s))


def _hosts(file: Path, kernels: Sequence[str]) -> list[Path]:
    """Return the files of host code that launch the kernels, as far as a look at them tells."""
    named = re.compile("|".join(rf'"{re.escape(name)}"' for name in kernels))
    texts = dict(read_around(file, _SUFFIXES))
    about = [path for path, text in texts.items() if file.name in text]
    naming = about or [path for path, text in texts.items() if named.search(text)]
    # what makes no kernels launches those that others have made
    others = [(path, text) for path, text in texts.items() if naming and path not in naming]
    elsewhere = [_CREATES, _FILES, named, *([_MAIN] if any(_MAIN.search(texts[path]) for path in naming) else [])]
    lent = [path for path, text in others if not any(pattern.search(text) for pattern in elsewhere)]
    return [path for path in (*naming, *lent) if _ENQUEUES.search(texts[path])]


def _launches(host: Path, kernels: Sequence[str], timeout_s: float) -> Iterator[LaunchSite]:
    found = load_enqueues(Source(str(host)), FrontOptions(timeout_s=timeout_s))
    # what cannot be read may launch any
    any_kernel = LaunchSite("", (None,) * 3, (None,) * 3, None, None)
    for site in (any_kernel,) if found is None else found:
        for name in kernels if not site.kernel else (site.kernel,):
            yield LaunchSite(name, site.grid, site.block, site.shared, site.span, site.blocks, site.complete)
