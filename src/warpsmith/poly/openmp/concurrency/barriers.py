"""Do the threads of a team meet between two kinds of uses of what they share?

    part[me][k] += x;                            one kind: each thread's own part
    #pragma omp barrier                          all threads have come here
    for (t …) total += part[t][k];               the other: the parts of all

Invariant: the answer is yes only where a barrier stands on every way from a use of one kind to one of another: what is
under a condition, or in a loop that may run no round, counts as use and not as barrier.
Limits: barriers in functions that are called, and in loops that are left early, do not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warpsmith.tree.nodes import (
    Block,
    Break,
    Case,
    Continue,
    For,
    If,
    Name,
    Node,
    Pragma,
    Return,
    Stmt,
    Verbatim,
    While,
)
from warpsmith.tree.walk import children, names, walk

__all__ = ["find_unordered"]

_State = frozenset[str]
_NONE: _State = frozenset()
_LEAVES = (Break, Case, Continue, Return, Verbatim)


def find_unordered(run: Sequence[Stmt], kinds: Mapping[int, str], *, again: bool = False) -> Name | None:
    """Return a Name of one of the `kinds` (by the ids of Names) that a thread may reach before another thread has left
    one of another kind, in statements that all threads of a team run; `again`: they run them time after time."""
    try:
        left = _follow(run, kinds, _NONE)
        if again:
            early = any(isinstance(part, Return) for stmt in run for part in walk(stmt))
            _follow(run, kinds, left | frozenset(kinds.values()) if early else left)
    except _MetError as met:
        return met.name
    return None


class _MetError(Exception):
    def __init__(self, name: Name) -> None:
        super().__init__(name.symbol.name)
        self.name = name


def _follow(run: Sequence[Stmt], kinds: Mapping[int, str], state: _State) -> _State:
    """Return which kinds of uses no barrier stands behind, after a run of statements that starts with those of
    `state`."""
    before: list[Pragma] = []
    for stmt in run:
        if isinstance(stmt, Pragma) and stmt.directive is not None:
            if stmt.directive.words == ("barrier",):
                state = _NONE
            elif not stmt.directive.stands_alone:
                before.append(stmt)
        elif not isinstance(stmt, Pragma):
            state = _follow_marked(stmt, before, kinds, state) if before else _follow_plain(stmt, kinds, state)
            before = []
    return state


def _follow_marked(stmt: Stmt, before: Sequence[Pragma], kinds: Mapping[int, str], state: _State) -> _State:
    state = _use(stmt, kinds, state)
    first = before[0].directive
    waits = first is not None and first.words[:1] in (("for",), ("single",)) and not first.has("nowait")
    return _NONE if waits and len(before) == 1 else state


def _follow_plain(stmt: Stmt, kinds: Mapping[int, str], state: _State) -> _State:
    if not any(isinstance(part, Pragma) for part in walk(stmt)):
        return _use(stmt, kinds, state)
    if isinstance(stmt, Block):
        return _follow(stmt.statements, kinds, state)
    if isinstance(stmt, If):
        state = _use(stmt.condition, kinds, state)
        then = _follow((stmt.then,), kinds, state)
        return then | (_follow((stmt.other,), kinds, state) if stmt.other is not None else state)
    if isinstance(stmt, For | While) and not any(isinstance(part, _LEAVES) for part in walk(stmt)):
        for part in children(stmt):
            state = state if part is stmt.body else _use(part, kinds, state)
        once = _follow((stmt.body,), kinds, state)
        return state | _follow((stmt.body,), kinds, once)
    return _use(stmt, kinds, _use(stmt, kinds, state))


def _use(node: Node, kinds: Mapping[int, str], state: _State) -> _State:
    for name in names(node):
        kind = kinds.get(id(name))
        if kind is not None:
            if state - {kind}:
                raise _MetError(name)
            state |= {kind}
    return state
