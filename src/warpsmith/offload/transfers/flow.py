"""The control flow of a scope, with every place where a copy can be written down.

    x[0] = 1;                 slot · host · slot · branch ─┬─ slot · launch · slot ─┬─ slot · exit
    if (c) kernel(x);                                      └─ slot (a new else) ────┘

Invariant: a slot is a place of the text, and a copy written there runs exactly when control passes the slot. Every
point that touches data is entered from slots only, or from points through which a copy needed by it cannot be owed
(a do loop's start, a switch's cases: what they owe is owed at the slots in front of them). Points are numbered in the
order of the text; the points of a loop are consecutive.

Limits: the scope has no goto and no label (residency sees to it). A loop's initialization, condition and advance count
as one point at the loop's head: what they write is then written in every iteration, which is safe.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from warpsmith.offload.fragments import Draft
from warpsmith.tree.nodes import (
    Assign,
    Block,
    Break,
    Continue,
    DeclStmt,
    DeviceNode,
    Empty,
    ExprStmt,
    For,
    If,
    Loop,
    Name,
    Node,
    Pragma,
    Return,
    Stmt,
    Switch,
    Verbatim,
    While,
)

__all__ = ["Flow", "LoopSpan", "Point", "ProgramPoint", "build_flow", "statement_runs"]


class ProgramPoint(Struct, frozen=True):
    """Where a statement can be inserted: before or after a statement, within an empty block, in the else of `node`."""

    where: Literal["before", "after", "within", "else"]
    node: Stmt


class Point(Struct, eq=False):
    """One point of the flow. `nodes` are what the host evaluates there; `depth` counts the loops around it, and
    `conditions` the arms of branches and the cases of switches."""

    kind: Literal["slot", "host", "launch", "exit", "join"]
    depth: int
    preds: list[int]
    place: ProgramPoint | None = None
    nodes: tuple[Node, ...] = ()
    draft: Draft | None = None
    conditions: int = 0
    succs: list[int] = field(default_factory=list)


class LoopSpan(Struct, frozen=True):
    """A loop: the slot in front of it, its head (the target of its back edges), and the end of its points."""

    entry: int
    head: int
    end: int
    loop: Loop


class Flow(Struct, frozen=True):
    """The points and the loops (outer before inner) of one scope."""

    points: tuple[Point, ...]
    loops: tuple[LoopSpan, ...]


class _Jumps(Struct):
    """Where break and continue of the construct at hand come from; None: they leave the scope."""

    breaks: list[int] | None = None
    continues: list[int] | None = None


def build_flow(scope: tuple[Stmt, ...], drafts: Mapping[Stmt, Draft]) -> Flow:
    """Return the flow of `scope`; `drafts` maps the first statement of each fragment to it."""
    builder = _Builder(drafts)
    end = builder.run(scope, [], _Jumps())
    if end:
        builder.add("exit", end)
    for number, point in enumerate(builder.points):
        for pred in point.preds:
            builder.points[pred].succs.append(number)
    return Flow(tuple(builder.points), tuple(builder.loops))


class _Builder:
    def __init__(self, drafts: Mapping[Stmt, Draft]) -> None:
        self.drafts = drafts
        self.points: list[Point] = []
        self.loops: list[LoopSpan] = []
        self.depth = 0
        self.conditions = 0

    def add(self, kind: Literal["host", "exit", "join"], preds: list[int], *nodes: Node | None) -> int:
        present = tuple(n for n in nodes if n is not None)
        self.points.append(Point(kind, self.depth, preds, nodes=present, conditions=self.conditions))
        return len(self.points) - 1

    def slot(self, where: Literal["before", "after", "within", "else"], node: Stmt, preds: list[int]) -> int:
        self.points.append(
            Point("slot", self.depth, preds, place=ProgramPoint(where, node), conditions=self.conditions)
        )
        return len(self.points) - 1

    def run(self, run: tuple[Stmt, ...], frontier: list[int], jumps: _Jumps) -> list[int]:
        """Add a statement run; return the points from which control falls out of its end ([]: it does not).

        The very first slot of a scope has no predecessor: it is the scope's entry.
        """
        position = 0
        while position < len(run) and (frontier or not self.points):
            stmt = run[position]
            before = self.slot("before", stmt, frontier)
            draft = self.drafts.get(stmt)
            if draft is not None:
                self.points.append(Point("launch", self.depth, [before], draft=draft, conditions=self.conditions))
                frontier = [len(self.points) - 1]
                position += len(draft.statements)
            else:
                frontier = self.statement(stmt, before, jumps)
                position += 1
        return [self.slot("after", run[-1], frontier)] if frontier and run else frontier

    def statement(self, stmt: Stmt, before: int, jumps: _Jumps) -> list[int]:
        match stmt:
            case Block():
                return self.run(stmt.statements, [before], jumps)
            case If():
                return self.branch(stmt, before, jumps)
            case For() | While():
                return self.loop(stmt, before, jumps)
            case Switch():
                return self.switch(stmt, before, jumps)
            case Break() | Continue():
                targets = jumps.breaks if isinstance(stmt, Break) else jumps.continues
                if targets is None:
                    self.add("exit", [before])
                else:
                    targets.append(before)
                return []
            case Return():
                self.add("exit", [before], stmt.value)
                return []
            case Pragma() | Empty():
                return [before]
            case DeclStmt() | ExprStmt() | Verbatim() | DeviceNode():
                return [self.add("host", [before], stmt)]

    def arm(self, stmt: Stmt, preds: list[int], jumps: _Jumps) -> list[int]:
        """Add the body of a branch or loop; return what falls out of its end."""
        if isinstance(stmt, Block) and not stmt.statements:
            return [self.slot("within", stmt, preds)]
        inside = stmt.statements if isinstance(stmt, Block) else (stmt,)
        return self.run(inside, preds, jumps)

    def branch(self, stmt: If, before: int, jumps: _Jumps) -> list[int]:
        condition = self.add("host", [before], stmt.condition)
        self.conditions += 1
        then_end = self.arm(stmt.then, [condition], jumps)
        if stmt.other is None:
            other_end = [self.slot("else", stmt, [condition])]
        else:
            other_end = self.arm(stmt.other, [condition], jumps)
        self.conditions -= 1
        return [*then_end, *other_end]

    def loop(self, stmt: Loop, before: int, jumps: _Jumps) -> list[int]:
        place = len(self.loops)
        self.depth += 1
        inner = _Jumps([], [])
        if isinstance(stmt, While) and stmt.form == "do":
            head = self.add("join", [before])
            end = self.arm(stmt.body, [head], inner)
            back = [*end, *(inner.continues or ())]
            test = self.add("host", back, stmt.condition) if back else None
            if test is not None:
                self.points[head].preds.append(test)
            leaves = [test] if test is not None else []
        else:
            head = self.add("host", [before], *_header(stmt))
            end = self.arm(stmt.body, [head], inner)
            self.points[head].preds += [*end, *(inner.continues or ())]
            leaves = [] if isinstance(stmt, While) and stmt.condition is None else [head]
        self.depth -= 1
        self.loops.insert(place, LoopSpan(before, head, len(self.points), stmt))
        return [*leaves, *(inner.breaks or ())]

    def switch(self, stmt: Switch, before: int, jumps: _Jumps) -> list[int]:
        value = self.add("host", [before], stmt.value)
        inner = _Jumps([], jumps.continues)
        falling: list[int] = []
        self.conditions += 1
        for case in stmt.cases:
            start = self.add("join", [value, *falling])
            falling = self.run(case.body, [start], inner)
        self.conditions -= 1
        default = any(label is None for case in stmt.cases for label in case.labels)
        return [*([] if default else [value]), *falling, *(inner.breaks or ())]


def _header(stmt: Loop) -> tuple[Node | None, ...]:
    """Return what the host evaluates at a loop's head."""
    if isinstance(stmt, For):
        type = stmt.variable.type
        counter = Name(span=stmt.header, type=type, symbol=stmt.variable)
        return (Assign(span=stmt.header, type=type, op="=", target=counter, value=stmt.lower), stmt.bound)
    return (stmt.init, stmt.condition, stmt.advance)


def statement_runs(stmt: Stmt) -> tuple[tuple[Stmt, ...], ...]:
    """Return the statement runs directly below `stmt` (a body that is no block is a run of one)."""
    match stmt:
        case Block():
            return (stmt.statements,)
        case If(other=None):
            return (_inside(stmt.then),)
        case If(other=other) if other is not None:
            return (_inside(stmt.then), _inside(other))
        case For() | While():
            return (_inside(stmt.body),)
        case Switch():
            return tuple(case.body for case in stmt.cases)
        case _:
            return ()


def _inside(stmt: Stmt) -> tuple[Stmt, ...]:
    return stmt.statements if isinstance(stmt, Block) else (stmt,)
