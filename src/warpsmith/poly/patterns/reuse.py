"""What a nest touches again: one reference by itself, several of one array, and which arrays one new nest could serve.

C[i][j] += A[i][k] * B[k][j]     no direction leaves two of A, B and C alone: no single nest removes all three
                                 A and C have the row i, B and C the row j: A with C, or B with C
b[i] = a[i-1] + a[i] + a[i+1]    a[i+1] of iteration i is a[i] of i + 1, and a[i-1] of i + 2
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from warpsmith.poly.patterns.lattice import kernel, solve
from warpsmith.poly.patterns.matrices import AffineRow, numeric_rows
from warpsmith.poly.patterns.model import Alike, ArrayReference, Direction, GroupReuse, MatrixRow

__all__ = ["alike_pairs", "common_directions", "group_reuse"]


def group_reuse(references: Sequence[tuple[str, tuple[AffineRow, ...]]], width: int) -> tuple[GroupReuse, ...]:
    """Return the reuse between references, each given by its array and its subscripts: of references that differ by
    numbers, each with the one that touches the same elements next."""
    groups: dict[object, list[int]] = {}
    for place, (array, rows) in enumerate(references):
        if not any(row.irregular for row in rows):
            groups.setdefault((array, tuple(map(_without_number, rows))), []).append(place)
    found: list[GroupReuse] = []
    for places in groups.values():
        found += _chain([(place, references[place][1]) for place in places], width)
    return tuple(found)


def _without_number(row: AffineRow) -> object:
    """Return what two rows have in common that differ by a number."""
    counters = tuple(frozenset(coefficient.terms.items()) for coefficient in row.counters)
    return counters, frozenset(row.rest.shift(-row.rest.constant_term).terms.items())


def _chain(members: Sequence[tuple[int, tuple[AffineRow, ...]]], width: int) -> Iterator[GroupReuse]:
    """Yield what each reference of a group leaves to the next one, in order of the iterations."""
    first = members[0][1]
    ahead: list[tuple[Direction, int]] = []
    for place, rows in members:
        # the iteration, seen from that of the first reference, in which this one touches the same element
        direction = _solve(first, rows, width)
        if direction is not None:
            ahead.append((direction, place))
    ahead.sort()
    for (start, one), (end, other) in pairwise(ahead):
        yield GroupReuse(one, other, tuple(b - a for a, b in zip(start, end, strict=True)))


def _solve(first: Sequence[AffineRow], rows: Sequence[AffineRow], width: int) -> Direction | None:
    lines: list[list[int]] = []
    values: list[int] = []
    for one, other in zip(first, rows, strict=True):
        difference = one.rest.constant_term - other.rest.constant_term
        numbers = numeric_rows([other], width)
        if len(numbers) > 1 or (not numbers and difference):
            return None
        lines += numbers
        values += [difference] * len(numbers)
    return solve(lines, values, width)


def common_directions(references: Sequence[ArrayReference], width: int) -> tuple[Direction, ...]:
    """Return a basis of the directions that leave the element of every reference alone: none where no single order of
    the loops removes what all of them touch again."""
    rows = [row for reference in references for row in _whole_rows(reference, width)]
    return kernel(rows, width) if references else ()


def _whole_rows(reference: ArrayReference, width: int) -> list[list[int]]:
    """Return rows whose kernel is spanned by the reference's directions of reuse."""
    return [list(row) for row in kernel(reference.reuse, width)] if reference.reuse else _unit(width)


def _unit(width: int) -> list[list[int]]:
    return [[int(k == place) for k in range(width)] for place in range(width)]


def alike_pairs(references: Sequence[ArrayReference]) -> tuple[Alike, ...]:
    """Return the pairs of arrays that are used again and whose matrices have rows in common: at the same dimension
    where both have as many, anywhere else."""
    first: dict[str, ArrayReference] = {}
    for reference in references:
        if reference.reuse:
            first.setdefault(reference.array, reference)
    found: list[Alike] = []
    for one, other in combinations(first.values(), 2):
        rows = tuple(dict.fromkeys(_equal_rows(one.rows, other.rows)))
        if rows:
            found.append(Alike(one.array, other.array, rows))
    return tuple(found)


def _equal_rows(one: Sequence[MatrixRow], other: Sequence[MatrixRow]) -> Iterator[str]:
    pairs = zip(one, other, strict=True) if len(one) == len(other) else ((a, b) for a in one for b in other)
    for a, b in pairs:
        if not a.irregular and not b.irregular and any(a.counters) and a.counters == b.counters:
            yield a.text
