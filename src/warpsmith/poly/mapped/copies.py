"""The state of an object and of its device copy: which elements of each are not what the sequential program has.

    before                                host: right      device: no copy
    target enter data map(to: a[0:n])     host: right      device: right
    a[i] = … in a kernel                  host: stale      device: right
    target update from(a[0:n])            host: right      device: right
    a[0] = … on the host                  host: right      device: stale

Invariant: what is not listed as stale in a copy has the value that the program without directives has there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.poly.mapped.extents import Extent, at_most, below

__all__ = ["CopyPair", "Stale", "join_copies", "transferred"]

Cause = Literal["device", "host", "nothing", "unset"]


class Stale(Struct, frozen=True):
    """Elements of one copy that lack a value: a `device` or a `host` write went to the other one, or `nothing` was
    copied into a new one; `unset`: neither copy ever had one (unset.py), which is no fault. `extent` None: which ones
    is not known. `written`: parts that are right again. `sure`: the program certainly comes there with all of them
    stale. `unread`: nothing in the data region at hand reads them. `inside`: all of them are among these as well, since
    the device copy that was written, or lacks them, has no others."""

    cause: Cause
    name: str
    span: Span
    extent: Extent | None
    written: tuple[Extent, ...] = ()
    sure: bool = True
    unread: bool = False
    inside: Extent | None = None

    def misses(self, extent: Extent | None) -> bool:
        """Whether certainly none of these elements is stale."""
        if extent is None:
            return False
        bounds = (bound for bound in (self.extent, self.inside) if bound is not None)
        return any(part.holds(extent) for part in self.written) or any(bound.misses(extent) for bound in bounds)

    def meets(self, extent: Extent | None, *, whole: bool = True) -> bool:
        """Whether certainly one of these elements is stale; without `whole` there may be gaps between them."""
        if not self.sure or extent is None or self.extent is None or self.written:
            return False
        return self.extent.meets(extent) and (whole or self.extent.holds(extent))

    def without(self, extent: Extent | None) -> Stale | None:
        """Return what is still stale after these elements were certainly given their values."""
        if extent is None:
            return self
        if any(bound is not None and extent.holds(bound) for bound in (self.extent, self.inside)):
            return None
        if extent in self.written:
            return self
        written = _joined((*self.written, extent))
        gone = any(b is not None and part.holds(b) for part in written for b in (self.extent, self.inside))
        return None if gone else replace(self, written=written)

    def perhaps_without(self, extent: Extent | None) -> Stale:
        """Return what is still stale where some of these elements may have been given their values."""
        apart = extent is not None and self.extent is not None and self.extent.misses(extent)
        return self if apart or not self.sure else replace(self, sure=False)


class CopyPair(Struct, frozen=True):
    """An object: how many data regions hold its device copy (`count`), which part that is (`part`; None: not known),
    by what (`held`), and what is stale in either copy; `before`: what was stale on the host when the device copy
    was made: all that became so since lies in its part. `running`: a construct that nobody has waited for uses it."""

    count: int = 0
    part: Extent | None = None
    held: Span | None = None
    clause: str = ""
    host: frozenset[Stale] = frozenset()
    device: frozenset[Stale] = frozenset()
    running: Span | None = None
    before: frozenset[Stale] = frozenset()


def _joined(parts: tuple[Extent, ...]) -> tuple[Extent, ...]:
    """Return the same elements in as few parts as end where another one begins."""
    for one in parts:
        for other in parts:
            if one.upper == other.lower and at_most(one.lower, one.upper) and at_most(other.lower, other.upper):
                left = tuple(part for part in parts if part not in (one, other))
                return _joined((*left, Extent(one.lower, other.upper)))
    return parts


def transferred(source: Iterable[Stale], target: Iterable[Stale], part: Extent | None) -> frozenset[Stale]:
    """Return what is stale in the target of a copy of these elements (None: some of them)."""
    if part is None:
        return frozenset(replace(one, sure=False) for one in (*source, *target))
    kept = [left for one in target if (left := one.without(part)) is not None]
    come = (_within(one, part) for one in source if one.extent is None or not one.extent.misses(part))
    return frozenset(kept).union(come)


def _within(stale: Stale, part: Extent) -> Stale:
    """Return what is stale of a part."""
    common = stale.extent.common(part) if stale.extent is not None else None
    if common is None:
        return replace(stale, sure=False)
    return replace(stale, extent=common, sure=stale.sure and below(common.lower, common.upper))


def join_copies(one: CopyPair, other: CopyPair) -> CopyPair | None:
    """Return what is known of an object after either of two ways; None where it is on the device after one only."""
    if (one.count > 0) != (other.count > 0):
        return None
    part = one.part if one.part == other.part else None
    running = one.running if one.running is not None else other.running
    return replace(
        one,
        count=max(one.count, other.count),
        part=part,
        host=_join(one.host, other.host),
        device=_join(one.device, other.device),
        running=running,
        before=one.before | other.before,
    )


def _join(one: frozenset[Stale], other: frozenset[Stale]) -> frozenset[Stale]:
    return (one & other).union(replace(stale, sure=False) for stale in one ^ other)
