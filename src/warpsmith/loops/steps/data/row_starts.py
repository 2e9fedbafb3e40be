"""Rows wherever they begin: see RowStarts.

    int **list;   list[0] ─► 3 8 9 . . 4 1 . . . 7 …     rows of any length, in any order, shared or not, in one block
                  list[1] ──────────────┘      │         or in many: list_at = 0, 5, 9, …
                  list[2] ─────────────────────┘         list[i][k] is list_flat[list_at[i] + k]

Invariant: both forms name the same element, whatever the loop does with it, as long as the row pointers do not change
while it runs: addresses are numbers of 64 bits, a start is the difference of two of them, and the compiler cannot see
of which block list_flat is. Row pointers that nobody may follow (null) have a start that nobody asks for.
Limits: what each of the pointers points into is a block that the run time knows, and so is that of the pointers, where
it is not known which of them the loop takes; rows of several blocks start whole numbers of elements apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import ClassVar

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.shape import does_not_fit
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.loops.analysis.uses import VariableUse, uses, variable
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import number, use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.versions import can_version
from warpsmith.loops.writing.pragma_lines import closing_lines, pragma_in_the_way, pragmas_of, run_with_pragmas
from warpsmith.loops.writing.storage import before
from warpsmith.poly.aliasing.unchanged import declared_below, disturbance
from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import PolyOptions, Section
from warpsmith.poly.isl.space import OutOfBudgetError, budget
from warpsmith.poly.regions.sections import run_sections
from warpsmith.tree.allocations import row_starts, row_tables, row_zero
from warpsmith.tree.memory.effective_types import keeps_types
from warpsmith.tree.nodes import (
    Binary,
    Block,
    Cast,
    DeclStmt,
    Expr,
    For,
    If,
    Index,
    Name,
    Node,
    SizeOf,
    Stmt,
    VarDecl,
    While,
)
from warpsmith.tree.printing.printer import print_type
from warpsmith.tree.program import Program
from warpsmith.tree.types import INT, LONG_LONG, SIZE_T, Pointer, Record, Scalar, Symbol, Type, byte_size
from warpsmith.tree.walk import names, peel, rebuild, walk

__all__ = ["RowStarts"]


class RowStarts(Struct, frozen=True):
    """Reach the rows behind pointers to pointers from one of them, by how far from there each of them begins.

    Legal where every use of the variable takes a row, and nothing in the loop changes a row pointer or frees memory.
    The run time looks at every row pointer before the loop; where a row lies in no block of memory that it knows, the
    loop runs as it was written. Unlike flatten it asks for no bounds and no even distance, and each row may be of any
    length and lie in a block of its own: on the device the distances are those of the rows' copies.

    Step: loop=f/i

    Before:
        const long long *ws_row_starts(const void *rows, unsigned long element);
        void *ws_row_zero(const long long *starts);
        void f(int n, const int *at, double **a, double *restrict y)
        {
            for (int i = 0; i < n; i++)
                y[i] = a[at[i]][i % 3];
        }

    After:
        const long long *ws_row_starts(const void *rows, unsigned long element);
        void *ws_row_zero(const long long *starts);
        void f(int n, const int *at, double **a, double *restrict y)
        {
            const long long *a_at = ws_row_starts(a, sizeof(double));
            if (a_at != 0) {
                double *a_flat = (double *)ws_row_zero(a_at);
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
        """Say whether the loop can be written over row starts for each variable."""
        place = LoopContext.of(program, self.loop)
        if not facts.options.guards:
            return does_not_fit("a test before the loop is not allowed", place.loop)
        found = pragma_in_the_way(place) or _all(facts, place, self.variables)
        if isinstance(found, Reason):
            return Unknown((found,))
        return names_hold(self, program, self.loop, Proved())

    def apply(self, program: Program) -> Program:
        """Return the program with the tests and both loops."""
        plain = self._apply_starts(program, {})
        bounds = _find_touched(plain, LoopContext.of(program, self.loop))
        return self._apply_starts(program, bounds) if bounds else plain

    def _apply_starts(self, program: Program, bounds: Mapping[Symbol, Section]) -> Program:
        """Return the program, the run time being asked for all rows that there are, or for those within bounds."""
        place = LoopContext.of(program, self.loop)
        supply, span, run = Fresh.of(program), before(place.loop.span), run_with_pragmas(place)
        rows = [_rows(symbol, supply) for symbol in _choose_rows(place, self.variables)]
        asked = [_declare(one.starts, one.question(bounds.get(one.starts), span), span) for one in rows]
        tests: list[Expr] = [
            Binary(span=span, type=INT, op="!=", left=use(one.starts, span), right=number(0, span)) for one in rows
        ]
        zeros = (row_zero(use(one.starts, span), span) for one in rows)
        blocks = [
            _declare(one.block, Cast(span=span, type=one.block.type, operand=zero), span)
            for one, zero in zip(rows, zeros, strict=True)
        ]
        own, loop = place.loop.span, _over_blocks(place.loop, rows)
        fast = Block(span=own, statements=(*blocks, *pragmas_of(run), loop))
        slow = Block(span=own, statements=tuple(copy_tree(s, supply) for s in (*pragmas_of(run), run[-1])))
        whole = reduce(lambda a, b: Binary(span=span, type=INT, op="&&", left=a, right=b), tests)
        reasons = tuple(f"the run time knows where the rows of {one.symbol.name} start" for one in rows)
        test = If(span=own, condition=whole, then=fast, other=slow, reasons=reasons)
        return with_run(program, place.function, run, (*closing_lines(run), *asked, test))


class _Rows(Struct, frozen=True):
    """A pointer to rows, and the variables for the first of them and for where all begin, counted from there."""

    symbol: Symbol
    block: Symbol
    starts: Symbol

    def question(self, bounds: Section | None, span: Span) -> Expr:
        """Return the question where the rows start."""
        type = _plain(_element(self.symbol.type))
        size = SizeOf(span=span, type=SIZE_T, text=f"sizeof({print_type(type)})", value=byte_size(type))
        first = use(self.symbol, span)
        return row_starts(first, size, span, None if bounds is None else (bounds.lower, bounds.upper))


def _find_touched(program: Program, place: LoopContext) -> dict[Symbol, Section]:
    """Return the rows that the loop touches, for each variable that has where rows start: where that is known, nobody
    needs to know the block that the row pointers lie in, nor what those are that the loop leaves alone."""
    function = next(f for _, f in program.functions() if f.symbol == place.function.symbol)
    tables = set(row_tables(function).values())
    found = (n for n in walk(function.body) if isinstance(n, For | While) and n.span == place.loop.span)
    loop = next((one for one in found if any(n.symbol in tables for n in names(one))), None)
    options = PolyOptions(guards=False)
    try:
        with budget(options.max_operations):
            answer = run_sections(program, function, (loop,), options, Summaries.of(program)) if loop else None
    except OutOfBudgetError:
        return {}
    return {s.symbol: s for s in answer.sections if s.symbol in tables} if answer and not answer.assumptions else {}


def _element(type: Type) -> Type:
    assert isinstance(type, Pointer) and isinstance(type.to, Pointer)
    return type.to.to


def _plain(type: Type) -> Type:
    return Scalar(type.name, type.bits, type.kind, spelling=type.spelling) if isinstance(type, Scalar) else type


def _rows(symbol: Symbol, supply: Fresh) -> _Rows:
    block = supply.variable(f"{symbol.name}_flat", Pointer(_element(symbol.type)), symbol, symbol.name)
    start = Scalar(LONG_LONG.name, LONG_LONG.bits, LONG_LONG.kind, const=True)
    return _Rows(symbol, block, supply.variable(f"{symbol.name}_at", Pointer(start), symbol))


def _choose_rows(place: LoopContext, wanted: Sequence[str]) -> list[Symbol]:
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


def _all(facts: Facts, place: LoopContext, wanted: Sequence[str]) -> Reason | None:
    """Return why the loop cannot take its rows by their starts."""
    for name in wanted:
        known = variable(place, name)
        if isinstance(known, Reason):
            return known
    chosen, header = _choose_rows(place, wanted), place.loop.header
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


def _obstacle(facts: Facts, place: LoopContext, found: list[VariableUse]) -> Reason | None:
    """Return what changes a row pointer in the loop, or may free what it leads to."""
    origin = facts.origin(place.function)
    if origin.effects(place.loop).allocates:
        remedy = "allocate and free outside the loop"
        text = "a row may be freed in the loop, or another one take its place"
        return Reason("STP002", text, place.loop.header, legal_if=(remedy,))
    typed = keeps_types(place.unit.arguments)
    for used in found:
        for part in (used.node, *((peel(used.node.base),) if isinstance(used.node, Index) else ())):
            why = disturbance(origin, (place.loop,), part, typed=typed)
            if why is not None:
                text = f"{' '.join(part.span.text.split())} may change in the loop: {why.text}"
                return Reason("STP002", text, why.node.span)
    return None


def _declare(symbol: Symbol, value: Expr, span: Span) -> Stmt:
    return DeclStmt(span=span, declarations=(VarDecl(span=span, symbol=symbol, init=value),))


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
