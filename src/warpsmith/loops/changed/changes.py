"""The changes that steps have made to a function: the smallest statement runs that differ.

    for (t …) {                for (t …) {
        S1;                        S1;
        for (i …) …      →         for (w …) …        changed: the i loop ↔ the w loop, once per iteration of t
        S3;                        S3;
    }                          }

Invariant: outside the changed runs both functions have the same nodes under the same headers, so an old run is executed
exactly when its new run is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from warpsmith.loops.changed.apart import split_apart
from warpsmith.tree.nodes import Block, For, Function, If, Pragma, Stmt, While
from warpsmith.tree.walk import same

__all__ = ["Run", "changed_runs", "counterparts"]

Run = tuple[Stmt, ...]


def changed_runs(old: Function, new: Function) -> tuple[tuple[Run, Run], ...]:
    """Return every pair (old run, new run), in source order; a run may be empty where statements were only added."""
    return tuple(_of_runs(old.body.statements, new.body.statements))


def counterparts(old: Function, new: Function) -> Mapping[Stmt, Stmt]:
    """Return, for every statement around a changed run, the statement of `old` that it was."""
    found: dict[Stmt, Stmt] = {}
    pending = [(old.body.statements, new.body.statements)]
    while pending:
        before, after = pending.pop()
        groups = [] if len(before) == len(after) else _groups(before, after)
        if len(before) != len(after) and not groups:
            continue
        for one, other in [(a[-1], b[-1]) for a, b in groups] or zip(before, after, strict=True):
            if one is not other and type(one) is type(other):
                found[other] = one
                pending += list(_lists(one, other))
    return found


def _lists(old: Stmt, new: Stmt) -> Iterator[tuple[Run, Run]]:
    """Yield the statement lists of two statements of one class, side by side."""
    match old, new:
        case Block(), Block():
            yield old.statements, new.statements
        case ((For() | While()), (For() | While())):
            yield _statements(old.body), _statements(new.body)
        case If(), If():
            yield _statements(old.then), _statements(new.then)
            if old.other is not None and new.other is not None:
                yield _statements(old.other), _statements(new.other)
        case _:
            return


def _of_runs(old: Run, new: Run) -> Iterator[tuple[Run, Run]]:
    shortest = min(len(old), len(new))
    first = next((k for k in range(shortest) if old[k] is not new[k]), shortest)
    last = next((k for k in range(shortest - first) if old[-1 - k] is not new[-1 - k]), shortest - first)
    before, after = old[first : len(old) - last], new[first : len(new) - last]
    if not before and not after:
        return
    if len(parts := split_apart(before, after)) > 1:
        for one, other in parts:
            yield from _of_runs(one, other)
        return
    if len(before) != len(after) and (groups := _groups(before, after)):
        for one, other in groups:
            whole = len(one) != len(other) or any(a is not b for a, b in zip(one[:-1], other[:-1], strict=True))
            yield from ((one, other),) if whole else _of_runs(one, other)
        return
    pairs = list(zip(before, after, strict=False))
    inner = [list(_inside(a, b)) for a, b in pairs if a is not b] if len(before) == len(after) else []
    if inner and all(inner):
        for found in inner:
            yield from found
    elif (start := _find_kept(before, after)) > 0:
        yield before[:start], ()
        yield from _of_runs(before[start:], after)
    else:
        yield before, after


def _find_kept(old: Run, new: Run) -> int:
    """Return where the first statement of the new run, which stays, stands in the old one, behind pragmas alone that
    are gone: the end of a conditional that they shared with other code; 0 where there is none."""
    place = next((k for k, stmt in enumerate(old) if new and stmt is new[0]), 0)
    return place if all(isinstance(stmt, Pragma) for stmt in old[:place]) else 0


def _groups(old: Run, new: Run) -> list[tuple[Run, Run]]:
    """Return the statements side by side, each with the pragmas in front of it; nothing where they are not the same
    statements in the same places: only pragmas came or went."""
    first, second = _with_pragmas(old), _with_pragmas(new)
    alike = len(first) == len(second) and all(_same_place(a[-1], b[-1]) for a, b in zip(first, second, strict=True))
    return list(zip(first, second, strict=True)) if alike else []


def _with_pragmas(run: Run) -> list[Run]:
    ends = [k + 1 for k, stmt in enumerate(run) if not isinstance(stmt, Pragma)]
    if not ends or ends[-1] != len(run):
        return []
    return [run[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _same_place(one: Stmt, other: Stmt) -> bool:
    return one is other or (type(one) is type(other) and one.span == other.span)


def _inside(old: Stmt, new: Stmt) -> Iterator[tuple[Run, Run]]:
    """Yield what differs inside two statements with the same header; nothing where the headers differ."""
    match old, new:
        case Block(), Block():
            yield from _of_runs(old.statements, new.statements)
        case For(), For() if _same_header(old, new):
            yield from _of_bodies(old.body, new.body)
        case While(), While() if old.condition is new.condition and old.advance is new.advance and old.init is new.init:
            yield from _of_bodies(old.body, new.body)
        case If(), If() if old.condition is new.condition and (old.other is None) == (new.other is None):
            if old.then is not new.then:
                yield from _of_bodies(old.then, new.then)
            if old.other is not None and new.other is not None and old.other is not new.other:
                yield from _of_bodies(old.other, new.other)
        case _:
            return


def _of_bodies(old: Stmt, new: Stmt) -> Iterator[tuple[Run, Run]]:
    yield from _of_runs(_statements(old), _statements(new))


def _statements(body: Stmt) -> Run:
    return body.statements if isinstance(body, Block) else (body,)


def _same_header(old: For, new: For) -> bool:
    mine = (old.variable, old.declares, old.relation, old.step)
    return mine == (new.variable, new.declares, new.relation, new.step) and all(
        same(a, b) for a, b in ((old.lower, new.lower), (old.bound, new.bound))
    )
