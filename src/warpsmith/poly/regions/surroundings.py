"""What is known where a scope is entered: the loops and conditions around it, and the early returns before it.

    if (n < 2) return;                    n >= 2
    for (k = 0; k < n - 1; k++)           0 <= k <= n - 2
      if (k > 0)                          k >= 1
        for (i = …)                       the scope

Only what still holds there is used: a condition whose variables may have changed since says nothing. `reached` becomes
False where something around the scope cannot be said: then not every point of the context need be reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from warpsmith.poly.effects.origin import Origin, changed_variables
from warpsmith.poly.isl.formula import both
from warpsmith.poly.isl.polynomial import atom
from warpsmith.poly.pointers.control import leaves
from warpsmith.poly.regions.loops import Bounds, loop_bounds, loop_domain
from warpsmith.poly.regions.state import State
from warpsmith.tree.nodes import Block, Expr, For, If, Index, Member, Name, Node, Return, Stmt, Switch, Unary
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import children, names, walk

__all__ = ["surround"]


def surround(origin: Origin, state: State, scope: Stmt, around: Sequence[Stmt]) -> None:
    """Add to the context what the way from the function's start to `scope` tells.

    A scope that is not part of the function's text has `around` for the loops around it.
    """
    way = _way(origin.function.body, scope)
    if way is None:
        for stmt in around:
            if isinstance(stmt, For):
                _loop(origin, state, stmt)
        return
    for parent, child in pairwise(way):
        match parent:
            case For():
                _loop(origin, state, parent)
            case If(condition=condition, then=then):
                _condition(origin, state, condition, child is then, child)
            case Block(statements=parts):
                _returns(origin, state, parts, child)
            case Switch():
                state.reached = False
            case _:
                pass


def _way(root: Node, goal: Node) -> list[Node] | None:
    """Return the nodes from root to goal, or None."""
    if root is goal:
        return [root]
    if not root.span.contains(goal.span):
        return None
    for child in children(root):
        rest = _way(child, goal)
        if rest is not None:
            return [root, *rest]
    return None


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


def _condition(origin: Origin, state: State, condition: Expr, holds: bool, branch: Node) -> None:
    """A condition holds at the scope if nothing in its branch changes what it reads."""
    changed = changed_variables(branch, origin.effects(branch))
    _assume(state, condition, holds, changed)


def _returns(origin: Origin, state: State, parts: tuple[Stmt, ...], child: Node) -> None:
    """`if (c) return;` before the scope: c is false, for variables that the function never changes."""
    for part in parts:
        if part is child:
            return
        if isinstance(part, If) and part.other is None and _returns_always(part.then):
            _assume(state, part.condition, False, origin.unstable)
        elif leaves(part):
            state.reached = False


def _returns_always(stmt: Stmt) -> bool:
    if isinstance(stmt, Block):
        return bool(stmt.statements) and _returns_always(stmt.statements[-1])
    return isinstance(stmt, Return)


def _loads(expr: Expr) -> bool:
    """Whether an expression reads memory, which may have changed since."""
    return any(isinstance(n, Index | Member) or (isinstance(n, Unary) and n.op == "*") for n in walk(expr))


def _assume(state: State, condition: Expr, holds: bool, changed: frozenset[Symbol]) -> None:
    if _loads(condition) or any(n.symbol in changed for n in names(condition)):
        state.reached = False
        return
    remembered = len(state.unproved)
    formula, exact = state.affine.condition(condition, holds)
    del state.unproved[remembered:]
    state.context = both((state.context, formula))
    state.reached = state.reached and exact
