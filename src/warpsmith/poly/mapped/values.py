"""The values of variables that never change, and what the names of a program stand for outside of functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.effects import find_changed_in, find_escaped
from warpsmith.poly.isl.polynomial import Polynomial
from warpsmith.poly.mapped.extents import polynomial
from warpsmith.tree.nodes import Call, DeclStmt, Function, GlobalDecl, Node
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol, is_integer
from warpsmith.tree.walk import names, peel, walk

__all__ = ["definitions", "globals_of", "size_named"]


def definitions(
    facts: Facts, function: Function, given: Mapping[Symbol, Polynomial] | None = None
) -> dict[Symbol, Polynomial]:
    """Return the values of the integers that a function gives a value where it declares them, and never again, in
    terms of those that nobody changes; `given`: values of its parameters, which are in the answer if nobody changes
    them."""
    changed = find_changed_in(function, facts.summaries) | find_escaped(facts.program, function, facts.summaries)
    found = {s: value for s, value in (given or {}).items() if s not in changed}
    for node in walk(function.body):
        for declaration in node.declarations if isinstance(node, DeclStmt) else ():
            symbol, init = declaration.symbol, declaration.init
            if init is None or symbol in changed or not is_integer(symbol.type) or symbol.storage != "local":
                continue
            used = {n.symbol for n in names(init)}
            steady = all(is_integer(s.type) and s not in changed and s.storage in ("local", "parameter") for s in used)
            if steady and not any(isinstance(n, Call) for n in walk(init)):
                found[symbol] = polynomial(peel(init), found)
    return found


def globals_of(program: Program) -> dict[str, Symbol]:
    """Return the variables of a program that every function sees, by name."""
    found: dict[str, Symbol] = {}
    for unit in program.units:
        for item in unit.items:
            if isinstance(item, GlobalDecl):
                found |= {d.symbol.name: d.symbol for d in item.declarations}
    for _, function in program.functions():
        found |= {n.symbol.name: n.symbol for n in names(function.body) if n.symbol.storage in ("global", "static")}
    return found


def size_named(facts: Facts, function: Function, visible: Mapping[str, Symbol], name: str) -> Symbol | None:
    """Return what a name in the bounds of a clause stands for: a variable in view, or an enumerator that the function
    uses, or any other one does. None where a variable has the name of an enumerator: which one hides the other is not
    known."""
    own = _enumerators(facts, function.symbol, function.body).get(name)
    if name in visible:
        return visible[name] if own is None else None
    found = {one for _, f in facts.program.functions() if (one := _enumerators(facts, f.symbol, f.body).get(name))}
    return own if own is not None else found.pop() if len(found) == 1 else None


def _enumerators(facts: Facts, symbol: Symbol, body: Node) -> dict[str, Symbol]:
    """Return the enumerators that a function uses, by name; without those of which there are two."""

    def find() -> dict[str, Symbol]:
        every = {n.symbol for n in names(body) if n.symbol.storage == "enumerator"}
        count = Counter(one.name for one in every)
        return {one.name: one for one in every if count[one.name] == 1}

    return facts.summaries.remember(("enumerators", symbol, id(body)), find)
