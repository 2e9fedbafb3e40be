"""The runs of statements that leave the user's text together: as long as nothing of his stands between them.

    long long n_bytes = …;    a declaration of the port's own
    p_gpu = acquire; copy     device statements
    k1(p_gpu);                                                       one run
    i = n;                    what the loop leaves in its counter
    capture p                 a build for the referee records it

Invariant: a run begins with a declaration or a device statement and ends with what stands behind a launch; what it
declares is named by device statements and the port's own declarations alone; what its statements read of the host's
memory, none before them in the run has changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from warpsmith.emit.host.outline.launching import is_for_the_host
from warpsmith.emit.host.outline.statements import (
    Moving,
    host_uses,
    is_final,
    is_plain_declaration,
    reads_memory,
    uses,
    writes_memory,
)
from warpsmith.emit.host.outline.whole import is_movable
from warpsmith.tree.in_place.alignment import is_replaced
from warpsmith.tree.memory.device_writes import find_exposed
from warpsmith.tree.nodes import (
    CaptureStmt,
    DeclStmt,
    For,
    Function,
    If,
    Launch,
    Node,
    Stmt,
    Update,
    While,
)
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

__all__ = ["Piece", "Runs"]

Run = tuple[Stmt, ...]
Key = tuple[type[Node], int, int, int]


class Piece(Struct, frozen=True):
    """Consecutive statements: those that leave the user's text (`moves`), or one that stays."""

    statements: Run
    moves: bool


class Runs(Struct, frozen=True):
    """The runs of one function; `known`: the user's own statements, by class and place; `exposed`: variables that
    change where memory does; `launching`: the functions of the program that may launch kernels; `typed`: the program
    keeps C's rule of effective types (C17 6.5p7)."""

    known: Mapping[Key, Node]
    exposed: frozenset[Symbol]
    launching: frozenset[Symbol] = frozenset()
    typed: bool = False

    @classmethod
    def of(cls, function: Function, launching: frozenset[Symbol] = frozenset(), *, typed: bool = False) -> Runs:
        """Return the runs of what was made of a function of the user's."""
        return cls({_key(part): part for part in walk(function.body)}, find_exposed(function), launching, typed)

    def is_for_the_host(self, run: Run) -> bool:
        """Whether no kernel may run while statements do: none is there, nor a function that may launch one."""
        return is_for_the_host(run, self.launching)

    def is_own(self, stmt: Stmt) -> bool:
        """Whether a statement is the port's own, and none of the user's."""
        return _key(stmt) not in self.known

    def find_own(self, stmt: Stmt) -> Stmt | None:
        """Return the user's statement that another one was made of, at its place and of its class."""
        found = self.known.get(_key(stmt))
        return found if isinstance(found, Stmt) else None

    def leaves(self, stmt: Stmt) -> bool:
        """Whether a statement may stand in a generated function: it is none of the user's."""
        if isinstance(stmt, Moving | CaptureStmt):
            return True
        if self.is_own(stmt) and (is_plain_declaration(stmt) or is_final(stmt)):
            return True
        return self._is_made(stmt) and is_movable(stmt)

    def _is_made(self, stmt: Stmt) -> bool:
        """Whether a loop or a test is the port's own, and has something for the device in it."""
        if not isinstance(stmt, For | While | If) or not any(isinstance(part, Moving) for part in walk(stmt)):
            return False
        known = self.known.get(_key(stmt))
        return known is None or (isinstance(known, For | While | If) and is_replaced(known, stmt))

    def without_unused(self, run: Run) -> Run:
        """Return a run without declarations of the port's own that nothing behind them uses."""
        kept: list[Stmt] = []
        named: Counter[Symbol] = Counter()
        for stmt in reversed(run):
            if isinstance(stmt, DeclStmt) and self.leaves(stmt) and not any(named[d.symbol] for d in stmt.declarations):
                continue
            named += uses(stmt)
            kept.append(stmt)
        return tuple(reversed(kept))

    def split(self, run: Sequence[Stmt]) -> Iterator[Piece]:
        """Yield the pieces of a run in order."""
        position = 0
        named = self._named_behind(run)
        while position < len(run):
            end = self._end(run, position, named)
            statements = tuple(run[position : max(end, position + 1)])
            yield Piece(statements, end > position and not (len(statements) == 1 and _is_short(statements[0])))
            position = max(end, position + 1)

    def _named_behind(self, run: Sequence[Stmt]) -> list[set[Symbol]]:
        """Return, for each statement, what the user's text names behind it."""
        found: list[set[Symbol]] = [set()]
        for stmt in reversed(run[1:]):
            leaves = isinstance(stmt, DeclStmt | For | While | If) and not is_final(stmt) and self.leaves(stmt)
            own = set[Symbol]() if leaves else host_uses((stmt,))
            found.append(found[-1] | own)
        return found[::-1]

    def _end(self, run: Sequence[Stmt], start: int, named: Sequence[set[Symbol]]) -> int:
        """Return where the run that begins at `start` ends; `start` where none does."""
        end, at = start, start
        launched = wrote = False
        while at < len(run) and self.leaves(run[at]):
            stmt = run[at]
            # what a call passes is read before the function writes anything
            if wrote and reads_memory(stmt, self.exposed):
                break
            parts = [*walk(stmt)] if self._is_made(stmt) else [stmt]
            wrote = wrote or any(isinstance(part, Moving) and writes_memory(part) for part in parts)
            if isinstance(stmt, DeclStmt):
                if any(d.symbol in named[at] for d in stmt.declarations):
                    break
            elif any(isinstance(part, Moving) for part in parts):
                launched = launched or any(isinstance(part, Launch) for part in parts)
                end = at + 1
            elif isinstance(stmt, CaptureStmt):
                if end != at:
                    break
                end = at + 1
            elif not launched or end != at:
                break
            else:
                end = at + 1
            at += 1
        return end


def _is_short(stmt: Stmt) -> bool:
    """Whether a statement says all that it does in a line of the user's text: no size, no buffer."""
    return isinstance(stmt, Update) and stmt.bytes is None


def _key(node: Node) -> Key:
    return type(node), id(node.span.file), node.span.start, node.span.end
