"""Rows of one block, wherever they begin: see RowStarts.

    int **list;   list[0] ─► 3 8 9 . . 4 1 . . . 7 …     one block, rows of any length, in any order, shared or not
                  list[1] ──────────────┘      │         list_at = 0, 5, 9, …
                  list[2] ─────────────────────┘         list[i][k] is list_flat[list_at[i] + k]

Invariant: both forms name the same element, whatever the loop does with it, as long as the row pointers do not change
while it runs. Row pointers that nobody may follow (null) have a start that nobody asks for.
Limits: the pointers lie in a block that the run time knows, and so does what all of them point into.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import number, use
from warpsmith.loops.place import Place, with_run
from warpsmith.loops.pragma_lines import pragma_in_the_way, pragmas_of, run_with_pragmas
from warpsmith.loops.scopes import names_hold
from warpsmith.loops.shape import does_not_fit
from warpsmith.loops.storage import before
from warpsmith.loops.substitute import copied
from warpsmith.loops.uses import Use, uses, variable
from warpsmith.loops.versions import can_version
from warpsmith.poly.analyze import Facts
from warpsmith.poly.extents import byte_size
from warpsmith.poly.unchanged import declared_below, disturbance
from warpsmith.tree.nodes import (
    Binary,
    Block,
    DeclStmt,
    Expr,
    If,
    Index,
    Name,
    Node,
    SizeOf,
    Stmt,
    VarDecl,
)
from warpsmith.tree.printer import print_type
from warpsmith.tree.program import Program
from warpsmith.tree.types import INT, LONG_LONG, SIZE_T, Pointer, Record, Scalar, Symbol, Type
from warpsmith.tree.units import row_starts
from warpsmith.tree.walk import names, peel, rebuild

__all__ = ["RowStarts"]


@dataclass(frozen=True, slots=True)
class RowStarts:
    """Reach the rows behind pointers to pointers as parts of one block, by where each of them begins in it.

    Legal where every use of the variable takes a row, and nothing in the loop changes a row pointer. The run time looks
    at every row pointer before the loop; where the rows do not lie in one block of the heap, the loop runs as it was
    written. Unlike flatten it asks for no bounds and no even distance, and the rows may be of any length.

    Step: loop=f/i

    Before:
        const long long *ws_row_starts(const void *rows, unsigned long element);
        void f(int n, const int *at, double **a, double *restrict y)
        {
            for (int i = 0; i < n; i++)
                y[i] = a[at[i]][i % 3];
        }

    After:
        const long long *ws_row_starts(const void *rows, unsigned long element);
        void f(int n, const int *at, double **a, double *restrict y)
        {
            const long long *a_at = ws_row_starts(a, sizeof(double));
            if (a_at != 0) {
                double *a_flat = a[0];
                for (int i = 0; i < n; i++)
                    y[i] = a_flat[a_at[at[i]] + i % 3];
            } else {
                for (int i = 0; i < n; i++)
                    y[i] = a[at[i]][i % 3];
            }
        }
    """

    name: ClassVar[str] = "row-starts"

    loop: str
    variables: tuple[str, ...] = ()

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the loop can be written over one block for each variable."""
        place = Place.of(program, self.loop)
        if not facts.options.guards:
            return does_not_fit("a test before the loop is not allowed", place.loop)
        found = pragma_in_the_way(place) or _all(facts, place, self.variables)
        if isinstance(found, Reason):
            return Unknown((found,))
        return names_hold(self, program, self.loop, Proved())

    def apply(self, program: Program) -> Program:
        """Return the program with the tests and both loops."""
        place = Place.of(program, self.loop)
        supply, span, run = Fresh.of(program), before(place.loop.span), run_with_pragmas(place)
        rows = [_rows(symbol, supply) for symbol in _chosen(place, self.variables)]
        asked = [_declared(one.starts, row_starts(use(one.symbol, span), one.size(span), span), span) for one in rows]
        tests: list[Expr] = [
            Binary(span=span, type=INT, op="!=", left=use(one.starts, span), right=number(0, span)) for one in rows
        ]
        blocks = [_declared(one.block, _row(one.symbol, number(0, span), span), span) for one in rows]
        own, loop = place.loop.span, _over_blocks(place.loop, rows)
        fast = Block(span=own, statements=(*blocks, *pragmas_of(run), loop))
        slow = Block(span=own, statements=tuple(copied(s, supply) for s in (*pragmas_of(run), run[-1])))
        whole = reduce(lambda a, b: Binary(span=span, type=INT, op="&&", left=a, right=b), tests)
        return with_run(program, place.function, run, (*asked, If(span=own, condition=whole, then=fast, other=slow)))


@dataclass(frozen=True, slots=True)
class _Rows:
    """A pointer to rows, and the variables for their block and for where they begin in it."""

    symbol: Symbol
    block: Symbol
    starts: Symbol

    def size(self, span: Span) -> Expr:
        """Return the size of an element."""
        type = _plain(_element(self.symbol.type))
        return SizeOf(span=span, type=SIZE_T, text=f"sizeof({print_type(type)})", value=byte_size(type))


def _element(type: Type) -> Type:
    assert isinstance(type, Pointer) and isinstance(type.to, Pointer)
    return type.to.to


def _plain(type: Type) -> Type:
    return Scalar(type.name, type.bits, type.kind, spelling=type.spelling) if isinstance(type, Scalar) else type


def _rows(symbol: Symbol, supply: Fresh) -> _Rows:
    block = supply.variable(f"{symbol.name}_flat", Pointer(_element(symbol.type)), symbol)
    start = Scalar(LONG_LONG.name, LONG_LONG.bits, LONG_LONG.kind, const=True)
    return _Rows(symbol, block, supply.variable(f"{symbol.name}_at", Pointer(start), symbol))


def _chosen(place: Place, wanted: Sequence[str]) -> list[Symbol]:
    """Return the pointers to rows that the loop uses, or those of them that are wanted."""
    own = declared_below(place.loop)
    found = {n.symbol for n in names(place.loop) if n.symbol not in own and _leads_to_rows(n.symbol.type)}
    return sorted((s for s in found if not wanted or s.name in wanted), key=lambda s: (s.name, s.key))


def _leads_to_rows(type: Type) -> bool:
    if not isinstance(type, Pointer) or not isinstance(type.to, Pointer):
        return False
    element = type.to.to
    fits = isinstance(element, Scalar | Record) and not (isinstance(element, Scalar) and element.volatile)
    return fits and not type.to.reference and byte_size(element) is not None


def _all(facts: Facts, place: Place, wanted: Sequence[str]) -> Reason | None:
    """Return why the loop cannot take its rows from blocks."""
    for name in wanted:
        known = variable(place, name)
        if isinstance(known, Reason):
            return known
    chosen, header = _chosen(place, wanted), place.loop.header
    if not chosen or len(chosen) < len(wanted):
        return Reason("STP002", "the loop uses no pointer to pointers to numbers or structs", header)
    if not can_version((place.loop,)):
        return Reason("STP002", "the loop cannot stand twice in the function", header)
    for symbol in chosen:
        found = uses(place.loop, symbol, 1)
        if isinstance(found, Reason):
            remedy = f"subscript {symbol.name} wherever the loop uses it"
            return Reason("STP002", f"{symbol.name} is used as a whole", found.span, legal_if=(remedy,))
        stop = _obstacle(facts, place, found)
        if stop is not None:
            return stop
    return None


def _obstacle(facts: Facts, place: Place, found: list[Use]) -> Reason | None:
    """Return what changes a row pointer in the loop."""
    origin = facts.origin(place.function)
    typed = "-fno-strict-aliasing" not in place.unit.arguments
    for used in found:
        for part in (used.node, *((peel(used.node.base),) if isinstance(used.node, Index) else ())):
            why = disturbance(origin, (place.loop,), part, typed=typed)
            if why is not None:
                text = f"{' '.join(part.span.text.split())} may change in the loop: {why.text}"
                return Reason("STP002", text, why.node.span)
    return None


def _declared(symbol: Symbol, value: Expr, span: Span) -> Stmt:
    return DeclStmt(span=span, declarations=(VarDecl(span=span, symbol=symbol, init=value),))


def _row(symbol: Symbol, index: Expr, span: Span) -> Expr:
    assert isinstance(symbol.type, Pointer)
    return Index(span=span, type=symbol.type.to, base=use(symbol, span), index=index)


def _over_blocks(loop: Stmt, rows: Sequence[_Rows]) -> Stmt:
    """Return the loop with `flat + at[i]` for a row `a[i]`, and `flat[at[i] + k]` for its element."""
    known = {one.symbol: one for one in rows}
    made: dict[int, tuple[Binary, _Rows]] = {}

    def change(node: Node) -> Node:
        if not isinstance(node, Index):
            return node
        base = peel(node.base)
        span = node.span
        if id(base) in made:
            row, one = made[id(base)]
            place = Binary(span=span, type=LONG_LONG, op="+", left=row.right, right=node.index)
            return Index(span=span, type=node.type, base=use(one.block, span), index=place)
        if isinstance(base, Name) and base.symbol in known:
            one = known[base.symbol]
            start = Index(span=span, type=LONG_LONG, base=use(one.starts, span), index=node.index)
            new = Binary(span=span, type=one.block.type, op="+", left=use(one.block, span), right=start)
            made[id(new)] = new, one
            return new
        return node

    return rebuild(loop, change)
