"""What each file of a project must be told of the others: exports of all of them, joined by the names of functions.

    main.c names step ──► solver.c defines step, whose summary names nothing of others ──► settled
                          io.c defines dump, which names printf only                    ──► settled

Invariant: a function's entry contains all that it may do, or says that nothing is known of it. It starts as "nothing
known" where the function names another file's function, and every round works it out again from the entries before it,
so each round is sound, and stops when nothing changes, or after ROUNDS.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from warpsmith.tree.plain import Plain

__all__ = ["ROUNDS", "Link"]

ROUNDS: Final = 8
_FILE_SCOPE: Final = ("global", "static", "static local")
Exports = Mapping[str, Plain]


@dataclass(slots=True)
class Link:
    """`exports` by the number of the file (None: it cannot be read); `programs`: for each file the numbers of the
    programs that it goes into (all empty: not known); `complete`: every file of the project is among them."""

    exports: Sequence[Exports | None]
    programs: Sequence[frozenset[int]]
    complete: bool
    functions: dict[int, list[Plain]] = field(default_factory=dict)
    _defined: dict[str, list[int]] = field(default_factory=dict)
    _closed_writes: dict[str, Plain] = field(default_factory=dict)
    _joined: dict[str, dict[str, Plain]] = field(default_factory=dict)
    _needed: dict[int, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, exports in self._usable():
            for key in _own(exports):
                self._defined.setdefault(key, []).append(number)
        # of all files together: that a file hears its own again does no harm
        for name in ("shared", "taken"):
            self._joined[name] = {str(_list(s)[1]): s for e in self._usable_list() for s in _list(e[name])}
        for name in ("mentioned", "escaped"):
            self._joined[name] = {text: text for e in self._usable_list() for text in _texts(e[name])}
        for number, exports in self._usable():
            self._needed[number] = self._foreign(number, _texts(exports["outside"]))
            self.functions[number] = self._first(number, exports)

    @property
    def _references(self) -> bool:
        """Whether some file may bind a variable to a reference."""
        return any(exports["references"] for exports in self._usable_list())

    @property
    def closed(self) -> bool:
        """Whether no code but libraries is left that nobody has looked at."""
        return self.complete and any(exports["main"] for exports in self._usable_list())

    def waiting(self) -> list[int]:
        """Return the files that name functions of other files."""
        return [n for n, _ in self._usable() if self._needed[n]]

    def update(self, number: int, functions: list[Plain]) -> list[int]:
        """Take in what a file's functions do; return the files that must hear of it."""
        old = {_key(f): f for f in self.functions[number]}
        self.functions[number] = functions
        news = {_key(f) for f in functions if old.get(_key(f)) != f}
        return [n for n, needed in self._needed.items() if not news.isdisjoint(needed)]

    def outside(self, number: int) -> Plain:
        """Return what a file is told for its summaries and verdicts."""
        exports = cast(Exports, self.exports[number])
        entries = [self._entry(number, key) for key in self._needed[number]]
        # also what the file does not name itself, if a function does that it calls
        seen = list(dict.fromkeys([*_texts(exports["seen"]), *(key for e in entries for key in _touched(_list(e)))]))
        return {
            "functions": entries,
            "shared": self._of_all("shared", seen),
            "taken": self._of_all("taken", seen),
            "mentioned": list(self._joined["mentioned"].values()),
            "closed": self.closed,
        }

    def told(self, number: int) -> Plain:
        """Return what the front end may know of others' functions for the counted loops of a file."""
        exports = cast(Exports, self.exports[number])
        foreign = self._needed[number]
        if foreign and not self._closed_writes:
            self._closed_writes = _closed(self._usable_list())
        known = [key for key in foreign if len(self._defined[key]) == 1 and self._everywhere(number, key)]
        plain = {key: self._closed_writes[key] for key in known}
        return {
            "defined": list(foreign),
            "writes": plain,
            "escaped": self._of_all("escaped", _texts(exports["seen"])),
            "whole": self.closed,
            "references": self._references,
        }

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

    def _first(self, number: int, exports: Exports) -> list[Plain]:
        """Return a file's functions, without the summaries that rest on what is not known yet."""
        named = {key: _texts(found) for key, found in cast(Mapping[str, Plain], exports["named"]).items()}
        open_ones = {key for key, found in named.items() if self._foreign(number, [f for f in found if f not in named])}
        while True:
            more = {key for key, found in named.items() if key not in open_ones and open_ones.intersection(found)}
            if not more:
                break
            open_ones |= more
        return [[f[0], f[1], None if _key(f) in open_ones else f[2]] for f in map(_list, _list(exports["functions"]))]

    def _entry(self, number: int, key: str) -> Plain:
        """Return the one function of this name that a file's call can mean, without a summary where that is open."""
        makers = [n for n in self._defined[key] if n != number]
        together = [n for n in makers if self.programs[n] & self.programs[number]]
        found = [f for n in together or makers for f in self.functions[n] if _key(f) == key]
        first = _list(found[0])
        agreed = self._everywhere(number, key) and all(f == first for f in found)
        return first if agreed else [first[0], first[1], None]

    def _everywhere(self, number: int, key: str) -> bool:
        """Whether every program that a file goes into has the function from a file of the project."""
        return all(any(program in self.programs[n] for n in self._defined[key]) for program in self.programs[number])


def _touched(entry: list[Plain]) -> Iterable[str]:
    """Yield the keys of the variables that a function names in its summary."""
    if entry[2] is not None:
        variables, roots = _list(entry[2])[:2]
        yield from (_symbol_key(s) for part in _list(variables) for s in _list(part))
        held = (_list(r)[1] for part in _list(roots) for r in _list(part))
        yield from (_symbol_key(s) for s in held if s is not None)


def _symbol_key(symbol: Plain) -> str:
    return str(_list(symbol)[1])


def _own(exports: Exports) -> list[str]:
    return [_key(f) for f in _list(exports["functions"])]


def _key(function: Plain) -> str:
    return str(_list(_list(function)[0])[1])


def _list(plain: Plain) -> list[Plain]:
    assert isinstance(plain, list)
    return plain


def _texts(plain: Plain) -> list[str]:
    return cast(list[str], plain)


@dataclass(slots=True)
class _Writes:
    """What one function may write with everything that it calls; symbols and stores as JSON texts."""

    variables: set[str]
    stores: set[str]
    calls: list[str]
    unknown: bool


def _closed(exports: Sequence[Exports]) -> dict[str, Plain]:
    """Return for every function what it may write with everything that it calls; its locals are left out."""
    library = {key for e in exports for key in _texts(e["library"])}
    own: dict[str, _Writes] = {}
    for e in exports:
        for key, plain in cast(Mapping[str, Plain], e["writes"]).items():
            own[key] = _own_writes(plain, own.get(key))
    callers: dict[str, list[str]] = {}
    for key, writes in own.items():
        for called in writes.calls:
            callers.setdefault(called, []).append(key)
            writes.unknown = writes.unknown or (called not in own and called not in library)
    pending = list(own)
    while pending:
        called = pending.pop()
        for key in callers.get(called, ()):
            if _absorb(own[key], own[called]):
                pending.append(key)
    return {
        key: [[json.loads(s) for s in sorted(w.variables)], [json.loads(s) for s in sorted(w.stores)], [], w.unknown]
        for key, w in own.items()
    }


def _own_writes(plain: Plain, before: _Writes | None) -> _Writes:
    variables, stores, calls, unknown = _list(plain)
    outer = {json.dumps(s) for s in _list(variables) if _list(s)[2] in _FILE_SCOPE}
    memory = {json.dumps(s) for s in _list(stores) if _is_outer(_list(s))}
    called = [str(_list(s)[1]) for s in _list(calls)]
    if before is None:
        return _Writes(outer, memory, called, bool(unknown))
    return _Writes(
        before.variables | outer, before.stores | memory, before.calls + called, before.unknown or bool(unknown)
    )


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
