"""Rows of vectors of vectors as rows behind pointers: see VectorRows.

    std::vector<std::vector<T>> m;     m.data() ─► { T *, size } ─► 3 8 9 . .      m_rows   = { T *, T *, … }
                                                   { T *, size } ─► 4 1 .          m_sizes  = { size, size, … }
                                                   …                               m[i][k] is m_rows[i][k]

Invariant: both forms name the same element and the same size, whatever the loop does with it, as long as no vector in
the list is resized, exchanged or assigned while it runs, nor the list itself: then each says the same of itself before
the loop as in it (tree/containers.py). What is gathered is asked of the vectors themselves, `data()` and `size()`, of
those that there are: no more is read than what any code may read of a living object.
Limits: the loop takes an element or the size of every vector that it names, no vector as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import ClassVar

import msgspec.structs
from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.analysis.evaluation import KnownBefore
from warpsmith.loops.analysis.invariants import is_still
from warpsmith.loops.analysis.row_pointers import hide_vector_references
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import number, use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.writing.pragma_lines import closing_lines, pragma_in_the_way, pragmas_of, run_with_pragmas
from warpsmith.loops.writing.storage import before
from warpsmith.poly.aliasing.unchanged import declared_below, disturbance, loads
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.allocations import VECTOR_SIZES, vector_rows, vector_sizes
from warpsmith.tree.containers import DATA, SIZE, find_check, holds_no_container, is_container
from warpsmith.tree.memory.effective_types import keeps_types
from warpsmith.tree.nodes import (
    Binary,
    Block,
    Conditional,
    DeclStmt,
    Expr,
    Index,
    Loop,
    Member,
    Node,
    Stmt,
    Unary,
    VarDecl,
    replace,
)
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.program import Program
from warpsmith.tree.text.lexical import identifiers
from warpsmith.tree.types import INT, SIZE_T, Array, Pointer, Record, Scalar, Symbol, Type, byte_size
from warpsmith.tree.walk import names, peel, rebuild, same, walk

__all__ = ["VectorRows"]


class VectorRows(Struct, frozen=True):
    """Reach the elements of vectors of vectors through an array of pointers to them, and their sizes in an array.

    Legal where nothing in the loop resizes, exchanges or assigns one of the vectors, and every use takes an element or
    a size. Both arrays are gathered before the loop, by `data()` and `size()` of each vector, so that rows may be of
    any length; row-starts then makes one kernel of a nest over all of them.

    Step: loop=f/i

    Before:
        #include <vector>
        const double **ws_vector_rows(const std::vector<double> *list, std::size_t count);
        void f(const std::vector<std::vector<double>> &a, std::vector<double> &y)
        {
            for (int i = 0; i < 9; i++)
                y[i] = a[i][0] + a[i][2];
        }

    After:
        #include <vector>
        const double **ws_vector_rows(const std::vector<double> *list, std::size_t count);
        void f(const std::vector<std::vector<double>> &a, std::vector<double> &y)
        {
            const double **a_rows = ws_vector_rows(a.data(), a.size());
            for (int i = 0; i < 9; i++)
                y[i] = a_rows[i][0] + a_rows[i][2];
        }
    """

    name: ClassVar[str] = "vector-rows"

    loop: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the loop can be written over the rows of the vectors that it goes through."""
        place = LoopContext.of(program, self.loop)
        stop = pragma_in_the_way(place)
        if stop is not None:
            return Unknown((stop,))
        found, refused = _find_gathered(program, facts, place)
        if not found:
            nothing = Reason("STP002", "the loop goes through no vectors of numbers or structs", place.loop.header)
            return Unknown(refused or (nothing,))
        return names_hold(self, program, self.loop, Proved())

    def apply(self, program: Program) -> Program:
        """Return the program with the arrays, and the loop over them."""
        place = LoopContext.of(program, self.loop)
        facts = Facts.about(program, PolyOptions())
        supply, run, span = Fresh.of(program), run_with_pragmas(place), before(place.loop.span)
        declared: list[Stmt] = []
        arrays: list[tuple[_Vectors, str, Symbol]] = []
        gathered, _ = _find_gathered(program, facts, place)
        for one in gathered:
            for field in one.fields:
                value = one.question(field, span)
                symbol = _find_known(facts, place, one, value)
                if symbol is None:
                    symbol = supply.variable(f"{one.word}_{_WORDS[field]}", value.type, one.symbol)
                    declared.append(DeclStmt(span=span, declarations=(VarDecl(span=span, symbol=symbol, init=value),)))
                arrays.append((one, field, symbol))
        loop = _with_rows_named(facts, place, [one.place for one in gathered])
        loop = _over_arrays(loop, arrays)
        return with_run(program, place.function, run, (*closing_lines(run), *declared, *pragmas_of(run), loop))


_WORDS = {DATA: "rows", SIZE: "sizes"}


class _Vectors(Struct, frozen=True):
    """Vectors one behind the other: `place` is the array, or the pointer to the first of them, `uses` are the members
    of its elements that the loop reads, and `conditions` those under which it may be read before the loop."""

    place: Expr
    uses: tuple[Member, ...]
    conditions: tuple[Expr, ...] = ()

    @property
    def symbol(self) -> Symbol:
        """The variable that the place begins with."""
        return next(names(self.place)).symbol

    @property
    def word(self) -> str:
        """What the user calls the vectors."""
        holder = peel(self.place)
        if isinstance(holder, Member) and holder.field == DATA:
            holder = peel(holder.base)
        word = holder.field if isinstance(holder, Member) else self.symbol.name
        return word if word.isidentifier() and word != "this" else "vector"

    @property
    def fields(self) -> tuple[str, ...]:
        """What the loop reads of them, where their elements are or how many."""
        return tuple(field for field in _WORDS if any(used.field == field for used in self.uses))

    def question(self, field: str, span: Span) -> Expr:
        """Return the array of a member of all of them."""
        place, count = copy_tree(self.place), self._count(span)
        if self.conditions:
            test = reduce(
                lambda a, b: Binary(span=span, type=INT, op="&&", left=a, right=b), map(copy_tree, self.conditions)
            )
            place, count = (
                Conditional(span=span, type=one.type, condition=copy_tree(test), then=one, other=number(0, span))
                for one in (place, count)
            )
        return (
            vector_rows(place, count, _row_of(self.place), span) if field == DATA else vector_sizes(place, count, span)
        )

    def _count(self, span: Span) -> Expr:
        place = peel(self.place)
        if isinstance(place.type, Array):
            return number(place.type.count or 0, span)
        assert isinstance(place, Member)
        return replace(copy_tree(place), field=SIZE, type=SIZE_T)


def _element(place: Expr) -> Type:
    """Return the type of what is at a place with vectors."""
    return place.type.to if isinstance(place.type, Pointer) else place.type.of if isinstance(place.type, Array) else INT


def _row_of(place: Expr) -> Pointer:
    """Return the type of the pointers to the elements of vectors."""
    vector = _element(place)
    assert isinstance(vector, Record)
    row = next(field.type for field in vector.fields if field.name == DATA)
    assert isinstance(row, Pointer)
    constant = vector.const and isinstance(row.to, Scalar | Record)
    return Pointer(msgspec.structs.replace(row.to, const=True) if constant else row.to)


def _has_rows(place: Expr) -> bool:
    """Whether vectors of numbers or structs are at a place, and it is known how many."""
    held, vector = peel(place), _element(place)
    if not isinstance(vector, Record) or not is_container(vector):
        return False
    counted = isinstance(held, Member) and held.field == DATA
    if isinstance(held.type, Array):
        counted = held.type.count is not None and not held.type.spelling.startswith("std::")
    row = next((field.type for field in vector.fields if field.name == DATA), None)
    to = row.to if isinstance(row, Pointer) else None
    plain = isinstance(to, Scalar) and not to.volatile and to.kind in ("signed", "unsigned", "float")
    whole = isinstance(to, Record) and holds_no_container(to)
    return counted and to is not None and (plain or whole) and byte_size(to) is not None


# --- what the loop does with vectors


def _with_rows_named(facts: Facts, place: LoopContext, gathered: Sequence[Expr] | None = None) -> Loop:
    """Return the loop without references to vectors, or to those that are gathered: each use names the vector."""

    def wanted(of: Expr) -> bool:
        return gathered is None or any(same(one, of) for one in gathered)

    return hide_vector_references(place.loop, facts.origin(place.function).hidden, wanted)


def _find_gathered(
    program: Program, facts: Facts, place: LoopContext
) -> tuple[tuple[_Vectors, ...], tuple[Reason, ...]]:
    """Return the vectors that can be gathered, and why others cannot."""
    loop = _with_rows_named(facts, place)
    own = declared_below(place.loop)
    known: KnownBefore | None = None
    found: list[_Vectors] = []
    refused: list[Reason] = []
    for one in _find_vectors(loop, own):
        known = known or KnownBefore.of(facts, place.function, place.loop)
        stop = _obstacle(program, facts, place, (loop, one))
        conditions = known.needs(one.place, tuple(_find_same(place.loop, one.place)))
        if stop is None and conditions is None:
            text = f"{show_expression(one.place)} may never be read: reading it before the loop may not be safe"
            stop = Reason("STP002", text, one.place.span)
        if stop is not None:
            refused.append(stop)
        elif conditions is not None:
            found.append(msgspec.structs.replace(one, conditions=conditions))
    return tuple(found), tuple(refused)


def _find_vectors(loop: Loop, own: set[Symbol]) -> Iterator[_Vectors]:
    """Yield the vectors of which the loop takes one after the other; `own` are the variables of the loop."""
    uses: list[tuple[Expr, list[Member], set[str]]] = []
    for part in walk(loop):
        vector = _vector_of(part)
        if (
            not isinstance(part, Member)
            or vector is None
            or not _has_rows(vector.base)
            or not is_still(vector.base, own)
        ):
            continue
        held = next((held for held in uses if same(held[0], vector.base)), None)
        if held is None:
            uses.append(held := (vector.base, [], set()))
        held[1].append(part)
        if any(n.symbol in own for n in names(vector.index)):
            held[2].add(part.field)
    for base, members, moving in uses:
        # what is asked of one vector alone is no array
        kept = tuple(part for part in members if part.field in moving)
        yield from [_Vectors(base, kept)] if kept else []


def _vector_of(part: Node) -> Index | None:
    """Return the element of an array of vectors whose member a node is: `m[i]` of `m[i].data()` and `m[i].size()`."""
    if not isinstance(part, Member) or part.field not in _WORDS:
        return None
    vector = peel(part.base)
    if part.arrow:
        vector = peel(vector.operand) if isinstance(vector, Unary) and vector.op == "&" else vector
    return vector if isinstance(vector, Index) else None


def _find_same(node: Node, place: Expr) -> Iterator[Expr]:
    yield from (part for part in walk(node) if isinstance(part, Expr) and part is peel(part) and same(part, place))


def _obstacle(program: Program, facts: Facts, place: LoopContext, about: tuple[Loop, _Vectors]) -> Reason | None:
    """Return why the vectors cannot be gathered: what changes one of them in the loop, or uses one as a whole."""
    loop, one = about
    changed = _change(facts, place, (place.loop,), one)
    if changed is not None:
        return changed
    named = {id(vector) for part in walk(loop) if (vector := _vector_of(part)) is not None}
    for part in walk(loop):
        if isinstance(part, Index) and same(peel(part.base), one.place):
            text = " ".join(part.span.text.split())
            if id(part) not in named:
                return Reason("STP002", f"{text} is used as a whole", part.span)
            if find_check(part) is not None:
                return Reason("STP002", f"{text} is checked: only subscripts are rows", part.span)
    if SIZE in one.fields and any(VECTOR_SIZES.name in identifiers(unit.file.text) for unit in program.units):
        return Reason("STP002", "the program is a port already, with arrays of sizes of its own", place.loop.header)
    return None


def _change(facts: Facts, place: LoopContext, run: tuple[Stmt, ...], one: _Vectors) -> Reason | None:
    """Return what in a run may resize, exchange or assign one of the vectors, or all."""
    origin, typed = facts.origin(place.function), keeps_types(place.unit.arguments)
    whole = one.place if isinstance(one.place.type, Pointer) else None
    count = [] if whole is None else [replace(whole, field=SIZE, type=SIZE_T)] if isinstance(whole, Member) else []
    members = [next(used for used in one.uses if used.field == field) for field in one.fields]
    for part in (*loads(one.place), *count, *members):
        why = disturbance(origin, run, part, typed=typed)
        if why is not None:
            return Reason("STP002", f"{show_expression(part)} may change in the loop: {why.text}", why.node.span)
    return None


def _find_known(facts: Facts, place: LoopContext, one: _Vectors, value: Expr) -> Symbol | None:
    """Return the array that was gathered before an earlier loop of the same block, and is what it was then."""
    block = next(
        (n for n in walk(place.function.body) if isinstance(n, Block) and any(s is place.loop for s in n.statements)),
        None,
    )
    above: Sequence[Stmt] = () if block is None else block.statements
    above = above[: next((k for k, s in enumerate(above) if s is place.loop), 0)]
    for number_of, stmt in enumerate(above):
        for declaration in stmt.declarations if isinstance(stmt, DeclStmt) else ():
            between = tuple(above[number_of + 1 :])
            if declaration.init is not None and same(declaration.init, value) and declaration.symbol.type == value.type:
                return declaration.symbol if _change(facts, place, between, one) is None else None
    return None


def _over_arrays(loop: Loop, arrays: Sequence[tuple[_Vectors, str, Symbol]]) -> Loop:
    """Return the loop with elements of the arrays for what it reads of the vectors."""

    def change(node: Node) -> Node:
        vector = _vector_of(node)
        if not isinstance(node, Member) or vector is None:
            return node
        for one, field, symbol in arrays:
            if field == node.field and same(one.place, vector.base):
                return Index(span=node.span, type=node.type, base=use(symbol, node.span), index=vector.index)
        return node

    return rebuild(loop, change)
