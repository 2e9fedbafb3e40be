"""The one value that a scalar certainly has where it is read, inside one iteration of a loop.

    for (i …) { jj = i + 1;  if (c) k = 2; else k = 3;  a[jj + k] = 0; }       jj is i + 1; k is not one value

Invariant: a value in the state was computed on every path of this iteration to here, by this expression, whose own
scalars have since kept their value or have an entry of their own for the value that they had then; counters in it
belong to loops that are still running the same iteration.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.effects.variables import VariableEvent, Variables
from warpsmith.poly.pointers.accesses import accesses, node_accesses
from warpsmith.poly.pointers.pointers import Root
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Break,
    Case,
    Continue,
    DeclStmt,
    DeviceNode,
    Empty,
    Expr,
    ExprStmt,
    For,
    Function,
    If,
    Literal,
    Loop,
    Name,
    Pragma,
    Return,
    Stmt,
    Switch,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
    While,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import INT, Pointer, Symbol, Type, is_integer
from warpsmith.tree.walk import names, peel, walk

__all__ = ["scalar_values"]

State = dict[Symbol, Expr]


def scalar_values(
    program: Program, function: Function, loop: Loop, summaries: Summaries | None = None
) -> Mapping[Name, Expr]:
    """Return, for each read of a scalar that one iteration of `loop` has certainly given exactly one value, that value.

    `jj = i + 1; a[jj] = 0`: the Name `jj` of the subscript maps to `i + 1`. Integers and pointers (`row = a + i * n`).
    The value has no side effect; it is still to be converted to the scalar's type. A Name inside it has its own entry
    where it is such a scalar itself: resolve recursively. A Name inside it without an entry is a counter of a loop
    around both places, or a variable that `loop` does not write. Memory read in it is not written in `loop`.
    """
    known = summaries if summaries is not None else Summaries.of(program)
    variables = Variables.of(known, function)
    parts = [loop.body] if isinstance(loop, For) else [p for p in (loop.condition, loop.body, loop.advance) if p]
    if any(isinstance(n, Verbatim) and n.control for n in walk(loop.body)):
        return {}
    written = frozenset(e.symbol for p in parts for e in variables.everything(p) if e.write)
    counters = frozenset({loop.variable}) if isinstance(loop, For) else frozenset()
    stored = known.effects_of((t for p in parts for t in node_accesses(p)), variables.where).stores
    sweep = _Sweep(variables, written, frozenset(stored))
    state: State | None = {}
    if isinstance(loop, While) and loop.form != "do":
        state = sweep.expr(loop.condition, {}, counters)
    state = sweep.statement(loop.body, state, counters)
    if isinstance(loop, While):
        sweep.expr(loop.condition if loop.form == "do" else loop.advance, {}, counters)
    return sweep.values


class _Sweep(Struct, frozen=True):
    """One forward pass over an iteration; None as a state: control does not get here."""

    variables: Variables
    written: frozenset[Symbol]
    stored: frozenset[Root]
    values: dict[Name, Expr] = field(default_factory=dict)

    def statement(self, stmt: Stmt, state: State | None, counters: frozenset[Symbol]) -> State | None:
        """Return the state after `stmt`."""
        if state is None:
            return None
        match stmt:
            case Block():
                for inner in stmt.statements:
                    state = self.statement(inner, state, counters)
                return state
            case DeclStmt():
                for declared in stmt.declarations:
                    state = self._declaration(declared, state, counters)
                return state
            case If():
                state = self.expr(stmt.condition, state, counters)
                then = self.statement(stmt.then, dict(state), counters)
                other = self.statement(stmt.other, dict(state), counters) if stmt.other is not None else state
                return _join(then, other)
            case For() | While():
                return self._loop(stmt, state, counters)
            case Switch():
                return self._switch(stmt, state, counters)
            case Break() | Continue() | Empty() | ExprStmt() | Pragma() | Return() | Verbatim() | DeviceNode():
                return self._simple(stmt, state, counters)

    def _simple(self, stmt: Stmt, state: State, counters: frozenset[Symbol]) -> State | None:
        match stmt:
            case ExprStmt():
                return self.expr(stmt.expr, state, counters)
            case Break() | Continue():
                return None
            case Return():
                self.expr(stmt.value, state, counters)
                return None
            case _:
                return _kill(state, self.variables.own(stmt))

    def expr(self, expr: Expr | None, state: State, counters: frozenset[Symbol]) -> State:
        """Return the state after evaluating `expr`, noting the values of the reads in it."""
        state = dict(state)
        for event in self.variables.evaluate(expr):
            if event.write:
                self._kill_written(event, state, counters)
            elif isinstance(event.node, Name) and not event.path and event.symbol in state:
                self.values[event.node] = state[event.symbol]
        return state

    def _kill_written(self, event: VariableEvent, state: State, counters: frozenset[Symbol]) -> None:
        before = state.pop(event.symbol, None)
        if not event.certain or event.path:
            return
        updated = _find_updated(event.node)
        if updated is not None and before is not None:
            self.values[updated] = before
        value = _value_of(event.node)
        if value is not None and self._is_fit(event.symbol.type, value, counters):
            state[event.symbol] = value

    def _is_fit(self, type: Type, value: Expr, counters: frozenset[Symbol]) -> bool:
        """Whether the value may stand for the scalar later on."""
        if not (is_integer(type) or isinstance(type, Pointer)):
            return False
        done = self.variables.summaries.effects_of(accesses(value), self.variables.where)
        if done.writes or done.stores or done.calls_unknown or done.io or done.asserts or done.allocates:
            return False
        if any(isinstance(n, VerbatimExpr | Assign) for n in walk(value)):
            return False
        where = self.variables.where
        if done.loads and self.stored and where.meet(frozenset(done.loads), self.stored):
            return False
        return all(n in self.values or n.symbol in counters or n.symbol not in self.written for n in names(value))

    def _declaration(self, declared: VarDecl, state: State | None, counters: frozenset[Symbol]) -> State | None:
        if state is None:
            return None
        state = self.expr(declared.init, state, counters)
        event = VariableEvent(True, declared.symbol, (), declared, declared.init is not None)
        self._kill_written(event, state, counters)
        return state

    def _loop(self, loop: For | While, state: State, counters: frozenset[Symbol]) -> State:
        parts = [loop.body, *([loop.condition, loop.advance] if isinstance(loop, While) else [])]
        if isinstance(loop, While) and loop.init is not None:
            state = self.statement(loop.init, state, counters) or {}
        if isinstance(loop, For):
            state = self.expr(loop.lower, state, counters)
            state.pop(loop.variable, None)
        for part in parts:
            if part is not None:
                state = _kill(state, self.variables.everything(part))
        if isinstance(loop, For):
            self.expr(loop.bound, state, counters)
            self.statement(loop.body, dict(state), counters | {loop.variable})
            return state
        inside = self.expr(loop.condition, state, counters) if loop.form != "do" else state
        self.statement(loop.body, dict(inside), counters)
        self.expr(loop.condition if loop.form == "do" else loop.advance, state, counters)
        return state

    def _switch(self, switch: Switch, state: State, counters: frozenset[Symbol]) -> State | None:
        """Every case starts from what no case changes."""
        state = self.expr(switch.value, state, counters)
        bodies = [stmt for case in switch.cases for stmt in case.body]
        for stmt in bodies:
            state = _kill(state, self.variables.everything(stmt))
        for case in switch.cases:
            self._case(case, state, counters)
        return state

    def _case(self, case: Case, state: State, counters: frozenset[Symbol]) -> None:
        inside: State | None = dict(state)
        for stmt in case.body:
            inside = self.statement(stmt, inside, counters)


def _kill(state: State, events: list[VariableEvent]) -> State:
    """Return the state without what the events may write."""
    gone = {event.symbol for event in events if event.write}
    return {symbol: value for symbol, value in state.items() if symbol not in gone}


def _find_updated(node: object) -> Name | None:
    """Return the scalar that `x op= e`, x++ or the like reads before it writes it."""
    target: Expr | None = None
    if isinstance(node, Assign) and node.op != "=":
        target = peel(node.target)
    elif isinstance(node, Unary):
        target = peel(node.operand)
    return target if isinstance(target, Name) else None


def _value_of(node: object) -> Expr | None:
    """Return the value that a write gives its scalar, where it is determined by the text."""
    match node:
        case Assign(op="="):
            return node.value
        case Assign() if isinstance(peel(node.target), Name):
            return Binary(span=node.span, type=node.type, op=node.op[:-1], left=node.target, right=node.value)
        case VarDecl():
            return node.init
        case Unary() if ("++" in node.op or "--" in node.op) and isinstance(peel(node.operand), Name):
            one = Literal(span=node.span, type=INT, text="1", value=1)
            return Binary(span=node.span, type=node.type, op=node.op.strip("x")[0], left=node.operand, right=one)
        case _:
            return None


def _join(left: State | None, right: State | None) -> State | None:
    if left is None or right is None:
        return right if left is None else left
    return {symbol: value for symbol, value in left.items() if right.get(symbol) is value}
