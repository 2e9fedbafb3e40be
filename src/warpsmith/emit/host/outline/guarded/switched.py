"""A region that asks nothing but whether the port is switched on, without that test: each choice in it asks for itself.

    if (switched on) { update n; m = n; if (apart(a, b)) launch else for (i …) … }
    else for (i …) …
                                                  ↓
    update n;
    m = n;
    if (switched on && apart(a, b)) launch else for (i …) …

Invariant: an update does nothing where the port is switched off, and what the port declares may be read wherever the
region is reached. Updates stand in front of the declarations before them: these read what is valid already.

Limits: outside of its choices, a region has nothing for the device but updates; no choice hands a buffer to another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import TypeGuard

from warpsmith.emit.host.outline.guarded.guards import guards_of
from warpsmith.emit.host.outline.guarded.once import is_either
from warpsmith.emit.host.outline.runs import Runs
from warpsmith.emit.host.outline.statements import declared, uses
from warpsmith.tree.in_place.versioned import SWITCHED
from warpsmith.tree.nodes import Binary, DeclStmt, DeviceNode, Expr, If, Literal, Node, Stmt, Update, replace
from warpsmith.tree.types import INT, Symbol
from warpsmith.tree.walk import children, rebuild

__all__ = ["ask_inside"]

Run = tuple[Stmt, ...]


def ask_inside(merged: Run, runs: Runs) -> Run | None:
    """Return the statements of a region whose only test is the switch, both branches as one run, with that test in the
    choices that need it; None where something else is for the device."""
    choices: dict[int, If] = {}
    pending: list[Node] = [*merged]
    while pending:
        node = pending.pop()
        if _is_choice(node):
            choices[id(node)] = _switched(node)
        elif isinstance(node, DeviceNode) and not isinstance(node, Update):
            return None
        else:
            pending += children(node)
    if _share(merged, choices.values()):
        return None
    return tuple(_updates_first([rebuild(stmt, lambda node: choices.get(id(node), node)) for stmt in merged], runs))


def _share(merged: Run, choices: Collection[If]) -> bool:
    """Whether what one of the choices declares is used outside of it."""
    named = sum((uses(stmt) for stmt in merged), start=Counter[Symbol]())
    for choice in choices:
        inside = uses(choice)
        if any(named[symbol] > inside[symbol] for symbol in declared((choice,))):
            return True
    return False


def _is_choice(node: Node) -> TypeGuard[If]:
    return isinstance(node, If) and (bool(node.reasons) or is_either(node))


def _switched(choice: If) -> If:
    """Return a choice that asks for the switch first."""
    condition: Expr = Literal(span=choice.span, type=INT, text="1", value=1)
    if is_either(choice):
        return replace(choice, condition=condition, reasons=(SWITCHED,))
    for guard in guards_of(choice):
        assert guard.condition is not None
        condition = Binary(span=choice.span, type=INT, op="&&", left=condition, right=guard.condition)
    return replace(choice, condition=condition, reasons=(SWITCHED, *choice.reasons))


def _updates_first(run: list[Stmt], runs: Runs) -> Iterator[Stmt]:
    """Yield statements with updates in front of the declarations of the port's own before them, where they do not name
    what those declare."""
    waiting: list[Stmt] = []
    for stmt in run:
        if isinstance(stmt, DeclStmt) and runs.leaves(stmt):
            waiting.append(stmt)
            continue
        if not isinstance(stmt, Update) or any(uses(stmt)[symbol] for symbol in declared(waiting)):
            yield from waiting
            waiting = []
        yield stmt
    yield from waiting
