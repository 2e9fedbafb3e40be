"""Runs of statements with labels between them, and where control goes from each.

    if (c) goto A;      0: to 1, or to A = 2
    s;                  1: to 2
    A: t;               2: to 3, the end

A position is the number of a statement; behind the last one stands the end, which is where what follows the run begins.
`follow` has the labels there. A statement may be said to reach the next one though it does not, never the other way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from warpsmith.tree.nodes import Block, Break, Continue, For, If, Node, Return, Stmt, Switch, Verbatim, While
from warpsmith.tree.walk import walk

__all__ = [
    "LabeledRun",
    "LabeledStatement",
    "NotNestedError",
    "completes",
    "find_marks",
    "find_targets",
    "list_of",
    "read_run",
]


class NotNestedError(Exception):
    """Why gotos are not written as branches, in the user's words."""


class LabeledStatement(Struct, frozen=True):
    """A statement with the labels in front of it."""

    marks: tuple[Verbatim, ...]
    stmt: Stmt


class LabeledRun(Struct, frozen=True):
    """Statements one after the other; `last`: the labels behind them; `follow`: the names of those that come next in
    what is around the run."""

    items: tuple[LabeledStatement, ...]
    last: tuple[Verbatim, ...] = ()
    follow: frozenset[str] = frozenset()

    @property
    def end(self) -> int:
        """The position behind the last statement."""
        return len(self.items)

    def behind(self, position: int) -> LabeledRun:
        """Return what starts at a position."""
        return LabeledRun(self.items[position:], self.last, self.follow)

    def then(self, items: Sequence[LabeledStatement]) -> LabeledRun:
        """Return the run with more statements behind it."""
        if not items:
            return self
        first = LabeledStatement((*self.last, *items[0].marks), items[0].stmt)
        return LabeledRun((*self.items, first, *items[1:]), (), self.follow)

    def marks(self, position: int) -> tuple[Verbatim, ...]:
        """Return the labels at a position."""
        return self.last if position == self.end else self.items[position].marks

    def names(self, position: int) -> frozenset[str]:
        """Return the names of labels that lead to a position."""
        own = frozenset(mark.marks for mark in self.marks(position))
        return own | self.follow if position == self.end else own

    def position(self, label: str) -> int:
        """Return where a label leads; raises NotNestedError where it does not lead on in this run."""
        for position in range(self.end + 1):
            if label in self.names(position):
                return position
        raise NotNestedError(f"goto {label}, which leads back or into a block")


def read_run(statements: Sequence[Stmt], follow: frozenset[str]) -> LabeledRun:
    """Return statements as a run."""
    items: list[LabeledStatement] = []
    marks: list[Verbatim] = []
    for stmt in statements:
        if isinstance(stmt, Verbatim) and stmt.marks:
            marks.append(stmt)
        else:
            items.append(LabeledStatement(tuple(marks), stmt))
            marks = []
    return LabeledRun(tuple(items), tuple(marks), follow)


def list_of(stmt: Stmt | None) -> tuple[Stmt, ...]:
    """Return the statements of a branch."""
    if stmt is None:
        return ()
    return stmt.statements if isinstance(stmt, Block) else (stmt,)


def find_marks(statements: Sequence[Node]) -> Iterator[str]:
    """Yield the labels in statements."""
    for stmt in statements:
        yield from (part.marks for part in walk(stmt) if isinstance(part, Verbatim) and part.marks)


def find_targets(statements: Sequence[Node]) -> Iterator[str]:
    """Yield where the gotos in statements lead."""
    for stmt in statements:
        yield from (part.goes for part in walk(stmt) if isinstance(part, Verbatim) and part.goes)


def completes(statements: Sequence[Stmt], targets: frozenset[str]) -> bool:
    """Whether control may reach the end of statements from their start, or from one of their labels in `targets`."""
    alive = True
    for stmt in statements:
        alive = _completes(stmt, targets) if alive or targets & set(find_marks((stmt,))) else False
    return alive


def _completes(stmt: Stmt, targets: frozenset[str]) -> bool:
    match stmt:
        case Break() | Continue() | Return():
            return False
        case Verbatim():
            return not stmt.goes
        case Block(statements=statements):
            return completes(statements, targets)
        case If(then=then, other=other):
            return other is None or any(completes(list_of(arm), targets) for arm in (then, other))
        case For() | While() | Switch():
            return True
        case _:
            return True
