"""The oracle: runs a nest at small sizes and sees which loops carry a conflict.

A loop is parallel when, the loops around it held fixed, no two of its iterations touch one element with at least one
of them writing. Every access of every iteration is recorded, so nothing is decided by reasoning. A condition on data
may hold or not: it is taken to hold, which can only add conflicts. The scalar t is private to an iteration that writes
it first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from tests.random_programs.nests import Nest, uses_scalar

__all__ = ["Touch", "conflicting_loops", "entries_of", "touches"]


@dataclass(frozen=True)
class Touch:
    """One access: which element, by which iteration, reading or writing, in execution order."""

    array: str
    address: int
    iteration: tuple[int, ...]
    write: bool


def touches(nest: Nest, n: int, m: int, w: int) -> Iterator[Touch]:
    """Yield every access of the nest in execution order (array elements and the scalars t and s)."""
    for names in entries_of(nest, len(nest.loops), (n, m, w)):
        iteration = tuple(names[loop.counter] for loop in nest.loops)
        if nest.scalar:
            yield from _scalar_touches(nest, iteration, names)
        for statement in nest.statements:
            guard = statement.guard
            if guard is not None and guard.access is not None:
                yield Touch(guard.access.array, guard.access.address(names), iteration, write=False)
            if guard is not None and not guard.holds(names):
                continue
            reads = (*statement.sources, statement.target) if statement.update else statement.sources
            for source in reads:
                yield Touch(source.array, source.address(names), iteration, write=False)
            if uses_scalar(nest) and nest.scalar != "temporary":
                yield Touch("t", 0, iteration, write=False)
            yield Touch(statement.target.array, statement.target.address(names), iteration, write=True)


def _scalar_touches(nest: Nest, iteration: tuple[int, ...], names: dict[str, int]) -> Iterator[Touch]:
    source = nest.scalar_source
    yield Touch(source.array, source.address(names), iteration, write=False)
    if nest.scalar == "temporary":
        return
    name = "s" if nest.scalar == "sum" else "t"
    # a conditional write may not happen: then what follows reads the older value
    if nest.scalar in ("carried", "sum", "conditional"):
        yield Touch(name, 0, iteration, write=False)
    yield Touch(name, 0, iteration, write=True)


def entries_of(nest: Nest, depth: int, size: tuple[int, int, int]) -> Iterator[dict[str, int]]:
    """Yield the values of n, m, w and of the outer `depth` counters, each time that what is below them is entered."""

    def descend(level: int, names: dict[str, int]) -> Iterator[dict[str, int]]:
        if level == depth:
            yield names
            return
        for value in nest.loops[level].values(names):
            yield from descend(level + 1, {**names, nest.loops[level].counter: value})

    return descend(0, dict(zip("nmw", size, strict=True)))


def conflicting_loops(nest: Nest, sizes: tuple[tuple[int, int, int], ...]) -> set[int]:
    """Return the depths (0 = outermost) of the loops that carry a conflict at one of `sizes` (n, m, w)."""
    bad: set[int] = set()
    for n, m, w in sizes:
        seen = list(touches(nest, n, m, w))
        bad |= {depth for depth in range(len(nest.loops)) if depth not in bad and _carries(seen, depth)}
    return bad


def _carries(seen: list[Touch], depth: int) -> bool:
    readers: dict[tuple[object, ...], set[int]] = defaultdict(set)
    writers: dict[tuple[object, ...], set[int]] = defaultdict(set)
    written_first: set[tuple[tuple[object, ...], int]] = set()
    for touch in seen:
        element: tuple[object, ...] = (touch.array, touch.address, touch.iteration[:depth])
        mine = touch.iteration[depth]
        if touch.array == "t":
            # private when this iteration of the loop wrote it before; a second write is private as well
            if (element, mine) in written_first:
                continue
            if touch.write:
                written_first.add((element, mine))
                continue
        (writers if touch.write else readers)[element].add(mine)
    scalar_writes: set[tuple[object, ...]] = {element for element, _ in written_first}
    if scalar_writes & readers.keys():
        return True
    for element, reading in readers.items():
        if any(r != x for r, x in product(reading, writers.get(element, ()))):
            return True
    return any(len(writing) > 1 for writing in writers.values())
