"""The access patterns of a kernel that was written as one, as the report on a nest has them, in the user's words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import assert_never

from msgspec.structs import replace

from warpsmith.analysis.patterns.columns import IndexColumn
from warpsmith.analysis.patterns.kernel import KernelSpace
from warpsmith.analysis.uniformity.facts import AccessFact, Count, Dim
from warpsmith.offload.mapping.landing import NestPlace, Place
from warpsmith.poly.patterns.model import Alike, ArrayReference, Space
from warpsmith.report.accesses.model import AccessFigures, SpaceEntry

__all__ = ["kernel_spaces"]

Write = Callable[[str], str]


def kernel_spaces(spaces: Sequence[KernelSpace], kernel: str, block: Dim, write: Write) -> tuple[SpaceEntry, ...]:
    """Return the spaces of a kernel as entries of a report; `write`: makes a text of the user's language."""
    return tuple(_entry(space, kernel, block, write) for space in spaces)


def _entry(found: KernelSpace, kernel: str, block: Dim, write: Write) -> SpaceEntry:
    place = NestPlace(kernel, tuple(map(_place, found.columns)), block, tuple(c.width for c in found.columns))
    figures = tuple(map(_figures, found.facts))
    return SpaceEntry(_worded(found.space, write), place, (kernel,) * len(figures), figures, found.changing)


def _place(column: IndexColumn) -> Place:
    match column.kind:
        case "block":
            return "block"
        case "loop":
            return "thread"
        case "thread":
            return "x" if column.axis == "x" else "y" if column.axis == "y" else "z"
        case _:
            assert_never(column.kind)


def _figures(facts: Sequence[AccessFact]) -> AccessFigures:
    sectors = _most(_sectors(fact) for fact in facts)
    ideal = max(fact.ideal_sectors for fact in facts) if sectors is not None else None
    shared = all(fact.space == "shared" for fact in facts)
    return AccessFigures(sectors, ideal, _most(_ways(fact) for fact in facts), len(facts), shared)


def _sectors(fact: AccessFact) -> Count | None:
    return None if fact.space == "shared" else fact.sectors_aligned or fact.sectors


def _ways(fact: AccessFact) -> Count | None:
    return fact.bank_ways if fact.space == "shared" else None


def _most(counts: Iterable[Count | None]) -> Count | None:
    """Return the worst of some counts; None where one is not known."""
    found = list(counts)
    known = [count for count in found if count is not None]
    return max(known, key=lambda count: (count.most, count.least)) if known and len(known) == len(found) else None


def _worded(space: Space, write: Write) -> Space:
    return replace(
        space,
        counters=tuple(replace(counter, name=write(counter.name)) for counter in space.counters),
        parameters=tuple(map(write, space.parameters)),
        references=tuple(_reference(reference, write) for reference in space.references),
        alike=tuple(Alike(write(a.first), write(a.second), tuple(map(write, a.rows))) for a in space.alike),
    )


def _reference(reference: ArrayReference, write: Write) -> ArrayReference:
    rows = tuple(replace(row, text=write(row.text)) for row in reference.rows)
    return replace(reference, text=write(reference.text), array=write(reference.array), rows=rows)
