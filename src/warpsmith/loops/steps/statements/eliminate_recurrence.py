"""Elimination of induction variables: see EliminateRecurrence.

    k = 5;                                         t: how many iterations came before
    for (i = 2; i < n; i++) {
        a[k] = …;           k + c * t              a[5 + 2 * (i - 2)]
        k += 2;
        b[k] = …;           k + c * t + c          b[5 + 2 * (i - 2) + 2]
    }                       k + c * trips

Invariant: the closed form is the value that the variable has there, its type's wrap-around included; where a product
could overflow that the program as written does not compute, it is worked out in 64 bits.
Limits: one update, in every iteration, by a value that does not change in the loop.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.analysis.extremes import cover_of, is_writable, wide, wide_expr
from warpsmith.loops.analysis.shape import does_not_fit, find_marked, jump, movable_bounds, statements, steady
from warpsmith.loops.analysis.substitute import copy_tree, fixed_text
from warpsmith.loops.analysis.uses import mentions, variable
from warpsmith.loops.linear import Linear, number, use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.writing.storage import after, positive
from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.origin import own_writes
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Cast,
    Conditional,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    Function,
    If,
    Index,
    Literal,
    Name,
    Node,
    Stmt,
    Unary,
    replace,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import INT, LONG_LONG, Pointer, Scalar, Symbol, Type, common_type, is_integer
from warpsmith.tree.walk import peel, rebuild, walk

__all__ = ["EliminateRecurrence"]


class _Update(Struct, frozen=True):
    """Each iteration does `symbol += amount` (`-=` where `down`) in `statement`, of the body's own statements; `first`
    is the value before the loop where it is a number."""

    symbol: Symbol
    statement: Stmt
    amount: Expr
    down: bool
    first: int | None

    @property
    def step(self) -> int | None:
        """The number that is added, where it is one."""
        value = peel(self.amount)
        if isinstance(value, Literal) and isinstance(value.value, int):
            return -value.value if self.down else value.value
        return None


class EliminateRecurrence(Struct, frozen=True):
    """Replace a variable that every iteration moves on by the same amount by a function of the counter.

    Legal where the variable has one update, which every iteration executes once, by an amount that does not change in
    the loop (M. Wolfe: Beyond induction variables, PLDI 1992; the basic case). What the variable holds after the loop
    is restored. In a nest, begin with the inner loop.

    Step: loop=f/i variable=k

    Before:
        void f(int n, const double a[n], double b[2 * n])
        {
            int k = 1;
            for (int i = 0; i < n; i++) {
                b[k] = a[i];
                k += 2;
            }
        }

    After:
        void f(int n, const double a[n], double b[2 * n])
        {
            int k = 1;
            for (int i = 0; i < n; i++) {
                b[1 + 2 * i] = a[i];
            }
        }
    """

    name: ClassVar[str] = "eliminate-recurrence"

    loop: str
    variable: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the variable is a function of the counter that can be written."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        update = _update(place, self.variable)
        if isinstance(update, Reason):
            return Unknown((update,))
        stop = _obstacle(facts, place, loop, update)
        if stop is not None:
            return stop
        if not _in_range(loop, update):
            text = f"the values of {update.symbol.name} might not fit 64 bits on the way"
            return does_not_fit(text, loop, "a counter of 32 bits", "a first value that is a number")
        return Proved()

    def apply(self, program: Program) -> Program:
        """Return the program with the closed form in place of the variable."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        update = _update(place, self.variable)
        assert not isinstance(update, Reason)
        parts: list[Stmt] = []
        done = False
        for part in statements(loop.body):
            if part is update.statement:
                done = True
                continue
            parts.append(_close_form(part, loop, update, done=done))
        body: Stmt = replace(loop.body, statements=tuple(parts)) if isinstance(loop.body, Block) else _empty(loop)
        new: list[Stmt] = [replace(loop, body=body)]
        facts = Facts.about(program, PolyOptions())
        if update.symbol in facts.liveness(place.function).after[loop]:
            new.append(_restore_variable(loop, update))
        return with_run(program, place.function, (loop,), tuple(new))


def _empty(loop: For) -> Stmt:
    return Block(span=loop.body.span, statements=())


# --- what the loop does to the variable


def _update(place: LoopContext, name: str) -> _Update | Reason:
    """Return the one update of the variable, or what does not fit."""
    loop = place.require_counted()
    symbol = variable(place, name)
    if isinstance(symbol, Reason):
        return symbol
    if not (is_integer(symbol.type) or isinstance(symbol.type, Pointer)) or getattr(symbol.type, "volatile", False):
        return Reason("STP002", f"{name} is neither an integer nor a pointer", loop.header)
    writes = [n for n in walk(loop.body) if symbol in own_writes(n) or (isinstance(n, For) and n.variable == symbol)]
    if len(writes) != 1:
        text = f"{name} is written in {len(writes)} places of the loop"
        return Reason("STP002", text, loop.header, legal_if=("one update in every iteration",))
    for part in statements(loop.body):
        amount = _amount_of(part, writes[0], symbol)
        if amount is not None:
            return _Update(symbol, part, *amount, _first(place.function, loop, symbol))
    text = f"{name} is not moved on by an amount in every iteration"
    return Reason("STP002", text, writes[0].span, legal_if=(f"{name} += c as a statement of the loop's body",))


def _amount_of(part: Stmt, write: Node, symbol: Symbol) -> tuple[Expr, bool] | None:
    """Return what the statement adds to the variable: `if (c) k += e` adds c ? e : 0."""
    if isinstance(part, ExprStmt) and peel(part.expr) is write:
        return _amount(peel(part.expr), symbol)
    if not isinstance(part, If) or part.other is not None:
        return None
    inside = statements(part.then)
    found = _amount_of(inside[0], write, symbol) if len(inside) == 1 else None
    if found is None or not is_integer(found[0].type):
        return None
    nothing = number(0, part.span)
    type = common_type(found[0].type, nothing.type)
    value = Conditional(span=part.span, type=type, condition=part.condition, then=found[0], other=nothing)
    return value, found[1]


def _amount(expr: Expr, symbol: Symbol) -> tuple[Expr, bool] | None:
    """Return what is added to the variable, and whether it is subtracted."""
    match expr:
        case Unary(op=op) if "++" in op or "--" in op:
            return number(1, expr.span), "--" in op
        case Assign(op="+=" | "-=" as op, value=value):
            return value, op == "-="
        case Assign(op="=", value=value):
            value = peel(value)
            if isinstance(value, Binary) and value.op in ("+", "-"):
                if _is_name(value.left, symbol):
                    return value.right, value.op == "-"
                if value.op == "+" and _is_name(value.right, symbol):
                    return value.left, False
    return None


def _is_name(expr: Expr, symbol: Symbol) -> bool:
    bare = peel(expr)
    return isinstance(bare, Name) and bare.symbol == symbol


def _first(function: Function, loop: For, symbol: Symbol) -> int | None:
    """Return the number that the variable holds before the loop, where a statement before it in its block says so."""
    for node in walk(function.body):
        if not isinstance(node, Block) or not any(s is loop for s in node.statements):
            continue
        position = next(k for k, s in enumerate(node.statements) if s is loop)
        for part in reversed(node.statements[:position]):
            if isinstance(part, ExprStmt) and isinstance(assigned := peel(part.expr), Assign):
                if assigned.op == "=" and _is_name(assigned.target, symbol):
                    return _number(assigned.value, symbol)
            elif isinstance(part, DeclStmt) and part.declarations[-1].symbol == symbol:
                return _number(part.declarations[-1].init, symbol)
            if mentions(part, symbol):
                return None
    return None


def _number(value: Expr | None, symbol: Symbol) -> int | None:
    found = Linear.of(value) if value is not None and is_integer(symbol.type) else None
    small = found is not None and found.number is not None and 0 <= found.number < 128
    return found.number if found is not None and small else None


def _obstacle(facts: Facts, place: LoopContext, loop: For, update: _Update) -> Unknown | None:
    """Return the blocker, or None."""
    symbol, function = update.symbol, place.function
    if symbol in facts.origin(function).hidden or symbol.storage not in ("local", "parameter"):
        return does_not_fit(f"{symbol.name} may be read or changed elsewhere", loop)
    left = jump(loop.body)
    if left is not None:
        return does_not_fit("an iteration may be left early", left)
    if find_marked(function, loop) is not None:
        return does_not_fit("a pragma tells the compiler about this loop", loop, "remove the pragma")
    for expr in (loop.lower, loop.bound, update.amount):
        if mentions(expr, symbol) or not steady(facts, function, expr, loop):
            return does_not_fit(f"{' '.join(expr.span.text.split())} may change in the loop", loop)
    if movable_bounds(loop) is not None or movable_bounds(replace(loop, lower=update.amount)) is not None:
        return does_not_fit("the bounds or the amount cannot be evaluated again", loop)
    if cover_of(loop, {}) is None or not is_writable(_distance(loop)):
        return does_not_fit("how often the loop runs cannot be written", loop, "bounds that are sums")
    fixed = fixed_text(loop.body, frozenset({symbol}))
    return None if fixed is None else does_not_fit(f"{symbol.name} is named in text that is not modelled", fixed)


def _in_range(loop: For, update: _Update) -> bool:
    """Whether amount * iterations fits 64 bits wherever the variable's own values fit its type."""
    counter, amount = loop.variable.type, peel(update.amount).type
    if not isinstance(counter, Scalar) or not isinstance(amount, Scalar) or not is_integer(amount):
        return False
    small = update.step is not None or (amount.kind == "signed" and amount.bits <= INT.bits)
    if update.step is not None and not -(2**31) < update.step < 2**31:
        return False
    lower = Linear.of(loop.lower)
    start = lower.number if lower is not None else None
    if counter.bits <= INT.bits:
        return small
    return update.step in (1, -1) and start is not None and 0 <= start < 2**31 and loop.step > 0


# --- the closed form


def _close_form(part: Stmt, loop: For, update: _Update, *, done: bool) -> Stmt:
    """Return a statement of the body with the closed form in place of the variable."""
    free = {id(n) for node in walk(part) if isinstance(node, Index) for n in _summands(node.index)}

    def change(node: Node) -> Node:
        if isinstance(node, Name) and node.symbol == update.symbol:
            return _value(loop, update, node.span, done=done, free=id(node) in free)
        if isinstance(node, Binary) and node.op in ("+", "-") and _is_wider(node):
            return replace(node, type=LONG_LONG)
        return node

    return rebuild(part, change)


def _is_wider(sum: Binary) -> bool:
    """Whether a sum that was of int has got an operand of `long long`."""
    wide_one = LONG_LONG in (peel(sum.left).type, peel(sum.right).type)
    return wide_one and isinstance(sum.type, Scalar) and common_type(sum.left.type, sum.right.type) == LONG_LONG


def _summands(index: Expr) -> list[Expr]:
    """Return the names whose type does not matter in a subscript: those that are signed and only added up there."""
    index = peel(index)
    if isinstance(index, Binary) and index.op in ("+", "-") and getattr(index.type, "kind", "") == "signed":
        return [*_summands(index.left), *_summands(index.right)]
    return [index] if isinstance(index, Name) and getattr(index.type, "kind", "") == "signed" else []


def _value(loop: For, update: _Update, span: Span, *, done: bool, free: bool) -> Expr:
    """Return the variable's value in an iteration, `done`: after its update."""
    type = update.symbol.type
    plain = _is_plain(loop, update)
    start: Expr = use(update.symbol, span) if update.first is None else number(update.first, span)
    moved = _distance_moved(loop, update, span, plain=plain)
    total = _sum(start, moved, down=update.down)
    if done:
        total = _sum(total, copy_tree(update.amount), down=update.down)
    if isinstance(type, Pointer) or plain or (free and _keeps(type)):
        return total
    return Cast(span=span, type=type, operand=total)


def _keeps(type: Type) -> bool:
    """Whether values of the type are never wrapped around."""
    return isinstance(type, Scalar) and type.kind == "signed" and type.bits >= INT.bits


def _sum(left: Expr, right: Expr, *, down: bool) -> Expr:
    if not down and isinstance(left, Literal) and left.value == 0:
        return right
    type = left.type if isinstance(left.type, Pointer) else common_type(left.type, right.type)
    return Binary(span=left.span, type=type, op="-" if down else "+", left=left, right=right)


def _is_plain(loop: For, update: _Update) -> bool:
    """Whether no intermediate value is larger than the variable's own: then its type's arithmetic will do."""
    counter, type = loop.variable.type, update.symbol.type
    lower = Linear.of(loop.lower)
    start = lower.number if lower is not None else None
    rising = update.first is not None and update.step is not None and update.step > 0
    return rising and start is not None and start >= 0 and loop.step > 0 and counter == type and _keeps(type)


def _distance_moved(loop: For, update: _Update, span: Span, *, plain: bool) -> Expr:
    """Return amount * (iterations before this one)."""
    counter: Expr = use(loop.variable, span)
    counter = counter if plain else wide(counter)
    lower = Linear.of(loop.lower)
    zero = lower is not None and lower.number == 0
    ends = (counter, copy_tree(loop.lower)) if loop.step > 0 else (wide(copy_tree(loop.lower)), counter)
    way = (
        counter
        if zero and loop.step > 0
        else Binary(span=span, type=common_type(ends[0].type, ends[1].type), op="-", left=ends[0], right=ends[1])
    )
    stride = abs(loop.step)
    factor = peel(update.amount)
    value = factor.value if isinstance(factor, Literal) else None
    if isinstance(value, int) and value % stride == 0:
        factor = number(value // stride, span)
    elif stride != 1:
        way = Binary(span=span, type=way.type, op="/", left=way, right=number(stride, span))
    if isinstance(factor, Literal) and factor.value == 1:
        return way
    scale = factor if isinstance(factor, Literal) else copy_tree(update.amount)
    return Binary(span=span, type=common_type(scale.type, way.type), op="*", left=scale, right=way)


# --- after the loop


def _distance(loop: For) -> Linear:
    """Return how far the counter goes; the loop runs where that is positive."""
    lower, bound = Linear.of(loop.lower), Linear.of(loop.bound)
    if lower is None or bound is None:
        return Linear()
    way = bound.minus(lower) if loop.step > 0 else lower.minus(bound)
    return way.shift(1 if loop.relation in ("<=", ">=") else 0)


def _restore_variable(loop: For, update: _Update) -> Stmt:
    """Return the statement that gives the variable the value that the loop leaves."""
    span = after(loop.span)
    distance = _distance(loop)
    trips = wide_expr(distance, span)
    if abs(loop.step) != 1:
        up = Binary(span=span, type=LONG_LONG, op="+", left=wide(trips), right=number(abs(loop.step) - 1, span))
        trips = Binary(span=span, type=LONG_LONG, op="/", left=up, right=number(abs(loop.step), span))
    factor = peel(update.amount)
    one = isinstance(factor, Literal) and factor.value == 1
    value = (
        trips if one else Binary(span=span, type=LONG_LONG, op="*", left=wide(trips), right=copy_tree(update.amount))
    )
    target = use(update.symbol, span)
    op = "-=" if update.down else "+="
    moved = ExprStmt(span=span, expr=Assign(span=span, type=target.type, op=op, target=target, value=value))
    condition = positive((distance,), span)
    return moved if condition is None else If(span=span, condition=condition, then=moved, other=None)
