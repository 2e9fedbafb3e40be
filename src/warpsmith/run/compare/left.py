"""Comparison of memory that a candidate brought back from the device with what the original leaves in memory.

A program need not print its results, or prints two digits of them: then output says little. Of the original all host
memory is written down when it dies, of the candidate what came back from the device (capture/ws_left.c). Which block is
which is not known: a block of the candidate must be like one of the original's of its size. Where there is none of its
size, it is one that the original does not have, such as the parts of a sum, and nothing is said of it.

Types are not known either: bytes are equal, or numbers of 8 or of 4 bytes but for their last digits. A number may be
what two others leave that cancel out, so small ones are measured by the median. (Halves of numbers of 8 bytes do not
pass for numbers of 4: the lower ones are of any size.)

What kernels wrote and nobody copied (emulation/stayed.cpp) is looked for in the same way: where the original leaves it
in host memory and nothing like it came back, a copy back is left out, or not needed.

Limit: a result that is written where another one of its size belongs is like that one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

__all__ = ["Unlike", "find_stayed", "find_unlike", "read_left"]

_DIGITS: dict[np.dtype[Any], float] = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-4}
_LEAST, _MOST = 1e-30, 1e30
_LONGEST_SEARCH = 64
Bytes = npt.NDArray[np.uint8]


class Unlike(Struct, frozen=True):
    """A block that is like none of the original's: `first` is where it differs from the one that is most like it."""

    size: int
    first: int


def read_left(path: Path) -> tuple[bytes, ...] | None:
    """Return the blocks in a file; None where there is none, or where it was too much."""
    if not path.is_file():
        return None
    data = path.read_bytes()
    found: list[bytes] = []
    at = 0
    while at + 8 <= len(data):
        size = int.from_bytes(data[at : at + 8], "little")
        if size == 0:
            return None
        found.append(data[at + 8 : at + 8 + size])
        at += 8 + size
    return tuple(found)


def find_unlike(known: Sequence[bytes], returned: Sequence[bytes]) -> tuple[Unlike, ...]:
    """Return the blocks of `returned` that have equals in size among `known`, and are like none of them."""
    by_size: dict[int, list[bytes]] = {}
    for block in dict.fromkeys(known):
        by_size.setdefault(len(block), []).append(block)
    found: list[Unlike] = []
    for block in dict.fromkeys(returned):
        others = by_size.get(len(block), [])
        if not others or len(others) > _LONGEST_SEARCH or _is_among(block, others):
            continue
        one = np.frombuffer(block, np.uint8)
        rows = [np.frombuffer(other, np.uint8) for other in others]
        nearest = min(rows, key=lambda row: int((row != one).sum()))
        found.append(Unlike(len(block), int(np.argmax(nearest != one))))
    return tuple(found)


def find_stayed(known: Sequence[bytes], returned: Sequence[bytes], stayed: Sequence[bytes]) -> tuple[int, ...]:
    """Return the sizes of the blocks of `stayed` that are like one of `known`, or equal to a part of one, and like none
    of `returned`. Blocks that hold one word all over say nothing: much memory is like them."""
    found: list[int] = []
    for block in dict.fromkeys(stayed):
        uniform = block == block[:8] * (len(block) // 8)
        if not uniform and _is_left(block, known) and not _is_left(block, returned):
            found.append(len(block))
    return tuple(found)


def _is_left(block: bytes, among: Sequence[bytes]) -> bool:
    same_size = [other for other in among if len(other) == len(block)]
    return _is_among(block, same_size[:_LONGEST_SEARCH]) or any(block in other for other in among)


def _is_among(block: bytes, others: Sequence[bytes]) -> bool:
    one = np.frombuffer(block, np.uint8)
    return any(other == block or _alike(np.frombuffer(other, np.uint8), one) for other in others)


def _alike(expected: Bytes, actual: Bytes) -> bool:
    """Whether two blocks of one size hold the same numbers but for their last digits."""
    changed = expected != actual
    return any(_close(expected, actual, changed, kind, digits) for kind, digits in _DIGITS.items())


def _close(expected: Bytes, actual: Bytes, changed: npt.NDArray[np.bool_], kind: np.dtype[Any], digits: float) -> bool:
    whole = len(expected) // kind.itemsize * kind.itemsize
    if bool(changed[whole:].any()):
        return False
    places = changed[:whole].reshape(-1, kind.itemsize).any(1)
    with np.errstate(all="ignore"):
        one, other = (block[:whole].view(kind).astype(np.float64) for block in (expected, actual))
        sizes = np.abs(one)
        usual = ((sizes > _LEAST) & (sizes < _MOST)) | (one == 0)
        if not bool((usual | np.isnan(one)).all()):
            return False
        scale = np.maximum(sizes, np.median(sizes[sizes > 0]) if bool((sizes > 0).any()) else 0.0)
        close = (np.abs(one - other) <= digits * scale) | (np.isnan(one) & np.isnan(other))
    return bool(close[places].all())
