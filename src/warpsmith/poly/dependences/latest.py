"""Latest values: scalars that iterations set to what does not depend on them, and that later ones read.

    a[i] = b[i] + x; x = b[i];                     x gets  b[i]
    if (a[i] > 0) s = d[i]; b[i] = s;              s gets  d[i] where a[i] > 0, and stays what it was elsewhere
    a[i] = x + y; y = x; x = b[i];                 y gets  what x was
    t = x; x = y; y = t;                           x and y change places

Invariant: behind an iteration each of these variables is a function of the iteration alone, or what one of them was
before it; which of both, and of which one, is a function of the iteration alone as well. Such maps are closed under
composition, which is associative and moves values only: the result is that of the loop, bit for bit.
Limits: plain assignments, copies between variables of one type; no writes in loops inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.poly.dependences.iteration_values import IterationBody
from warpsmith.poly.dependences.sites import IterationPath, always_ends, find_changed, may_jump
from warpsmith.poly.effects.library import is_plain
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.pointers.pointers import is_persistent
from warpsmith.tree.nodes import (
    Assign,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Continue,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    If,
    Literal,
    Name,
    Return,
    Stmt,
    Switch,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
    While,
)
from warpsmith.tree.types import INT, Scalar, Symbol, is_float, is_integer
from warpsmith.tree.walk import peel, same, statements_of, walk

__all__ = ["LatestValue", "find_latest", "own_value"]

_MOST_CHOICES = 32


class LatestValue(Struct, frozen=True):
    """What an iteration makes of a variable, in functions of the iteration alone: it becomes `value` where `source` is
    -1, else what the variable number `source` of `group` was. `statement` is the first that sets it."""

    statement: Stmt
    value: Expr
    source: Expr
    group: tuple[Symbol, ...]


def find_latest(loop: For, among: Set[Symbol], summaries: Summaries) -> Mapping[Symbol, LatestValue]:
    """Return those `among` a loop's scalars that each iteration sets to latest values, or leaves as they are; the
    others have no value before an iteration that it reads."""
    if any(isinstance(n, Break | Return | Switch | While | Verbatim | VerbatimExpr) for n in walk(loop)):
        return {}
    wanted = _find_candidates(loop)
    if not wanted:
        return {}
    start: _State = {symbol: _Kept(symbol) for symbol in wanted}
    body = IterationBody(loop, next(iter(wanted)), summaries, loop.header)
    end = _Follower(body, frozenset(wanted)).run(statements_of(loop.body), IterationPath(), start)
    known = {} if end is None else {s: end[s] for s in wanted if s in among}
    made = {symbol: outcome for symbol, outcome in known.items() if outcome is not None}
    while any(not _find_read(outcome) <= made.keys() for outcome in made.values()):
        made = {symbol: outcome for symbol, outcome in made.items() if _find_read(outcome) <= made.keys()}
    return {s: _latest_value(s, outcome, _find_group(s, made), wanted[s]) for s, outcome in made.items()}


def own_value(statement: Stmt, value: Expr, symbol: Symbol) -> LatestValue:
    """Return the latest value that every iteration sets to one of its own."""
    return LatestValue(statement, value, _number(-1, value.span), (symbol,))


def _find_candidates(loop: For) -> dict[Symbol, Stmt]:
    """Return the scalars that statements of the body assign, with the first of them."""
    declared = {n.symbol for n in walk(loop) if isinstance(n, VarDecl)}
    declared |= {n.variable for n in walk(loop) if isinstance(n, For)}
    called = any(isinstance(n, Call) and not is_plain(n) for n in walk(loop))
    found: dict[Symbol, Stmt] = {}
    for stmt in (n for n in walk(loop.body) if isinstance(n, ExprStmt)):
        inner = peel(stmt.expr)
        target = peel(inner.target) if isinstance(inner, Assign) else None
        if isinstance(target, Name) and target.symbol not in declared and _is_number(target.symbol):
            found.setdefault(target.symbol, stmt)
    return {symbol: stmt for symbol, stmt in found.items() if not (called and is_persistent(symbol))}


def _is_number(symbol: Symbol) -> bool:
    type = symbol.type
    plain = isinstance(type, Scalar) and not type.volatile and type.kind != "bool" and type.bits <= 64
    return plain and (is_float(type) or is_integer(type))


# --- what a variable is behind statements


class _Kept(Struct, frozen=True):
    """What `symbol` was before the iteration."""

    symbol: Symbol


class _Given(Struct, frozen=True):
    """A function of the iteration alone."""

    value: Expr


class _Chosen(Struct, frozen=True):
    """One of two, by a condition that is a function of the iteration alone. `size`: how many it chooses from in all."""

    condition: Expr
    then: _Outcome
    other: _Outcome
    size: int


_Outcome = _Kept | _Given | _Chosen
# None: nothing of this form
_State = dict[Symbol, _Outcome | None]


class _Follower(Struct, frozen=True):
    """The run through a body; `wanted` are the variables that are followed."""

    body: IterationBody
    wanted: frozenset[Symbol]

    def run(self, statements: Sequence[Stmt], way: IterationPath, state: _State) -> _State | None:
        """Return the state at the end of the iteration where these statements are the rest of it, or of a branch; None
        where they may end it in a form that is not known."""
        rest = list(statements)
        while rest:
            stmt = rest.pop(0)
            if isinstance(stmt, Block):
                rest = [*stmt.statements, *rest]
                continue
            if isinstance(stmt, Continue) and not rest:
                return state
            if isinstance(stmt, If) and stmt.other is None and always_ends(stmt.then):
                return self.leave(stmt, rest, way, state)
            if may_jump(stmt):
                return None
            after = self.branch(stmt, way, state) if isinstance(stmt, If) else self.execute(stmt, way, state)
            if after is None:
                return None
            way, state = way.then(stmt), after
        return state

    def leave(self, stmt: If, rest: Sequence[Stmt], way: IterationPath, state: _State) -> _State | None:
        """`if (c) { …; continue; }` and what follows."""
        *inside, _ = statements_of(stmt.then)
        return self.join(stmt.condition, way, self.lose(stmt.condition, state), (inside, rest))

    def branch(self, stmt: If, way: IterationPath, state: _State) -> _State | None:
        other = () if stmt.other is None else statements_of(stmt.other)
        return self.join(stmt.condition, way, self.lose(stmt.condition, state), (statements_of(stmt.then), other))

    def join(
        self, tested: Expr, way: IterationPath, state: _State, arms: tuple[Sequence[Stmt], Sequence[Stmt]]
    ) -> _State | None:
        """Return the state behind both arms of a branch; what only one of them knows is not known behind it."""
        then = self.run(arms[0], way.under(tested, holds=True), state)
        other = self.run(arms[1], way.under(tested, holds=False), state)
        if then is None or other is None:
            return None
        differ = [s for s in self.wanted if then[s] is not other[s]]
        path = way.under(tested, holds=True).path
        condition = self.body.free(tested, path, len(way.path)) if differ else None
        joined: _State = {s: o for s, o in then.items() if s in other and other[s] is o}
        return joined | {s: _choose(condition, then[s], other[s]) for s in differ}

    def execute(self, stmt: Stmt, way: IterationPath, state: _State) -> _State:
        """Return the state behind a statement without branches."""
        inner = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
        target = peel(inner.target) if isinstance(inner, Assign) and inner.op == "=" else None
        path, place = way.then(stmt).path, len(way.path)
        after = self.lose(stmt, state)
        if isinstance(inner, Assign) and isinstance(target, Name) and not find_changed(inner.value):
            after = self.assign(after, target.symbol, self.outcome(inner.value, target.symbol, path, place, state))
        if isinstance(stmt, DeclStmt) and len(stmt.declarations) == 1:
            (declared,) = stmt.declarations
            held = None if declared.init is None else peel(declared.init)
            if isinstance(held, Name):
                after = self.assign(after, declared.symbol, _look_up(held, declared.symbol, state))
        return after

    def lose(self, stmt: Stmt | Expr, state: _State) -> _State:
        """Return the state behind a statement that may change variables in another form."""
        changed = find_changed(stmt)
        kept: _State = {s: o for s, o in state.items() if s not in changed}
        return kept | dict.fromkeys(changed & self.wanted)

    def assign(self, state: _State, symbol: Symbol, outcome: _Outcome | None) -> _State:
        if symbol in self.wanted or isinstance(outcome, _Kept | _Chosen):
            return {**state, symbol: outcome}
        return state

    def outcome(self, value: Expr, symbol: Symbol, path: Sequence[Stmt], place: int, state: _State) -> _Outcome | None:
        """Return what a variable gets that is set to an expression."""
        value = peel(value)
        if isinstance(value, Name) and value.symbol in state and (held := _look_up(value, symbol, state)) is not None:
            return held
        if isinstance(value, Conditional) and value.type == symbol.type:
            then, other = (self.outcome(arm, symbol, path, place, state) for arm in (value.then, value.other))
            return _choose(self.body.free(value.condition, path, place), then, other)
        free = self.body.free(value, path, place)
        if isinstance(free, Reason):
            return None
        typed = free if free.type == symbol.type else Cast(span=value.span, type=symbol.type, operand=free)
        return _Given(typed)


def _choose(condition: Expr | Reason | None, then: _Outcome | None, other: _Outcome | None) -> _Outcome | None:
    if then is None or other is None or condition is None or isinstance(condition, Reason):
        return None
    size = sum(arm.size if isinstance(arm, _Chosen) else 1 for arm in (then, other))
    return _Chosen(condition, then, other, size) if size <= _MOST_CHOICES else None


def _look_up(held: Name, symbol: Symbol, state: _State) -> _Outcome | None:
    """Return what a variable gets that is set to another one."""
    return state.get(held.symbol) if held.symbol.type == symbol.type else None


# --- what is known at the end


def _parts(outcome: _Outcome) -> Iterator[_Kept | _Given]:
    pending: list[_Outcome] = [outcome]
    while pending:
        part = pending.pop()
        if isinstance(part, _Chosen):
            pending += [part.then, part.other]
        else:
            yield part


def _find_read(outcome: _Outcome) -> set[Symbol]:
    """Return the variables whose values before the iteration may be taken."""
    return {part.symbol for part in _parts(outcome) if isinstance(part, _Kept)}


def _find_group(symbol: Symbol, made: Mapping[Symbol, _Outcome]) -> tuple[Symbol, ...]:
    """Return the variables that exchange values with one, in the order of their first writes."""
    group = {symbol}
    while True:
        linked = {s for s, o in made.items() if s in group or _find_read(o) & group}
        linked |= {read for s in linked for read in _find_read(made[s])}
        if linked <= group:
            return tuple(s for s in made if s in group)
        group |= linked


def _latest_value(symbol: Symbol, outcome: _Outcome, group: tuple[Symbol, ...], statement: Stmt) -> LatestValue:
    span, type = statement.span, symbol.type
    value = _value(outcome, symbol, span)
    # what C chooses from narrow numbers is an int
    if isinstance(value, Conditional) and isinstance(type, Scalar) and type.bits < INT.bits:
        value = Cast(span=span, type=type, operand=value)
    return LatestValue(statement, value, _source(outcome, group, span), group)


def _value(outcome: _Outcome, symbol: Symbol, span: Span) -> Expr:
    """Return the iteration's own value; 0 where the variable gets none."""
    match outcome:
        case _Given(value=value):
            return value
        case _Kept():
            return _number(0, span)
        case _Chosen(condition=condition):
            then, other = (_value(arm, symbol, span) for arm in (outcome.then, outcome.other))
            if isinstance(then, Literal) and same(then, other):
                return then
            return Conditional(span=span, type=symbol.type, condition=condition, then=then, other=other)


def _source(outcome: _Outcome, group: tuple[Symbol, ...], span: Span) -> Expr:
    """Return the number of the variable in the group that gives its value, or -1."""
    match outcome:
        case _Given():
            return _number(-1, span)
        case _Kept(symbol=symbol):
            return _number(group.index(symbol), span)
        case _Chosen(condition=condition):
            then, other = (_source(arm, group, span) for arm in (outcome.then, outcome.other))
            if same(then, other):
                return then
            return Conditional(span=span, type=INT, condition=condition, then=then, other=other)


def _number(value: int, span: Span) -> Expr:
    literal = Literal(span=span, type=INT, text=str(abs(value)), value=abs(value))
    return literal if value >= 0 else Unary(span=span, type=INT, op="-", operand=literal)
