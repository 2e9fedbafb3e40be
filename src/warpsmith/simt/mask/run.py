"""Waves of a program without clocks, one after the other: masks, instruction by instruction, and what they write.

`clock` counts the wave's instructions here. Time is what `simt/clocks` adds.
"""

from __future__ import annotations

from msgspec import Struct

from warpsmith.simt.mask.nodes import MaskProgram
from warpsmith.simt.mask.resources import Views, place_views
from warpsmith.simt.mask.stack import MaskFault
from warpsmith.simt.mask.step import FaultError, Wave, begin_wave, step

__all__ = ["Groups", "MaskRun", "mask_text", "run_masks", "waves_of"]

_DEPTH = 64
_MOST_STEPS = 1_000_000


class Groups(Struct, frozen=True):
    """How many threads run: `count` groups of `size`; the last wave of a group may have fewer lanes than it is wide."""

    size: int
    count: int = 1


class MaskRun(Struct, frozen=True, eq=False):
    """`masks`: for each wave the instructions that it executed, with its mask before each; the views afterwards; the
    fault that ended the run, if one did."""

    masks: tuple[tuple[tuple[int, int], ...], ...]
    views: Views
    fault: MaskFault | None = None


def waves_of(groups: Groups, width: int) -> list[tuple[int, int]]:
    """Return the first thread of each wave, and how many lanes of it are there."""
    starts = range(0, groups.size, width)
    return [(group * groups.size + at, min(width, groups.size - at)) for group in range(groups.count) for at in starts]


def run_masks(
    program: MaskProgram, views: Views, groups: Groups, width: int, *, depth: int = _DEPTH, most: int = _MOST_STEPS
) -> MaskRun:
    """Run every wave to its end, `most` instructions each at most."""
    placed = place_views(program, views)
    masks: list[tuple[tuple[int, int], ...]] = []
    for number, (first, lanes) in enumerate(waves_of(groups, width)):
        wave = begin_wave(number, first, lanes, width, (program.registers, depth))
        seen: list[tuple[int, int]] = []
        try:
            _run_wave(program, placed, wave, (seen, most))
        except FaultError as error:
            return MaskRun((*masks, tuple(seen)), placed, error.fault)
        masks.append(tuple(seen))
    return MaskRun(tuple(masks), placed)


def _run_wave(program: MaskProgram, views: Views, wave: Wave, watched: tuple[list[tuple[int, int]], int]) -> None:
    seen, most = watched
    while not wave.ended:
        if len(seen) >= most:
            raise FaultError(MaskFault("endless", wave.stack.pc, wave.number, at=(most, 0)))
        seen.append((wave.stack.pc, wave.stack.exec))
        step(wave, program.instructions[wave.stack.pc], views, len(seen) - 1)


def mask_text(mask: int, width: int) -> str:
    """Return a mask with lane 0 leftmost: 01010101."""
    return "".join("1" if mask >> lane & 1 else "0" for lane in range(width))
