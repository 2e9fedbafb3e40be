"""Promotion of what a nest sums up in memory, before the search: members, and what pointers lead to.

    for (i …) { s.sum += x[i]; s.n++; }     double sum_value = s.sum; int n_value = s.n;
                                        →   for (i …) { sum_value += x[i]; n_value++; }      a reduction
                                            s.n = n_value; s.sum = sum_value;
    for (i …) add(&s, x[i]);                the body of add first: it sums up in *(&s)

The dependences of a struct are those of all its members, so that all places of a loop become variables, or none.
Invariant: every step was Proved on the program that it is applied to. A nest stays as it is where it runs no better
with the variables. Elements of arrays are left to the steps that give iterations their own, or another order.
"""

from __future__ import annotations

from warpsmith.base.source import Span
from warpsmith.base.time_limit import time_left
from warpsmith.loops.prepared import Prepared
from warpsmith.loops.promotable import promotable_places
from warpsmith.loops.search.cost import is_parallel
from warpsmith.loops.search.nest_steps import (
    Where,
    apply_step,
    find_function,
    find_loop,
    find_loops,
    loop_address,
    nest_cost,
)
from warpsmith.loops.steps.data.promote import Promote
from warpsmith.loops.steps.statements.inline import Inline
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.nodes import Call, Expr, For, Index, Literal, Loop, Member
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.types import Array, Pointer, Record, Scalar, Symbol, Type
from warpsmith.tree.walk import loops, names, peel, walk, written_symbols

__all__ = ["promote_nest"]

# of so many places in one loop variables are made
_MOST_PLACES = 12
# of so many functions the bodies are tried
_MOST_BODIES = 8


def promote_nest(prepared: Prepared, function: Symbol, nest: Span, localized: Prepared | None = None) -> Prepared:
    """Return `prepared` with what the loops of a nest sum up in variables, where the nest runs better so; `localized`
    is the program to start with, if it is another."""
    start = prepared if localized is None else localized
    found = start
    headers = [loop.header for loop in find_loops(start.facts, function, nest) if isinstance(loop, For)]
    for header in headers:
        found = _promote_in(_with_bodies(found, function, (nest, header)), function, (nest, header))
    if found is start or not time_left():
        return prepared
    old, new = nest_cost(prepared.facts, function, nest), nest_cost(found.facts, function, nest)
    return found if new.kernels and new < old else prepared


def _with_bodies(prepared: Prepared, function: Symbol, where: Where) -> Prepared:
    """Return `prepared` with the bodies of the functions to which a loop gives one address in all iterations: what they
    sum up there is seen in the text only."""
    tried: set[str] = set()
    while len(tried) < _MOST_BODIES and time_left():
        loop = find_loop(prepared, function, where)
        names_of = sorted(_find_helpers(prepared, loop) - tried)
        # whether the loop is stuck takes an analysis to tell
        if not names_of or not _is_stuck(prepared, function, loop):
            break
        tried.add(names_of[0])
        step = Inline(loop_address(prepared.facts, function, loop), names_of[0])
        prepared = apply_step(prepared, function, loop, step)
    return prepared


def _find_helpers(prepared: Prepared, loop: Loop) -> set[str]:
    """Return the functions without loops to which a loop gives the address of a struct or a number that stays."""
    defined = {function.symbol.key: function for _, function in prepared.program.functions()}
    moving = written_symbols(loop)
    found: set[str] = set()
    for call in (part for part in walk(loop.body) if isinstance(part, Call)):
        symbol = direct_call(call)
        if symbol is None or symbol.key not in defined or any(True for _ in loops(defined[symbol.key].body)):
            continue
        if any(_is_place(a.type) and moving.isdisjoint(n.symbol for n in names(a)) for a in call.arguments):
            found.add(symbol.name)
    return found


def _is_place(type: Type) -> bool:
    """Whether a type is that of an address of a struct or a number."""
    return isinstance(type, Pointer) and isinstance(type.to, Record | Scalar)


def _promote_in(prepared: Prepared, function: Symbol, where: Where) -> Prepared:
    """Return `prepared` with variables for all places of one loop that may have one."""
    tried: list[str] = []
    while len(tried) < _MOST_PLACES and time_left():
        loop = find_loop(prepared, function, where)
        if not isinstance(loop, For):
            break
        places = [text for p in promotable_places(loop) if _is_wanted(p) and (text := show_expression(p)) not in tried]
        if not places or not _is_stuck(prepared, function, loop):
            break
        tried.append(places[0])
        address = loop_address(prepared.facts, function, loop)
        step = Promote(address, places[0], guards=prepared.facts.options.guards)
        prepared = apply_step(prepared, function, loop, step)
    return prepared


def _is_stuck(prepared: Prepared, function: Symbol, loop: Loop) -> bool:
    """Whether neither the loop nor one around it is parallel as it is."""
    holder = find_function(prepared.facts, function)
    known = prepared.facts.of(holder)
    around = dict(loops(holder.body))[loop]
    return known.of(loop).category in ("sequential", "unanalyzable") and not any(
        map(is_parallel, map(known.of, around))
    )


def _is_wanted(place: Expr) -> bool:
    """Whether a place is no element of an array, or one at a constant place of a member."""
    part = peel(place)
    while isinstance(part, Index):
        if not isinstance(peel(part.base).type, Array) or not isinstance(peel(part.index), Literal):
            return False
        part = peel(part.base)
    return part is place or isinstance(part, Member)
