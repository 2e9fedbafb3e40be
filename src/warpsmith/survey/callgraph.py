"""The functions of all files as one call graph, in which a name may mean several functions.

    gen.c    main ─► table             a name that two programs have, or that two compilations of a file fill
    run.c    main ─► step, table       differently, means the function of the caller's own file, else one of a program
    table.c  table                     that they share, else any

Invariant: what several files have alike from one place of the text, as from a header, is one function; any other two
are two, whose keys differ, and the calls of each name the key that they mean.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.loops.search.effort import FunctionEffort

__all__ = ["CallGraph", "Key"]

Key = tuple[str, int, int]
"""The place of a loop."""


class _Defined(Struct):
    """A function with the places of its loops (None: not listed), and the files that have it."""

    effort: FunctionEffort
    places: tuple[Key | None, ...]
    files: set[int] = field(default_factory=set)


class CallGraph(Struct):
    """`programs`: the numbers of the programs that each file goes into; empty where that is not known."""

    programs: list[frozenset[int]] = field(default_factory=list)
    _defined: dict[str, dict[tuple[FunctionEffort, tuple[Key | None, ...]], _Defined]] = field(default_factory=dict)

    def add(self, file: int, effort: FunctionEffort, places: tuple[Key | None, ...]) -> None:
        """Take in what a file says of one of its functions."""
        found = self._defined.setdefault(effort.key, {})
        found.setdefault((effort, places), _Defined(effort, places)).files.add(file)

    def functions(self) -> Iterator[tuple[FunctionEffort, tuple[Key | None, ...]]]:
        """Yield every function once, under a key of its own and with the keys of what it calls."""
        several = {key for key, found in self._defined.items() if len(found) > 1}
        for key, found in self._defined.items():
            for number, one in enumerate(found.values()):
                yield self._resolve_effort(one, _number_key(key, number), several), one.places

    def _resolve_effort(self, one: _Defined, key: str, several: set[str]) -> FunctionEffort:
        effort = one.effort
        loops = tuple(
            loop if several.isdisjoint(loop.calls) else replace(loop, calls=self._targets(loop.calls, one, several))
            for loop in effort.loops
        )
        return replace(effort, key=key, calls=self._targets(effort.calls, one, several), loops=loops)

    def _targets(self, calls: tuple[str, ...], caller: _Defined, several: set[str]) -> tuple[str, ...]:
        """Return the keys that calls mean; the files of the caller may mean different ones."""
        found: list[str] = []
        for call in calls:
            meant = [self._find_meant(call, file) for file in sorted(caller.files)] if call in several else [0]
            found += [_number_key(call, number) for number in dict.fromkeys(meant)]
        return tuple(found)

    def _find_meant(self, call: str, file: int) -> int:
        """Return which function of a name a file's call means."""
        made = list(self._defined[call].values())
        near = (number for number, one in enumerate(made) if file in one.files)
        linked = (n for n, one in enumerate(made) if any(self.programs[f] & self.programs[file] for f in one.files))
        return next(near, next(linked, 0))


def _number_key(key: str, number: int) -> str:
    return f"{key}#{number + 1}" if number else key
