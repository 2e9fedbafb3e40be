"""Sets and relations from comparisons: each conjunction is handed to isl as a matrix, a row a comparison.

    i >= 0 and n - 1 - i >= 0         dims (i), parameters (n)         i  n  1
                                                                       1  0  0
                                                                      -1  1 -1

isl's parser, which takes one comparison after the other, needs five times as long for the same set. Invariant: what
comes out is what the parser makes of the text: runs of comparisons and disjunctions are intersected in their order.
Limits: linear comparisons, no existentials; those are read as text.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Literal, TypeVar

from msgspec import Struct

from warpsmith.poly.isl.formula import Compare, Formula, Or
from warpsmith.poly.isl.library import isl
from warpsmith.poly.isl.polynomial import Monomial, Polynomial

__all__ = ["Condition", "condition_of", "map_of", "set_of"]

T = TypeVar("T", isl.Set, isl.Map)

_KINDS = isl.dim_type
_MOST_MADE = 8192

Row = tuple[bool, tuple[tuple[Monomial, int], ...]]
"""A comparison: whether it is an equation, and the terms of its polynomial."""


class Condition(Struct, frozen=True):
    """A formula as the key of a memo: polynomials are compared by their terms, in their order."""

    joined: Literal["and", "or"]
    parts: tuple[Condition | Row, ...]


def condition_of(formula: Formula, equations: Sequence[Polynomial] = ()) -> Condition:
    """Return a formula, and polynomials that are 0 besides, as a key."""
    parts = (formula,) if isinstance(formula, Compare | Or) else formula.parts
    rows = [(True, tuple(equation.terms.items())) for equation in equations]
    return Condition("and", (*map(_part, parts), *rows))


def _part(formula: Formula) -> Condition | Row:
    if isinstance(formula, Compare):
        return formula.equality, tuple(formula.polynomial.terms.items())
    return Condition("or" if isinstance(formula, Or) else "and", tuple(map(_part, formula.parts)))


# isl objects never change, and one question is asked many times: of every loop around a statement, with and without
# guards, of each form of a nest.
@functools.lru_cache(maxsize=_MOST_MADE)
def set_of(parameters: tuple[str, ...], dims: tuple[str, ...], condition: Condition) -> isl.Set:
    """Return {[dims] : condition}."""
    space = isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=[*dims], params=[*parameters])
    columns = _columns((*dims, *parameters))
    order = _KINDS.set, _KINDS.param, _KINDS.div, _KINDS.cst

    def conjunction(rows: Sequence[Row]) -> isl.Set:
        equations, others = (_matrix(rows, columns, equality=equality) for equality in (True, False))
        return isl.Set.from_basic_set(isl.BasicSet.from_constraint_matrices(space, equations, others, *order))

    return _joined(condition, conjunction, isl.Set.empty(space))


@functools.lru_cache(maxsize=_MOST_MADE)
def map_of(
    parameters: tuple[str, ...], dims: tuple[str, ...], outputs: tuple[str, ...], condition: Condition
) -> isl.Map:
    """Return {[dims] -> [outputs] : condition}."""
    space = isl.Space.create_from_names(isl.DEFAULT_CONTEXT, in_=[*dims], out=[*outputs], params=[*parameters])
    columns = _columns((*dims, *outputs, *parameters))
    order = _KINDS.in_, _KINDS.out, _KINDS.param, _KINDS.div, _KINDS.cst

    def conjunction(rows: Sequence[Row]) -> isl.Map:
        equations, others = (_matrix(rows, columns, equality=equality) for equality in (True, False))
        return isl.Map.from_basic_map(isl.BasicMap.from_constraint_matrices(space, equations, others, *order))

    return _joined(condition, conjunction, isl.Map.empty(space))


def _columns(names: tuple[str, ...]) -> dict[Monomial, int]:
    """Return the column of each name, and behind them that of the number."""
    columns: dict[Monomial, int] = {(name,): column for column, name in enumerate(names)}
    columns[()] = len(names)
    return columns


def _joined(condition: Condition, conjunction: Callable[[Sequence[Row]], T], empty: T) -> T:
    """Return the elements of a condition; `conjunction` makes those of a run of comparisons."""
    if condition.joined == "or":
        options = (_joined(Condition("and", (part,)), conjunction, empty) for part in condition.parts)
        return reduce(lambda one, other: one.union(other), options) if condition.parts else empty
    if not condition.parts:
        return conjunction(())
    pieces = (
        conjunction(part) if isinstance(part, list) else _joined(part, conjunction, empty) for part in _runs(condition)
    )
    return reduce(lambda one, other: one.intersect(other), pieces)


def _runs(condition: Condition) -> list[list[Row] | Condition]:
    """Return the parts of a conjunction, comparisons that stand side by side as one."""
    found: list[list[Row] | Condition] = []
    for part in condition.parts:
        if isinstance(part, Condition):
            found.append(part)
        elif found and isinstance(found[-1], list):
            found[-1].append(part)
        else:
            found.append([part])
    return found


def _matrix(rows: Sequence[Row], columns: Mapping[Monomial, int], *, equality: bool) -> isl.Mat:
    """Return the rows that are equations, or those that are not."""
    chosen = [terms for equation, terms in rows if equation == equality]
    matrix = isl.Mat.alloc(isl.DEFAULT_CONTEXT, 0, len(columns)).insert_zero_rows(0, len(chosen))
    for row, terms in enumerate(chosen):
        for monomial, value in terms:
            matrix = matrix.set_element_val(row, columns[monomial], _value(value))
    return matrix


@functools.lru_cache(maxsize=1024)
def _value(number: int) -> isl.Val:
    return isl.Val.read_from_str(isl.DEFAULT_CONTEXT, str(number))
