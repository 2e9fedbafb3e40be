"""A guarded offload region, written so that the user's statements stand in it once.

    if (guards) { alloc; for (k …) { launch; s; } free }          alloc
    else { for (k …) { for (i …) …; s; } }                   →    for (k …) { either { launch } or { for (i …) … } s; }
                                                                  free

Invariant: where the guards hold, the result does what the first branch does, elsewhere what the second does. What only
the first has is for the device alone; `either` chooses between that and what only the second has. Where the first has a
test inside, what runs where that fails are the statements of the second that it stands for (parts.py).

Limits: where a declaration or the head of a loop differs, or the second branch has statements for the device of its own
(data of a caller that come back for it), the branches stay apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from warpsmith.emit.host.outline.guarded.parts import Parts, is_guarded
from warpsmith.emit.host.outline.model import ApartError
from warpsmith.emit.host.outline.runs import Runs
from warpsmith.tree.in_place.alignment import align_statements, is_replaced
from warpsmith.tree.nodes import (
    Block,
    Case,
    DataRegionBoundary,
    DeclStmt,
    For,
    If,
    Name,
    Pragma,
    Stmt,
    Switch,
    While,
    replace,
)
from warpsmith.tree.types import INT, Symbol
from warpsmith.tree.walk import same, walk

__all__ = ["branches", "is_either", "merge"]

Run = tuple[Stmt, ...]
_EITHER: Final = Symbol("either", "outline:either", INT, "device")


def is_either(stmt: Stmt) -> bool:
    """Whether a statement chooses between what runs on the device and what runs in its place."""
    return isinstance(stmt, If) and isinstance(stmt.condition, Name) and stmt.condition.symbol is _EITHER


def branches(stmt: Stmt) -> tuple[Run, Run]:
    """Return the two sides of a choice, or of an `if` whose branches are blocks."""
    assert isinstance(stmt, If)
    return _statements(stmt.then), () if stmt.other is None else _statements(stmt.other)


def merge(ported: Run, original: Run, runs: Runs, before: Run = ()) -> Run:
    """Return both branches as one run, with declarations `before` it.

    Raises ApartError where a statement of the user's would have to stand twice.
    """
    parts = [part for stmt in ported for part in walk(stmt)]
    keeps_data = any(isinstance(part, DataRegionBoundary) for part in parts)
    if keeps_data and not runs.is_for_the_host(original):
        raise ApartError
    merger = _Merger(runs, Parts.of(original, ported, runs, before))
    merged = runs.without_unused(tuple(merger.run(original, ported)))
    if all(runs.leaves(stmt) or is_either(stmt) for stmt in merged):
        raise ApartError
    if merger.parts.carries(merged):
        raise ApartError
    return merged


class _Merger(Struct, frozen=True):
    runs: Runs
    parts: Parts

    def run(self, old: Run, new: Run) -> Iterator[Stmt]:
        old_start = new_start = 0
        for i, j in [*align_statements(old, new), (len(old), len(new))]:
            yield from self.gap(old[old_start:i], new[new_start:j])
            if i < len(old):
                yield self.pair(old[i], new[j])
            old_start, new_start = i + 1, j + 1

    def gap(self, gone: Run, come: Run) -> Iterator[Stmt]:
        come = tuple(stmt for stmt in come if not isinstance(stmt, Pragma))
        # what the host branch asks of the device is no choice of the user's text
        if any(isinstance(stmt, DeclStmt) or self.runs.leaves(stmt) for stmt in gone):
            raise ApartError
        if all(map(self.runs.leaves, come)):
            yield from self.choice(gone, come) if gone else come
            return
        for run, mine in self.parts.match(gone, come):
            if is_guarded(run[0]):
                assert isinstance(run[0], If)
                yield self.parts.with_statements(run[0], mine)
            else:
                yield from self.choice(mine, run) if mine else run

    def choice(self, gone: Run, come: Run) -> Iterator[Stmt]:
        span = gone[0].span
        condition = Name(span=span, type=INT, symbol=_EITHER)
        then, other = Block(span=span, statements=come), Block(span=span, statements=gone)
        yield If(span=span, condition=condition, then=then, other=other)

    def pair(self, old: Stmt, new: Stmt) -> Stmt:
        if old is new or same(old, new):
            return old
        if is_replaced(old, new):
            if self.parts.is_made_of(new, old):
                return old
            raise ApartError
        match old, new:
            case Block(), Block():
                return replace(new, statements=tuple(self.run(old.statements, new.statements)))
            case ((For() | While()), (For() | While())):
                return replace(new, body=self.body(old.body, new.body))
            case If(), If():
                return replace(new, then=self.body(old.then, new.then), other=self.other(old.other, new.other))
            case Switch(), Switch():
                return replace(new, cases=tuple(self.case(a, b) for a, b in zip(old.cases, new.cases, strict=True)))
            case _:
                raise ApartError

    def body(self, old: Stmt, new: Stmt) -> Stmt:
        if isinstance(old, Block) and isinstance(new, Block) and old.span == new.span:
            return self.pair(old, new)
        run = tuple(self.run(_statements(old), _statements(new)))
        return run[0] if len(run) == 1 else Block(span=new.span, statements=run)

    def other(self, old: Stmt | None, new: Stmt | None) -> Stmt | None:
        if old is None or new is None:
            if old is not None:
                raise ApartError
            return new
        return self.body(old, new)

    def case(self, old: Case, new: Case) -> Case:
        return replace(new, body=tuple(self.run(old.body, new.body)))


def _statements(stmt: Stmt) -> Run:
    return stmt.statements if isinstance(stmt, Block) else (stmt,)
