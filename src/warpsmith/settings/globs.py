"""Patterns of file names: `*` and `?` within one folder, `**` across folders."""

from __future__ import annotations

import re
from functools import cache

__all__ = ["path_matches"]


def path_matches(path: str, pattern: str) -> bool:
    """Whether a path with `/` matches a pattern; one without `/` is compared with the file's name alone.

    >>> path_matches("src/a/k.cu", "src/**/*.cu"), path_matches("src/k.cu", "src/**/*.cu")
    (True, True)
    >>> path_matches("a/k.cu", "*.cu")
    True
    >>> path_matches("src/k.cu", "*/k.cl"), path_matches("a/b/k.cu", "a/*.cu")
    (False, False)
    """
    subject = path if "/" in pattern else path.rpartition("/")[2]
    return _compile_pattern(pattern).fullmatch(subject) is not None


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    parts: list[str] = []
    position = 0
    while position < len(pattern):
        if pattern.startswith("**/", position):
            parts.append("(?:[^/]+/)*")
            position += 3
        elif pattern.startswith("**", position):
            parts.append(".*")
            position += 2
        else:
            letter = pattern[position]
            parts.append({"*": "[^/]*", "?": "[^/]"}.get(letter, re.escape(letter)))
            position += 1
    return re.compile("".join(parts))
