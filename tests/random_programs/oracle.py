"""The oracle: runs a nest at small sizes and sees which loops carry a conflict.

A loop is parallel when, the loops around it held fixed, no two of its iterations touch one element with at least one
of them writing. Every access of every iteration is recorded, so nothing is decided by reasoning. A condition on data
may hold or not: both branches are recorded, which can only add conflicts, and a scalar written under it is taken to be
read before. A scalar is private to an iteration that writes it first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from tests.random_programs.nests import Access, Nest, Size, Statement, Step, reads_scalar, row_target, steps

__all__ = ["Bases", "MemoryAccess", "conflicts", "entries_of", "repeats", "touches"]

# where A and B begin, in elements, when they are parts of one block
Bases = Mapping[str, int]
Prefix = tuple[int, ...]


class MemoryAccess(Struct, frozen=True):
    """One access: which element, by which iteration (of the loops around it), reading or writing."""

    array: str
    address: int
    iteration: Prefix
    write: bool


def touches(nest: Nest, size: Size, bases: Bases | None = None) -> Iterator[MemoryAccess]:
    """Yield every access of the nest in execution order (array elements and the scalars t and s)."""
    return _level(nest, 1, dict(zip("nmw", size, strict=True)), (), bases or {})


def _level(nest: Nest, depth: int, names: dict[str, int], outer: Prefix, bases: Bases) -> Iterator[MemoryAccess]:
    loop = nest.loops[depth - 1]
    for value in loop.values(names):
        inner, iteration = {**names, loop.counter: value}, (*outer, value)
        for step in steps(nest, depth, after=False):
            yield from _step(nest, step, inner, iteration, bases)
        if depth < len(nest.loops):
            yield from _level(nest, depth + 1, inner, iteration, bases)
            for step in steps(nest, depth, after=True):
                yield from _step(nest, step, inner, iteration, bases)


def _step(nest: Nest, step: Step, names: Mapping[str, int], at: Prefix, bases: Bases) -> Iterator[MemoryAccess]:
    match step:
        case "start":
            yield MemoryAccess("s", 0, at, write=True)
        case "store":
            yield MemoryAccess("s", 0, at, write=False)
            yield _touch(row_target(nest), names, at, bases, write=True)
        case "scalar":
            yield from _scalar(nest, names, at, bases)
        case _:
            yield from _statement(nest, step, names, at, bases)


def _touch(access: Access, names: Mapping[str, int], at: Prefix, bases: Bases, *, write: bool) -> MemoryAccess:
    """An access; arrays with a base are one object."""
    name = access.array
    if name in bases:
        return MemoryAccess("A and B", bases[name] + access.address(names), at, write)
    return MemoryAccess(name, access.address(names), at, write)


def _scalar(nest: Nest, names: Mapping[str, int], at: Prefix, bases: Bases) -> Iterator[MemoryAccess]:
    yield _touch(nest.scalar_source, names, at, bases, write=False)
    if nest.scalar == "temporary":
        return
    name = "s" if nest.scalar in ("sum", "row sum") else "t"
    # a conditional write may not happen: then what follows reads the older value
    if nest.scalar in ("carried", "sum", "row sum", "conditional"):
        yield MemoryAccess(name, 0, at, write=False)
    yield MemoryAccess(name, 0, at, write=True)


def _statement(
    nest: Nest, statement: Statement, names: Mapping[str, int], at: Prefix, bases: Bases
) -> Iterator[MemoryAccess]:
    guard = statement.guard
    on_data = guard is not None and guard.access is not None
    if guard is not None and guard.access is not None:
        yield _touch(guard.access, names, at, bases, write=False)
    holds = guard is None or guard.holds(names)
    targets = [statement.target] if holds else []
    if statement.otherwise is not None and (on_data or not holds):
        targets.append(statement.otherwise)
    if not targets:
        return
    reads = (*statement.sources, statement.target) if statement.update and holds else statement.sources
    for source in reads:
        yield _touch(source, names, at, bases, write=False)
    if reads_scalar(nest, statement) and nest.scalar != "temporary":
        yield MemoryAccess("t", 0, at, write=False)
    for target in targets:
        yield _touch(target, names, at, bases, write=True)


def entries_of(nest: Nest, depth: int, size: Size) -> Iterator[dict[str, int]]:
    """Yield the values of n, m, w and of the outer `depth` counters, each time that what is below them is entered."""

    def descend(level: int, names: dict[str, int]) -> Iterator[dict[str, int]]:
        if level == depth:
            yield names
            return
        for value in nest.loops[level].values(names):
            yield from descend(level + 1, {**names, nest.loops[level].counter: value})

    return descend(0, dict(zip("nmw", size, strict=True)))


def repeats(nest: Nest, depth: int, sizes: tuple[Size, ...]) -> bool:
    """Whether the loop at `depth` has two iterations at one of the sizes: else being parallel means nothing."""
    loop = nest.loops[depth]
    return any(len(loop.values(names)) > 1 for size in sizes for names in entries_of(nest, depth, size))


def conflicts(seen: Iterable[MemoryAccess], depth: int) -> set[Prefix]:
    """Return the counters' values around the loop at `depth` (0 = outermost) for which it carries a conflict."""
    readers: dict[tuple[str, int, Prefix], set[int]] = defaultdict(set)
    writers: dict[tuple[str, int, Prefix], set[int]] = defaultdict(set)
    owned: dict[tuple[str, int, Prefix], set[int]] = defaultdict(set)
    for touch in seen:
        if len(touch.iteration) <= depth:
            continue
        element = (touch.array, touch.address, touch.iteration[:depth])
        mine = touch.iteration[depth]
        if touch.array in ("s", "t"):
            if mine in owned[element]:
                continue
            if touch.write and mine not in readers[element]:
                owned[element].add(mine)
                continue
        (writers if touch.write else readers)[element].add(mine)
    shared = {element for element, mine in owned.items() if mine and readers[element]}
    bad = {element[2] for element in shared}
    for element, writing in writers.items():
        if len(writing | readers.get(element, set())) > 1:
            bad.add(element[2])
    return bad
