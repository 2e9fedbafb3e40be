"""The parts of a ported branch beside the user's statements that they stand for.

    row = 0 < m ? a[i] : 0;                                       row = …;
    if (apart(row, b)) launch                                →    if (apart(row, b)) launch
    else for (k …) row[k] = b[k];                                 else for (k …) a[i][k] = b[k];      the user's own
                          for (k …) a[i][k] = b[k];

Invariant: a part does what its statements do, at their place. It has the text of all of them and of no other; what the
statements read of variables that others of the region set, the part reads as well, so that it was not lost on the way;
and nothing but memory and variables of the user's goes from one part to another.

Limits: what the steps made of a statement has a test of its own, or runs on the device, or stands where it stood.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from warpsmith.emit.host.outline.model import ApartError
from warpsmith.emit.host.outline.runs import Runs
from warpsmith.emit.host.outline.statements import Moving, is_plain_declaration
from warpsmith.tree.named import find_named
from warpsmith.tree.nodes import (
    Assign,
    Block,
    CaptureStmt,
    Case,
    DataRegionBoundary,
    DeclStmt,
    Empty,
    Expr,
    For,
    If,
    Launch,
    Name,
    Node,
    Pragma,
    Stmt,
    Switch,
    Unary,
    VarDecl,
    While,
    replace,
)
from warpsmith.tree.types import Array, FunctionType, Pointer, Symbol
from warpsmith.tree.walk import children, peel, walk, written_symbols

__all__ = ["Parts", "Place", "find_inside", "find_places", "find_simple", "is_guarded", "place_of"]

Run = tuple[Stmt, ...]
Place = tuple[int, int, int]

_AROUND = Block | For | While | If | Switch | Case | Pragma | Empty | DeclStmt


class Parts(Struct, frozen=True):
    """What is known of a region: `simple`: where the user's statements stand that have none inside, declarations left
    out; `changed`: the variables by which one statement may give a value to another; `given`: what the port's own
    variables are; `carriers`: those of them that may take a value from one place to another."""

    runs: Runs
    simple: frozenset[Place]
    changed: frozenset[Symbol]
    given: Mapping[Symbol, Expr]
    carriers: frozenset[Symbol]

    @classmethod
    def of(cls, original: Run, ported: Run, runs: Runs, before: Run = ()) -> Parts:
        """Return what is known of a region with two branches, and declarations `before` it."""
        theirs = [part for stmt in ported for part in walk(stmt)]
        mine = {symbol for stmt in original for part in walk(stmt) for symbol in find_named(part)}
        changed = {symbol for stmt in original for symbol in written_symbols(stmt)}
        changed |= {symbol for symbol in mine if isinstance(symbol.type, Array)}
        changed |= {symbol for symbol in runs.exposed if not isinstance(symbol.type, FunctionType)}
        declared = [part for stmt in (*before, *ported) for part in walk(stmt) if isinstance(part, VarDecl)]
        given = {part.symbol: part.init for part in declared if part.init is not None}
        set_anew = {*_set_anew(theirs)}
        carriers = (
            part.symbol
            for stmt in theirs
            if isinstance(stmt, DeclStmt) and runs.is_own(stmt)
            for part in stmt.declarations
            if not is_plain_declaration(stmt) or part.symbol in set_anew
        )
        return cls(runs, frozenset(find_simple(original)), frozenset(changed), given, frozenset(carriers))

    def match(self, gone: Run, come: Run) -> Iterator[tuple[Run, Run]]:
        """Yield statements of the ported branch with those of the user's that they stand for, in the order of both: a
        choice with its test alone, launches with what is beside them; what stands for none has an empty run.

        Raises ApartError where that cannot be told.
        """
        position = 0
        for run in self._pieces(come):
            places = self._find_places(run)
            if places is None:
                yield run, ()
                continue
            if not places:
                raise ApartError
            end = next(
                (n for n in range(position + 1, len(gone) + 1) if {*find_simple(gone[position:n])} == places), None
            )
            if end is None:
                raise ApartError
            yield run, gone[position:end]
            position = end
        if position < len(gone):
            raise ApartError

    def with_statements(self, choice: If, gone: Run) -> If:
        """Return a choice with the user's statements in place of what the steps made of them, and what is asked of the
        device around those.

        Raises ApartError where a part before it may not have left what they need.
        """
        other = _statements(choice.other)
        device = [isinstance(stmt, Moving) for stmt in other]
        first = device.index(False) if False in device else len(device)
        last = len(device) - device[::-1].index(False) if False in device else first
        host = other[first:last]
        if any(isinstance(part, Moving | CaptureStmt) for stmt in host for part in walk(stmt)):
            raise ApartError
        named = self._named(host)
        if not named.isdisjoint(self.carriers - _declared(host)):
            raise ApartError
        if not (self._named(gone) & self.changed) - _declared(gone) <= named:
            raise ApartError
        return replace(choice, other=Block(span=choice.span, statements=(*other[:first], *gone, *other[last:])))

    def is_made_of(self, new: Stmt, old: Stmt) -> bool:
        """Whether a host statement is what the steps made of one of the user's, and touches the same memory."""
        if any(isinstance(part, Moving | CaptureStmt) or is_guarded(part) for part in walk(new)):
            return False
        named, mine = self._named((new,)), self._named((old,)) - _declared((old,))
        wanted = {symbol for symbol in mine if symbol in self.changed or isinstance(symbol.type, Pointer | Array)}
        whole = find_places((new,)) & self.simple == {*find_simple((old,))}
        return whole and wanted <= named and named.isdisjoint(self.carriers - _declared((new,)))

    def carries(self, merged: Run) -> bool:
        """Whether a variable that the port declares may take a value from one part to another, in a run that has tests
        inside."""
        declared: list[Symbol] = []
        tested = False
        pending: list[Node] = [*merged]
        while pending:
            node = pending.pop()
            if isinstance(node, VarDecl):
                declared.append(node.symbol)
            if isinstance(node, If) and node.reasons:
                tested = True
            else:
                pending += children(node)
        return tested and not self.carriers.isdisjoint(declared)

    def _pieces(self, come: Run) -> Iterator[Run]:
        """Yield choices one by one, and what stands between them."""
        between: list[Stmt] = []
        for stmt in _without_braces(come):
            if is_guarded(stmt):
                yield from (tuple(between),) if between else ()
                yield (stmt,)
                between = []
            elif isinstance(stmt, DataRegionBoundary) or self.runs.leaves(stmt):
                between.append(stmt)
            else:
                raise ApartError
        yield from (tuple(between),) if between else ()

    def _find_places(self, run: Run) -> set[Place] | None:
        """Return the places of the user's statements that a piece was made of; None where it was made of none."""
        (first, *_) = run
        if is_guarded(first):
            assert isinstance(first, If)
            return find_places(_statements(first.other)) & self.simple
        launches = [part for stmt in run for part in walk(stmt) if isinstance(part, Launch)]
        return {place for launch in launches for place in find_inside(self.simple, launch)} if launches else None

    def _named(self, run: Iterable[Node]) -> set[Symbol]:
        """Return the variables that statements name, those that the port's own variables were made of included."""
        found: set[Symbol] = set()
        pending: list[Node] = [*run]
        while pending:
            for symbol in [symbol for part in walk(pending.pop()) for symbol in find_named(part)]:
                if symbol not in found and symbol in self.given:
                    pending.append(self.given[symbol])
                found.add(symbol)
        return found


def find_places(run: Iterable[Node]) -> set[Place]:
    """Return the places of all statements in a run."""
    return {place_of(part) for root in run for part in walk(root) if isinstance(part, Stmt)}


def find_inside(places: Iterable[Place], node: Node) -> set[Place]:
    """Return the places that the text of a node covers."""
    file, first, last = place_of(node)
    return {place for place in places if place[0] == file and first <= place[1] and place[2] <= last}


def place_of(node: Node) -> Place:
    """Return where the text of a node stands."""
    return id(node.span.file), node.span.start, node.span.end


def find_simple(run: Iterable[Stmt]) -> Iterator[Place]:
    """Yield the places of the statements in a run that have none inside, declarations left out."""
    for stmt in run:
        yield from (place_of(part) for part in walk(stmt) if isinstance(part, Stmt) and not isinstance(part, _AROUND))


def is_guarded(stmt: Node) -> bool:
    """Whether a statement chooses by tests of its own between the device and the host."""
    return isinstance(stmt, If) and bool(stmt.reasons) and stmt.other is not None


def _set_anew(parts: Iterable[Node]) -> Iterator[Symbol]:
    for part in parts:
        target: Expr | None = None
        match part:
            case Assign(target=target):
                pass
            case Unary(op=op, operand=operand) if op == "&" or "++" in op or "--" in op:
                target = operand
            case For(variable=variable, declares=False):
                yield variable
            case _:
                yield from getattr(part, "writes", ())
        if target is not None and isinstance(name := peel(target), Name):
            yield name.symbol


def _without_braces(run: Run) -> Iterator[Stmt]:
    """Yield statements, those of a block that declares nothing in its place; no pragmas."""
    for stmt in run:
        if isinstance(stmt, Block) and not any(isinstance(part, DeclStmt) for part in stmt.statements):
            yield from _without_braces(stmt.statements)
        elif not isinstance(stmt, Pragma):
            yield stmt


def _declared(run: Iterable[Stmt]) -> set[Symbol]:
    parts = [part for stmt in run for part in walk(stmt)]
    counters = {part.variable for part in parts if isinstance(part, For) and part.declares}
    return counters | {part.symbol for part in parts if isinstance(part, VarDecl)}


def _statements(stmt: Stmt | None) -> Run:
    return () if stmt is None else stmt.statements if isinstance(stmt, Block) else (stmt,)
