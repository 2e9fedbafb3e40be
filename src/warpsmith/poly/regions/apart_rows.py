"""When two rows of `T **` have no element in common: the guard on which subscripts of rows are exact.

    for (i …) for (j = 1; j < m; j++) a_flat[a_at[i] + j] = …      no two rows overlap in columns [1, m)
    for (i …) for (j = 0; j < n[i]; j++) a_flat[a_at[i] + j] = …   each row lies in a block of its own

Invariant: where the guard holds, two subscripts (i, j) and (i', j') of the scope name one element only where they are
equal: C keeps what is made from a row in its block (C17 6.5.6 paragraph 8), and in one block the columns that the scope
touches tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.poly.regions.bounds import LinearBounds, linear_bounds
from warpsmith.poly.regions.region import ROW_STEP, Access, Statement, Subscript
from warpsmith.poly.regions.state import State
from warpsmith.tree.allocations import row_tables, rows_clear, rows_distinct
from warpsmith.tree.nodes import Conditional, Expr, Function, Literal, Name
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import Symbol

__all__ = ["row_guards", "with_columns"]


def row_guards(
    function: Function, stored: frozenset[Symbol], span: Span
) -> Mapping[Symbol, tuple[Symbol, Assumption | None]]:
    """Return the function's pointers to rows: where these start, and the guard for those that are stored to."""
    found: dict[Symbol, tuple[Symbol, Assumption | None]] = {}
    for block, starts in row_tables(function).items():
        test = rows_distinct(Name(span=span, type=starts.type, symbol=starts), span)
        apart = Assumption(f"no two rows of {block.name} lie in one block of memory", "guarded", test, span)
        found[block] = starts, apart if block in stored else None
    return found


def with_columns(state: State, statements: Sequence[Statement]) -> frozenset[Symbol]:
    """Let the guards that were assumed ask for as much as the statements need: for nothing where no statement writes to
    rows (that another pointer does is a guard of its own), for their columns where these are known. Return the rows of
    which they are not, so that each has to lie in a block of its own."""
    vague: set[Symbol] = set()
    written = {a.base for s in statements for a in s.accesses if a.write}
    for block, (starts, apart) in state.rows.items():
        if apart is None or all(a is not apart for a in state.assumptions):
            continue
        if block not in written:
            state.assumptions[:] = [a for a in state.assumptions if a is not apart]
            continue
        columns = _columns(state, block, statements)
        if columns is not None:
            asked = Name(span=state.span, type=starts.type, symbol=starts)
            low, high = (_where_any(bound) for bound in (columns.lower, columns.upper))
            test = rows_clear(asked, low, high, state.span)
            words = f"{print_expr(low)} .. {print_expr(high)}".replace("(long long)", "")
            better = Assumption(f"no two rows of {block.name} overlap in [{words})", "guarded", test, state.span)
            state.assumptions[:] = [better if a is apart else a for a in state.assumptions]
        else:
            vague.add(block)
    return frozenset(vague)


def _where_any(bound: Expr) -> Expr:
    """Return `e` of `c ? e : 0`: where nothing is touched, the test may come out as it likes."""
    while isinstance(bound, Conditional) and isinstance(bound.other, Literal) and bound.other.value == 0:
        bound = bound.then
    return bound


def _columns(state: State, block: Symbol, statements: Sequence[Statement]) -> LinearBounds | None:
    """Return the columns that the statements touch, over all iterations of the loops around the scope: then the guard
    of a loop inside is that of the nest."""
    around = tuple(name for _, name in state.outer)
    found = [
        (replace(s, counters=(*around, *s.counters)), a)
        for s in statements
        for a in s.accesses
        if a.base == block and (a.path or not a.known)
    ]
    parts = [(s, _in_row(a)) for s, a in found]
    known = [(s, a) for s, a in parts if a is not None]
    probe = state.copy()
    if not known or len(known) < len(parts):
        return None
    answer = linear_bounds(probe, known, state.span)
    # what would need guards of its own is not worth them
    return answer if isinstance(answer, LinearBounds) and len(probe.assumptions) == len(state.assumptions) else None


def _in_row(access: Access) -> Access | None:
    """Return the access as one to an array of its own, its row; None where it names no row."""
    if len(access.path) < 4 or access.path[2] != ROW_STEP or not isinstance(access.path[3], Subscript):
        return None
    return replace(access, path=(access.path[3],))
