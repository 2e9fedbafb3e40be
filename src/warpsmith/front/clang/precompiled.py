"""The headers of ours that CUDA begins with, each parsed once a user and set of options.

    options, headers, library  ──►  key  ─┬─►  ~/.cache/warpsmith/headers/KEY.pch
                                          └─►  made where it is missing; empty: of these options none can be made

Invariant: a file is what the key says. That the headers behind it are as they were, clang looks itself: then it says
that the precompiled header does not fit (`does_not_fit`), and the text is parsed without it. Runs in the worker process
only.

Source: Clang documentation, "Precompiled Header and Modules Internals"; clang-c/Index.h, clang_saveTranslationUnit.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from importlib.util import source_hash
from itertools import pairwise
from typing import Final

from warpsmith.front.clang.errors import find_errors
from warpsmith.front.clang.libclang import Library
from warpsmith.front.clang.wire import Diagnostic

__all__ = ["PrecompiledHeaders", "does_not_fit", "drop"]

_OURS: Final = ("mini_cuda.h", "port_file.h")
_INCOMPLETE, _FOR_SERIALIZATION, _KEEP_GOING = 0x02, 0x10, 0x200
_MOST_KEPT: Final = 24
_WORDS: Final = ("PCH", "precompiled header", "AST file", "the parser gave up")
_NAME: Final = "warpsmith-precompiled.cu"


class PrecompiledHeaders:
    """Where they are kept. `path` is libclang's, `folder` the place for what is made; without one nothing is."""

    def __init__(self, path: str, folder: str) -> None:
        self._path = path
        self._folder = folder

    def use(self, library: Library, arguments: Sequence[str]) -> list[str] | None:
        """Return `arguments` with a precompiled header in place of the header of ours that they include; None where
        they include none, or others as well."""
        included = [at for at, word in enumerate(arguments) if word in ("-include", "-imacros")]
        if not self._folder or len(included) != 1 or not arguments[included[0] + 1].endswith(_OURS):
            return None
        at = included[0]
        with contextlib.suppress(OSError):
            place = os.path.join(self._folder, f"{_key(self._path, arguments)}.pch")
            if not os.path.exists(place):
                _make(library, arguments, place)
            if os.path.getsize(place):
                return [*arguments[:at], "-include-pch", place, *arguments[at + 2 :]]
        return None


def does_not_fit(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether clang could not use the precompiled header."""
    return any(word in text for _, text, *_ in diagnostics for word in _WORDS)


def drop(arguments: Sequence[str]) -> None:
    """Remove the precompiled header that the arguments name."""
    with contextlib.suppress(OSError):
        os.unlink(arguments[arguments.index("-include-pch") + 1])


def _key(path: str, arguments: Sequence[str]) -> str:
    """Return the name of what is made of these options, by this library, of headers in these folders. Relative paths
    mean other files in another folder."""
    seen = os.stat(path)
    words = [*arguments, os.getcwd(), path, str(seen.st_size), str(seen.st_mtime_ns)]
    for option, word in pairwise(arguments):
        if option == "-I" and os.path.isabs(word):
            with os.scandir(word) as entries:
                words += sorted(f"{entry.name} {entry.stat().st_size} {entry.stat().st_mtime_ns}" for entry in entries)
    data = "\0".join(words).encode("utf-8", "surrogateescape")
    return (source_hash(data) + source_hash(data[::-1])).hex()


def _make(library: Library, arguments: Sequence[str], place: str) -> None:
    """Write the precompiled header in one step; raises OSError where that is not possible."""
    folder = os.path.dirname(place)
    os.makedirs(folder, exist_ok=True)
    fresh = f"{place.removesuffix('.pch')}.{os.getpid()}"
    index = library.createIndex(0, 0)
    unit = library.parse(index, _NAME, list(arguments), _INCOMPLETE | _FOR_SERIALIZATION | _KEEP_GOING, b"")
    sound = unit is not None and not find_errors(library, unit)
    saved = sound and library.saveTranslationUnit(unit, os.fsencode(fresh), 0) == 0
    if unit is not None:
        library.disposeTranslationUnit(unit)
    library.disposeIndex(index)
    try:
        if not saved:
            with open(fresh, "wb"):
                pass
        os.replace(fresh, place)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(fresh)
    _forget_old(folder)


def _forget_old(folder: str) -> None:
    """Remove what was made first, where there is more than one would use; also what a worker that was killed left."""
    with os.scandir(folder) as entries:
        made = sorted(entries, key=lambda one: one.stat().st_mtime_ns)
    for one in made[:-_MOST_KEPT]:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(one)
