"""Writing statements into a scope at the places of its flow.

    if (c)                        if (c) {
        kernel loop       →           copy; launch; copy
                                  } else {
                                      copy
                                  }

Invariant: everything that nobody asked to change stays the very same node, so that its text stays the user's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from warpsmith.offload.transfers.flow import ProgramPoint
from warpsmith.poly.facts import statement_spans
from warpsmith.tree.nodes import (
    Block,
    Break,
    Case,
    Continue,
    DeclStmt,
    DeviceNode,
    Empty,
    ExprStmt,
    For,
    If,
    Pragma,
    Return,
    Stmt,
    Switch,
    Verbatim,
    While,
    replace,
)
from warpsmith.tree.text.places import cut_conditionals

__all__ = ["Edits", "rewritten_run"]


class Edits(Struct):
    """What to write where: `replaced` maps the first statement of a run to how many statements it has and what takes
    their place; `inserted` are statements at places, in order."""

    replaced: dict[Stmt, tuple[int, tuple[Stmt, ...]]] = field(default_factory=dict)
    inserted: dict[ProgramPoint, list[Stmt]] = field(default_factory=dict)

    def at(self, place: ProgramPoint, statements: Iterable[Stmt]) -> None:
        """Add statements at a place, behind those already there."""
        self.inserted.setdefault(place, []).extend(statements)


def rewritten_run(run: tuple[Stmt, ...], edits: Edits) -> tuple[Stmt, ...]:
    """Return the statements of `run` with the edits in it and below it; nothing comes between a pragma and what it
    is about, nor between a statement and the ends of a conditional that cut through it."""
    before, after = _around(run, edits)
    result: list[Stmt] = []
    held: list[Stmt] = []
    position = 0
    while position < len(run):
        stmt = run[position]
        result += before.get(position, [])
        count, instead = edits.replaced.get(stmt, (1, None))
        if instead is None and isinstance(stmt, Pragma) and stmt.directive is not None:
            held += () if stmt.directive.stands_alone else (stmt,)
            result += (stmt,) if stmt.directive.stands_alone else ()
        else:
            result += (*held, *(instead if instead is not None else (_rewrite_statement(stmt, edits),)))
            held = []
        position += count
        result += after.get(position - 1, [])
    return (*result, *held)


def _around(run: tuple[Stmt, ...], edits: Edits) -> tuple[dict[int, list[Stmt]], dict[int, list[Stmt]]]:
    """Return what stands before and after the statements of `run`, by their index."""
    before: dict[int, list[Stmt]] = {}
    after: dict[int, list[Stmt]] = {}
    for position, stmt in enumerate(run):
        lead, rest = (edits.inserted.get(ProgramPoint(where, stmt)) for where in ("before", "after"))
        first, last = _whole(run, position) if lead or rest else (position, position)
        if lead:
            before.setdefault(first, []).extend(lead)
        if rest:
            after[last] = [*rest, *after.get(last, [])]
    return before, after


def _whole(run: tuple[Stmt, ...], position: int) -> tuple[int, int]:
    """Return the first and the last statement with the one at `position`: lines of the preprocessor's that open a
    conditional which its text closes, and close one that its text opens."""
    closed, opened = cut_conditionals(run[position].span.text)
    first, last = position - closed, position + opened
    if isinstance(run[position], Pragma | Verbatim) or first < 0 or last >= len(run):
        return position, position
    opens = all(run[i].span.text.startswith("#if") for i in range(first, position))
    closes = all(run[i].span.text.startswith("#endif") for i in range(position + 1, last + 1))
    return (first, last) if opens and closes else (position, position)


def _rewrite_statement(stmt: Stmt, edits: Edits) -> Stmt:
    changes: Mapping[str, object]
    match stmt:
        case Block(statements=()):
            changes = {"statements": tuple(edits.inserted.get(ProgramPoint("within", stmt), []))}
        case Block():
            changes = {"statements": rewritten_run(stmt.statements, edits)}
        case If():
            changes = {"then": _body(stmt.then, edits), "other": _other(stmt, edits)}
        case For() | While():
            changes = {"body": _body(stmt.body, edits)}
        case Switch():
            changes = {"cases": tuple(_case(case, edits) for case in stmt.cases)}
        case Break() | Continue() | DeclStmt() | Empty() | ExprStmt() | Pragma() | Return() | Verbatim() | DeviceNode():
            return stmt
    return replace(stmt, **changes) if any(_differs(getattr(stmt, k), v) for k, v in changes.items()) else stmt


def _body(stmt: Stmt, edits: Edits) -> Stmt:
    """Return a body; one that becomes several statements gets braces."""
    if isinstance(stmt, Block):
        return _rewrite_statement(stmt, edits)
    run = rewritten_run((stmt,), edits)
    return run[0] if len(run) == 1 else Block(span=stmt.span, statements=run)


def _other(stmt: If, edits: Edits) -> Stmt | None:
    if stmt.other is not None:
        return _body(stmt.other, edits)
    new = tuple(edits.inserted.get(ProgramPoint("else", stmt), []))
    return Block(span=statement_spans(new), statements=new) if new else None


def _case(case: Case, edits: Edits) -> Case:
    body = rewritten_run(case.body, edits)
    return replace(case, body=body) if _differs(case.body, body) else case


def _differs(old: object, new: object) -> bool:
    if isinstance(old, tuple) and isinstance(new, tuple):
        return len(old) != len(new) or any(a is not b for a, b in zip(old, new, strict=True))
    return old is not new
