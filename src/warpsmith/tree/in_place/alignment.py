"""Which statements of a changed run are the user's: they stay where they are, and text is added around and inside them.

    #pragma omp parallel for            int n = g.n;                       gone: the pragma and its loop
    for (i < g.n) …              →      #pragma omp parallel for           come: the declaration, the pragma, the loop
    x = 1;                              for (i < n) …
                                        x = 1;                             aligned

Invariant: pairs never cross, and a pragma stands with the statement under it: where that one is replaced, so is the
pragma, since additions cannot stand between the two.
"""

from __future__ import annotations

from collections.abc import Sequence

from warpsmith.tree.in_place.versioned import Run
from warpsmith.tree.nodes import Block, Expr, For, If, Pragma, Stmt, Switch, While
from warpsmith.tree.text.places import binds
from warpsmith.tree.walk import same

__all__ = ["align_statements", "is_replaced"]


def align_statements(old: Run, new: Run) -> list[tuple[int, int]]:
    """Return increasing pairs of indices of statements that stand for each other: the same node, or one of its class
    with its span."""
    places = {_key(stmt): index for index, stmt in enumerate(old)} | {id(stmt): index for index, stmt in enumerate(old)}
    pairs: list[tuple[int, int]] = []
    last = -1
    for j, stmt in enumerate(new):
        i = places.get(id(stmt), places.get(_key(stmt)))
        if i is not None and i > last and not _loses_threads(old, i, new):
            pairs.append((i, j))
            last = i
    return _drop_cut_pragmas(old, new, pairs)


def is_replaced(old: Stmt, new: Stmt) -> bool:
    """Whether `new` stands in the place of `old` as a whole: additions inside `old` do not make it."""
    if old is new or same(old, new):
        return False
    match old, new:
        case Block(), Block():
            return not old.span.text.startswith("{")
        case For(), For():
            return not _same_loop(old, new)
        case While(), While():
            return not _same_while(old, new)
        case If(), If():
            return not same(old.condition, new.condition)
        case Switch(), Switch():
            return len(old.cases) != len(new.cases) or not same(old.value, new.value)
        case _:
            return True


def _drop_cut_pragmas(old: Run, new: Run, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return `pairs` without the pragmas whose statement is replaced, and without that statement."""
    stands = {i: not is_replaced(old[i], new[j]) for i, j in pairs}
    cut: set[int] = set()
    for i in reversed(range(len(old) - 1)):
        if _binds(old[i]) and (i + 1 in cut or not stands.get(i + 1, False)):
            cut |= {i, i + 1}
    return [(i, j) for i, j in pairs if i not in cut]


def _binds(stmt: Stmt) -> bool:
    return isinstance(stmt, Pragma) and binds(stmt.text)


def _loses_threads(old: Run, position: int, new: Run) -> bool:
    """Whether a pragma in front of a statement lets several threads run it, and `new` has no such pragma: the two are
    one text of the user's."""
    kept = {_key(stmt) for stmt in new}
    for stmt in reversed(old[:position]):
        if not isinstance(stmt, Pragma):
            return False
        if stmt.directive is not None and stmt.directive.starts_threads and _key(stmt) not in kept:
            return True
    return False


def _key(stmt: Stmt) -> tuple[str, int, int, int]:
    return type(stmt).__name__, id(stmt.span.file), stmt.span.start, stmt.span.end


def _same_loop(old: For, new: For) -> bool:
    mine = (old.variable, old.declares, old.relation, old.step)
    theirs = (new.variable, new.declares, new.relation, new.step)
    return mine == theirs and same(old.lower, new.lower) and same(old.bound, new.bound)


def _same_while(old: While, new: While) -> bool:
    pairs = ((old.init, new.init), (old.condition, new.condition), (old.advance, new.advance))
    return old.form == new.form and all(_equal(a, b) for a, b in pairs)


def _equal(a: Stmt | Expr | None, b: Stmt | Expr | None) -> bool:
    return a is b or (a is not None and b is not None and same(a, b))
