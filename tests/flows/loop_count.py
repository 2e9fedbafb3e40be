"""Loops counted by other means than clang: the keywords in what the preprocessor leaves of a file.

`for` and `do` each are a loop; so is every `while` but the one that ends a `do`. Line markers say which file a line is
of; those of system headers are left out. The same line of a header in several files counts once.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from warpsmith.project.model import CompileCommand

__all__ = ["counted_loops"]

_MARKER = re.compile(r'^# (\d+) "((?:[^"\\]|\\.)*)"((?: \d)*)$')
_TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'")
_WORD = re.compile(r"\b(for|while|do)\b")


def counted_loops(commands: Iterable[CompileCommand]) -> Counter[tuple[str, int]]:
    """Return how many loops start on each line (absolute file, line) of the user's files."""
    most: Counter[tuple[str, int]] = Counter()
    for command in commands:
        most |= _of_unit(command)
    return most


def _of_unit(command: CompileCommand) -> Counter[tuple[str, int]]:
    compiler = "g++" if command.language in ("c++", "cuda") else "gcc"
    words = [compiler, "-E", *command.arguments, command.file]
    text = subprocess.run(words, capture_output=True, text=True, errors="replace", check=True).stdout
    found: Counter[tuple[str, int]] = Counter()
    file, line, system, pending = "", 0, False, 0
    for row in text.splitlines():
        marker = _MARKER.match(row)
        if marker is not None:
            name, flags = marker.group(2), marker.group(3).split()
            file, line, system = str(Path(command.directory, name).resolve()), int(marker.group(1)), "3" in flags
            continue
        # a pragma stays in what the preprocessor writes: `omp parallel for` is no loop
        if not system and not row.lstrip().startswith("#"):
            words_found = [w.group(1) for w in _WORD.finditer(_TEXT.sub('""', row))]
            pending = _count(words_found, (file, line), found, pending)
        line += 1
    return found


def _count(words: list[str], place: tuple[str, int], found: Counter[tuple[str, int]], pending: int) -> int:
    """Count the loops of one line; `pending` are the `do`s whose `while` is to come."""
    for word in words:
        if word == "do":
            pending += 1
            found[place] += 1
        elif word == "while" and pending:
            # which `while` ends the `do` does not matter for how many there are
            pending -= 1
        else:
            found[place] += 1
    return pending
