"""Conditions under which what a loop holds in variables is not changed by its stores.

    for (i = 0; i < n; i++) u[i] = 2 * dt;      dt = g->dt: a double is stored, which g->dt might be
    &g->dt + 1 <= u || u + n <= &g->dt          it is not

Invariant: the sections are those of the loop with the variables. Where they do not meet the places, no store of the
user's loop is the first to change one, so that both loops do the same. Several numbers of one struct are tested as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from warpsmith.loops.invariants import Held
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import Section
from warpsmith.poly.sections import run_sections
from warpsmith.poly.space import OutOfBudgetError, budget
from warpsmith.tree.nodes import Binary, Cast, Expr, Function, Index, Literal, Member, Name, SizeOf, Stmt, Unary
from warpsmith.tree.printer import shown
from warpsmith.tree.types import INT, SIZE_T, UNSIGNED_LONG, Array, Pointer, Symbol
from warpsmith.tree.walk import peel, same

__all__ = ["all_of", "apart_from", "held_guards"]

Variables = Sequence[tuple[Held, Symbol]]


def held_guards(facts: Facts, function: Function, loop: Stmt, variables: Variables) -> tuple[Expr, ...] | None:
    """Return the conditions, to be tested before `loop`, in which the variables stand; None where none can be written.

    `facts` are those of the program with `loop` in it.
    """
    guarded = [one for one, _ in variables if one.stores]
    targets = {_followed(target, variables) for one in guarded for target in one.stores}
    try:
        with budget(facts.options.max_operations):
            answer = run_sections(facts.program, function, (loop,), facts.options, facts.summaries)
    except OutOfBudgetError:
        return None
    sections = {s.symbol: s for s in answer.sections}
    extra = [getattr(a, "condition", None) for a in answer.assumptions]
    if None in targets or any(s not in sections for s in targets) or any(c is None for c in extra):
        return None
    written = [sections[s] for s in sorted((s for s in targets if s is not None), key=lambda s: s.key)]
    inside = any(isinstance(one.load.type, Array) for one, _ in variables)
    tests = [apart_from(low, high, s) for low, high in _ranges(guarded, whole=not inside) for s in written]
    return (*tests, *(c for c in extra if c is not None))


def _followed(target: Expr, variables: Variables) -> Symbol | None:
    """Return the variable that the element `target` is reached through, once what is held is in variables."""
    target = peel(target)
    while isinstance(target, Index | Member):
        held = next((s for one, s in variables if same(one.load, target)), None)
        if held is not None:
            return held
        if isinstance(target, Member) and target.arrow:
            return None
        target = peel(target.base)
    return target.symbol if isinstance(target, Name) else None


def _ranges(guarded: Sequence[Held], *, whole: bool) -> list[tuple[Expr, Expr]]:
    """Return the first address of each place and the one past its last; `whole`: of a struct, where several of its
    members are among them."""
    owners: list[tuple[Expr, list[Held]]] = []
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
        text = f"*{shown(place.operand)}"
    else:
        first = Unary(span=span, type=Pointer(place.type), op="&", operand=place)
    start = Cast(span=span, type=UNSIGNED_LONG, operand=first)
    size = SizeOf(span=span, type=SIZE_T, text=f"sizeof({text or shown(place)})", value=None)
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
