"""Advice about the layout of data that lanes go through, tried on the addresses themselves.

128·tid.x + 4·tid.y     a row of 128 bytes: 32 words of one bank         132·tid.x + 4·tid.y     each its own bank
"""

from __future__ import annotations

from typing import Final

from warpsmith.analysis.uniformity.facts import AccessFact, KernelFacts
from warpsmith.analysis.vocabulary import Vocabulary
from warpsmith.machine.requests import WORD, bank_ways

__all__ = ["against_conflict", "against_scatter"]

_TILE: Final = "pad the leading dimension by one element: tile[32][33]"
_SWIZZLE: Final = "or swizzle: column ^ row"
_WIDEST: Final = 16
"""The bytes that one thread can move at once."""


def against_scatter(words: Vocabulary, piece: int | None) -> tuple[str, ...]:
    """Return the advice for a request that touches many sectors; `piece`: where most of what lanes jump over is used,
    so many bytes at a time."""
    if piece == _WIDEST:
        return ("let a thread take items that lie as far apart as its block has threads, in place of neighbors",)
    if piece is not None:
        return (
            "most of the record is used, in pieces: move it whole, as a vector of up to 16 bytes (float4, float2)",
            "or keep each field in an array of its own (structure of arrays)",
        )
    return (
        f"let {words.thread('x')} run along the fast dimension: swap the order of the index, or of the loops around",
        f"or go through a tile in {words.shared} memory: read rows, write rows; tile[32][33] keeps its banks apart",
    )


def against_conflict(facts: KernelFacts, access: AccessFact) -> tuple[str, ...]:
    """Return the advice for a bank conflict: another length of rows, where one was found to have none."""
    row = _row(facts, access)
    if row is None:
        return _TILE, _SWIZZLE
    element = max(access.bytes, WORD)
    if _helps(facts, access, row, row + element):
        if row == 32 * WORD and element == WORD:
            return _TILE, _SWIZZLE
        apart = f"lanes {row + element} bytes apart in place of {row} have no conflict"
        return (f"{apart}: pad rows, or records, by one element",)
    if row > element and _helps(facts, access, row, row - element):
        return (f"rows of {row - element} bytes in place of {row} have no conflict: leave the padding out",)
    return ("no padding by one element helps: let neighboring lanes access neighboring words",)


def _helps(facts: KernelFacts, access: AccessFact, old: int, new: int) -> bool:
    """Whether rows of another length take a conflict away, and make no other access to the array dearer."""
    alike = [a for a in facts.accesses if a.space == "shared" and a.variable == access.variable]
    known = [a for a in alike if _row(facts, a) is not None]
    return _ways(facts, access, old, new) == 1 and all(
        _ways(facts, one, old, new) <= _ways(facts, one, old, old) for one in known
    )


def _row(facts: KernelFacts, access: AccessFact) -> int | None:
    """Return how long a row is, in bytes: the longest step from thread to thread; None where steps do not explain the
    addresses."""
    along_x, along_y = access.stride_bytes, access.stride_y_bytes
    if along_x is None or not access.offsets or (facts.block[1] > 1 and along_y is None):
        return None
    steps = _steps(facts, access)
    lowest = min(steps)
    if [step - lowest for step in steps] != list(access.offsets):
        return None
    row = max(abs(along_x), abs(along_y or 0) if facts.block[1] > 1 else 0)
    return row if row >= WORD else None


def _steps(facts: KernelFacts, access: AccessFact, old: int = 0, new: int = 0) -> list[int]:
    """Return the address of each lane of the first warp, with rows of `new` bytes where they have `old`."""
    along_x, along_y = (_with(step or 0, old, new) for step in (access.stride_bytes, access.stride_y_bytes))
    width = facts.block[0]
    return [along_x * (lane % width) + along_y * (lane // width) for lane in range(len(access.offsets))]


def _with(step: int, old: int, new: int) -> int:
    return step if abs(step) != old else new if step > 0 else -new


def _ways(facts: KernelFacts, access: AccessFact, old: int, new: int) -> int:
    return bank_ways(dict(enumerate(_steps(facts, access, old, new))), access.bytes)
