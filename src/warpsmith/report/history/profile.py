"""Lost lane clocks by line: what the lanes of waves that are there could have done, and did not.

    a lane of a wave, in one clock, is   active                an instruction that is issued or taken in counts for it
                                         masked off            the wave is there, the lane's bit of the mask is 0
                                         waiting for memory    its bit is 1, and the wave is stalled
                                         waiting for a result  the same, for an ALU
                                         ready                 the wave could issue, and does not
                                         unfilled              no thread has it: the group ends before

All but the first and the last are lost, for the line that the wave is at. Invariant: the sums over lines are those of
the whole run, clock by clock and lane by lane.

A clock of a lane that is masked off is told a second time, for the instruction that parted it from the others:

    mask_nz, br_push        takes lanes off the mask: it parted them
    pop, to the other arm   lanes that end their arm wait for those that come in: what parted those parted these

A wave begins with all of its threads active, so its first mask says which lanes there are. Waves that are formed anew
have threads in some lanes; the others are free, are counted as masked off, and nothing parts them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Final

from msgspec import Struct

from warpsmith.report.history.model import History
from warpsmith.simt.clocks.model import Stretch
from warpsmith.simt.mask.nodes import MaskProgram

__all__ = ["LOSSES", "LaneProfile", "Parted", "ProfileRow", "profile_of"]

LOSSES: Final = ("masked", "memory", "dependency", "ready")
"""Why a clock of a lane is lost."""


class ProfileRow(Struct, frozen=True):
    """Clocks of lanes while their wave is at an instruction."""

    index: int
    active: int
    masked: int
    memory: int
    dependency: int
    ready: int

    @property
    def lost(self) -> int:
        """How many are lost."""
        return self.masked + self.memory + self.dependency + self.ready


class Parted(Struct, frozen=True):
    """How many clocks lanes are masked off that an instruction parted from others."""

    index: int
    masked: int


class LaneProfile(Struct, frozen=True):
    """`rows`: instructions that a wave was at, those that lost most first; `parted`: the same of what parts lanes;
    `unfilled`: clocks of lanes that no thread has."""

    rows: tuple[ProfileRow, ...]
    parted: tuple[Parted, ...]
    unfilled: int

    @property
    def lost(self) -> int:
        """How many clocks of lanes are lost."""
        return sum(row.lost for row in self.rows)

    @property
    def active(self) -> int:
        """How many are not."""
        return sum(row.active for row in self.rows)


class _Sums:
    """What is counted, by instruction."""

    def __init__(self) -> None:
        self.clocks: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.parted: dict[int, int] = defaultdict(int)
        self.unfilled = 0


def profile_of(history: History) -> LaneProfile:
    """Return where the clocks of lanes went in a run that was recorded."""
    waves: dict[int, list[Stretch]] = defaultdict(list)
    for one in history.run.stretches:
        if one.wave >= 0:
            waves[one.wave].append(one)
    sums = _Sums()
    add = _add_formed if history.machine.forms else _add_wave
    for stretches in waves.values():
        add(sorted(stretches, key=attrgetter("start")), history, sums)
    rows = (ProfileRow(n, held["active"], *(held[name] for name in LOSSES)) for n, held in sums.clocks.items())
    parted = (Parted(index, count) for index, count in sums.parted.items())
    return LaneProfile(
        tuple(sorted(rows, key=lambda row: (-row.lost, row.index))),
        tuple(sorted(parted, key=lambda one: (-one.masked, one.index))),
        sums.unfilled,
    )


def _add_wave(stretches: Sequence[Stretch], history: History, sums: _Sums) -> None:
    """Add the clocks of one wave, from its first to its last."""
    there = mask = stretches[0].mask
    before = stretches[0].index
    off: dict[int, int] = {}
    for one in stretches:
        if one.mask != mask:
            off = _part(off, (mask, one.mask), _control_from(history.program, before))
        mask, before = one.mask, one.index
        there |= mask
        clocks = one.end - one.start
        held = sums.clocks[one.index]
        held[one.state] += clocks * mask.bit_count()
        held["masked"] += clocks * (there & ~mask).bit_count()
        sums.unfilled += clocks * (history.machine.width - there.bit_count())
        for index, lanes in off.items():
            sums.parted[index] += clocks * lanes.bit_count()


def _add_formed(stretches: Sequence[Stretch], history: History, sums: _Sums) -> None:
    """Add the clocks of what ran in one place, formed anew each time."""
    for one in stretches:
        clocks, held = one.end - one.start, sums.clocks[one.index]
        held[one.state] += clocks * one.mask.bit_count()
        held["masked"] += clocks * (history.machine.width - one.mask.bit_count())


def _control_from(program: MaskProgram, index: int) -> int:
    """Return the instruction that changed the mask: what is shown of a clock in which several were issued is the first
    of them, and only the last can be one that changes masks."""
    return next(n for n in range(index, len(program.instructions)) if program.instructions[n].op.unit == "control")


def _part(off: dict[int, int], masks: tuple[int, int], index: int) -> dict[int, int]:
    """Return the lanes that are masked off, by what parted them, behind a change of the mask."""
    was, now = masks
    gone, back = was & ~now, now & ~was
    cause = next(_owners(off, back & -back), index)
    after = {owner: kept for owner, lanes in off.items() if (kept := lanes & ~now)}
    if gone:
        after[cause] = after.get(cause, 0) | gone
    return after


def _owners(off: dict[int, int], lane: int) -> Iterator[int]:
    return (owner for owner, lanes in off.items() if lanes & lane)
