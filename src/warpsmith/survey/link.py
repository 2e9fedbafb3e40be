"""The linking of a project's files: for each file the exports of the others, joined by the names of functions.

    main.c names step ──► solver.c defines step, whose summary names nothing of others ──► settled
                          io.c defines dump, which names printf only                    ──► settled

Invariant: a function's entry contains all that it may do, or says that nothing is known of it. It starts as "nothing
known" where the function names another file's function, and every round works it out again from the entries before it,
so each round is sound, and stops when nothing changes, or after ROUNDS.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

from msgspec import Struct, field

from warpsmith.survey.texts import Texts, compact, plain_of
from warpsmith.tree.plain import Plain

__all__ = ["ROUNDS", "OutsideFacts", "ProgramLink"]

ROUNDS: Final = 8
_FILE_SCOPE: Final = ("global", "static", "static local")
_NOTHING_KNOWN: Final = ",null]"
"""The end of the text of a function without a summary."""
Exports = Mapping[str, Plain]


class OutsideFacts(Struct, frozen=True):
    """What a file is given for its summaries and verdicts: functions as texts, and the `rest`."""

    functions: tuple[str, ...]
    rest: Mapping[str, Plain]

    @property
    def question(self) -> Plain:
        """What tells one from another: quick to make."""
        return [list(self.functions), dict(self.rest)]

    @property
    def plain(self) -> Plain:
        """All of it as plain data, for who reads it."""
        return {"functions": [plain_of(text) for text in self.functions], **self.rest}


class ProgramLink(Struct):
    """`exports` by the number of the file (None: it cannot be read); `programs`: for each file the numbers of the
    programs that it goes into (all empty: not known); `complete`: every file of the project is among them."""

    exports: Sequence[Exports | None]
    programs: Sequence[frozenset[int]]
    complete: bool
    functions: dict[int, Texts] = field(default_factory=dict)
    _defined: dict[str, list[int]] = field(default_factory=dict)
    closed: bool = False
    """No code but libraries is left that nobody has looked at."""
    _open: dict[int, frozenset[str]] = field(default_factory=dict)
    _closed_writes: dict[str, Plain] | None = None
    _touched: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _joined: dict[str, dict[str, Plain]] = field(default_factory=dict)
    _needed: dict[int, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, exports in self._usable():
            for key in _functions(exports):
                self._defined.setdefault(key, []).append(number)
        # of all files together: that a file hears its own again does no harm
        for name in ("shared", "taken"):
            self._joined[name] = {str(_list(s)[1]): s for e in self._usable_list() for s in _list(e[name])}
        for name in ("mentioned", "escaped"):
            self._joined[name] = {text: text for e in self._usable_list() for text in _texts(e[name])}
        self.closed = self.complete and any(exports["main"] for exports in self._usable_list())
        for number, exports in self._usable():
            self._needed[number] = self._foreign(number, _texts(exports["outside"]))
            self.functions[number] = _functions(exports)
            self._open[number] = self._find_open(number, exports)

    def waiting(self) -> list[int]:
        """Return the files that name functions of other files."""
        return [n for n, _ in self._usable() if self._needed[n]]

    def find_known(self, number: int, key: str) -> str:
        """Return what is known of a file's function, as text: no summary where that rests on what is not known yet."""
        text = self.functions[number][key]
        return _bare(text) if key in self._open[number] else text

    def update(self, number: int, functions: Texts) -> list[int]:
        """Take in what a file's functions do; return the files that must hear of it."""
        old, opened = self.functions[number], self._open[number]
        news = {key for key, text in functions.items() if old.get(key) != text}
        news |= {key for key in opened if key in functions and not functions[key].endswith(_NOTHING_KNOWN)}
        self.functions[number], self._open[number] = functions, frozenset()
        return [n for n, needed in self._needed.items() if not news.isdisjoint(needed)]

    def outside(self, number: int) -> OutsideFacts:
        """Return what a file is given for its summaries and verdicts."""
        exports = cast(Exports, self.exports[number])
        entries = [self._entry(number, key) for key in self._needed[number]]
        # also what the file does not name itself, if a function does that it calls
        seen = list(dict.fromkeys([*_texts(exports["seen"]), *(key for e in entries for key in self._touching(e))]))
        rest = {
            "shared": self._of_all("shared", seen),
            "taken": self._of_all("taken", seen),
            "mentioned": list(self._joined["mentioned"].values()),
            "closed": self.closed,
        }
        return OutsideFacts(tuple(entries), rest)

    def _touching(self, entry: str) -> tuple[str, ...]:
        """Return the keys of the variables that a function names in its summary."""
        if entry not in self._touched:
            self._touched[entry] = tuple(_find_touched(_list(plain_of(entry))))
        return self._touched[entry]

    def export_known(self, number: int) -> Plain:
        """Return what the front end may know of others' functions for the counted loops of a file."""
        exports = cast(Exports, self.exports[number])
        foreign = self._needed[number]
        known = [key for key in foreign if len(self._defined[key]) == 1 and self._everywhere(number, key)]
        return {
            "defined": list(foreign),
            "writes": {key: self._closing()[key] for key in known},
            "escaped": self._of_all("escaped", _texts(exports["seen"])),
            "whole": self.closed,
        }

    def _closing(self) -> dict[str, Plain]:
        """Return what functions that other files name may write with everything that they call; locals are left out."""
        if self._closed_writes is None:
            texts: dict[str, list[str]] = {}
            for exports in self._usable_list():
                for key, text in cast(Texts, exports["writes"]).items():
                    texts.setdefault(key, []).append(text)
            library = {key for exports in self._usable_list() for key in _texts(exports["library"])}
            own: dict[str, _Writes] = {}
            pending = [key for needed in self._needed.values() for key in needed]
            while pending:
                key = pending.pop()
                if key not in own and key in texts:
                    own[key] = _own_writes(map(plain_of, texts[key]))
                    pending += own[key].calls
            for writes in own.values():
                writes.unknown = writes.unknown or any(c not in texts and c not in library for c in writes.calls)
            self._closed_writes = _close_calls(own)
        return self._closed_writes

    def _of_all(self, name: str, seen: Sequence[str]) -> Plain:
        """Return the variables of a list that any file has, as far as they are seen."""
        return [self._joined[name][key] for key in seen if key in self._joined[name]]

    def _usable(self) -> Iterable[tuple[int, Exports]]:
        return ((n, exports) for n, exports in enumerate(self.exports) if exports is not None)

    def _usable_list(self) -> list[Exports]:
        return [exports for _, exports in self._usable()]

    def _foreign(self, number: int, keys: Iterable[str]) -> list[str]:
        """Return those of `keys` that another file of the project defines."""
        return [key for key in keys if self._defined.get(key, [number]) != [number]]

    def _find_open(self, number: int, exports: Exports) -> frozenset[str]:
        """Return those of a file's functions whose summaries rest on what is not known yet."""
        named = {key: _texts(found) for key, found in cast(Mapping[str, Plain], exports["named"]).items()}
        open_ones = {key for key, found in named.items() if self._foreign(number, [f for f in found if f not in named])}
        while True:
            more = {key for key, found in named.items() if key not in open_ones and open_ones.intersection(found)}
            if not more:
                break
            open_ones |= more
        return frozenset(open_ones)

    def _entry(self, number: int, key: str) -> str:
        """Return the one function of this name that a file's call can mean, without a summary where that is open."""
        makers = [n for n in self._defined[key] if n != number]
        together = [n for n in makers if self.programs[n] & self.programs[number]]
        first, *rest = [self.find_known(n, key) for n in together or makers]
        agreed = self._everywhere(number, key) and all(text == first for text in rest)
        return first if agreed else _bare(first)

    def _everywhere(self, number: int, key: str) -> bool:
        """Whether every program that a file goes into has the function from a file of the project."""
        return all(any(program in self.programs[n] for n in self._defined[key]) for program in self.programs[number])


def _find_touched(entry: list[Plain]) -> Iterable[str]:
    """Yield the keys of the variables that a function names in its summary."""
    if entry[2] is not None:
        variables, roots = _list(entry[2])[:2]
        yield from (_symbol_key(s) for part in _list(variables) for s in _list(part))
        held = (_list(r)[1] for part in _list(roots) for r in _list(part))
        yield from (_symbol_key(s) for s in held if s is not None)


def _symbol_key(symbol: Plain) -> str:
    return str(_list(symbol)[1])


def _functions(exports: Exports) -> Texts:
    return cast(Texts, exports["functions"])


def _bare(text: str) -> str:
    """Return a function without its summary."""
    symbol, parameters, _ = _list(plain_of(text))
    return compact([symbol, parameters, None])


def _list(plain: Plain) -> list[Plain]:
    assert isinstance(plain, list)
    return plain


def _texts(plain: Plain) -> list[str]:
    return cast(list[str], plain)


class _Writes(Struct):
    """What one function may write with everything that it calls; symbols and stores as JSON texts."""

    variables: set[str]
    stores: set[str]
    calls: list[str]
    unknown: bool


def _close_calls(own: Mapping[str, _Writes]) -> dict[str, Plain]:
    """Let every function write what those write that it calls, and return it as plain data."""
    callers: dict[str, list[str]] = {}
    for key, writes in own.items():
        for called in writes.calls:
            callers.setdefault(called, []).append(key)
    pending = list(own)
    while pending:
        called = pending.pop()
        for key in callers.get(called, ()):
            if _absorb(own[key], own[called]):
                pending.append(key)
    return {
        key: [list(map(plain_of, sorted(w.variables))), list(map(plain_of, sorted(w.stores))), [], w.unknown]
        for key, w in own.items()
    }


def _own_writes(bodies: Iterable[Plain]) -> _Writes:
    """Return what the functions of one name write by themselves."""
    found = _Writes(set(), set(), [], False)
    for variables, stores, calls, unknown in map(_list, bodies):
        found.variables |= {compact(s) for s in _list(variables) if _list(s)[2] in _FILE_SCOPE}
        found.stores |= {compact(_export_store(_list(s))) for s in _list(stores) if _is_outer(_list(s))}
        found.calls += [str(_list(s)[1]) for s in _list(calls)]
        found.unknown = found.unknown or bool(unknown)
    return found


def _export_store(store: list[Plain]) -> list[Plain]:
    """Return a store as other files see it: which pointer of the function it goes through is nothing to them, so that
    they need not hear of an edit that only moves that pointer."""
    root, indirect, type = store
    return [None if indirect else root, indirect, type]


def _is_outer(store: list[Plain]) -> bool:
    root, indirect, _ = store
    return bool(indirect) or root is None or _list(root)[2] in _FILE_SCOPE


def _absorb(into: _Writes, other: _Writes) -> bool:
    """Add what a called function may write; whether that was new."""
    if other.variables <= into.variables and other.stores <= into.stores and (into.unknown or not other.unknown):
        return False
    into.variables |= other.variables
    into.stores |= other.stores
    into.unknown = into.unknown or other.unknown
    return True
