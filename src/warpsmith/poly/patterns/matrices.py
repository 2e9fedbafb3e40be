"""The access matrix of a reference, from its subscripts in the model of the nest.

    a[n - 1 - j][2*i]     rows (-1 on j, 1 on n, -1) and (2 on i)
    a[i*n + j]            the rows of a[i][j]: by the strides of all references to a (subscripts/views.py)
    x[idx[j]]             irregular, and follows j

A coefficient may be made of parameters. `numeric_rows` has one row of whole numbers for each product of parameters that
stands beside a counter: a direction that all of them map to 0 leaves the element alone whatever the parameters are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from warpsmith.poly.isl.polynomial import ZERO, Monomial, Polynomial
from warpsmith.poly.isl.vocabulary import AtomVocabulary
from warpsmith.poly.patterns.model import Entry, MatrixRow

__all__ = ["AffineRow", "matrix_row", "numeric_rows", "parameters_of", "read_row"]


class AffineRow(Struct, frozen=True):
    """One subscript: `counters[k]` is what stands beside counter k, `rest` what no counter moves. Where it is no such
    sum it has no `counters`, and `follows` names those that may change it."""

    text: str
    counters: tuple[Polynomial, ...]
    rest: Polynomial = ZERO
    follows: tuple[int, ...] = ()

    @property
    def irregular(self) -> bool:
        """Whether the subscript is no sum of counters."""
        return not self.counters


def read_row(vocabulary: AtomVocabulary, value: Polynomial, counters: Sequence[str]) -> AffineRow | None:
    """Return a subscript as a sum of `counters`; None where it is none."""
    flat = vocabulary.multiply_out(value)
    found: list[Polynomial] = []
    rest = flat
    for name in counters:
        coefficient = flat.coefficient(name)
        if coefficient is None or not all(map(vocabulary.invariant, coefficient.atoms())):
            return None
        found.append(coefficient)
        rest = rest.drop_name(name)
    if not all(map(vocabulary.invariant, rest.atoms())):
        return None
    return AffineRow(vocabulary.text(value), tuple(found), rest)


def numeric_rows(rows: Sequence[AffineRow], width: int) -> list[list[int]]:
    """Return the rows of whole numbers that say what moves the element (see the head of this file)."""
    found: list[list[int]] = []
    for row in rows:
        if row.irregular:
            found += [[int(k == place) for k in range(width)] for place in row.follows]
            continue
        for monomial in dict.fromkeys(m for c in row.counters for m in c.terms):
            found.append([c.terms.get(monomial, 0) for c in row.counters])
    return found


def parameters_of(rows: Iterable[AffineRow]) -> tuple[Monomial, ...]:
    """Return the products of parameters that are added to the subscripts, in order of appearance."""
    return tuple(dict.fromkeys(m for row in rows for m in row.rest.terms if m))


def matrix_row(
    write: Callable[[Polynomial], str], row: AffineRow, parameters: Sequence[Monomial], width: int
) -> MatrixRow:
    """Return a subscript as a row of the matrix whose columns are the counters, the `parameters`, and 1; `write`: the
    text of a coefficient."""
    if row.irregular:
        return MatrixRow(row.text, (0,) * width, (0,) * len(parameters), 0, irregular=True, follows=row.follows)
    counters = tuple(_entry(write, c) for c in row.counters)
    return MatrixRow(row.text, counters, tuple(row.rest.terms.get(m, 0) for m in parameters), row.rest.constant_term)


def _entry(write: Callable[[Polynomial], str], coefficient: Polynomial) -> Entry:
    number = coefficient.number
    return write(coefficient) if number is None else number
