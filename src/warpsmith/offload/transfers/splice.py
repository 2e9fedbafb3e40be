"""Putting rewritten statement runs in place of the user's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from warpsmith.poly.facts import statement_spans
from warpsmith.tree.nodes import Block, Case, DataEnter, DeviceAlloc, For, Function, If, Node, Stmt, While, replace
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import rebuild

__all__ = ["splice"]

Run = tuple[Stmt, ...]


def splice(function: Function, replacements: Sequence[tuple[Run, Run]]) -> Function:
    """Return `function` with each run (consecutive statements of one block, or the one unbraced body of a loop or
    branch) replaced; runs do not overlap. Runs of one block that declare the same buffer get braces, as do those that
    stand directly in a case.

    Raises ValueError where a run is not found.
    """
    splicer = _Splicer({id(old[0]): (old, new) for old, new in replacements})
    changed = rebuild(function, splicer.change)
    if len(splicer.done) != len(replacements):
        raise ValueError("a statement run to replace does not stand in its function")
    return changed


class _Splicer(Struct):
    """`runs`: (old, new) by the identity of the old run's first statement; `done`: those found."""

    runs: Mapping[int, tuple[Run, Run]]
    done: set[int] = field(default_factory=set)

    def change(self, node: Node) -> Node:
        match node:
            case Block(statements=statements) if any(id(s) in self.runs for s in statements):
                return replace(node, statements=self._in_list(statements))
            case Case(body=statements) if any(id(s) in self.runs for s in statements):
                return replace(node, body=self._in_list(statements, braces=True))
            case For(body=body) | While(body=body) if id(body) in self.runs:
                return replace(node, body=self._alone(body))
            case If(then=then, other=other) if id(then) in self.runs or id(other) in self.runs:
                return replace(node, then=self._alone(then), other=None if other is None else self._alone(other))
            case _:
                return node

    def _alone(self, statement: Stmt) -> Stmt:
        if id(statement) not in self.runs:
            return statement
        old, new = self.runs[id(statement)]
        self.done.add(id(statement))
        return Block(span=statement_spans(old), statements=new)

    def _in_list(self, statements: Run, *, braces: bool = False) -> Run:
        result: list[Stmt] = []
        twice = self._find_declared_twice(statements)
        skip = 0
        for statement in statements:
            if skip:
                skip -= 1
            elif id(statement) in self.runs:
                old, new = self.runs[id(statement)]
                self.done.add(id(statement))
                again = any(symbol in twice for symbol in _buffers(new))
                result += [Block(span=statement_spans(old), statements=new)] if again or braces else new
                skip = len(old) - 1
            else:
                result.append(statement)
        return tuple(result)

    def _find_declared_twice(self, statements: Run) -> set[Symbol]:
        """Return the buffers that several of the runs in one block declare: those runs need braces."""
        runs = [self.runs[id(s)][1] for s in statements if id(s) in self.runs]
        counted = Counter(symbol for run in runs for symbol in _buffers(run))
        return {symbol for symbol, count in counted.items() if count > 1}


def _buffers(run: Run) -> set[Symbol]:
    return {statement.buffer for statement in run if isinstance(statement, DataEnter | DeviceAlloc)}
