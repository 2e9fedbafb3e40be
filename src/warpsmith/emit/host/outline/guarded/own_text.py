"""The user's own statements in place of what steps made of them, where the test of a step fails.

    if (a_at != 0) launch                                         if (a_at != 0) launch
    else for (…) { the text of nearest(), written in }      →     else for (…) at = nearest(a[i], …);

Invariant: what the steps made of a statement does the same as the statement. It is put back where all of its text went
into this one choice and nothing else went there, and where nothing is lost that it reads (parts.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

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
from warpsmith.tree.nodes import Block, Case, Function, If, Launch, Node, Pragma, Stmt
from warpsmith.tree.walk import children, rebuild, same, walk

__all__ = ["restore"]

Run = tuple[Stmt, ...]


def restore(original: Function, ported: Function, runs: Runs) -> Function:
    """Return a ported function with the user's statements in the fallbacks of its choices."""
    choices = [part for part in walk(ported.body) if isinstance(part, If) and _is_of_step(part)]
    if not choices:
        return ported
    parts = Parts.of(original.body.statements, ported.body.statements, runs)
    pragmas = _find_pragmas(original)
    for choice in choices:
        restored = _restore(choice, ported, parts, pragmas)
        if restored is not choice:
            ported = rebuild(ported, partial(_replace, {id(choice): restored}))
    return ported


def _replace(replaced: Mapping[int, If], node: Node) -> Node:
    return replaced.get(id(node), node)


def _is_of_step(stmt: If) -> bool:
    return is_guarded(stmt) and stmt.reasons[0] != SWITCHED


def _restore(choice: If, ported: Function, parts: Parts, pragmas: Mapping[int, Run]) -> If:
    """Return a choice with the user's statements, or as it is where it cannot have them."""
    assert isinstance(choice.other, Block)
    host = tuple(stmt for stmt in choice.other.statements if not isinstance(stmt, Moving | Pragma))
    mine = tuple(stmt for one in host if (stmt := parts.runs.find_own(one)) is not None)
    if len(mine) < len(host) or all(same(a, b) for a, b in zip(mine, host, strict=True)):
        return choice
    gone = tuple(one for stmt in mine for one in (*pragmas.get(id(stmt), ()), stmt))
    places = {*find_simple(gone)}
    if find_places(host) & parts.simple != places or _stand_elsewhere(places, choice, ported):
        return choice
    try:
        return parts.with_statements(choice, gone)
    except ApartError:
        return choice


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
