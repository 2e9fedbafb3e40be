"""Reading tables of effects: the built-in effects.toml and the files that users give.

    [[functions]]
    names = "interpolate{,_f}"          {a,b} writes several names
    arguments = "table n x"             a word each; "..." for any number of further ones
    reads = "table"

Invariant: a file is read whole or refused, with every wrong place; a user's function is granted, never a built-in one.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.cache import kept_table
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.tree.effects.effects import EffectsTable, FunctionEffects

__all__ = ["effects_of", "house_effects", "users_effects"]

_SETS: Final = ("reads", "writes", "fills", "keeps", "later", "calls", "completes", "completes_all")
_WORDS: Final = ("names", "arguments", *_SETS, "exposed", "format", "returns", "does", "allocates", "sets", "program",
                 "device")  # fmt: skip
_FLAGS: Final = ("program", "threads", "device", "reserved", "asserts")
_KEYS: Final = tuple(dict.fromkeys((*_WORDS, *_FLAGS)))
_HEADER: Final = re.compile(r"^[ \t]*\[\[[ \t]*functions[ \t]*\]\]", re.MULTILINE)
_NAME: Final = re.compile(r"(?:[A-Za-z_]\w*|new(?:\[\])?(?:\(\))?|delete\[\]|std::\w+(?:::\w+)?)\Z")
_GROUP: Final = re.compile(r"\{([^{}]*)\}")
_AT: Final = re.compile(r" \(at line (\d+), column \d+\)")
_LARGEST: Final = 1_000_000
_MOST_FINDINGS: Final = 20
_MOST_NAMES: Final = 10_000


@lru_cache(maxsize=1)
def house_effects() -> EffectsTable:
    """Return the built-in table: the standard library and the libraries of numerical programs."""
    tree = files("warpsmith.tree")
    table = tree.joinpath("effects.toml")
    readers = [tree.joinpath("effects", name) for name in ("file.py", "effects.py")]

    def read() -> dict[str, FunctionEffects]:
        return effects_of(SourceFile("effects.toml", table.read_bytes().decode("latin-1")))

    return EffectsTable(kept_table("effects", dict[str, FunctionEffects], [table, *readers], read))


def users_effects(paths: Iterable[str]) -> EffectsTable:
    """Return the built-in table with the functions of the user's files before it; a later file has the last word.

    Raises UsageError (EFF001, EFF002) with the wrong places of the first file that has any.
    """
    table = house_effects()
    for path in paths:
        table = table.after(effects_of(_read(path), users=True))
    return table


def effects_of(file: SourceFile, *, users: bool = False) -> dict[str, FunctionEffects]:
    """Return the functions that a file describes, by name; raises UsageError with its wrong places."""
    tables = _tables(file)
    places = _Places(file, tuple(match.start() for match in _HEADER.finditer(file.text)))
    found: dict[str, FunctionEffects] = {}
    findings: list[Finding] = []
    for number, table in enumerate(tables):
        reader = _Reader(places, number, table, users)
        made = list(reader.functions()) if reader.check() else []
        for entry in made:
            if entry.name in found:
                reader.blame(f"{entry.name} is described twice", "names")
            found[entry.name] = entry
        findings += reader.findings
    if findings:
        raise UsageError(*findings[:_MOST_FINDINGS])
    return found


def _read(path: str) -> SourceFile:
    try:
        file = SourceFile.read(path)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UsageError(Finding("EFF001", "error", f"the effects file {path} cannot be read: {why}")) from error
    if len(file.text) > _LARGEST:
        message = f"{path} has {len(file.text)} bytes; an effects file has at most {_LARGEST}"
        raise UsageError(Finding("EFF001", "error", message))
    return file


def _tables(file: SourceFile) -> list[Mapping[str, object]]:
    """Return the `[[functions]]` of a file."""
    help = ("an effects file is TOML with [[functions]] tables: https://toml.io",)
    try:
        data = tomllib.loads(file.data().decode("utf-8"))
    except UnicodeDecodeError as error:
        place = Span(file, error.start, error.end)
        raise UsageError(Finding("EFF001", "error", f"{file.path} is not UTF-8", place, help)) from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        at = _AT.search(str(error))
        start = file.offset(int(at[1])) if at else max(0, len(file.text) - 1)
        message = _AT.sub("", str(error)).removesuffix(" (at end of document)")
        place = Span(file, start, max(start, file.offset(file.location(start)[0] + 1) - 1))
        raise UsageError(Finding("EFF001", "error", message[:1].lower() + message[1:], place, help)) from error
    given = data.get("functions", [])
    stray = [key for key in data if key != "functions"]
    if stray or not isinstance(given, list) or not all(isinstance(table, dict) for table in given):
        what = f"there is no table '{stray[0]}'" if stray else "'functions' must be written [[functions]]"
        start = max(0, file.text.find(stray[0] if stray else "functions"))
        place = Span(file, start, start + len(stray[0] if stray else "functions"))
        raise UsageError(Finding("EFF002", "error", f"{what} in an effects file", place, help))
    return given


class _Places(Struct, frozen=True):
    """Where the tables of a file stand."""

    file: SourceFile
    headers: tuple[int, ...]

    def span(self, number: int, key: str) -> Span | None:
        """Return the line of `key` in table `number`, that of its header where the key has none."""
        if number >= len(self.headers):
            return None
        start = self.headers[number]
        end = self.headers[number + 1] if number + 1 < len(self.headers) else len(self.file.text)
        found = re.compile(rf"^[ \t]*(\"?{re.escape(key)}\"?[ \t]*=[^\n]*)", re.MULTILINE).search(
            self.file.text, start, end
        )
        at = found.start(1) if found else start
        return Span(self.file, at, found.end(1) if found else self.file.text.find("]]", start) + 2)


class _Reader:
    """One `[[functions]]` table as it is read, with what is wrong in it."""

    def __init__(self, places: _Places, number: int, table: Mapping[str, object], users: bool) -> None:
        self.places, self.number, self.table, self.users = places, number, table, users
        self.findings: list[Finding] = []
        self.arguments = [word for word in self._words("arguments") if word != "..."]
        self.variadic = "..." in self._words("arguments")

    def blame(self, message: str, key: str, *help: str) -> None:
        """Note something wrong at a key."""
        self.findings.append(Finding("EFF002", "error", message, self.places.span(self.number, key), help))

    def check(self) -> bool:
        """Whether the table's keys and values are such as the format has."""
        for key, value in self.table.items():
            if key not in _KEYS:
                near = difflib.get_close_matches(key, _KEYS, n=1)
                help = f"did you mean {near[0]}?" if near else f"the keys: {', '.join(_KEYS)}"
                self.blame(f"'{key}' is no key of an effects file", key, help)
            elif not (isinstance(value, str) and key in _WORDS) and not (isinstance(value, bool) and key in _FLAGS):
                what = "true or false" if key not in _WORDS else "a text"
                self.blame(f"{key} must be {what}", key)
        if self.users and self.table.get("device"):
            help = "a kernel needs the text of what it calls: give the file that defines it as another input"
            self.blame("a function that is only described cannot run on the device", "device", help)
        self._check_arguments()
        self._check_names()
        return not self.findings

    def _check_arguments(self) -> None:
        words = self._words("arguments")
        if len(set(words)) != len(words) or "..." in words[:-1] or "*" in words:
            self.blame("arguments must be different words, with ... at most at the end", "arguments")
        for key in (*_SETS, "format"):
            for word in self._words(key):
                if word != "*" and word not in words:
                    self._unknown_word(key, word, words)
        returns = self.table.get("returns", "value")
        if isinstance(returns, str) and returns not in ("value", "fresh", "unknown", *self.arguments):
            self._unknown_word("returns", returns, ["value", "fresh", "unknown", *self.arguments])
        for word in self._words("exposed"):
            if word not in ("reads", "writes"):
                self._unknown_word("exposed", word, ["reads", "writes"])
        if not self._set("fills") <= self._set("writes"):
            self.blame("what it fills must stand in writes as well", "fills")

    def _unknown_word(self, key: str, word: str, known: list[str]) -> None:
        near = difflib.get_close_matches(word, known, n=1)
        help = f"did you mean {near[0]}?" if near else f"known: {', '.join(known) or 'none'}"
        self.blame(
            f"{key}: there is no argument '{word}'" if key in _SETS else f"{key}: unknown word '{word}'", key, help
        )

    def _check_names(self) -> None:
        names = self._names()
        if not names:
            self.blame("a table needs names", "names", 'for example names = "interpolate"')
        for name in names:
            if not _NAME.match(name):
                self.blame(f"'{name}' is no name of a function", "names")

    def _names(self) -> list[str]:
        given = self.table.get("names", "")
        return [name for word in _split(given if isinstance(given, str) else "") for name in _expand_word(word)]

    def _words(self, key: str) -> list[str]:
        given = self.table.get(key, "")
        return given.split() if isinstance(given, str) else []

    def _set(self, key: str) -> frozenset[int]:
        words = self._words(key)
        chosen = {number for number, name in enumerate(self.arguments) if name in words or "*" in words}
        rest = self.variadic and ("..." in words or "*" in words)
        return frozenset(chosen | ({len(self.arguments)} if rest else set()))

    def _text(self, key: str) -> str:
        given = self.table.get(key, "")
        return given if isinstance(given, str) else ""

    def functions(self) -> Iterator[FunctionEffects]:
        """Yield every function of the table, which `check` has found right."""
        returns = self._text("returns") or "value"
        format, exposed = self._text("format"), self._words("exposed")
        place = self.places.span(self.number, "names")
        first = FunctionEffects(
            name="",
            count=len(self.arguments),
            variadic=self.variadic,
            reads=self._set("reads"),
            writes=self._set("writes"),
            fills=self._set("fills"),
            keeps=self._set("keeps"),
            later=self._set("later"),
            calls=self._set("calls"),
            format=self.arguments.index(format) if format else None,
            exposed_reads="reads" in exposed,
            exposed_writes="writes" in exposed,
            returns=self.arguments.index(returns) if returns in self.arguments else returns,
            io=bool(self._text("does")) and self.table.get("asserts") is not True,
            asserts=self.table.get("asserts") is True,
            allocates=bool(self._text("allocates")),
            reason=self._text("does") or self._text("allocates"),
            sets=frozenset(self._words("sets")),
            program=self.table.get("program") is True,
            program_with=frozenset(self._words("program")),
            threads=self.table.get("threads") is True,
            completes=self._set("completes"),
            completes_all=self._set("completes_all"),
            device=bool(self.table.get("device")),
            device_without=frozenset(self._words("device")),
            reserved=self.table.get("reserved") is True,
            granted=f"{self.places.file.path}:{place.line if place else 1}" if self.users else "",
        )
        for name in dict.fromkeys(self._names()):
            yield replace(first, name=name)


def _split(text: str) -> list[str]:
    """Return the words of a text; blanks inside braces do not part them."""
    return re.sub(r"\{[^{}]*\}", lambda group: re.sub(r"\s+", "", group[0]), text).split()


def _expand_word(word: str) -> list[str]:
    """Return the names that a word with {a,b} groups stands for.

    >>> _expand_word("{s,d}dot{,c}")
    ['sdot', 'sdotc', 'ddot', 'ddotc']
    """
    names = [""]
    for number, part in enumerate(_GROUP.split(word)):
        choices = part.split(",") if number % 2 else [part]
        names = [name + choice for name in names for choice in choices][:_MOST_NAMES]
    return names
