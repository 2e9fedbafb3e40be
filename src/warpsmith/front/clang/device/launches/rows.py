"""A launch as it crosses to the main process: its shape, and the blocks that it may have where that is not one.

k<<<g, n < 512 ? 256 : 512>>>          block None, blocks 256 and 512, no others
k<<<g, n < 512 ? n : 512>>>            block None, blocks 512, and others
k<<<g, b>>>(a, 2 * 8, on ? 1 : 0)      arguments None, [16], [0, 1]
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Final

from warpsmith.front.clang.device.launches.numbers import Numbers, only
from warpsmith.front.clang.device.launches.places import Shape
from warpsmith.front.clang.wire import Blocks, Given, LaunchRow

__all__ = ["fill_launch", "given_block"]

_MOST_BLOCKS: Final = 8
_MOST_THREADS: Final = 1024


def given_block(block: Sequence[int | None]) -> Blocks:
    """Return the blocks of a launch whose block is known, or not at all."""
    known = [size for size in block if size is not None]
    return ([known], True) if len(known) == len(block) else ([], False)


def fill_launch(row: LaunchRow, grid: Shape, block: Shape, shared: Numbers, given: Sequence[Numbers] = ()) -> LaunchRow:
    """Return a launch with what host code computes for it in place of what is not known."""
    kernel, file, start, end, old_grid, old_block, old_shared, _, old_given = row
    sizes = [_possible(numbers) for numbers in block]
    made = [only(numbers) for numbers in sizes]
    blocks = old_block if None not in old_block else made
    possible = given_block(blocks) if None not in blocks else _list_blocks(sizes)
    grids = [only(_possible(numbers)) for numbers in grid]
    whole = old_grid if None not in old_grid else grids
    bytes_ = old_shared if old_shared is not None else only(shared)
    return kernel, file, start, end, whole, blocks, bytes_, possible, _arguments(old_given, given)


def _arguments(old: Given, given: Sequence[Numbers]) -> Given:
    """Return what each argument may be."""
    if len(given) != len(old):
        return old
    return [one if one is not None else _whole(numbers) for one, numbers in zip(old, given, strict=True)]


def _whole(numbers: Numbers) -> list[int] | None:
    found = sorted(value for value in numbers if isinstance(value, int))
    return found if found and len(found) == len(numbers) else None


def _possible(numbers: Numbers) -> Numbers:
    """Return the numbers without those that no launch runs with."""
    return frozenset(value for value in numbers if value is None or value > 0)


def _list_blocks(sizes: Sequence[Numbers]) -> Blocks:
    complete = all(None not in numbers for numbers in sizes)
    known = [sorted(int(value) for value in numbers if value is not None) for numbers in sizes]
    found = [list(block) for block in product(*known) if block[0] * block[1] * block[2] <= _MOST_THREADS]
    return (found, complete) if found and len(found) <= _MOST_BLOCKS else ([], False)
