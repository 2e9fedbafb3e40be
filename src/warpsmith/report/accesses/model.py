"""The access patterns of a nest with where its reuse lands: what `warpsmith explain FILE:LINE --accesses` shows."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from warpsmith.offload.mapping.landing import Landing, NestPlace, landing
from warpsmith.poly.patterns.model import AccessNest, ArrayReference, Counter, Direction, GroupReuse, Space

__all__ = ["AccessReport", "SpaceEntry", "direction_words", "group_words", "sharing_words"]

_FOUND: dict[Landing, str] = {
    "register": "a register",
    "broadcast": "broadcast: the lanes of a warp read it together",
    "shared tile or L1": "a shared tile, or L1",
    "L2": "L2",
    "combined": "the threads combine what each has of it",
}


class SpaceEntry(Struct, frozen=True):
    """One run of loops with its references; `place`: where its loops run, None where that is not known; `kernels`: the
    kernel of each reference ("": none)."""

    space: Space
    place: NestPlace | None
    kernels: tuple[str, ...]

    def reuse_lands(self, reference: ArrayReference, direction: Direction) -> Landing | None:
        """Return where a reference's own reuse along a direction lands; None where that is not known."""
        return None if self.place is None else landing(direction, self.place, written=reference.writes)

    def group_lands(self, group: GroupReuse) -> Landing | None:
        """Return where reuse between references lands: in L2 from one kernel to another; None where that is not
        known."""
        one, other = self.kernels[group.earlier], self.kernels[group.later]
        if self.place is None or not (one and other):
            return None
        written = any(self.space.references[place].writes for place in (group.earlier, group.later))
        return "L2" if one != other else landing(group.direction, self.place, same_time=False, written=written)


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
    return f"{again} {when}" + (f": {tile}" if tile else "")


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
