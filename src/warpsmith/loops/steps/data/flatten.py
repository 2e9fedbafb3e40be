"""Flattening of pointers to rows: see Flatten.

    double **a;   a[0] ─► m numbers …   whole: every row starts `a_step` numbers behind the one before, at least a width
                  a[1] ─► m numbers …   then a[i][j] is a[0][i * a_step + j], one block
                  …

Invariant: the rows that are tested are those that the loop touches, [first row, past the last), each from the first
column that the loop touches to past the last. Where they are evenly spaced, no two elements are the same memory. What
lies between two rows may be anybody's: it is less than a page, so that it can be read, and it is copied with the rows,
so nothing that the loop writes may lie there: no call allocates, no variable outside the function is written, and the
other arrays are tested to lie elsewhere (where that cannot be said there must be nothing in between).
Limits: two subscripts at every use; the bounds of both must be known before the loop.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import ClassVar

from msgspec import Struct

from warpsmith.base.identity import Identity
from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.analysis.extremes import wide, wide_expr
from warpsmith.loops.analysis.invariant_guards import apart_from
from warpsmith.loops.analysis.row_pointers import hide_row_pointers
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.shape import does_not_fit
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.loops.analysis.uses import VariableUse, uses, variable
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import Linear, number, use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.versions import can_version
from warpsmith.loops.writing.pragma_lines import closing_lines, pragma_in_the_way, pragmas_of, run_with_pragmas
from warpsmith.loops.writing.storage import before
from warpsmith.poly.aliasing.unchanged import declared_below, disturbance
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions, Section
from warpsmith.poly.isl.space import OutOfBudgetError, budget
from warpsmith.poly.regions.sections import run_sections
from warpsmith.tree.memory.effective_types import keeps_types
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Cast,
    Conditional,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    If,
    Index,
    Node,
    SizeOf,
    Stmt,
    VarDecl,
)
from warpsmith.tree.printing.printer import print_type
from warpsmith.tree.program import Program
from warpsmith.tree.types import (
    INT,
    LONG_LONG,
    SIZE_T,
    UNSIGNED_LONG,
    Array,
    Pointer,
    Scalar,
    Symbol,
    Type,
    element_type,
)
from warpsmith.tree.walk import names, peel, rebuild, same

__all__ = ["Flatten"]

# what lies between two rows that are touched is in their pages if it is no longer than this
_PAGE = 4096


class Flatten(Struct, frozen=True):
    """Reach the rows behind pointers to pointers as one block, where a test before the loop finds that they are one.

    Legal where the loop subscripts the variable twice at every use, changes no row pointer, and where the rows and the
    columns that it touches are known before it. The test looks at every row pointer once; where the rows are not
    evenly spaced, as those of one block or of equal allocations one after the other are, the loop runs as it was
    written.

    Step: loop=f/i

    Before:
        void f(int n, int m, double **a)
        {
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++)
                    a[i][j] *= 2.0;
        }

    After:
        void f(int n, int m, double **a)
        {
            long long a_step = m >= 1 && n >= 2 ? ((long long)a[1] - (long long)a[0]) / (long long)sizeof(double) : m;
            int a_whole = m >= 1 && n >= 1 && a_step <= (long long)m + 512;
            if (a_whole)
                for (long long r = 1; r < n; r++)
                    if (a[r] != a[r - 1] + a_step)
                        a_whole = 0;
            if (a_whole > 0 && a_step >= m) {
                double *a_flat = a[0];
                for (int i = 0; i < n; i++)
                    for (int j = 0; j < m; j++)
                        a_flat[i * a_step + j] *= 2.0;
            } else {
                for (int i = 0; i < n; i++)
                    for (int j = 0; j < m; j++)
                        a[i][j] *= 2.0;
            }
        }
    """

    name: ClassVar[str] = "flatten"

    loop: str
    variables: tuple[str, ...] = ()

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the loop can be written over one block for each variable."""
        place = LoopContext.of(program, self.loop)
        if not facts.options.guards:
            return does_not_fit("a test before the loop is not allowed", place.loop)
        stop = pragma_in_the_way(place)
        found = stop if stop is not None else _find_rows(self, Identity(program), _limits(facts.options))[1]
        if isinstance(found, Reason):
            return Unknown((found,))
        return names_hold(self, program, self.loop, Proved())

    def apply(self, program: Program) -> Program:
        """Return the program with the tests and both loops."""
        program, found = _find_rows(self, Identity(program), PolyOptions())
        place = LoopContext.of(program, self.loop)
        assert not isinstance(found, Reason), found.text
        supply, span, run = Fresh.of(program), before(place.loop.span), run_with_pragmas(place)
        tests: list[Stmt] = []
        wholes: list[Expr] = []
        flats: list[_Flat] = []
        for rows in found:
            name = rows.symbol.name
            whole = supply.variable(f"{name}_whole", INT, rows.symbol)
            step = supply.variable(f"{name}_step", LONG_LONG, rows.symbol)
            start = supply.variable(f"{name}_flat", Pointer(rows.element), rows.symbol, rows.symbol.name)
            flat = _Flat(rows, start, step)
            counter = supply.variable("r", LONG_LONG, rows.symbol)
            tests += [_declare(step, _step(rows, span), span), _declare(whole, _even(rows, step, span), span)]
            tests.append(_test(flat, whole, counter, span))
            wholes.append(_compare(">", use(whole, span), number(0, span)))
            wholes.append(_compare(">=", use(step, span), wide_expr(rows.columns.size, span)))
            wholes += _apart(rows, span)
            flats.append(flat)
        starts = (_declare(flat.block, _start(flat.rows, span), span) for flat in flats)
        own, loop = place.loop.span, _flatten_loop(place.loop, flats)
        fast = Block(span=own, statements=(*starts, *pragmas_of(run), loop))
        slow = Block(span=own, statements=tuple(copy_tree(s, supply) for s in (*pragmas_of(run), run[-1])))
        chosen = If(span=own, condition=_join_tests(wholes), then=fast, other=slow)
        return with_run(program, place.function, run, (*closing_lines(run), *tests, chosen))


class _Range(Struct, frozen=True):
    """[low, high): values of a subscript, over variables that the loop does not change."""

    low: Linear
    high: Linear

    @property
    def size(self) -> Linear:
        return self.high.plus(self.low, -1)


class _Rows(Struct, frozen=True):
    """The uses of the variable, the rows and columns that they touch, and the condition that there is any; `slack`:
    the most elements that may lie between two rows; `others`: the arrays that must not."""

    symbol: Symbol
    element: Scalar
    uses: tuple[VariableUse, ...]
    rows: _Range
    columns: _Range
    some: Expr
    slack: int
    others: tuple[Section, ...]


class _Flat(Struct, frozen=True):
    """Rows, the variable for their block, and that for the distance from one to the next."""

    rows: _Rows
    block: Symbol
    step: Symbol


def _limits(options: PolyOptions) -> PolyOptions:
    """Return the options on which the rows and columns of a loop depend."""
    return PolyOptions(options.guards, options.granted, options.max_operations)


# what the check has found is what is applied
@functools.lru_cache(maxsize=2)
def _find_rows(
    step: Flatten, given: Identity[Program], options: PolyOptions
) -> tuple[Program, tuple[_Rows, ...] | Reason]:
    """Return the program without variables that hold a row, and what its loop touches behind pointers to pointers."""
    program = _plain(given.value, Facts.about(given.value, options), LoopContext.of(given.value, step.loop))
    place = LoopContext.of(program, step.loop)
    return program, _all(program, Facts.about(program, options), place, step.variables)


def _plain(program: Program, facts: Facts, place: LoopContext) -> Program:
    """Return the program without the variables of the loop that hold a row."""
    loop = hide_row_pointers(place.loop, facts.origin(place.function).hidden)
    return program if loop is place.loop else with_run(program, place.function, (place.loop,), (loop,))


def _all(program: Program, facts: Facts, place: LoopContext, wanted: Sequence[str]) -> tuple[_Rows, ...] | Reason:
    """Return what the loop touches behind every pointer to pointers, or behind those that are wanted."""
    own = declared_below(place.loop)
    symbols = {n.symbol.name: n.symbol for n in names(place.loop) if n.symbol not in own}
    every = sorted(name for name, symbol in symbols.items() if _rank(symbol.type) > 1)
    chosen = wanted or every
    if not chosen:
        return Reason("STP002", "the loop uses no pointer to pointers", place.loop.header)
    if not can_version((place.loop,)):
        return Reason("STP002", "the loop cannot stand twice in the function", place.loop.header)
    found: list[_Rows] = []
    for name in chosen:
        rows = _rows(facts, place, name, alone=every == [name])
        if isinstance(rows, Reason):
            return rows
        found.append(rows)
    inner = {n.symbol for rows in found for used in rows.uses for s in used.subscripts for n in names(s)}
    nested = next((rows.symbol for rows in found if rows.symbol in inner), None)
    if nested is not None:
        return Reason("STP002", f"a subscript is made of {nested.name}", place.loop.header)
    return tuple(found)


def _rank(type: Type) -> int:
    """Return how many pointers lead to a number."""
    rank = 0
    while isinstance(type, Pointer):
        type, rank = type.to, rank + 1
    return rank


def _join_tests(tests: Sequence[Expr]) -> Expr:
    kept: list[Expr] = []
    for test in tests:
        kept += _conjuncts(test, kept)
    return reduce(lambda a, b: Binary(span=b.span, type=INT, op="&&", left=a, right=b), kept)


def _conjuncts(test: Expr, known: Sequence[Expr]) -> list[Expr]:
    """Return the parts of a condition that are not known."""
    if isinstance(test, Binary) and test.op == "&&":
        left = _conjuncts(test.left, known)
        return [*left, *_conjuncts(test.right, [*known, *left])]
    return [] if any(same(test, old) for old in known) else [test]


def _rows(facts: Facts, place: LoopContext, name: str, *, alone: bool) -> _Rows | Reason:
    """Return what the loop touches behind the pointers, or why that cannot be one block; `alone`: they are the only
    pointers to pointers that it uses."""
    symbol = variable(place, name)
    if isinstance(symbol, Reason):
        return symbol
    element = _element(symbol.type)
    header = place.loop.header
    if element is None:
        deeper = ": three pointers deep" if _rank(symbol.type) > 2 else ""
        return Reason("STP002", f"{name} is no pointer to pointers to numbers{deeper}", header)
    found = uses(place.loop, symbol, 2)
    if isinstance(found, Reason):
        remedy = f"subscript {name} twice wherever the loop uses it"
        return Reason("STP002", f"a row of {name} is used as a whole", found.span, legal_if=(remedy,))
    stop = _obstacle(facts, place, found)
    if stop is not None:
        return stop
    what = symbol, element, tuple(found)
    # rows of other arrays may lie between these: of what else the loop touches nothing needs to be known then
    rows, columns = _range(facts, place, what, 0, alone=alone), _range(facts, place, what, 1, alone=False)
    if isinstance(rows, Reason) or isinstance(columns, Reason):
        return rows if isinstance(rows, Reason) else columns  # type: ignore[return-value]
    conditions = [c for c in (rows[1], columns[1]) if c is not None]
    some = _join_tests(conditions) if conditions else number(1, place.loop.span)
    others = rows[2]
    slack = 0 if others is None or _reaches_between(facts, place) else _PAGE * 8 // element.bits
    return _Rows(symbol, element, tuple(found), rows[0], columns[0], some, slack, (others or ()) if slack else ())


def _reaches_between(facts: Facts, place: LoopContext) -> bool:
    """Whether the loop may write something that lies between two rows and is no array of its own."""
    origin = facts.origin(place.function)
    done = origin.effects(place.loop)
    own = any(isinstance(s.type, Array) and s.storage == "local" for s in origin.hidden)
    outside = any(s.storage not in ("local", "parameter") or s in origin.hidden for s in done.direct_writes)
    return done.allocates or done.calls_unknown or done.io or done.asserts or own or outside


def _element(type: Type) -> Scalar | None:
    """Return what `T **` leads to, where it is a number."""
    inner = type.to if isinstance(type, Pointer) else None
    element = inner.to if isinstance(inner, Pointer) else None
    if not isinstance(element, Scalar) or element.volatile or element.kind in ("void", "complex"):
        return None
    return element


def _obstacle(facts: Facts, place: LoopContext, found: list[VariableUse]) -> Reason | None:
    """Return what changes a row pointer in the loop."""
    origin = facts.origin(place.function)
    typed = keeps_types(place.unit.arguments)
    for used in found:
        row = peel(used.node.base) if isinstance(used.node, Index) else used.node
        base = peel(row.base) if isinstance(row, Index) else row
        for part in (base, row):
            why = disturbance(origin, (place.loop,), part, typed=typed)
            if why is not None:
                text = f"{' '.join(part.span.text.split())} may change in the loop: {why.text}"
                return Reason("STP002", text, why.node.span)
    return None


def _range(
    facts: Facts, place: LoopContext, what: tuple[Symbol, Type, tuple[VariableUse, ...]], which: int, *, alone: bool
) -> tuple[_Range, Expr | None, tuple[Section, ...] | None] | Reason:
    """Return the values of one of the two subscripts, and the condition that there is one: the section of a made-up
    array that has this subscript alone; and with `alone` the sections of the other arrays, None where not all are
    known."""
    symbol, element, found = what
    probe = Symbol(f"{symbol.name}_{which}", f"{symbol.key}:{which}", Pointer(element), "parameter", symbol.span)
    places = {id(used.node): used for used in found}

    def change(node: Node) -> Node:
        used = places.get(id(node))
        if used is None:
            return node
        index = used.subscripts[which]
        return Index(span=node.span, type=element, base=use(probe, node.span), index=index)

    loop = rebuild(place.loop, change)
    trial = with_run(facts.program, place.function, (place.loop,), (loop,))
    function = next(f for _, f in trial.functions() if f.symbol == place.function.symbol)
    later = facts.after(trial)
    try:
        with budget(facts.options.max_operations):
            wanted = None if alone else frozenset({probe})
            answer = run_sections(trial, function, (loop,), facts.options, later.summaries, wanted=wanted)
    except OutOfBudgetError:
        return Reason("POR005", "the bounds of the rows ran out of their work budget", place.loop.header)
    section = next((s for s in answer.sections if s.symbol == probe), None)
    word = "column" if which else "row"
    if section is None or answer.assumptions:
        text = f"which {word}s of {symbol.name} the loop touches cannot be determined before it"
        return Reason("STP002", text, place.loop.header)
    low, first = _strip_choice(section.lower)
    high, second = _strip_choice(section.upper)
    start, past = Linear.of(low), Linear.of(high)
    if start is None or past is None:
        return Reason("STP002", f"the {word}s of {symbol.name} have no linear bounds", place.loop.header)
    bounds = _Range(start, past), second if second is not None else first
    if not alone or answer.failures:
        return *bounds, None
    known = (s for s in answer.sections if s.symbol != probe)
    return *bounds, tuple(s for s in known if not isinstance(element_type(s.symbol.type), Pointer))


def _strip_choice(expr: Expr) -> tuple[Expr, Expr | None]:
    """Return `e` and `c` of `c ? e : 0`."""
    expr = peel(expr)
    return (expr.then, expr.condition) if isinstance(expr, Conditional) else (expr, None)


# --- what is written


def _declare(symbol: Symbol, value: Expr, span: Span) -> DeclStmt:
    return DeclStmt(span=span, declarations=(VarDecl(span=span, symbol=symbol, init=value),))


def _row(found: _Rows, index: Expr, span: Span) -> Expr:
    return Index(span=span, type=Pointer(found.element), base=use(found.symbol, span), index=index)


def _start(found: _Rows, span: Span) -> Expr:
    """Return the address of the first element that the loop touches."""
    return _move_pointer(_row(found, wide_expr(found.rows.low, span), span), found.columns.low, span)


def _move_pointer(pointer: Expr, form: Linear, span: Span) -> Expr:
    if form == Linear():
        return pointer
    return Binary(span=span, type=pointer.type, op="+", left=pointer, right=wide_expr(form, span))


def _compare(op: str, left: Expr, right: Expr) -> Expr:
    return Binary(span=left.span, type=INT, op=op, left=left, right=right)


def _step(found: _Rows, span: Span) -> Expr:
    """Return the distance from the first row to the second in elements; the width where there is one row."""
    low, width = found.rows.low, wide_expr(found.columns.size, span)
    first, second = (_number(_row(found, wide_expr(low.shift(k), span), span), span) for k in (0, 1))
    size = SizeOf(
        span=span, type=SIZE_T, text=f"sizeof({print_type(found.element)})", value=found.element.bits // 8
    )  # fmt: skip
    way = Binary(span=span, type=LONG_LONG, op="-", left=second, right=first)
    step = Binary(span=span, type=LONG_LONG, op="/", left=way, right=_number(size, span))
    two = _compare(">=", wide_expr(found.rows.size, span), number(2, span))
    kept = [c for c in _conjuncts(found.some, []) if not _is_implied(c, two)]
    return Conditional(span=span, type=LONG_LONG, condition=_join_tests([*kept, two]), then=step, other=width)


def _is_implied(old: Expr, new: Expr) -> bool:
    """Whether a test `e >= a` is implied by `e >= b`."""
    if not isinstance(old, Binary) or not isinstance(new, Binary) or not old.op == new.op == ">=":
        return False
    low, high = Linear.of(old.right), Linear.of(new.right)
    if low is None or high is None or low.terms or high.terms:
        return False
    return same(old.left, new.left) and low.constant <= high.constant


def _apart(found: _Rows, span: Span) -> Iterator[Expr]:
    """Yield the conditions that other arrays do not lie among the rows."""
    last = _row(found, wide_expr(found.rows.high.shift(-1), span), span)
    first, past = (
        Cast(span=span, type=UNSIGNED_LONG, operand=pointer)
        for pointer in (_start(found, span), _move_pointer(last, found.columns.high, span))
    )
    for section in found.others:
        yield apart_from(first, past, section)


def _number(expr: Expr, span: Span) -> Expr:
    return Cast(span=span, type=LONG_LONG, operand=expr)


def _even(found: _Rows, step: Symbol, span: Span) -> Expr:
    """Return the condition that there are rows, and not too much between the first two."""
    most = wide_expr(found.columns.size.shift(found.slack), span)
    return _join_tests([*_conjuncts(found.some, []), _compare("<=", use(step, span), most)])


def _test(flat: _Flat, whole: Symbol, counter: Symbol, span: Span) -> Stmt:
    """Return the test of every row pointer against the one before it."""
    found, one = flat.rows, number(1, span)
    low = found.rows.low.shift(1)
    last = Binary(span=span, type=LONG_LONG, op="-", left=use(counter, span), right=one)
    before_it = _row(found, last, span)
    follows = Binary(span=span, type=before_it.type, op="+", left=before_it, right=use(flat.step, span))
    differs = _compare("!=", _row(found, use(counter, span), span), follows)
    clear = Assign(span=span, type=INT, op="=", target=use(whole, span), value=number(0, span))
    body = If(span=span, condition=differs, then=ExprStmt(span=span, expr=clear), other=None)
    loop = For(
        span=span, variable=counter, declares=True, lower=wide_expr(low, span), relation="<",
        bound=wide_expr(found.rows.high, span), step=1, body=body, header=span,
    )  # fmt: skip
    return If(span=span, condition=use(whole, span), then=loop, other=None)


def _flatten_loop(loop: Stmt, flats: Sequence[_Flat]) -> Stmt:
    """Return the loop with an element of a block in place of every use."""
    places = {id(used.node): (flat, used) for flat in flats for used in flat.rows.uses}

    def change(node: Node) -> Node:
        found = places.get(id(node))
        return node if found is None else _element_of(*found)

    return rebuild(loop, change)


def _element_of(flat: _Flat, used: VariableUse) -> Index:
    span, found = used.node.span, flat.rows
    row, column = (_less(s, r.low, span) for s, r in zip(used.subscripts, (found.rows, found.columns), strict=True))
    total: Expr = Binary(span=span, type=LONG_LONG, op="*", left=row, right=use(flat.step, span))
    total = Binary(span=span, type=LONG_LONG, op="+", left=total, right=column)
    return Index(span=span, type=found.element, base=use(flat.block, span), index=total)


def _less(value: Expr, low: Linear, span: Span) -> Expr:
    if low == Linear():
        return value
    return Binary(span=span, type=LONG_LONG, op="-", left=wide(value), right=wide_expr(low, span))
