"""The element of a table of known numbers as an atom: a value that a formula pins down.

    at = {5, 7, 9, 30, 32}        at[i] is v where  0 <= i <= 2 and v = 5 + 2 i,  or  3 <= i <= 4 and v = 30 + 2 (i - 3)

Invariant: the subscript certainly lies in the table, so that one of the runs holds, and gives v.
Limits: tables of a few runs; a subscript that is linear.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warpsmith.poly.isl.affine import AffineReader
from warpsmith.poly.isl.formula import Formula, at_least, both, either, equal
from warpsmith.poly.isl.polynomial import Polynomial, atom, constant
from warpsmith.poly.regions.tables import TableRun, runs_of
from warpsmith.tree.nodes import Expr, Index, Name
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import peel

__all__ = ["read_table"]

_MOST_RUNS = 64


def read_table(reader: AffineReader, tables: Mapping[Symbol, Sequence[int]], expr: Expr) -> Polynomial | None:
    """Return what stands at `table[e]`; None where `expr` is something else, or the element is not known."""
    whole = peel(expr)
    base = peel(whole.base) if isinstance(whole, Index) else None
    numbers = tables.get(base.symbol) if isinstance(base, Name) else None
    if numbers is None or not isinstance(whole, Index) or not isinstance(base, Name):
        return None
    found = reader.exact(whole.index)
    at = None if found is None else reader.vocabulary.linear(found)
    if at is None or not reader.oracle.require((at, constant(len(numbers) - 1) - at), whole.index):
        return None
    if at.number is not None:
        return constant(numbers[at.number])
    runs = runs_of(numbers)
    if len(runs) > _MOST_RUNS:
        return None
    key = "table", base.symbol, frozenset(at.terms.items())
    name, new = reader.vocabulary.quotient(key, show_expression(expr))
    if new:
        reader.vocabulary.define(name, either(_in_run(atom(name), at, run) for run in runs))
    return atom(name)


def _in_run(value: Polynomial, at: Polynomial, run: TableRun) -> Formula:
    """Return the formula that the subscript is in the run, and the value what stands there."""
    offset = at.shift(-run.first)
    inside = at_least(offset, constant(0)), at_least(constant(run.count - 1), offset)
    return both((*inside, equal(value, constant(run.value) + offset.scale(run.step))))
