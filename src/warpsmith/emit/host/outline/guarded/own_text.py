"""The user's own statements in place of what steps made of them, where the test of a step fails.

    if (a_at != 0) launch                                         if (a_at != 0) launch
    else for (…) { the text of nearest(), written in }      →     else for (…) at = nearest(a[i], …);

Invariant: what the steps made of a statement does the same as the statement. It is put back where all of its text went
into this one choice and nothing else went there, and where nothing is lost that it reads (parts.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TypeGuard

from warpsmith.emit.host.outline.guarded.parts import (
    Parts,
    Place,
    find_inside,
    find_places,
    find_simple,
    is_guarded,
    place_of,
)
from warpsmith.emit.host.outline.model import ApartError
from warpsmith.emit.host.outline.runs import Runs
from warpsmith.emit.host.outline.statements import Moving
from warpsmith.tree.in_place.versioned import SWITCHED
from warpsmith.tree.nodes import Block, Case, DeclStmt, DeviceNode, Function, If, Launch, Node, Pragma, Stmt
from warpsmith.tree.walk import children, rebuild, same, walk

__all__ = ["restore"]

Run = tuple[Stmt, ...]


def restore(original: Function, ported: Function, runs: Runs) -> Function:
    """Return a ported function with the user's statements in the fallbacks of its choices, and without choices that
    lead to nothing for the device."""
    ported = rebuild(ported, _without_test)
    choices = [part for part in walk(ported.body) if _is_of_step(part)]
    if not choices:
        return ported
    parts = Parts.of(original.body.statements, ported.body.statements, runs)
    pragmas = _find_pragmas(original)
    for choice in choices:
        restored = _restore(choice, ported, parts, pragmas)
        if restored is not choice:
            ported = rebuild(ported, partial(_replace, {id(choice): restored}))
    return ported


def _without_test(node: Node) -> Node:
    """Return what runs on the host where the test of a step fails, in place of a choice that is all for the host."""
    if not _is_of_step(node) or any(isinstance(part, DeviceNode) for part in walk(node)):
        return node
    assert node.other is not None
    return node.other


def _replace(replaced: Mapping[int, If], node: Node) -> Node:
    return replaced.get(id(node), node)


def _is_of_step(stmt: Node) -> TypeGuard[If]:
    return isinstance(stmt, If) and is_guarded(stmt) and stmt.reasons[0] != SWITCHED


def _restore(choice: If, ported: Function, parts: Parts, pragmas: Mapping[int, Run]) -> If:
    """Return a choice with the user's statements, or as it is where it cannot have them."""
    assert isinstance(choice.other, Block)
    host = tuple(stmt for stmt in choice.other.statements if not isinstance(stmt, Moving | Pragma))
    mine = tuple(stmt for one in host if (stmt := parts.runs.find_own(one)) is not None)
    if len(mine) < len(host) or all(same(a, b) for a, b in zip(mine, host, strict=True)):
        return choice
    around = _find_around(choice, ported, parts.runs, pragmas)
    for run in (mine, *(((around,),) if around is not None else ())):
        gone = tuple(one for stmt in run for one in (*pragmas.get(id(stmt), ()), stmt))
        places = {*find_simple(gone)}
        if find_places(host) & parts.simple != places or _stand_elsewhere(places, choice, ported):
            continue
        try:
            return parts.with_statements(choice, gone)
        except ApartError:
            continue
    return choice


def _find_around(choice: If, ported: Function, runs: Runs, pragmas: Mapping[int, Run]) -> Stmt | None:
    """Return the user's block that a choice has taken the place of: nothing is left in it but what the port declares,
    and the pragmas in front of it have gone."""
    parts = [*walk(ported.body)]
    left = {place_of(part) for part in parts if isinstance(part, Pragma)}
    blocks = (part for part in parts if isinstance(part, Block))
    block = next((one for one in blocks if any(stmt is choice for stmt in one.statements)), None)
    own = None if block is None else runs.find_own(block)
    if block is None or own is None:
        return None
    others = (stmt for stmt in block.statements if stmt is not choice)
    alone = all(isinstance(stmt, DeclStmt) and runs.leaves(stmt) for stmt in others)
    return own if alone and left.isdisjoint(map(place_of, pragmas.get(id(own), ()))) else None


def _stand_elsewhere(places: set[Place], choice: If, ported: Function) -> bool:
    """Whether some of the text at `places` went to another part of a function than this choice."""
    pending: list[Node] = [ported.body]
    while pending:
        node = pending.pop()
        if node is choice:
            continue
        if isinstance(node, Launch) and find_inside(places, node):
            return True
        if isinstance(node, Stmt) and not isinstance(node, Moving) and place_of(node) in places:
            return True
        pending += children(node)
    return False


def _find_pragmas(function: Function) -> dict[int, Run]:
    """Return the pragmas in front of each statement."""
    found: dict[int, Run] = {}
    for run in _runs(function):
        before: Run = ()
        for stmt in run:
            if isinstance(stmt, Pragma):
                before = (*before, stmt)
            else:
                found[id(stmt)], before = before, ()
    return found


def _runs(function: Function) -> Iterator[Run]:
    for part in walk(function.body):
        match part:
            case Block(statements=statements):
                yield statements
            case Case(body=statements):
                yield statements
            case _:
                continue
