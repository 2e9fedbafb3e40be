"""Which variables are read later: backward liveness on the structured tree.

Invariant: a variable that is not live after a statement is not read before it is written again, on any path from
there. Loops are swept until nothing changes; sets only grow, so that a loop that is come to again goes on from the head
that it had. In a nest that is the square of its depth at most, not twice as often as the loop around it.

    t = a[i];      t is live here
    b[i] = t;      and no longer here

Limits: arrays and members are never killed by a write; a construct that may jump anywhere makes everything live.
After A. Aho, M. Lam, R. Sethi, J. Ullman, Compilers (2nd ed.), 9.2.5, without a flow graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from msgspec import Struct, field

from warpsmith.poly.effects.reaching import scalar_values
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.effects.variables import VariableEvent, Variables
from warpsmith.poly.pointers.accesses import node_accesses
from warpsmith.poly.pointers.pointers import is_persistent
from warpsmith.tree.nodes import (
    Block,
    Break,
    Continue,
    DeclStmt,
    DeviceNode,
    Empty,
    Expr,
    ExprStmt,
    For,
    Function,
    If,
    Node,
    Pragma,
    Return,
    Stmt,
    Switch,
    VarDecl,
    Verbatim,
    While,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import Array, Symbol

__all__ = ["Liveness", "live_after", "scalar_values"]

Live = frozenset[Symbol]
N = TypeVar("N", bound=Node)


class Liveness(Struct, frozen=True):
    """`after[stmt]`: the variables whose value may be read after `stmt`, where it does not leave the function. Arrays
    and structs are live until their last use; what a pointer may name is always live, and globals at every exit."""

    function: Function
    after: Mapping[Stmt, frozenset[Symbol]]
    entry: frozenset[Symbol]

    @classmethod
    def of(cls, program: Program, function: Function, summaries: Summaries | None = None) -> Liveness:
        """Analyze `function` once."""
        known = summaries if summaries is not None else Summaries.of(program)
        return known.remember_of(function, function, "liveness", lambda: cls._find(known, function))

    @classmethod
    def _find(cls, known: Summaries, function: Function) -> Liveness:
        variables = Variables.of(known, function)
        everything = frozenset(t.symbol for t in node_accesses(function) if t.symbol is not None)
        always = variables.always_live() & everything
        at_exit = frozenset(filter(is_persistent, everything | known.globals))
        sweep = _Sweep(variables, always, at_exit, everything | at_exit, {})
        entry = sweep.statement(function.body, at_exit, _Targets(at_exit, at_exit))
        return cls(function, sweep.after, entry | always)


def live_after(
    program: Program, function: Function, stmt: Stmt, summaries: Summaries | None = None
) -> frozenset[Symbol]:
    """Return `Liveness.of(program, function).after[stmt]` (keep the Liveness yourself to ask often)."""
    return Liveness.of(program, function, summaries).after[stmt]


class _Targets(Struct, frozen=True):
    """What is live where `break` and `continue` go."""

    on_break: Live
    on_continue: Live


class _Sweep(Struct, frozen=True):
    """One backward pass over a function; `after` collects what is live after each statement."""

    variables: Variables
    always: Live
    at_exit: Live
    everything: Live
    after: dict[Stmt, Live]
    effects: dict[Node, tuple[Live, Live]] = field(default_factory=dict)
    heads: dict[Stmt, Live] = field(default_factory=dict)

    def statement(self, stmt: Stmt, after: Live, to: _Targets) -> Live:
        """Return what is live before `stmt`."""
        self.after[stmt] = self.after.get(stmt, frozenset()) | after | self.always
        match stmt:
            case Block():
                for inner in reversed(stmt.statements):
                    after = self.statement(inner, after, to)
                return after
            case DeclStmt():
                for declared in reversed(stmt.declarations):
                    after = self._declaration(declared, after)
                return after
            case If():
                then = self.statement(stmt.then, after, to)
                other = self.statement(stmt.other, after, to) if stmt.other is not None else after
                return self._expr(stmt.condition, then | other)
            case For() | While():
                return self._loop(stmt, after)
            case Switch():
                return self._switch(stmt, after, to)
            case Break() | Continue() | Empty() | ExprStmt() | Pragma() | Return() | Verbatim() | DeviceNode():
                return self._simple(stmt, after, to)

    def _simple(self, stmt: Stmt, after: Live, to: _Targets) -> Live:
        match stmt:
            case Break():
                return to.on_break
            case Continue():
                return to.on_continue
            case Return():
                return self._expr(stmt.value, self.at_exit)
            case ExprStmt():
                return self._expr(stmt.expr, after)
            case Verbatim(control=True):
                return self.everything
            case _:
                return self._through(stmt, self.variables.own, after)

    def _declaration(self, declared: VarDecl, after: Live) -> Live:
        after = self._through(declared, self.variables.own, after)
        return after - {declared.symbol} if declared.symbol.storage == "local" else after

    def _loop(self, loop: For | While, after: Live) -> Live:
        head = self.heads.get(loop, frozenset())
        while True:
            before, new = self._round(loop, after, head)
            if new <= head:
                self.heads[loop] = head
                return before
            head |= new

    def _round(self, loop: For | While, after: Live, head: Live) -> tuple[Live, Live]:
        """Return (live before the loop, live where an iteration starts), `head` being live there so far."""
        match loop:
            case For():
                counter = frozenset({loop.variable})
                to = _Targets(after, head | counter)
                start = self._expr(loop.bound, self.statement(loop.body, head | counter, to) | after) | counter
                return self._expr(loop.lower, start - counter), start
            case While(form="do"):
                at_condition = self._expr(loop.condition, head | after)
                start = self.statement(loop.body, at_condition, _Targets(after, at_condition))
                return start, start
            case While():
                at_advance = self._expr(loop.advance, head)
                inside = self.statement(loop.body, at_advance, _Targets(after, at_advance))
                start = self._expr(loop.condition, inside | after)
                before = self.statement(loop.init, start, _Targets(after, after)) if loop.init is not None else start
                return before, start

    def _switch(self, switch: Switch, after: Live, to: _Targets) -> Live:
        inside = _Targets(after, to.on_continue)
        entries = following = after
        for case in reversed(switch.cases):
            for stmt in reversed(case.body):
                following = self.statement(stmt, following, inside)
            entries |= following
        return self._expr(switch.value, entries)

    def _expr(self, expr: Expr | None, after: Live) -> Live:
        return after if expr is None else self._through(expr, self.variables.evaluate, after)

    def _through(self, node: N, events: Callable[[N], Iterable[VariableEvent]], after: Live) -> Live:
        """Return what is live before `node`; nested loops come to it again and again, and its events stay the same."""
        known = self.effects.get(node)
        if known is None:
            self.effects[node] = known = _effect(events(node))
        read, overwritten = known
        return (after - overwritten) | read


def _effect(events: Iterable[VariableEvent]) -> tuple[Live, Live]:
    """Return the variables that are read before anything overwrites them, and those that are overwritten whole."""
    read, overwritten = set[Symbol](), set[Symbol]()
    for event in events:
        if not event.write:
            if event.symbol not in overwritten:
                read.add(event.symbol)
        elif event.certain and not event.path and not isinstance(event.symbol.type, Array):
            overwritten.add(event.symbol)
    return frozenset(read), frozenset(overwritten)
