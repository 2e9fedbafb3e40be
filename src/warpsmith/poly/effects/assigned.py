"""One iteration of a loop, forward: which variables are read before they are certainly written.

    if (c) t = 1;  x = t;          t is exposed: the path around the write reaches the read

Invariant: the state holds only parts that every path of this iteration to here has written; so a read of a part that is
not in it may see a value from before the iteration.
Limits: an inner loop is taken to run no iteration unless its constant bounds say otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from warpsmith.poly.effects.variables import VariableEvent, Variables
from warpsmith.tree.nodes import (
    Block,
    Break,
    Continue,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    If,
    Literal,
    Loop,
    Node,
    Return,
    Stmt,
    Switch,
    VarDecl,
    While,
)
from warpsmith.tree.types import Record, Symbol
from warpsmith.tree.walk import peel

__all__ = ["Iteration", "iteration"]

Part = tuple[Symbol, tuple[str, ...]]
State = frozenset[Part]


class Iteration(Struct, frozen=True):
    """`exposed`: variables with their first read that may see an older value; `writes`: variables with their first
    write; `complete`: variables that every path to the end of the iteration writes."""

    exposed: Mapping[Symbol, Node]
    writes: Mapping[Symbol, Node]
    complete: frozenset[Symbol]


def iteration(variables: Variables, loop: Loop) -> Iteration:
    """Follow one iteration of `loop` (its condition and advance included where it is not canonical)."""
    sweep = _Sweep(variables, {}, {})
    exits = _Exits()
    state: State | None = frozenset()
    if isinstance(loop, While) and loop.form != "do":
        state = sweep.expr(loop.condition, frozenset())
    state = sweep.statement(loop.body, state, exits)
    ends = [s for s in (state, *exits.continues) if s is not None]
    if isinstance(loop, While):
        tail = loop.condition if loop.form == "do" else loop.advance
        ends = [sweep.expr(tail, _meet(ends))] if ends else []
    whole = _meet([*ends, *exits.breaks])
    complete = frozenset(symbol for symbol in sweep.writes if _holds(whole, symbol, ()))
    return Iteration(sweep.exposed, sweep.writes, complete)


class _Exits(Struct, frozen=True):
    """The states in which control left the body by break and by continue."""

    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


class _Sweep(Struct, frozen=True):
    """One forward pass; None as a state: control does not get here."""

    variables: Variables
    exposed: dict[Symbol, Node]
    writes: dict[Symbol, Node]

    def statement(self, stmt: Stmt, state: State | None, exits: _Exits) -> State | None:
        """Return the state after `stmt`."""
        if state is None:
            return None
        match stmt:
            case Block():
                for inner in stmt.statements:
                    state = self.statement(inner, state, exits)
                return state
            case DeclStmt():
                for declared in stmt.declarations:
                    state = self._declaration(declared, state)
                return state
            case If():
                before = self.expr(stmt.condition, state)
                then = self.statement(stmt.then, before, exits)
                other = self.statement(stmt.other, before, exits) if stmt.other is not None else before
                return _join(then, other)
            case For():
                return self._for(stmt, state)
            case While():
                return self._while(stmt, state)
            case Switch():
                return self._switch(stmt, state, exits)
            case _:
                return self._simple(stmt, state, exits)

    def expr(self, expr: Expr | None, state: State) -> State:
        """Return the state after evaluating `expr`."""
        return self._events(self.variables.evaluate(expr), state)

    def _simple(self, stmt: Stmt, state: State, exits: _Exits) -> State | None:
        match stmt:
            case Break():
                exits.breaks.append(state)
                return None
            case Continue():
                exits.continues.append(state)
                return None
            case Return():
                self.expr(stmt.value, state)
                return None
            case ExprStmt():
                return self.expr(stmt.expr, state)
            case _:
                return self._events(self.variables.own(stmt), state)

    def _declaration(self, declared: VarDecl, state: State | None) -> State:
        gone = frozenset(p for p in state or () if p[0] != declared.symbol)
        return self._events(self.variables.own(declared), gone)

    def _for(self, loop: For, state: State) -> State:
        state = self.expr(loop.lower, state) | {(loop.variable, ())}
        self.writes.setdefault(loop.variable, loop)
        state = self.expr(loop.bound, state)
        exits = _Exits()
        end = self.statement(loop.body, state, exits)
        return _meet([self._after_rounds([end, *exits.continues], state, _runs(loop)), *exits.breaks])

    def _while(self, loop: While, state: State) -> State:
        if loop.init is not None:
            state = self.statement(loop.init, state, _Exits()) or frozenset()
        exits = _Exits()
        if loop.form == "do":
            end = self.statement(loop.body, state, exits)
            last = self._after_rounds([end, *exits.continues], state, runs=True)
            return _meet([self.expr(loop.condition, last), *exits.breaks])
        state = self.expr(loop.condition, state)
        end = self.statement(loop.body, state, exits)
        self.expr(loop.advance, self._after_rounds([end, *exits.continues], state, runs=True))
        return _meet([state, *exits.breaks])

    def _after_rounds(self, ends: list[State | None], before: State, runs: bool) -> State:
        """Return the state where the rounds of a loop have ended; `runs`: there was at least one."""
        reached = [end for end in ends if end is not None]
        return _meet(reached) if runs and reached else before

    def _switch(self, switch: Switch, state: State, exits: _Exits) -> State:
        state = self.expr(switch.value, state)
        inside = _Exits(continues=exits.continues)
        following: State | None = None
        for case in switch.cases:
            following = state if following is None else _meet([state, following])
            for stmt in case.body:
                following = self.statement(stmt, following, inside)
        has_default = any(label is None for case in switch.cases for label in case.labels)
        ends = [*inside.breaks, *([following] if following is not None else []), *([] if has_default else [state])]
        return _meet(ends) if ends else state

    def _events(self, events: Iterable[VariableEvent], state: State) -> State:
        for event in events:
            if event.write:
                self.writes.setdefault(event.symbol, event.node)
                state = state | {(event.symbol, event.path)} if event.certain else state
            elif not _holds(state, event.symbol, event.path):
                self.exposed.setdefault(event.symbol, event.node)
        return state


def _meet(states: list[State]) -> State:
    """Return what all states have in common; nothing where there is no state."""
    return frozenset[Part]().union(*states[:1]).intersection(*states)


def _join(left: State | None, right: State | None) -> State | None:
    if left is None or right is None:
        return right if left is None else left
    return left & right


def _holds(state: State, symbol: Symbol, path: tuple[str, ...]) -> bool:
    """Whether the part is written: itself, what contains it, or all of its members."""
    if any((symbol, path[:length]) in state for length in range(len(path) + 1)):
        return True
    fields = symbol.type.fields if isinstance(symbol.type, Record) and not path and not symbol.type.union else ()
    return bool(fields) and all((symbol, (f.name,)) in state for f in fields)


def _runs(loop: For) -> bool:
    """Whether constant bounds say that the loop runs at least once."""
    lower, bound = peel(loop.lower), peel(loop.bound)
    if not (isinstance(lower, Literal) and isinstance(bound, Literal)):
        return False
    if lower.value is None or bound.value is None:
        return False
    match loop.relation:
        case "<":
            return lower.value < bound.value
        case "<=":
            return lower.value <= bound.value
        case ">":
            return lower.value > bound.value
        case ">=":
            return lower.value >= bound.value
        case "!=":
            return lower.value != bound.value
