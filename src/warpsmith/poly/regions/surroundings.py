"""The context in which a scope is entered: the loops and conditions around it, and the early returns before it.

    if (n < 2) return;                    n >= 2
    for (k = 0; k < n - 1; k++)           0 <= k <= n - 2
    for (j = n; j > 0; j /= 2)            j >= 1
      if (k > 0)                          k >= 1
        for (i = …)                       the scope

Only what still holds there is used: a condition whose variables may have changed since says nothing. `reached` becomes
False where something around the scope cannot be said: then not every point of the context need be reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from itertools import pairwise
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.poly.effects.origin import Origin, changed_variables
from warpsmith.poly.isl.formula import both
from warpsmith.poly.isl.polynomial import atom
from warpsmith.poly.pointers.control import leaves
from warpsmith.poly.regions.loops import Bounds, loop_bounds, loop_domain
from warpsmith.poly.regions.state import State
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Cast,
    Expr,
    For,
    Function,
    If,
    Index,
    Literal,
    Member,
    Name,
    Node,
    Return,
    Stmt,
    Switch,
    Unary,
    VarDecl,
    Verbatim,
    While,
)
from warpsmith.tree.types import Pointer, Symbol
from warpsmith.tree.walk import names, peel, walk, way_to

__all__ = ["surround"]


class _Loop(Struct, frozen=True):
    """A loop around the scope."""

    loop: For


class _Condition(Struct, frozen=True):
    """A condition that holds, or does not, where its `branch` is entered."""

    condition: Expr
    holds: bool
    branch: Node


class _Repeated(Struct, frozen=True):
    """The condition of a loop that is not counted, which holds where its `body` is entered."""

    condition: Expr
    body: Node


class _Passed(Struct, frozen=True):
    """The condition of an early return that was not taken."""

    condition: Expr


class _Unsaid(Struct, frozen=True):
    """Something around the scope of which nothing can be said."""


_Step = _Loop | _Condition | _Repeated | _Passed | _Unsaid


def surround(origin: Origin, state: State, scope: Stmt, around: Sequence[Stmt]) -> State:
    """Return a state that knows also what the way from the function's start to `scope` tells.

    A scope that is not part of the function's text has `around` for the loops around it. Scopes in one loop have most
    of their way in common: what a part of the way tells is worked out once, and kept.
    """
    way = way_to(origin.function.body, scope)
    loops = (stmt for stmt in around if isinstance(stmt, For))
    steps = tuple(_Loop(loop) for loop in loops) if way is None else tuple(_steps(way))
    known = _apply_steps(origin, state, steps)
    return known if known is not None else reduce(partial(_apply_step, origin), steps, state)


def _steps(way: Sequence[Node]) -> Iterator[_Step]:
    for parent, child in pairwise(way):
        match parent:
            case For():
                yield _Loop(parent)
            case While(form=form, condition=condition, body=body):
                if form != "do" and child is body and condition is not None:
                    yield _Repeated(condition, body)
            case If(condition=condition, then=then):
                yield _Condition(condition, child is then, child)
            case Block(statements=parts):
                yield from _returns(parts, child)
            case Switch():
                yield _Unsaid()
            case _:
                pass


def _returns(parts: tuple[Stmt, ...], child: Node) -> Iterator[_Step]:
    """`if (c) return;` before the scope: c is false, for variables that the function never changes."""
    for part in parts:
        if part is child:
            return
        if isinstance(part, If) and part.other is None and _returns_always(part.then):
            yield _Passed(part.condition)
        elif leaves(part):
            yield _Unsaid()


def _apply_steps(origin: Origin, state: State, steps: tuple[_Step, ...]) -> State | None:
    """Return what the steps tell a state that knows nothing yet, kept from scope to scope; None where it rests on more
    of the scope than which of the variables named it writes: on what it stores, or on where it stands."""
    if not steps:
        return state
    if any(_loads(expr) for expr in _read(steps[-1])):
        return None
    named = {name.symbol for step in steps for expr in _read(step) for name in names(expr)}
    own = frozenset(named & state.written), frozenset(named & state.hidden)
    question = ("surroundings", origin.function, steps, state.guards, own)
    added = origin.summaries.remember(question, lambda: _one_more(origin, state, steps))
    if added is None:
        return None
    return replace(
        added.copy(),
        span=state.span,
        written=state.written,
        stored=state.stored,
        stored_types=state.stored_types,
        hidden=state.hidden,
        exposed=state.exposed,
        rows=state.rows,
        tables=state.tables,
        fixed=state.fixed,
    )


def _one_more(origin: Origin, state: State, steps: tuple[_Step, ...]) -> State | None:
    before = _apply_steps(origin, state, steps[:-1])
    added = None if before is None else _apply_step(origin, before.copy(), steps[-1])
    return None if added is None or added.assumptions else added


def _read(step: _Step) -> tuple[Expr, ...]:
    """Return the expressions that a step reads."""
    match step:
        case _Loop(loop=loop):
            return loop.lower, loop.bound
        case _Condition(condition=condition) | _Repeated(condition=condition) | _Passed(condition=condition):
            return (condition,)
        case _Unsaid():
            return ()
        case _:
            assert_never(step)


def _apply_step(origin: Origin, state: State, step: _Step) -> State:
    """Add to the context what one step of the way tells."""
    match step:
        case _Loop(loop=loop):
            _loop(origin, state, loop)
        case _Condition(condition=condition, holds=holds, branch=branch):
            _assume_inside(origin, state, condition, branch, holds=holds)
        case _Repeated(condition=condition, body=body):
            # how often the loop repeats is not asked where the scope's own iterations are looked at
            reached = state.reached
            _assume_inside(origin, state, condition, body, holds=True)
            state.reached = reached
        case _Passed(condition=condition):
            reached = state.reached
            _assume(state, condition, False, origin.unstable)
            # where there is memory enough, the program goes on
            state.reached = reached if _tests_allocations(origin, condition) else state.reached
        case _Unsaid():
            state.reached = False
        case _:
            assert_never(step)
    return state


def _loop(origin: Origin, state: State, loop: For) -> None:
    changed = changed_variables(loop.body, origin.effects(loop.body))
    remembered = len(state.unproved)
    kept, state.written = state.written, state.written | changed
    bounds = loop_bounds(state, loop)
    if _loads(loop.lower):
        bounds = Bounds(None, bounds.last, bounds.broken)
    state.written = kept
    name = Name(span=loop.header, type=loop.variable.type, symbol=loop.variable)
    counter = state.vocabulary.counter(loop.variable, loop, name)
    domain, exact = loop_domain(state, loop, counter, bounds)
    del state.unproved[remembered:]
    state.reached = state.reached and exact
    state.values[loop.variable] = atom(counter)
    state.outer.append((loop, counter))
    state.context = both((state.context, domain))


def _tests_allocations(origin: Origin, condition: Expr) -> bool:
    """Whether a condition holds only where an allocation has failed: `p == NULL || !q`."""
    test = peel(condition)
    if isinstance(test, Binary) and test.op == "||":
        return _tests_allocations(origin, test.left) and _tests_allocations(origin, test.right)
    pointer: Expr | None = None
    if isinstance(test, Unary) and test.op == "!":
        pointer = peel(test.operand)
    elif isinstance(test, Binary) and test.op == "==":
        left, right = peel(test.left), peel(test.right)
        pointer = left if _is_null(right) else right if _is_null(left) else None
    if not isinstance(pointer, Name) or not isinstance(pointer.symbol.type, Pointer):
        return False
    roots = origin.summaries.provenance(origin.function).roots.get(pointer.symbol, frozenset())
    fresh = bool(roots) and all(root.kind == "fresh" for root in roots)
    return fresh and not any(_is_null(value) for value in _given_to(origin.function, pointer.symbol))


def _given_to(function: Function, symbol: Symbol) -> Iterator[Expr]:
    """Yield the values that a variable is given."""
    for node in walk(function.body):
        if isinstance(node, VarDecl) and node.symbol == symbol and node.init is not None:
            yield node.init
        if isinstance(node, Assign) and isinstance(target := peel(node.target), Name) and target.symbol == symbol:
            yield node.value


def _is_null(expr: Expr) -> bool:
    expr = peel(expr)
    while isinstance(expr, Cast):
        expr = peel(expr.operand)
    return isinstance(expr, Literal) and expr.value == 0


def _returns_always(stmt: Stmt) -> bool:
    if isinstance(stmt, Block):
        return bool(stmt.statements) and _returns_always(stmt.statements[-1])
    return isinstance(stmt, Return)


def _loads(expr: Expr) -> bool:
    """Whether an expression reads memory, which may have changed since."""
    return any(isinstance(n, Index | Member) or (isinstance(n, Unary) and n.op == "*") for n in walk(expr))


def _assume_inside(origin: Origin, state: State, condition: Expr, branch: Node, *, holds: bool) -> None:
    """Assume that a condition holds, or does not, wherever its branch has been entered: where nothing changes what it
    reads, the condition itself included (`n > 9 && (n = 3)`), and no label lets a jump in."""
    if any(isinstance(part, Verbatim) and part.control for part in walk(branch)):
        state.reached = False
        return
    changed = (changed_variables(part, origin.effects(part)) for part in (condition, branch))
    _assume(state, condition, holds, frozenset[Symbol]().union(*changed))


def _assume(state: State, condition: Expr, holds: bool, changed: frozenset[Symbol]) -> None:
    if _loads(condition) or any(n.symbol in changed for n in names(condition)):
        state.reached = False
        return
    remembered = len(state.unproved)
    formula, exact = state.affine.condition(condition, holds)
    del state.unproved[remembered:]
    state.context = both((state.context, formula))
    state.reached = state.reached and exact
