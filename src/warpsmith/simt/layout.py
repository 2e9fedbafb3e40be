"""Where the variables of a kernel stand in shared and in local memory.

    | tile, 132 bytes |  nobody's  | sums, 64 bytes |  nobody's  | what the launch adds ...
    0                              256                           512

Invariant: no two variables touch, so that what runs beyond one is seen and does not become another's. Each starts at a
multiple of 128 bytes, that is, at the first bank. A kernel has the variables that it, or what it calls, names.

A function that calls itself has its local variables once for each call that has not returned: the whole layout again,
`stride` bytes further, for each level.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.ssa.digraph import parts
from warpsmith.ssa.nodes import Address, Callee, Function, Module, Space, Symbol

__all__ = ["ROW", "MemoryLayout", "MemoryPart", "local_layout", "own_variables", "shared_layout"]

ROW: Final = 128
"""All banks once."""


class MemoryPart(Struct, frozen=True):
    """A variable, or what the launch adds, from byte `start` to before byte `end`."""

    name: str
    start: int
    end: int


class MemoryLayout(Struct, frozen=True):
    """`end`: where what the launch adds starts; `stride`: from a variable to the same one of the next level of calls, 0
    where no function calls itself."""

    parts: tuple[MemoryPart, ...]
    end: int
    stride: int = 0

    @property
    def size(self) -> int:
        """How many bytes there are in all."""
        return max((part.end for part in self.parts), default=0)

    @property
    def starts(self) -> dict[str, int]:
        """Where each variable starts."""
        return {part.name: part.start for part in self.parts}

    def level(self, number: int) -> tuple[MemoryPart, ...]:
        """Return the parts of a level of calls, 0 the first."""
        moved = number * self.stride
        return tuple(MemoryPart(part.name, part.start + moved, part.end + moved) for part in self.parts)

    def in_level(self, offset: int) -> int:
        """Return where a byte stands in its level of calls."""
        return offset % self.stride if self.stride else offset

    def near(self, offset: int) -> MemoryPart | None:
        """Return the part that a byte is in, else the one that ends before it: beyond an end is where most go."""
        before = [part for part in self.parts if part.start <= offset] or self.parts[:1]
        return max(before, key=lambda part: part.start, default=None)


def shared_layout(module: Module, kernel: str, dynamic: int = 0, given: Sequence[MemoryPart] = ()) -> MemoryLayout:
    """Return the layout of the shared memory of a block. `dynamic`: bytes that the launch adds, for variables of no
    size; `given`: parts of them that arguments are."""
    found, open_ = list[MemoryPart](), list[str]()
    end = _lay_out(_symbols(module, kernel, "shared"), found, open_)
    if dynamic and not given:
        open_ = open_ or ["shared memory"]
    found += [MemoryPart(name, end, end + dynamic) for name in open_]
    return MemoryLayout((*found, *given), end)


def local_layout(module: Module, kernel: str) -> MemoryLayout:
    """Return the layout of the local memory of a thread."""
    found = list[MemoryPart]()
    end = _lay_out(_symbols(module, kernel, "local"), found, [])
    return MemoryLayout(tuple(found), end, end if found and _calls_itself(module, kernel) else 0)


def _calls_itself(module: Module, kernel: str) -> bool:
    """Whether a function that a kernel reaches may be called while it has not returned."""
    reached = {function.name: function for function in _find_reached(module, kernel)}
    calls: dict[str, list[str]] = {}
    for name, function in reached.items():
        called = [i.detail.name for _, i in function.instructions() if isinstance(i.detail, Callee)]
        calls[name] = [one for one in called if one in reached]
    return any(len(part) > 1 or part[0] in calls[part[0]] for part in parts(calls, calls))


def _lay_out(symbols: Iterable[Symbol], found: list[MemoryPart], open_: list[str]) -> int:
    """Put parts into `found`, names of variables without a size into `open_`; return where there is room again."""
    end = 0
    for symbol in symbols:
        if not symbol.count:
            open_.append(symbol.name)
            continue
        step = max(symbol.align, ROW)
        start = -(-end // step) * step
        found.append(MemoryPart(symbol.name, start, start + symbol.bytes))
        end = start + symbol.bytes + ROW
    return -(-end // ROW) * ROW


def own_variables(function: Function) -> frozenset[str]:
    """Return the local variables that a call of a function has for itself."""
    return frozenset(symbol.name for symbol in function.symbols if symbol.space == "local")


def _symbols(module: Module, kernel: str, space: Space) -> Iterator[Symbol]:
    reached = list(_find_reached(module, kernel))
    named = {i.detail.symbol for function in reached for _, i in function.instructions()
             if isinstance(i.detail, Address)}  # fmt: skip
    own = (symbol for function in reached for symbol in function.symbols)
    for symbol in (*module.symbols, *own):
        if symbol.space == space and symbol.name in named:
            yield symbol


def _find_reached(module: Module, kernel: str) -> Iterator[Function]:
    """Yield a kernel and the functions that it calls; all of them where one is called through a pointer."""
    pending, seen = [kernel], set[str]()
    while pending:
        name = pending.pop()
        function = module.function(name)
        if name in seen or function is None:
            continue
        seen.add(name)
        yield function
        called = [i.detail.name for _, i in function.instructions() if isinstance(i.detail, Callee)]
        through_pointer = any(module.function(one) is None for one in called)
        pending += [f.name for f in module.functions if not f.kernel] if through_pointer else called
