"""Conditions under which the invariants of a loop, which are in variables, is not changed by its stores.

    for (i = 0; i < n; i++) u[i] = 2 * dt;      dt = g->dt: a double is stored, which g->dt might be
    &g->dt + 1 <= u || u + n <= &g->dt          it is not
    for (…) u[id[i]]++;                         where in u cannot be said: g->dt is in another block of memory

Invariant: the sections are those of the loop with the variables. Where they do not meet the places, no store of the
user's loop is the first to change one, so that both loops do the same. Several numbers of one struct are tested as one.
What is stored through a pointer that the loop reads from memory has neither a section nor a block that is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

from warpsmith.loops.analysis.evaluation import find_reassigned
from warpsmith.loops.analysis.invariants import Invariant
from warpsmith.loops.counted_loops import counted_header
from warpsmith.poly.aliasing.aliasing import is_still
from warpsmith.poly.aliasing.unchanged import disturbances, loads
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import Section
from warpsmith.poly.isl.space import OutOfBudgetError, budget
from warpsmith.poly.regions.sections import run_sections
from warpsmith.tree.allocations import apart_pair, blocks_apart, is_apart
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Expr,
    Function,
    If,
    Index,
    Literal,
    Member,
    Name,
    SizeOf,
    Stmt,
    Unary,
    VarDecl,
    While,
)
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.types import INT, SIZE_T, UNSIGNED_LONG, Array, Pointer, Symbol, byte_size
from warpsmith.tree.walk import peel, same, walk

__all__ = ["all_of", "apart_from", "bound_guards", "invariant_guards", "untestable"]

Variables = Sequence[tuple[Invariant, Symbol]]


def invariant_guards(facts: Facts, function: Function, loop: Stmt, variables: Variables) -> tuple[Expr, ...] | None:
    """Return the conditions, to be tested before `loop`, in which the variables stand; None where none can be written.

    `facts` are those of the program with `loop` in it.
    """
    known = _find_known_apart(facts, function, loop)
    wanted: list[Invariant] = []
    targets: set[Symbol] = set()
    for one in (one for one, _ in variables if one.stores):
        here = _find_followed(one.load, variables, loop)
        found = {_find_followed(target, variables, loop) for target in one.stores}
        far = {s for s in found if s is not None and frozenset({s, here}) not in known}
        if None in found:
            return None
        wanted += [one] if far else []
        targets |= far
    try:
        with budget(facts.options.max_operations):
            answer = run_sections(facts.program, function, (loop,), facts.options, facts.summaries)
    except OutOfBudgetError:
        return None
    sections = {s.symbol: s for s in answer.sections}
    inside = any(isinstance(one.load.type, Array) for one, _ in variables)
    tests: list[Expr] = []
    for low, high in _ranges(wanted, whole=not inside):
        for symbol in sorted(targets, key=lambda s: s.key):
            if symbol in sections:
                tests.append(apart_from(low, high, sections[symbol]))
            elif is_still(facts.summaries, function, (loop,), symbol):
                tests.append(_in_another_allocation(function, low, symbol))
            else:
                return None
    extra = [getattr(a, "condition", None) for a in answer.assumptions] if tests else []
    if any(c is None for c in extra):
        return None
    return (*tests, *(c for c in extra if c is not None))


def untestable(variables: Variables, loop: Stmt) -> tuple[Invariant, ...]:
    """Return those that a store may change of which it cannot be said where it goes."""
    stores = ((one, target) for one, _ in variables for target in one.stores)
    return tuple(dict.fromkeys(one for one, target in stores if _find_followed(target, variables, loop) is None))


def bound_guards(facts: Facts, function: Function, loop: Stmt, known: Sequence[Expr]) -> tuple[Expr, ...]:
    """Return conditions under which bounds of loops inside `loop` keep their values, where they are elements of arrays:
    no test is made inside, but these can be made before `loop`. `known` are tested anyway."""
    found: dict[frozenset[Symbol], Expr] = {}
    for inner in (n for n in walk(loop) if isinstance(n, While) and n is not loop):
        for here, target in _find_met_by_bounds(facts, function, loop, inner):
            still = all(is_still(facts.summaries, function, (loop,), s) for s in (here, target))
            if still and target != here:
                one, other = (Name(span=loop.span, type=s.type, symbol=s) for s in (target, here))
                found.setdefault(frozenset({target, here}), blocks_apart(function, one, other, loop.span))
    return tuple(c for c in found.values() if not any(same(c, old) for old in known))


def _find_met_by_bounds(facts: Facts, function: Function, loop: Stmt, inner: While) -> Iterator[tuple[Symbol, Symbol]]:
    """Yield the variables of outside `loop` whose elements the bound of `inner` reads, each with one through which a
    store of `inner` may change them."""
    header = counted_header(inner)
    for load in loads(header.bound) if header is not None else ():
        here = _find_followed(load, (), loop) if isinstance(load, Index) else None
        stores = disturbances(facts.origin(function), (inner,), load, typed=True) if here is not None else ()
        for target in {s.target for s in stores}:
            there = _find_followed(target, (), loop) if target is not None else None
            if here is not None and there is not None:
                yield here, there


def _find_known_apart(facts: Facts, function: Function, loop: Stmt) -> frozenset[frozenset[Symbol]]:
    """Return the pairs of pointers of which a test around `loop` says that they lead into different blocks."""
    moving = find_reassigned(function) | facts.origin(function).hidden
    found: set[frozenset[Symbol]] = set()
    for node in walk(function.body):
        if isinstance(node, If) and any(part is loop for part in walk(node.then)):
            for part in _conjuncts(node.condition):
                if isinstance(part, Call) and is_apart(part):
                    pair = apart_pair(function, part)
                    if len(pair) == 2 and not moving & set(pair):
                        found.add(frozenset(pair))
    return frozenset(found)


def _conjuncts(condition: Expr) -> Iterator[Expr]:
    condition = peel(condition)
    if isinstance(condition, Binary) and condition.op == "&&":
        yield from _conjuncts(condition.left)
        yield from _conjuncts(condition.right)
    else:
        yield condition


def _in_another_allocation(function: Function, low: Expr, symbol: Symbol) -> Expr:
    """Return the condition that a place lies in another block of memory than what a pointer or an array leads to."""
    span = low.span
    start = low.operand if isinstance(low, Cast) else low
    return blocks_apart(function, Name(span=span, type=symbol.type, symbol=symbol), start, span)


def _find_followed(target: Expr, variables: Variables, loop: Stmt) -> Symbol | None:
    """Return the variable that the element `target` is reached through, with no pointer read on the way from there,
    once what is invariant is in variables."""
    target = peel(target)
    while not _is_behind_pointer(target):
        if isinstance(target.type, Array) and (invariants := _variable_of(target, variables)) is not None:
            return invariants
        if not isinstance(target, Index | Member):
            return target.symbol if isinstance(target, Name) else None
        target = peel(target.base)
    if isinstance(target.type, Array) and (invariants := _variable_of(target, variables)) is not None:
        return invariants
    assert isinstance(target, Unary | Index | Member)
    return _pointer(peel(target.operand if isinstance(target, Unary) else target.base), variables, loop)


def _variable_of(expr: Expr, variables: Variables) -> Symbol | None:
    return next((s for one, s in variables if same(one.load, expr)), None)


def _is_behind_pointer(place: Expr) -> bool:
    match place:
        case Index(base=base):
            return isinstance(peel(base).type, Pointer)
        case Member(arrow=arrow):
            return arrow
        case Unary(op="*"):
            return True
        case _:
            return False


def _pointer(expr: Expr, variables: Variables, loop: Stmt) -> Symbol | None:
    """Return the variable of outside the loop from which a pointer is made, that may be one that is invariant."""
    invariants = _variable_of(expr, variables)
    if invariants is not None:
        return invariants
    match expr:
        case Binary(op="+" | "-", left=left, right=right):
            pointer = left if isinstance(peel(left).type, Pointer | Array) else right
            return _pointer(peel(pointer), variables, loop)
        case Unary(op="&", operand=operand):
            return _find_followed(operand, variables, loop)
        case Name(symbol=symbol):
            return _find_origin(symbol, variables, loop)
        case Index() | Member() if isinstance(expr.type, Array):
            return _find_followed(expr, variables, loop)
        case _:
            return None


def _find_origin(symbol: Symbol, variables: Variables, loop: Stmt) -> Symbol | None:
    """Return what a pointer that the loop declares, and gives no second value, is made from; any other is itself."""
    made = [n for n in walk(loop) if isinstance(n, VarDecl) and n.symbol == symbol]
    if not made:
        return symbol
    init = made[0].init
    if len(made) > 1 or init is None:
        return None
    changed = any(isinstance(n, Assign) and _is(n.target, symbol) for n in walk(loop))
    taken = any(isinstance(n, Unary) and n.op == "&" and _is(n.operand, symbol) for n in walk(loop))
    return None if changed or taken else _pointer(peel(init), variables, loop)


def _is(expr: Expr, symbol: Symbol) -> bool:
    inner = peel(expr)
    return isinstance(inner, Name) and inner.symbol == symbol


def _ranges(guarded: Sequence[Invariant], *, whole: bool) -> list[tuple[Expr, Expr]]:
    """Return the first address of each place and the one past its last; `whole`: of a struct, where several of its
    members are among them."""
    owners: list[tuple[Expr, list[Invariant]]] = []
    for one in guarded:
        owner = _owner(one.load)
        group = next((g for o, g in owners if same(o, owner)), None)
        if group is None:
            owners.append((owner, [one]))
        else:
            group.append(one)
    found: list[tuple[Expr, Expr]] = []
    for owner, group in owners:
        found += [_range(owner)] if whole and len(group) > 1 else [_range(one.load) for one in group]
    return found


def _owner(load: Expr) -> Expr:
    """Return the struct that is followed to: `*g` for `g->a.b`; the place itself where there is none."""
    part = peel(load)
    while isinstance(part, Member):
        base = peel(part.base)
        if part.arrow and isinstance(base.type, Pointer):
            return Unary(span=load.span, type=base.type.to, op="*", operand=base)
        part = base
    return part if isinstance(part, Name) else load


def _range(place: Expr) -> tuple[Expr, Expr]:
    span = place.span
    text = " ".join(place.span.text.split()) if place.intact else None
    if isinstance(place, Unary) and place.op == "*":
        first: Expr = place.operand
        text = f"*{show_expression(place.operand)}"
    else:
        first = Unary(span=span, type=Pointer(place.type), op="&", operand=place)
    start = Cast(span=span, type=UNSIGNED_LONG, operand=first)
    said = f"sizeof({text or show_expression(place)})"
    size = SizeOf(span=span, type=SIZE_T, text=said, value=byte_size(place.type))
    return start, Binary(span=span, type=UNSIGNED_LONG, op="+", left=start, right=size)


def apart_from(low: Expr, high: Expr, section: Section) -> Expr:
    """Return the condition that a place and a section do not meet."""
    span = low.span
    first, past = _edge(section, section.lower), _edge(section, section.upper)
    before = Binary(span=span, type=INT, op="<=", left=high, right=first)
    behind = Binary(span=span, type=INT, op="<=", left=past, right=low)
    return Binary(span=span, type=INT, op="||", left=before, right=behind)


def _edge(section: Section, bound: Expr) -> Expr:
    """Return the address of an element of a section, as a number."""
    symbol, span = section.symbol, bound.span
    start: Expr = Name(span=span, type=symbol.type, symbol=symbol)
    if isinstance(symbol.type, Pointer | Array):
        inner = symbol.type.to if isinstance(symbol.type, Pointer) else symbol.type.of
        if isinstance(inner, Array):
            start = Cast(span=span, type=Pointer(section.element), operand=start)
        if not (isinstance(bound, Literal) and bound.value == 0):
            start = Binary(span=span, type=Pointer(section.element), op="+", left=start, right=bound)
    else:
        start = Unary(span=span, type=Pointer(symbol.type), op="&", operand=start)
    return Cast(span=span, type=UNSIGNED_LONG, operand=start)


def all_of(tests: Sequence[Expr]) -> Expr:
    """Return the condition that all tests hold."""
    return reduce(lambda a, b: Binary(span=b.span, type=INT, op="&&", left=a, right=b), tests)
