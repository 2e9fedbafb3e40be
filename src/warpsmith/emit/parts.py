"""The files of `runtime/`, as a port has them: only what it uses, in its names, with its values.

    #include "pool.cu"                   the part's text, once
    #include <mutex>                     to the head of the port's file
    #ifdef WS_WITH_ALLOCATIONS … #endif  decided here: the port has a table of blocks, or not
    WS_COMBINED(value, other)            the port's expression, for a macro of which the file has a sample

Invariant: the preprocessor makes of the answer what it makes of the file where the features and values are defined as
macros. So the files are C++ as they stand, and are compiled, formatted and tested there.

Limits: features are asked for by `#ifdef` and `#ifndef` alone; a macro with a value stands on
one line with its arguments. What stands under `#ifndef WS_WITH_VALUES` is for who reads or compiles the file alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Set
from functools import cache
from importlib.resources import files
from typing import Final

from msgspec import Struct

from warpsmith import __version__

__all__ = ["FEATURES", "RuntimeText", "Value", "fill", "part_names", "select"]

FEATURES: Final = frozenset(
    {
        "PRESENT",
        "ALLOCATIONS",
        "ROWS",
        "VECTORS",
        "SWITCH",
        "OTHER_ALLOCATIONS",
        "GIVEN",
        "MANAGED",
        "PINNED",
        "OVERLAP",
    }
)
"""What a port's run time may have besides device memory and copies: the present table; the table of blocks of memory;
rows of `T **`, and those of vectors of C++; the switch that turns the port off; whether the program may
have a table of blocks already; memory that CUDA gives in place of the heap, which host and device share, or which is
page-locked; copies that go on beside kernels and host code."""

_VALUES = "VALUES"
_FEATURE = re.compile(r"#(ifdef|ifndef) WS_WITH_(\w+)\s*$")
_INCLUDE = re.compile(r"#include ([<\"])([^>\"]+)[>\"]\s*$")
_NAME = re.compile(r"\b(?:ws|WS)_\w+")
_BLANK = re.compile(r"\n{3,}")

# These parts have the same names in every program: the tree has some, and of two tables in a program one may serve.
_SAME_EVERYWHERE: Final = (
    "heap.cu", "malloc.cu", "variables.cu", "allocations.cu", "rows.cu", "vectors.cu", "vectors.h",
)  # fmt: skip
# … but these, which are of the present table and of the emulation
_NOT_OF_ALLOCATIONS: Final = frozenset({"ws_data_dies", "ws_update_device", "WS_TELL_COPY"})

Value = str | Callable[..., str]


class RuntimeText(Struct, frozen=True):
    """Text for a port: the system headers that it needs before it, and the files of `runtime/` that it was made of."""

    headers: tuple[str, ...]
    text: str
    files: frozenset[str]


def select(name: str, features: Set[str], *, prefix: str = "ws", before: Set[str] = frozenset()) -> RuntimeText:
    """Return a file of `runtime/` with all that it includes and `before` has not, for a port with these features.

    `prefix` takes the place of `ws` in the names that are the port's own.
    """
    assert features <= FEATURES, features
    reader = _Reader(features, prefix, set(before))
    text = "\n".join(reader.lines(name))
    return RuntimeText(tuple(sorted(reader.headers)), _tidy(text), frozenset(reader.seen))


def fill(name: str, values: Mapping[str, Value]) -> str:
    """Return a file of `runtime/` with a value for each macro that it has a sample of: a text, or, where the macro has
    arguments, what makes a text of them."""
    text = "\n".join(_Reader({_VALUES}, "ws", set()).lines(name))
    used: set[str] = set()
    filled = "".join(_fill_values(text, values, used))
    assert used == set(values), f"{name}: {used ^ set(values)}"
    return _tidy(filled).rstrip()


@cache
def part_names() -> tuple[str, ...]:
    """Return the names of all files of `runtime/`."""
    folder = files("warpsmith.emit") / "runtime"
    return tuple(sorted(place.name for place in folder.iterdir() if place.name.endswith((".cu", ".h"))))


@cache
def _text(name: str) -> str:
    return (files("warpsmith.emit") / "runtime" / name).read_text("utf-8")


@cache
def _shared_names() -> frozenset[str]:
    """Return the names that no prefix changes."""
    return frozenset(word for name in _SAME_EVERYWHERE for word in _NAME.findall(_text(name))) - _NOT_OF_ALLOCATIONS


# --- conditionals and includes


class _Reader:
    """Reads files line by line; `seen` are those that are included already, `headers` what they include of the system's
    outside every conditional that is left to the compiler."""

    def __init__(self, features: Set[str], prefix: str, seen: set[str]) -> None:
        self._features, self._prefix = features, prefix
        self.seen = seen
        self.headers: set[str] = set()

    def lines(self, name: str) -> Iterator[str]:
        """Yield the lines of a file that stay, with those of the parts that it includes; blank lines around each."""
        self.seen.add(name)
        # for each conditional that is open: whether it is decided here, and whether its text stays
        open_: list[tuple[bool, bool]] = []
        yield ""
        for line in _text(name).splitlines():
            if self._is_conditional(line, open_) or not all(stays for _, stays in open_) or line == "#pragma once":
                continue
            include = _INCLUDE.match(line)
            if include is not None and include[1] == '"':
                if include[2] not in self.seen:
                    yield from self.lines(include[2])
            elif include is not None and all(decided for decided, _ in open_):
                self.headers.add(include[2])
            else:
                yield self._rename_names(line, name)
        assert not open_, f"{name}: a conditional is not closed"
        yield ""

    def _is_conditional(self, line: str, open_: list[tuple[bool, bool]]) -> bool:
        """Whether a line is of a conditional that is decided here; `open_` is what it was before the line, and is what
        it is behind it after."""
        feature = _FEATURE.match(line)
        if feature is not None:
            assert feature[2] in FEATURES | {_VALUES}, line
            open_.append((True, (feature[2] in self._features) == (feature[1] == "ifdef")))
        elif line.startswith("#if"):
            assert "WS_WITH_" not in line, line
            open_.append((False, True))
        elif line.startswith("#el") and open_[-1][0]:
            assert line == "#else", line
            open_[-1] = (True, not open_[-1][1])
            return True
        elif line.startswith("#endif"):
            return open_.pop()[0]
        return feature is not None

    def _rename_names(self, line: str, name: str) -> str:
        line = line.replace("WS_VERSION", __version__)
        if self._prefix == "ws":
            return line
        same = name in _SAME_EVERYWHERE
        return _NAME.sub(lambda found: found[0] if self._stays(found[0], same) else self._own(found[0]), line)

    @staticmethod
    def _stays(word: str, same: bool) -> bool:
        return word in _shared_names() or (same and word == "WS_TELL_COPY")

    def _own(self, word: str) -> str:
        start = self._prefix if word.startswith("ws_") else self._prefix.upper()
        return start + word[2:]


def _tidy(text: str) -> str:
    return _BLANK.sub("\n\n", text).strip() + "\n"


# --- values


def _fill_values(text: str, values: Mapping[str, Value], used: set[str]) -> Iterator[str]:
    at = 0
    for found in _NAME.finditer(text):
        if found.start() < at:
            continue
        assert found[0] in values, f"{found[0]} has no value"
        used.add(found[0])
        value = values[found[0]]
        yield text[at : found.start()]
        at = found.end()
        if isinstance(value, str):
            yield value
            continue
        arguments, at = _arguments(text, at)
        yield value(*arguments)
    yield text[at:]


def _arguments(text: str, at: int) -> tuple[list[str], int]:
    """Return the arguments of a macro whose `(` stands at `at`, and where they end."""
    assert text[at] == "(", text[at : at + 40]
    found, depth, start = [], 0, at + 1
    while True:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[at], 0)
        if depth == 0 or (depth == 1 and text[at] == ","):
            found.append(text[start:at].strip())
            start = at + 1
        at += 1
        if depth == 0:
            return found, at
