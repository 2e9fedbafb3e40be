"""Splitting of structs: an array of structs becomes an array for each member, while a loop runs."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import ClassVar

from msgspec import Struct

from warpsmith.base.identity import Identity
from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.analysis.extremes import wide_expr
from warpsmith.loops.analysis.invariant_guards import apart_from
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.shape import range_of
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.loops.analysis.uses import find_declared_in
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.versions import can_version
from warpsmith.loops.writing.member_arrays import MemberArray, find_member_arrays, replace_members, says_positive
from warpsmith.loops.writing.members import MemberPath, MemberUse, find_member_uses, member_name, rows_of_structs
from warpsmith.loops.writing.pragma_lines import closing_lines, pragma_in_the_way, pragmas_of, run_with_pragmas
from warpsmith.loops.writing.storage import after, allocation, before, has_memory_functions, release
from warpsmith.offload.concurrency import no_port_here, run_concurrently
from warpsmith.poly.aliasing.aliasing import are_objects_apart
from warpsmith.poly.aliasing.overlap import overlaps
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions, Section
from warpsmith.poly.isl.space import OutOfBudgetError, budget
from warpsmith.poly.regions.model import build_region
from warpsmith.poly.regions.region import Access
from warpsmith.poly.regions.sections import run_sections
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Cast,
    Expr,
    ExprStmt,
    For,
    If,
    Index,
    Loop,
    Member,
    Return,
    Stmt,
    replace,
)
from warpsmith.tree.program import Assumption, Program
from warpsmith.tree.types import INT, LONG_LONG, UNSIGNED_LONG, Array, Pointer, Symbol, Type
from warpsmith.tree.walk import names, peel, same, walk

__all__ = ["SplitStructs"]


class SplitStructs(Struct, frozen=True):
    """Hold an array of structs as one array for each member that a loop uses (AoS to SoA), while the loop runs.

    Neighboring threads then find `x` of their elements side by side, and use all of each sector that they touch; that
    avoids latency. The members are gathered before the loop and those that it writes are scattered behind it, by loops
    that may become kernels: the structs are copied to the device once, and packed there. The step `keep` leaves them on
    the host, which then sends only the members that are used. It pays where the loop, or loops in it, come back to the
    members: put the step on the loop over time steps. Rows of up to 16 elements (`xyz[n][3]`) are structs too.

    Legal where the loop uses numbers in elements of the array and nothing else of it: it copies no whole struct, takes
    no address in it, hands it to no function and does not change where it points; where nothing else that it touches is
    the same memory, which may be tested before the loop; where it is known before the loop which elements are used, and
    that they are there; and where one host thread runs it. Members are no bit-fields, and in no union.

    Step: loop=f/t variable=p

    Before:
        #include <stdlib.h>
        struct point {
            float x, y, mass;
        };

        void f(int steps, int n, struct point *restrict p)
        {
            for (int t = 0; t < steps; t++)
                for (int i = 0; i < n; i++)
                    p[i].x += 0.5f * p[i].y;
        }

    After:
        #include <stdlib.h>
        struct point {
            float x, y, mass;
        };

        void f(int steps, int n, struct point *restrict p)
        {
            if (steps >= 1) {
                float *p_x = malloc((n > 0 ? (size_t)n : 1) * sizeof(float));
                if (!p_x)
                    abort();
                float *p_y = malloc((n > 0 ? (size_t)n : 1) * sizeof(float));
                if (!p_y)
                    abort();
                for (long long e = 0; e < n; e++) {
                    p_x[e] = p[e].x;
                    p_y[e] = p[e].y;
                }
                for (int t = 0; t < steps; t++)
                    for (int i = 0; i < n; i++)
                        p_x[i] += 0.5f * p_y[i];
                for (long long e2 = 0; e2 < n; e2++)
                    p[e2].x = p_x[e2];
                free(p_x);
                free(p_y);
            }
        }
    """

    name: ClassVar[str] = "split-structs"
    loop: str
    variable: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the loop can use one array for each member."""
        place = LoopContext.of(program, self.loop)
        stop = pragma_in_the_way(place) or _find_threads(program, place, facts.options)
        split = stop or _split(self, Identity(program))
        if isinstance(split, Reason):
            return Unknown((split,))
        apart = _find_apart(facts, place, split)
        if isinstance(apart, Reason):
            return Unknown((apart,))
        return names_hold(self, program, self.loop, Proved(apart))

    def apply(self, program: Program) -> Program:
        """Return the program with an array for each member."""
        place = LoopContext.of(program, self.loop)
        split = _split(self, Identity(program))
        assert not isinstance(split, Reason), split.text
        run, supply = run_with_pragmas(place), Fresh.of(program)
        new = _with_memory(place, _Writer.of(split, supply), pragmas_of(run))
        if split.tests:
            new = (_choose(place.loop, split, (new, pragmas_of(run)), supply),)
        return with_run(program, place.function, run, (*closing_lines(run), *new))


class _Split(Struct, frozen=True):
    """An array of structs in a loop: its uses there, and the members. `tests`: where one fails, the loop runs as it was
    written; it is `empty` then."""

    symbol: Symbol
    uses: tuple[MemberUse, ...]
    members: tuple[MemberArray, ...]
    tests: tuple[Expr, ...]
    empty: bool


# what the check has found is what is applied
@functools.lru_cache(maxsize=2)
def _split(step: SplitStructs, given: Identity[Program]) -> _Split | Reason:
    """Return what the loop uses of the array, or why that cannot be arrays of their own."""
    program = given.value
    place = LoopContext.of(program, step.loop)
    header = place.loop.header
    symbol = _find_symbol(place, step.variable)
    if isinstance(symbol, Reason):
        return symbol
    left = next((part for part in walk(place.loop) if isinstance(part, Return)), None)
    if left is not None:
        return Reason("STP002", "the function may end in the loop", left.span)
    if not has_memory_functions(place.unit):
        return Reason("STP002", "malloc is not declared in this file", header, legal_if=("#include <stdlib.h>",))
    uses = find_member_uses(place.loop, symbol)
    if isinstance(uses, Reason):
        return uses
    facts = Facts.about(program, PolyOptions())
    unknown = _find_unknown(facts, place, symbol)
    if unknown is not None:
        return unknown
    members = find_member_arrays(facts, place, symbol, uses)
    if isinstance(members, Reason):
        return members
    tests: list[Expr] = []
    for test in (test for one in members for test in one.tests):
        if not any(same(test, known) for known in tests):
            tests.append(test)
    empty = len(tests) == 1 and _is_never_run_without(place.loop, tests[0])
    if tests and not empty and not can_version((place.loop,)):
        return Reason("STP002", "the loop cannot stand twice in the function, with a test before it", header)
    return _Split(symbol, uses, members, tuple(tests), empty)


def _find_unknown(facts: Facts, place: LoopContext, symbol: Symbol) -> Reason | None:
    """Return what the loop does that nobody knows enough of, or that moves the array."""
    done = facts.origin(place.function).effects(place.loop)
    if done.calls_unknown or done.unnamed_writes:
        span = done.span if done.span is not None else place.loop.header
        text = f"what the loop calls may use {symbol.name}: {done.reason or 'it writes to memory without a name'}"
        return Reason("STP002", text, span)
    if symbol in done.direct_writes and isinstance(symbol.type, Pointer):
        return Reason("STP002", f"the loop changes where {symbol.name} points to", place.loop.header)
    return None


def _find_symbol(place: LoopContext, name: str) -> Symbol | Reason:
    """Return the array of structs, which is declared outside of the loop."""
    header = place.loop.header
    found = {n.symbol for n in names(place.loop) if n.symbol.name == name}
    if not found:
        arrays = sorted({n.symbol.name for n in names(place.loop) if rows_of_structs(n.symbol.type) is not None})
        return Reason("STP003", f"the loop uses no variable {name}", header, legal_if=tuple(arrays[:3]))
    if len(found) > 1 or found & find_declared_in(place.loop):
        return Reason("STP002", f"{name} is declared in the loop", header)
    (symbol,) = found
    if rows_of_structs(symbol.type) is None:
        return Reason("STP002", f"{name} is no array of structs, nor of rows of few elements", header)
    return symbol


def _is_never_run_without(loop: Loop, test: Expr) -> bool:
    """Whether a loop runs no iteration where a test fails, and nobody sees its counter."""
    taken = range_of(loop) if isinstance(loop, For) and loop.declares else None
    return taken is not None and says_positive(test, taken.past.minus(taken.low))


# --- what else there is


def _find_threads(program: Program, place: LoopContext, options: PolyOptions) -> Reason | None:
    """Return why several host threads may run the loop, each of which would write back what it has gathered."""
    found = run_concurrently(program, place.function, options)
    around = next((found[id(loop)] for loop in (place.loop, *place.around) if id(loop) in found), None)
    for pragma in pragmas_of(run_with_pragmas(place)):
        directive = pragma.directive
        if directive is not None and directive.starts_threads and not {"for", "loop"} & set(directive.words):
            around = around or Reason("POR008", "several host threads run this loop at once (OpenMP)", pragma.span)
    return around or no_port_here(program, place.function, options=options)


def _find_apart(facts: Facts, place: LoopContext, split: _Split) -> tuple[Assumption, ...] | Reason:
    """Return what is to be tested so that nothing else in the loop is memory of the array, or what may be."""
    origin, run, options = facts.origin(place.function), (place.loop,), facts.options
    try:
        with budget(options.max_operations):
            region, _ = build_region(origin, run, place.around, guards=options.guards, granted=options.granted)
            touched = [a for s in region.statements for a in s.accesses if a.path or not a.known]
            bases = _find_bases(split, touched)
            if isinstance(bases, Reason):
                return bases
            needed, doubts = overlaps(
                origin, run, region, options, guards=options.guards, among=lambda a, b: a in bases or b in bases
            )
            if doubts:
                return doubts[0]
            more = _find_between(facts, place, split, {a.base for a in touched if a.write} - bases)
    except OutOfBudgetError:
        return Reason("POR005", "what else the loop touches ran out of its work budget", place.loop.header)
    return more if isinstance(more, Reason) else tuple(dict.fromkeys((*needed, *more)))


def _find_bases(split: _Split, touched: Sequence[Access]) -> set[Symbol] | Reason:
    """Return under which names the model has the uses of the array, by which nothing else is used."""
    mine = {id(part): one for one in split.uses for part in (one.node, peel(one.node))}
    found = {a.base for a in touched if id(a.expr) in mine}
    known = {id(mine[id(a.expr)]) for a in touched if id(a.expr) in mine}
    lost = [one.node for one in split.uses if id(one) not in known]
    other = [a.expr for a in touched if a.base in found and id(a.expr) not in mine]
    if lost or other:
        node = (*lost, *other)[0]
        text = f"{' '.join(node.span.text.split())} may be in {split.symbol.name} by another name"
        return Reason("STP002", text, node.span)
    return found


def _find_between(
    facts: Facts, place: LoopContext, split: _Split, others: set[Symbol]
) -> tuple[Assumption, ...] | Reason:
    """Return what is to be tested so that the loop writes by no other name to elements which it does not use itself,
    but which lie between those, and are written back with them: restrict speaks of those that are used."""
    if all(one.whole for one in split.members if one.written):
        return ()
    function, options, symbol = place.function, facts.options, split.symbol
    met = sorted((o for o in others if _may_meet(facts, place, symbol, o)), key=lambda one: one.key)
    if not met:
        return ()
    wanted = frozenset({symbol, *met})
    answer = run_sections(facts.program, function, (place.loop,), options, facts.summaries, wanted=wanted)
    bounds = {section.symbol: section for section in answer.sections}
    mine, found = bounds.get(symbol), list[Assumption]()
    declared = isinstance(symbol.type, Array) and symbol.storage != "parameter"
    ragged = any((one.rows and declared) or one.entire for one in split.members)
    for other in met:
        section = bounds.get(other)
        if section is None or mine is None or ragged or not options.guards:
            return Reason("STP002", f"{other.name} may lie between the elements of {symbol.name}", place.loop.header)
        first, past = (_address(symbol, mine, end, before(place.loop.span)) for end in (mine.lower, mine.upper))
        text = f"what is touched of {symbol.name} and of {other.name} does not overlap"
        found.append(Assumption(text, "guarded", apart_from(first, past, section), place.loop.header))
    return tuple(found)


def _may_meet(facts: Facts, place: LoopContext, symbol: Symbol, other: Symbol) -> bool:
    """Whether another name may lead to the array's memory, leaving alone what restrict says of it."""
    if not isinstance(other.type, Pointer | Array) or other in find_declared_in(place.loop):
        return False
    return not are_objects_apart(facts.program, place.function, (symbol, other), facts.summaries)


def _address(symbol: Symbol, section: Section, bound: Expr, span: Span) -> Expr:
    """Return the address of an element of a section, as a number."""
    inner = symbol.type.to if isinstance(symbol.type, Pointer) else _row(symbol.type)
    start: Expr = use(symbol, span)
    if isinstance(inner, Array):
        start = Cast(span=span, type=Pointer(section.element), operand=start)
    start = Binary(span=span, type=Pointer(section.element), op="+", left=start, right=copy_tree(bound))
    return Cast(span=span, type=UNSIGNED_LONG, operand=start)


def _row(type: Type) -> Type:
    return type.of if isinstance(type, Array) else type.to if isinstance(type, Pointer) else type


# --- what is written


class _Writer(Struct, frozen=True):
    """Writes the arrays, and the loops that gather members and scatter them."""

    split: _Split
    arrays: dict[MemberPath, Symbol]
    supply: Fresh

    @classmethod
    def of(cls, split: _Split, supply: Fresh) -> _Writer:
        """Make the variables of the arrays."""
        symbol = split.symbol
        arrays = {
            one.path: supply.variable(
                f"{symbol.name}_{member_name(one.path)}",
                Pointer(one.type),
                symbol,
                f"{symbol.name}'s {member_name(one.path)}",
            )
            for one in split.members
        }
        return cls(split, arrays, supply)

    def copies(self, members: Sequence[MemberArray], span: Span, *, gather: bool) -> Iterator[Stmt]:
        """Yield a nest for all members of which the same elements are used."""
        left = list(members)
        while left:
            alike = [one for one in left if _has_same_elements(one, left[0])]
            left = [one for one in left if not any(one is other for other in alike)]
            yield self.copy(alike, span, gather=gather)

    def copy(self, members: Sequence[MemberArray], span: Span, *, gather: bool) -> Stmt:
        """Return the nest for some members."""
        words = ("e",) if len(members[0].elements) == 1 else "rcde"
        counters = [self.supply.variable(w, LONG_LONG, self.split.symbol) for w in words[: len(members[0].elements)]]
        moves: list[Stmt] = []
        for one in members:
            array = one.element(self.arrays[one.path], [use(counter, span) for counter in counters], span)
            struct = self.member(one.path, [use(counter, span) for counter in counters], span)
            target, value = (array, struct) if gather else (struct, array)
            assigned = Assign(span=span, type=one.type, op="=", target=target, value=value)
            moves.append(ExprStmt(span=span, expr=assigned))
        nest = moves[0] if len(moves) == 1 else Block(span=span, statements=tuple(moves))
        for counter, elements in reversed(list(zip(counters, members[0].elements, strict=True))):
            nest = For(
                span=span, variable=counter, declares=True, lower=wide_expr(elements.low, span), relation="<",
                bound=elements.bound(span), step=1, body=nest, header=span,
            )  # fmt: skip
        return nest

    def member(self, path: MemberPath, index: Sequence[Expr], span: Span) -> Expr:
        """Return the member of an element of the user's array, as the user names it."""
        symbol = self.split.symbol
        element: Expr = use(symbol, span)
        for subscript in index:
            element = Index(span=span, type=_row(element.type), base=element, index=subscript)
        template = next(one.node for one in self.split.uses if one.path == path)
        parts: list[Member | Index] = []
        place = peel(template)
        while len(parts) < len(path) and isinstance(place, Member | Index):
            parts.append(place)
            place = peel(place.base)
        for part in reversed(parts):
            if isinstance(part, Member):
                element = replace(part, span=span, base=element, arrow=False)
            else:
                element = replace(part, span=span, base=element, index=copy_tree(part.index))
        return element


def _has_same_elements(one: MemberArray, other: MemberArray) -> bool:
    pairs = zip(one.elements, other.elements, strict=True)
    return all(a.low == b.low and same(a.past, b.past) for a, b in pairs)


def _with_memory(place: LoopContext, writer: _Writer, pragmas: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """Return the loop with arrays in place of members, and what gets their memory, fills it and gives it back."""
    split, loop = writer.split, place.loop
    front, back = before(loop.span), after(loop.span)
    members = {one.path: one for one in split.members}

    def change(one: MemberUse) -> Expr:
        return members[one.path].element(writer.arrays[one.path], one.index, one.node.span)

    memory = (s for one in split.members for s in allocation(place.unit, writer.arrays[one.path], one.room, front))
    into = writer.copies([one for one in split.members if one.needed], front, gather=True)
    out = writer.copies([one for one in split.members if one.written], back, gather=False)
    frees = (release(array, back) for array in writer.arrays.values())
    return (*memory, *into, *pragmas, replace_members(loop, split.symbol, change), *out, *frees)


def _choose(loop: Loop, split: _Split, made: tuple[Sequence[Stmt], Sequence[Stmt]], supply: Fresh) -> Stmt:
    """Return the loop with arrays where the tests hold, else as it was written."""
    new, pragmas = made
    condition = reduce(lambda a, b: Binary(span=a.span, type=INT, op="&&", left=a, right=b), split.tests)
    then = Block(span=loop.span, statements=tuple(new))
    if split.empty:
        return If(span=loop.span, condition=condition, then=then, other=None)
    slow = Block(span=loop.span, statements=tuple(copy_tree(stmt, supply) for stmt in (*pragmas, loop)))
    reasons = (f"the loop uses elements of {split.symbol.name}",) * len(split.tests)
    return If(span=loop.span, condition=condition, then=then, other=slow, reasons=reasons)
