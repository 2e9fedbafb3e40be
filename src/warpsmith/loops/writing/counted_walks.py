"""The header of the counted loop that stands in place of one that walks, and where its walkers are in it.

    i walks up to n, from 0         for (i = 0; i < n; i++)                   i: i
    p walks up to end, from a       for (p_k = 0; p_k < end - a; p_k++)       p: a + p_k
    n walks down to 0               for (n_k = 0; n_k < n; n_k++)             n: n - n_k

Invariant: where the guards hold, the new loop runs as often as the old one with its bound alone; in its iteration k,
`places` says where each walker is when the old one's begins.
"""

from __future__ import annotations

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.loops.analysis.shape import jump
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import number, use
from warpsmith.loops.walk_starts import Anchor, Starts
from warpsmith.loops.walking_loops import WalkingLoop
from warpsmith.loops.writing.storage import before
from warpsmith.loops.writing.walked import WalkerPlace, sum_of
from warpsmith.tree.nodes import (
    Binary,
    Call,
    Cast,
    DeclStmt,
    Expr,
    Literal,
    Relation,
    Stmt,
    Unary,
    VarDecl,
    VerbatimExpr,
    While,
    replace,
)
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import INT, LONG_LONG, Pointer, Scalar, Symbol, Type, common_type, is_integer
from warpsmith.tree.walk import names, peel, walk, written_symbols

__all__ = ["Counted", "count_walk"]


class Counted(Struct, frozen=True):
    """`for (counter = lower; counter relation bound; counter += step)`; `setup` declares what the bound needs; `ends`:
    where the walkers are behind the loop, in their own terms."""

    counter: Symbol
    lower: Expr
    relation: Relation
    bound: Expr
    step: int
    places: dict[Symbol, WalkerPlace]
    ends: dict[Symbol, WalkerPlace]
    setup: tuple[Stmt, ...] = ()
    guards: tuple[Assumption, ...] = ()


class _Header(Struct, frozen=True):
    counter: Symbol
    lower: Expr
    relation: Relation
    bound: Expr
    step: int
    setup: tuple[Stmt, ...] = ()
    tests: tuple[Expr, ...] = ()


def count_walk(found: WalkingLoop, starts: Starts, fresh: Fresh) -> Counted | Reason:
    """Return the header of the counted loop, or why there is none."""
    leader = found.bound.walker
    header: _Header | Reason
    if isinstance(leader.type, Pointer):
        header = _of_pointer(found, starts, fresh)
    elif found.bound.moves or (found.step < 0 and (_is_unsigned(leader) or found.bound.relation == "!=")):
        header = _downwards(found, starts, fresh)
    else:
        header = _of_number(found, starts, fresh)
    if isinstance(header, Reason):
        return header
    odd = next((s for s, by in found.steps.items() if by % header.step), None)
    if odd is not None:
        return Reason("STP002", f"{odd.name} moves by no multiple of the step to the bound", found.bound.expr.span)
    early = {s for stmt in found.setup for s in written_symbols(stmt)}
    if any(n.symbol in early for test in header.tests for n in names(test)):
        return Reason("STP002", "where it starts is known too late for a test before the loop", found.bound.expr.span)
    span = before(starts.place.loop.header)
    places = {s: _place(s, found, starts, header, folded=True) for s in found.steps}
    ends = {s: _place(s, found, starts, header, folded=False) for s in found.steps}
    guards = tuple(Assumption(show_expression(t), "guarded", t, span) for t in header.tests)
    return Counted(
        header.counter, header.lower, header.relation, header.bound, header.step, places, ends, header.setup, guards
    )  # fmt: skip


def _place(symbol: Symbol, found: WalkingLoop, starts: Starts, header: _Header, *, folded: bool) -> WalkerPlace:
    """Return where a walker is; `folded`: from what it is set to in front of the loop, where that is a variable."""
    span = before(starts.place.loop.header)
    if symbol == header.counter:
        return WalkerPlace(None, use(symbol, span))
    if symbol == found.bound.walker and not isinstance(symbol.type, Pointer) and header.step == found.step:
        return WalkerPlace(None, use(header.counter, span))
    far = _times(found.steps[symbol] // header.step, _ahead(symbol, found, header, span), span)
    base: Expr = use(symbol, span)
    start = starts.of(symbol) if folded else None
    if start is not None and _is_held(start, starts):
        if not isinstance(symbol.type, Pointer):
            base = _in_type(copy_tree(start), symbol.type, span)
        elif (anchor := starts.anchor(start)) is not None and anchor.root not in written_symbols(starts.place.loop):
            base = use(anchor.root, span)
            far = far if anchor.far is None else sum_of(anchor.far, far, span)
    if isinstance(symbol.type, Pointer):
        return WalkerPlace(base, far)
    return WalkerPlace(None if _is_zero(base) else base, far)


def _in_type(expr: Expr, type: Type, span: Span) -> Expr:
    """Return a value in a type as wide as the variable's that it is given."""
    small = isinstance(expr.type, Scalar) and isinstance(type, Scalar) and expr.type.bits < type.bits
    same = expr.type == type or (isinstance(peel(expr), Literal) and not small)
    return expr if same or _is_zero(expr) else Cast(span=span, type=type, operand=expr)


def _is_zero(expr: Expr) -> bool:
    bare = peel(expr)
    return isinstance(bare, Literal) and bare.value == 0


def _ahead(symbol: Symbol, found: WalkingLoop, header: _Header, span: Span) -> Expr:
    """Return how far the counter has come, in a type in which a walker's way can be worked out."""
    counter: Expr = use(header.counter, span)
    type = _way_type(symbol, header, alike=abs(found.steps[symbol]) == abs(header.step))
    if type is not None:
        counter = Cast(span=span, type=type, operand=counter)
    if _is_zero(header.lower):
        return counter
    type = common_type(counter.type, header.lower.type)
    return Binary(span=span, type=type, op="-", left=counter, right=copy_tree(header.lower))


def _way_type(symbol: Symbol, header: _Header, *, alike: bool) -> Type | None:
    """Return what the counter is converted to; None where its own type holds the way, which is as long as the
    counter's or shorter where they move `alike`."""
    own, target, lower = header.counter.type, symbol.type, peel(header.lower)
    assert isinstance(own, Scalar), "counters are numbers"
    if own.bits == LONG_LONG.bits:
        return None
    from_number = isinstance(lower, Literal) and isinstance(lower.value, int) and lower.value >= 0
    alike = alike and from_number
    if not isinstance(target, Scalar):
        return None if alike and own.kind == "signed" else LONG_LONG
    if target.bits > own.bits:
        return target
    if alike and own.kind == target.kind:
        return None
    return target if target.kind == "unsigned" else LONG_LONG


def _times(factor: int, expr: Expr, span: Span) -> Expr:
    if factor == 1:
        return expr
    type = common_type(expr.type, INT)
    if factor == -1:
        return Unary(span=span, type=type, op="-", operand=expr)
    return Binary(span=span, type=type, op="*", left=number(factor, span), right=expr)


def _runs_once(starts: Starts) -> bool:
    """Whether the loop runs at least once."""
    loop = starts.place.loop
    return isinstance(loop, While) and loop.form == "do"


def _is_unsigned(symbol: Symbol) -> bool:
    return isinstance(symbol.type, Scalar) and symbol.type.kind == "unsigned"


def _may_be_left(found: WalkingLoop) -> bool:
    """Whether a walk that starts behind its end may be defined all the same: it may end before it meets the bound."""
    calls = any(isinstance(n, Call | While | VerbatimExpr) for stmt in found.body for n in walk(stmt))
    return bool(found.goes_on) or calls or any(jump(stmt) is not None for stmt in found.body)


# --- pointers


def _of_pointer(found: WalkingLoop, starts: Starts, fresh: Fresh) -> _Header | Reason:
    """Return the header that counts how far a pointer has come."""
    bound, leader, span = found.bound, found.bound.walker, before(starts.place.loop.header)
    if bound.moves or bound.relation == ">=":
        return Reason("STP002", f"{leader.name} is moved by its test, or below what it points into", bound.expr.span)
    start = starts.of(leader)
    first = starts.anchor(start if start is not None else use(leader, span))
    last = starts.anchor(bound.expr)
    near, far = (first, last) if found.step > 0 else (last, first)
    begin: Expr = use(leader, span) if start is None or not _is_held(start, starts) else start
    setup: tuple[Stmt, ...] = ()
    exact = _distance(near, far, span)
    if exact is None:
        ends = (begin, bound.expr) if found.step > 0 else (bound.expr, begin)
        length = Binary(span=span, type=LONG_LONG, op="-", left=copy_tree(ends[1]), right=copy_tree(ends[0]))
        held = fresh.variable(f"{leader.name}_n", LONG_LONG, leader)
        setup = (DeclStmt(span=span, declarations=(VarDecl(span=span, symbol=held, init=length),)),)
        distance: Expr = use(held, span)
        test = Binary(span=span, type=INT, op="<=", left=copy_tree(ends[0]), right=copy_tree(ends[1]))
    else:
        distance = exact
        test = Binary(span=span, type=INT, op=">=", left=copy_tree(exact), right=number(0, span))
    tests = (test,) if bound.relation == "!=" and _may_be_left(found) and not _is_natural(distance) else ()
    if _runs_once(starts):
        tests = (replace(test, op="<" if exact is None else ">"),)
    wide = distance.type if isinstance(distance.type, Scalar) and distance.type.bits == LONG_LONG.bits else LONG_LONG
    counter = fresh.variable(f"{leader.name}_k", wide, leader)
    relation: Relation = "<=" if bound.relation == "<=" else "<"
    return _Header(counter, number(0, span), relation, distance, abs(found.step), setup, tests)


def _distance(near: Anchor | None, far: Anchor | None, span: Span) -> Expr | None:
    """Return how many elements lie between two places in one array."""
    if near is None or far is None or near.root != far.root:
        return None
    if near.far is None:
        return number(0, span) if far.far is None else copy_tree(far.far)
    if far.far is None:
        return None
    left, right = far.far.type, near.far.type
    signed = all(isinstance(t, Scalar) and t.kind == "signed" for t in (left, right))
    if not signed:
        return None
    wide = Cast(span=span, type=LONG_LONG, operand=copy_tree(far.far))
    return Binary(span=span, type=LONG_LONG, op="-", left=wide, right=copy_tree(near.far))


def _is_natural(expr: Expr) -> bool:
    bare = peel(expr)
    if isinstance(bare, Literal):
        return isinstance(bare.value, int) and bare.value >= 0
    return isinstance(bare.type, Scalar) and bare.type.kind == "unsigned"


def _is_held(start: Expr, starts: Starts) -> bool:
    """Whether a value is the same in the loop as in front of it."""
    return not ({n.symbol for n in names(start)} & written_symbols(starts.place.loop))


# --- numbers


def _of_number(found: WalkingLoop, starts: Starts, fresh: Fresh) -> _Header | Reason:
    """Return the header that a number walks by itself."""
    bound, leader, span = found.bound, found.bound.walker, before(starts.place.loop.header)
    start = starts.of(leader)
    own = start is not None and _is_narrow(start, leader) and _is_held(start, starts)
    lower: Expr = copy_tree(start) if own and start is not None else use(leader, span)
    counter = leader if own else fresh.variable(f"{leader.name}_k", leader.type, leader)
    relation: Relation = bound.relation
    tests = [copy_tree(test) for test in bound.tests]
    if _runs_once(starts):
        test = Binary(span=span, type=INT, op=relation, left=copy_tree(lower), right=copy_tree(bound.expr))
        tests.append(test)
    if relation == "!=":
        relation = "<"
        from_zero = isinstance(peel(lower), Literal) and getattr(peel(lower), "value", None) == 0
        natural = from_zero and _is_natural(bound.expr) and _is_unsigned(leader)
        if not natural:
            tests.append(Binary(span=span, type=INT, op="<=", left=copy_tree(lower), right=copy_tree(bound.expr)))
        if not _compares_alike(leader, lower, bound.expr):
            return Reason("STP002", "its counter and its bound are compared in another type", bound.expr.span)
    return _Header(counter, lower, relation, copy_tree(bound.expr), found.step, (), tuple(tests))


def _is_narrow(start: Expr, leader: Symbol) -> bool:
    """Whether a variable keeps the value that it is given."""
    given, own = peel(start).type, leader.type
    if isinstance(peel(start), Literal):
        return is_integer(given)
    if not isinstance(given, Scalar) or not isinstance(own, Scalar):
        return False
    return given.kind == own.kind and given.bits <= own.bits


def _compares_alike(leader: Symbol, lower: Expr, bound: Expr) -> bool:
    """Whether counter and bound are compared as the numbers that they are."""
    own, other = leader.type, peel(bound).type
    if isinstance(peel(bound), Literal):
        return _is_natural(bound)
    return isinstance(own, Scalar) and isinstance(other, Scalar) and own.kind == other.kind and own.bits >= other.bits


def _downwards(found: WalkingLoop, starts: Starts, fresh: Fresh) -> _Header | Reason:
    """Return the header that counts how often a number has gone down by one, to a number that is not negative."""
    bound, leader, span = found.bound, found.bound.walker, before(starts.place.loop.header)
    least = peel(bound.expr)
    if found.step != -1 or not isinstance(least, Literal) or not isinstance(least.value, int):
        return Reason("STP002", f"{leader.name} does not go down by one to a number", bound.expr.span)
    # the least value that the test sees and accepts, and then the one of the walker before the test moves it
    stop = least.value + (bound.relation != ">=") + bound.ahead
    start = starts.of(leader)
    own = start is not None and is_integer(start.type) and _is_held(start, starts) and start.type == leader.type
    first: Expr = copy_tree(start) if own and start is not None else use(leader, span)
    if stop != 1 or (bound.relation == ">=" and _is_unsigned(leader) and least.value == 0):
        return Reason("STP002", f"{leader.name} does not go down to 0", bound.expr.span)
    tests: tuple[Expr, ...] = ()
    if bound.relation == "!=" and not _is_unsigned(leader) and _may_be_left(found):
        tests = (Binary(span=span, type=INT, op=">=", left=copy_tree(first), right=number(0, span)),)
    if _runs_once(starts):
        tests = (Binary(span=span, type=INT, op=">", left=copy_tree(first), right=number(0, span)),)
    counter = fresh.variable(f"{leader.name}_k", leader.type, leader)
    return _Header(counter, number(0, span), "<", first, 1, (), tests)
