"""The access patterns of a nest, or of a kernel, with where its reuse lands: what `warpsmith explain FILE:LINE
--accesses` and `warpsmith analyze FILE --metrics` show."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from warpsmith.analysis.uniformity.facts import Count
from warpsmith.offload.mapping.landing import Landing, NestPlace, landing
from warpsmith.poly.patterns.model import AccessNest, ArrayReference, Counter, Direction, GroupReuse, Space

__all__ = [
    "AccessFigures",
    "AccessReport",
    "SpaceEntry",
    "direction_lists",
    "direction_words",
    "figure_words",
    "group_words",
    "note_words",
    "sharing_words",
]

_FOUND: dict[Landing, str] = {
    "register": "a register",
    "broadcast": "broadcast: the lanes of a warp read it together",
    "shared tile or L1": "a shared tile, or L1",
    "shared tile": "a shared tile",
    "shared memory": "shared memory",
    "L2": "L2",
    "combined": "the threads combine what each has of it",
    "none": "nothing keeps it: another reference to the array, one of the two a write, comes in between",
}


class AccessFigures(Struct, frozen=True):
    """What one reference of a kernel asks for: 32-byte sectors a request, those that its bytes would fill, and passes
    of the banks of shared memory; `cases`: instructions that make it, of which these are the worst figures; `shared`:
    its array is in shared memory."""

    sectors: Count | None
    ideal: int | None
    bank_ways: Count | None
    cases: int = 1
    shared: bool = False


class SpaceEntry(Struct, frozen=True):
    """One run of loops with its references; `place`: where its loops run, None where that is not known; `kernels`: the
    kernel of each reference ("": none); `figures`: of each reference of a kernel that was written as one: there, the
    counters are indices of blocks and threads as well; `changing`: of each such reference the loops in which another
    one to its array comes in between, where one of the two writes; `tiled`: whether the kernel of a port reads each
    reference from a tile in shared memory."""

    space: Space
    place: NestPlace | None
    kernels: tuple[str, ...]
    figures: tuple[AccessFigures, ...] = ()
    changing: tuple[frozenset[int], ...] = ()
    tiled: tuple[bool, ...] = ()

    def reuse_lands(self, reference: ArrayReference, direction: Direction) -> Landing | None:
        """Return where a reference's own reuse along a direction lands; None where that is not known."""
        changing = self.changing[self.space.references.index(reference)] if self.changing else ()
        if any(direction[place] for place in changing):
            return "none"
        if self.place is None:
            return None
        found = landing(direction, self.place, written=reference.writes)
        if self.tiled and self.tiled[self.space.references.index(reference)]:
            return "shared tile" if found in ("shared tile or L1", "broadcast") else found
        return self._in_place(reference, found)

    def _in_place(self, reference: ArrayReference, found: Landing) -> Landing:
        """Return where an array is that a kernel has in shared memory, in place of where it could be."""
        shared = bool(self.figures) and self.figures[self.space.references.index(reference)].shared
        return "shared memory" if shared and found == "shared tile or L1" else found

    def group_lands(self, group: GroupReuse) -> Landing | None:
        """Return where reuse between references lands: in L2 from one kernel to another; None where that is not
        known."""
        one, other = self.kernels[group.earlier], self.kernels[group.later]
        if self.place is None or not (one and other):
            return None
        pair = [self.space.references[place] for place in (group.earlier, group.later)]
        # threads of a port hand on only what they combine; those of a kernel that was written as one, what they store
        written = (all if self.figures else any)(reference.writes for reference in pair)
        found = landing(group.direction, self.place, same_time=False, written=written)
        return "L2" if one != other else self._in_place(pair[0], found)


class AccessReport(Struct, frozen=True):
    """All of a nest; `refused`: why nothing is said of where reuse lands, "" where it is."""

    file: str
    nest: AccessNest
    spaces: tuple[SpaceEntry, ...]
    refused: str = ""


def direction_words(entry: SpaceEntry, reference: ArrayReference, direction: Direction) -> str:
    """Return one direction of reuse in words: `used again along j (0, 1, 0): broadcast …`."""
    found = entry.reuse_lands(reference, direction)
    where = "" if found is None else f": {_FOUND[found]}"
    return f"used again along {_name(entry.space.counters, direction)}{where}"


def group_words(entry: SpaceEntry, group: GroupReuse) -> str:
    """Return what one reference leaves to another in words."""
    references = entry.space.references
    found = entry.group_lands(group)
    tile = "a shared tile with a halo, or L1" if found == "shared tile or L1" else _FOUND[found] if found else ""
    when = f"{_distance(entry.space.counters, group.direction)} later"
    again = f"{references[group.later].text} touches what {references[group.earlier].text} has touched"
    if not any(group.direction):
        return f"{again} in the same iteration"
    if entry.figures and any(c.loop == "" for c, k in zip(entry.space.counters, group.direction, strict=True) if k):
        again = f"{references[group.later].text} and {references[group.earlier].text} touch the same"
        when = f"{_name(entry.space.counters, group.direction)} apart"
    return f"{again} {when}" + (f": {tile}" if tile else "")


def direction_lists(space: Space) -> list[str]:
    """Return, for each direction along which several arrays are used again, which ones these are."""
    found: dict[Direction, dict[str, None]] = {}
    for reference in space.references:
        for direction in reference.reuse:
            found.setdefault(direction, {})[reference.array] = None
    return [
        f"along {_name(space.counters, direction)}: {_list(list(arrays))} are used again"
        for direction, arrays in found.items()
        if len(arrays) > 1
    ]


def figure_words(figures: AccessFigures) -> str:
    """Return the figures of a reference in words; "" where there are none."""
    found = []
    if figures.sectors is not None:
        best = f", {figures.ideal} would do" if figures.ideal is not None else ""
        found.append(f"{figures.sectors} sector{_plural(figures.sectors)} a request{best}")
    if figures.bank_ways is not None:
        found.append(f"{figures.bank_ways} pass{'' if figures.bank_ways.most == 1 else 'es'} of the banks")
    more = f" (the most of {figures.cases} instructions)" if found and figures.cases > 1 else ""
    return ", ".join(found) + more


def _plural(count: Count) -> str:
    return "" if count.most == 1 else "s"


def sharing_words(space: Space) -> str:
    """Return which arrays one new nest could serve; "" where no two are used again."""
    arrays = list(dict.fromkeys(r.array for r in space.references if r.reuse))
    if len(arrays) < 2:
        return ""
    number = {2: "both", 3: "all three"}.get(len(arrays), f"all {len(arrays)}")
    if space.one_nest:
        along = ", ".join(_name(space.counters, direction) for direction in space.one_nest)
        return f"one nest removes {number}: {_list(arrays)} are used again along {along}"
    pairs = " or ".join(f"{a.first} with {a.second}" for a in space.alike)
    rows = "; ".join(f"{a.first} and {a.second} share {_list(a.rows)}" for a in space.alike)
    return f"no single nest removes {number}; " + (f"{pairs} ({rows})" if pairs else "no two matrices share a row")


def note_words(entry: SpaceEntry) -> list[str]:
    """Return what is said of several references: what one leaves to another, and which arrays go together."""
    notes = [group_words(entry, group) for group in entry.space.groups]
    notes += direction_lists(entry.space) if entry.figures else []
    return notes + ([words] if (words := sharing_words(entry.space)) else [])


def _name(counters: Sequence[Counter], direction: Direction) -> str:
    moved = [c.name for c, step in zip(counters, direction, strict=True) if step]
    vector = f"({', '.join(map(str, direction))})"
    return f"{moved[0]} {vector}" if len(moved) == 1 else vector


def _distance(counters: Sequence[Counter], direction: Direction) -> str:
    moved = [(c.name, step) for c, step in zip(counters, direction, strict=True) if step]
    if len(moved) == 1:
        name, step = moved[0]
        return f"{step} iteration{'s' if step != 1 else ''} of {name}"
    return f"({', '.join(map(str, direction))}) iterations"


def _list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
