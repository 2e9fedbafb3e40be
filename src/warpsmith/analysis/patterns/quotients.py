"""Quotients and remainders of thread indices as columns: tid.x / 16 and tid.x % 16 in place of tid.x.

    block of 256       q = tid.x / 16 < 16      r = tid.x % 16 < 16      tid.x = 16·q + r
    a[tid.x / 16][tid.x % 16]                   a[q][r]
    tid.x ^ 1                                   2·q + 1 - r, where q = tid.x / 2, r = tid.x % 2

What threads know by their index is a table of numbers. Where its steps along an axis change, the axis is cut; a table
is written as a sum of digits only if that is right for each thread of the block. Limits: pieces are of one length, so
that digits take all their numbers together, and each length divides the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.analysis.affine.symbols import Atom, Form
from warpsmith.analysis.memory.lanes import BlockLanes

__all__ = ["AxisDigit", "Quotients", "find_quotients"]

_WIDE: Final = 64
_MOST_CUTS: Final = 2


class AxisDigit(Struct, frozen=True):
    """A digit of the index along an axis (0 to 2): one step of it is `width` threads; it has `extent` numbers."""

    name: str
    axis: int
    width: int
    extent: int
    atom: Atom


class Quotients(Struct, frozen=True):
    """The digits of each axis, coarsest first: one where it is not cut; `sums`: what stands in place of the indices of
    axes that are cut, and of tables, as sums of digits."""

    digits: tuple[tuple[AxisDigit, ...], ...]
    sums: Mapping[Atom, Form]


def find_quotients(lanes: BlockLanes, tables: Iterable[Atom]) -> Quotients:
    """Return the digits that make sums of as many of some tables as go together, in their order."""
    cuts: tuple[tuple[int, ...], ...] = ((), (), ())
    known: list[Atom] = []
    for atom in tables:
        wanted = _join(cuts, _cuts(lanes, atom.table), lanes.block)
        if wanted is not None and _sum(lanes, atom.table, _digits(lanes, wanted)) is not None:
            cuts = wanted
            known.append(atom)
    digits = _digits(lanes, cuts)
    axes = [atom for axis, atom in enumerate(lanes.axes) if cuts[axis]]
    sums = {atom: _sum(lanes, atom.table, digits) for atom in (*axes, *known)}
    return Quotients(digits, {atom: form for atom, form in sums.items() if form is not None})


def _strides(lanes: BlockLanes) -> tuple[int, int, int]:
    x, y, _ = lanes.block
    return 1, x, x * y


def _cuts(lanes: BlockLanes, table: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return the lengths of the pieces of each axis, as the threads that are 0 along the others have them."""
    rows = (
        [table[k * stride] for k in range(extent)] for stride, extent in zip(_strides(lanes), lanes.block, strict=True)
    )
    return tuple(map(_lengths, rows))


def _lengths(values: Sequence[int]) -> tuple[int, ...]:
    """Return the lengths of the pieces in which values go on by one step each, from finest to coarsest.

    >>> _lengths([0, 1, 2, 3, 0, 1, 2, 3])
    (4,)
    """
    found: list[int] = []
    width = 1
    while len(values) > 1:
        step = values[1] - values[0]
        run = next((k for k in range(2, len(values)) if values[k] - values[k - 1] != step), None)
        if run is None:
            break
        width *= run
        found.append(width)
        values = values[::run]
    return tuple(found)


def _join(
    one: Sequence[tuple[int, ...]], other: Sequence[tuple[int, ...]], block: Sequence[int]
) -> tuple[tuple[int, ...], ...] | None:
    """Return the lengths of both for each axis; None where one does not divide the next, or they are too many."""
    joined = tuple(tuple(sorted({*a, *b})) for a, b in zip(one, other, strict=True))
    for lengths, extent in zip(joined, block, strict=True):
        whole = (*lengths, extent)
        if len(lengths) > _MOST_CUTS or any(b % a for a, b in zip(lengths, whole[1:], strict=True)):
            return None
    return joined


def _digits(lanes: BlockLanes, cuts: Sequence[tuple[int, ...]]) -> tuple[tuple[AxisDigit, ...], ...]:
    return tuple(tuple(_digits_of(lanes, axis, lengths)) for axis, lengths in enumerate(cuts))


def _digits_of(lanes: BlockLanes, axis: int, lengths: tuple[int, ...]) -> Iterable[AxisDigit]:
    index = lanes.axes[axis]
    widths = (1, *lengths)
    for width, over in reversed(list(zip(widths, (*lengths, lanes.block[axis]), strict=True))):
        whole = over == lanes.block[axis]
        name = f"{index.name}{'' if whole else f'%{over}'}{'' if width == 1 else f'/{width}'}"
        atom = index if name == index.name else lanes.index(name, tuple(t % over // width for t in index.table))
        yield AxisDigit(name, axis, width, over // width, atom)


def _sum(lanes: BlockLanes, table: Sequence[int], digits: Sequence[Sequence[AxisDigit]]) -> Form | None:
    """Return a table as a sum of digits; None where it is none."""
    strides = _strides(lanes)
    found = [table[0]] * len(table)
    terms: dict[tuple[Atom, ...], int] = {(): table[0]} if table[0] else {}
    for digit in (digit for axis in digits for digit in axis if digit.extent > 1):
        factor = table[strides[digit.axis] * digit.width] - table[0]
        found = [n + factor * k for n, k in zip(found, digit.atom.table, strict=True)]
        terms |= {(digit.atom,): factor} if factor else {}
    return Form(_WIDE, terms) if found == list(table) else None
