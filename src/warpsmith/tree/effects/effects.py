"""The effects of a call of a function whose text is not given: a table of data, built in or the user's.

    memcpy(to, from, n)     reads `from`, writes `to`, returns a pointer into `to`, keeps neither
    MPI_Irecv(u, …, &r)     writes `u` and `r`, keeps both; `u` may change until MPI_Wait

Invariant: a function that the table does not have is not known, and nothing is assumed of it. A name that the program
defines itself is not the table's; nor is a call with another number of arguments.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from msgspec import Struct

__all__ = ["EffectsTable", "FunctionEffects"]

_NONE: frozenset[int] = frozenset()


class FunctionEffects(Struct, frozen=True):
    """One function; the arguments of each set are counted from 0, and `count` stands for all further ones.

    `reads`, `writes` and the others are as at the head of effects.toml. `io`: the world or hidden state sees it;
    `reason` says how. `asserts`: all that the world sees of it is that it may end the program at a failed assertion.
    `device`: kernels may call it, in a program that mentions none of `device_without`. `returns`:
    "value", "fresh", "unknown" or the number of an argument. `granted`: the place in the user's file that says so (""
    for the built-in table).
    """

    name: str
    count: int = 0
    variadic: bool = False
    reads: frozenset[int] = _NONE
    writes: frozenset[int] = _NONE
    fills: frozenset[int] = _NONE
    keeps: frozenset[int] = _NONE
    later: frozenset[int] = _NONE
    calls: frozenset[int] = _NONE
    format: int | None = None
    exposed_reads: bool = False
    exposed_writes: bool = False
    returns: int | str = "value"
    io: bool = False
    asserts: bool = False
    allocates: bool = False
    reason: str = ""
    sets: frozenset[str] = frozenset()
    program: bool = False
    program_with: frozenset[str] = frozenset()
    threads: bool = False
    completes: frozenset[int] = _NONE
    completes_all: frozenset[int] = _NONE
    device: bool = False
    device_without: frozenset[str] = frozenset()
    reserved: bool = False
    granted: str = ""

    def fits(self, arguments: int) -> bool:
        """Whether a call with so many arguments can be one of this function."""
        return arguments == self.count or (self.variadic and arguments > self.count)

    def reads_argument(self, index: int) -> bool:
        """Whether it reads through argument `index`."""
        return min(index, self.count) in self.reads

    def writes_argument(self, index: int) -> bool:
        """Whether it may write through argument `index`."""
        return min(index, self.count) in self.writes

    def keeps_argument(self, index: int) -> bool:
        """Whether something may still hold the address of argument `index` after the return."""
        return min(index, self.count) in self.keeps

    @property
    def pure(self) -> bool:
        """Whether all that it does is to read its arguments and return a value."""
        busy = self.io or self.allocates or self.program or self.calls or self.exposed_writes or self.writes
        return not busy and not self.asserts and self.returns == "value"


class EffectsTable(Struct, frozen=True, eq=False):
    """Functions by name; the user's stand before the built-in ones. A table is the same as itself only: answers that
    rest on it are remembered."""

    functions: Mapping[str, FunctionEffects]

    def of(self, name: str) -> FunctionEffects | None:
        """Return what the function called `name` does, None if that is not known.

        >>> from warpsmith.tree.effects.file import house_effects
        >>> table = house_effects()
        >>> table.of("sqrtf").device, table.of("printf").io, table.of("interpolate")
        (True, True, None)
        """
        known = self.functions.get(name)
        if known is None and name.startswith("__builtin_"):
            known = self.functions.get(name.removeprefix("__builtin_"))
        return known

    def find_watched(self) -> frozenset[str]:
        """Return the functions that matter to the whole program by being called anywhere in it."""
        return _find_watched(self)

    def find_granted(self) -> tuple[FunctionEffects, ...]:
        """Return what the user asserted."""
        return _find_granted(self)

    def after(self, first: Mapping[str, FunctionEffects]) -> EffectsTable:
        """Return the table with `first` looked up before it."""
        return EffectsTable({**self.functions, **first})


# asked for every program that a step makes
@functools.lru_cache(maxsize=16)
def _find_watched(table: EffectsTable) -> frozenset[str]:
    entries = table.functions.values()
    alone = (entry.name for entry in entries if entry.threads or entry.later)
    return frozenset(alone).union(*(entry.program_with | entry.device_without for entry in entries))


@functools.lru_cache(maxsize=16)
def _find_granted(table: EffectsTable) -> tuple[FunctionEffects, ...]:
    return tuple(entry for entry in table.functions.values() if entry.granted)
