"""Source files, and headers with loops, that one file of a program includes: their text is that file's alone.

    main.c    #include "kernels.c"          kernels.c is text of main.c's in another place: it is rewritten with it
    main.c    #include "steps.c"            steps.c is not: other.c includes it as well, and what is right
    other.c   #include "steps.c"            in one of them need not be in the other

Limits: what lies outside of the folder of the file that includes it, or is included on the way to another one, is no
such file. Files that nobody has shown us may include a header as well: what is written names it as a file of the port.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from warpsmith.front.c.context import Context
from warpsmith.tree.text.lexical import identifiers

__all__ = ["find_included"]

_SUFFIXES: Final = frozenset((".c", ".cc", ".cpp", ".cxx", ".c++", ".cu", ".C"))
_HEADERS: Final = frozenset((".h", ".hpp", ".hh", ".hxx", ".inl", ".cuh", ".H"))
_LOOPS: Final = frozenset(("for", "while", "do"))
_INCLUDE: Final = re.compile(r'#\s*include\s*"([^"\n]+)"')


def find_included(contexts: Sequence[Context]) -> list[frozenset[int]]:
    """Return for each file of a program the numbers of the files that it alone includes, once."""
    found = [_candidates(context) for context in contexts]
    if not any(found):
        return [frozenset()] * len(found)
    taken = Counter(_real(path) for context in contexts for path in _user_files(context))
    return [frozenset(n for n, path in one.items() if taken[_real(path)] == 1) for one in found]


def _candidates(context: Context) -> dict[int, str]:
    """Return the source files that a file includes itself, once, from its own folder or below, by their numbers."""
    user = zip(context.dump.files, context.dump.user, strict=True)
    paths = {number: path for number, (path, own) in enumerate(user) if own and _has_code(context, number, path)}
    main = paths.pop(0, None) or context.text(0).file.path
    if not paths:
        return {}
    said = Counter(named for number in range(len(context.dump.files)) for named in _included(context, number))
    once = {path for path in _included(context, 0) if said[path] == 1}
    folder = Path(_real(main)).parent
    return {n: p for n, p in paths.items() if _real(p) in once and folder in Path(_real(p)).parents}


def _has_code(context: Context, number: int, path: str) -> bool:
    """Whether a file is a source file, or a header with loops in it."""
    suffix = Path(path).suffix
    if suffix in _HEADERS:
        return not _LOOPS.isdisjoint(identifiers(context.text(number).file.text))
    return suffix in _SUFFIXES


def _included(context: Context, number: int) -> Iterator[str]:
    """Yield the files that one of the user's files includes by their place beside it."""
    if not context.dump.user[number] or not context.dump.files[number]:
        return
    text = context.text(number)
    for line in text.scan.directives:
        named = _INCLUDE.match(text.file.text[line.start : line.end]) if line.word == "include" else None
        if named is not None:
            yield _real(Path(text.file.path).parent / named[1])


def _user_files(context: Context) -> set[str]:
    return {path for path, own in zip(context.dump.files, context.dump.user, strict=True) if own and path}


def _real(path: str | Path) -> str:
    return os.path.realpath(path)
