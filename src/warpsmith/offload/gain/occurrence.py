"""Where a statement stands when a program is walked once to estimate its time."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from warpsmith.offload.gain.sizes import Sizes
from warpsmith.tree.nodes import Loop
from warpsmith.tree.types import Symbol

__all__ = ["EnteredRegion", "Occurrence"]


class EnteredRegion(Struct, eq=False):
    """A data region on the way: how often it is entered, and what is on the device."""

    entries: float
    present: set[Symbol] = field(default_factory=set)
    written: set[Symbol] = field(default_factory=set)


class Occurrence(Struct, frozen=True):
    """Where a statement stands: how often it runs, what variables are worth there, the loops around it (those of its
    function), all loops on the way, the functions on the way, cores, the data region, and whose objects parameters
    are. `team`: threads are started for the statement. `body`: how often the body of the innermost of the loops around
    it runs, or that of the function. `guessed`: nothing tells how often it runs."""

    times: float
    sizes: Sizes
    body: float = 1.0
    team: bool = False
    around: tuple[tuple[Loop, float], ...] = ()
    outer: tuple[Loop, ...] = ()
    calls: tuple[Symbol, ...] = ()
    threads: float = 1.0
    region: EnteredRegion | None = None
    objects: Mapping[Symbol, Symbol] = field(default_factory=dict)
    guessed: bool = False
