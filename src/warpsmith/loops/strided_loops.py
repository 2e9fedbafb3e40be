"""`for` loops whose step is a value that does not change while they run: what their headers say, and when they can be
counted.

    for (i = first; i < bound; i += step) …        i = first + k step,   k = 0, …, ceil((bound - first) / step) - 1
    for (i = first; i > bound; i -= step) …        i = first - k step,   k = 0, …, ceil((first - bound) / step) - 1

Invariant: where every guard of `guards` holds, the loop runs its body exactly `trips` times (none where that is not
positive), with i = first + k * step, none of the expressions overflowing in the type that it is evaluated in.

    bound > first            a signed step that is computed is computed by the user's loop too, and so fits its type
    step > 0                 else the loop does not end, or has no meaning
    first >= 0               a signed k * step is no more than i
    first <= bound           the difference of unsigned numbers does not wrap around
    ahead <= bound           of unsigned numbers, with first <= bound - ahead: then first + ahead does not wrap around,
                             and no later i + ahead does, which is less than bound + step
    bound <= MAX - step      i + step does not wrap around, nor does the sum in the number of iterations. Signed ints
                             need neither: i + step has no meaning where it overflows, and the sum is of `long long`
Downwards:
    first > bound            as above; the difference of unsigned numbers does not wrap around
    bound >= 0               a signed k * step is no more than first, and i - step fits
    step <= bound            unsigned i - step does not wrap around; for `i > 0`: step divides first, and 0 is met; for
                             `i >= step` nothing is to be tested
    first <= MAX - step      as above
Products of unsigned numbers of 64 bits are counted in `long long` (`in_signed`), for which no wider type is needed:
    x <= LLONG_MAX           all of their variables
    x <= LLONG_MAX / y       their products, in the order in which they are computed; sums likewise
Limits: first value, bound and step have types that the counter's type holds; `i + ahead` is read upwards alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal as OneOf
from typing import cast

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.loops.counted_loops import find_start
from warpsmith.loops.linear import number, use
from warpsmith.tree.nodes import Assign, Binary, Cast, Expr, Literal, Name, Node, SizeOf, While
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import INT, LONG_LONG, Scalar, Symbol, common_type, integer_range, is_integer, promote
from warpsmith.tree.walk import names, peel, same, walk

__all__ = ["Strided", "strided_header"]

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_TYPES = ("signed", "unsigned")
_Way = OneOf["<", "<=", ">", ">="]


class Strided(Struct, frozen=True):
    """`for (variable = first; variable + ahead relation bound; variable += step)`, or `-= step` with `>` and `>=`;
    nothing is said of the body."""

    variable: Symbol
    declares: bool
    first: Expr
    relation: _Way
    bound: Expr
    step: Expr
    ahead: Expr | None = None

    @property
    def down(self) -> bool:
        """Whether the counter falls."""
        return self.relation in (">", ">=")

    @property
    def type(self) -> Scalar:
        """The counter's type."""
        return cast(Scalar, self.variable.type)

    @property
    def ends(self) -> tuple[Expr, ...]:
        """What must keep its value while the loop runs."""
        return (self.first, self.bound, self.step, *(() if self.ahead is None else (self.ahead,)))

    @property
    def in_signed(self) -> bool:
        """Whether unsigned numbers of 64 bits are counted as `long long`."""
        if self.type.kind != "unsigned" or self.type.bits < LONG_LONG.bits or self.ahead is not None:
            return False
        parts = [part for end in self.ends for part in walk(end)]
        return any(isinstance(p, Binary) and p.op == "*" for p in parts) and all(map(_is_simple, parts))

    @property
    def count_type(self) -> Scalar:
        """The type of the number of an iteration."""
        return LONG_LONG if self.in_signed else self.type

    def _part(self, end: Expr) -> Expr:
        """Return a copy of one of the ends, as it is counted."""
        return _as_signed(copy_tree(end)) if self.in_signed else copy_tree(end)

    def trips(self, span: Span) -> Expr:
        """Return how often the loop runs: ceil((bound - first) / step), or one more for a bound that is reached."""
        if self.meets_bound:
            return _join("/", self._part(self.first), self._part(self.step), span)
        if self.down:
            return self._trips_down(span)
        bound = self._part(self.bound)
        if self._is_wide():
            bound = Cast(span=span, type=LONG_LONG, operand=bound)
        length = bound if self.ahead is None else _join("-", bound, self._part(self.ahead), span)
        length = length if _is_zero(self.first) else _join("-", length, self._part(self.first), span)
        reach = _join("+", length, self._part(self.step), span)
        if self.relation == "<":
            reach = _join("-", reach, number(1, span), span)
        return _join("/", reach, self._part(self.step), span)

    def _trips_down(self, span: Span) -> Expr:
        first = self._part(self.first)
        length = Cast(span=span, type=LONG_LONG, operand=first) if self._is_wide() else first
        length = length if _is_zero(self.bound) else _join("-", length, self._part(self.bound), span)
        reach = _join("+", length, self._part(self.step), span)
        if self.relation == ">":
            reach = _join("-", reach, number(1, span), span)
        return _join("/", reach, self._part(self.step), span)

    @property
    def meets_bound(self) -> bool:
        """Whether the number of iterations is first / step: the last one has the value of the step itself."""
        if self.relation == ">=":
            return same(peel(self.bound), peel(self.step))
        return self.relation == ">" and _is_zero(self.bound) and self.type.kind == "unsigned"

    def value(self, count: Expr, span: Span) -> Expr:
        """Return the counter's value after `count` iterations."""
        moved = _join("*", count, self._part(self.step), span)
        if self.down:
            return _join("-", self._part(self.first), moved, span)
        return moved if _is_zero(self.first) else _join("+", self._part(self.first), moved, span)

    def guards(self, span: Span, *, positive: bool) -> tuple[Assumption, ...]:
        """Return what has to be tested before the loop; `positive`: the step is known to be."""
        tests = ((_safe(test, span), entered) for test, entered in self._conditions(span, positive=positive))
        return tuple(Assumption(show_expression(t), "guarded", t, span, entered) for t, entered in tests)

    def _conditions(self, span: Span, *, positive: bool) -> Iterator[tuple[Expr, bool]]:
        """Yield the conditions, and whether the loop makes no iteration where one fails."""
        signed = self.type.kind == "signed"
        if self.in_signed:
            yield from ((test, False) for test in self._ranges(span))
        if self.down:
            yield from self._conditions_down(span, positive=positive)
            return
        if signed and isinstance(peel(self.step), Binary):
            yield _compare(self.bound, _MIRRORED[self.relation], self._reach(span), span), True
        if not positive:
            yield _compare(self.step, ">", number(0, span), span), False
        if not signed and self.ahead is not None:
            yield _compare(self.ahead, "<=", self.bound, span), True
            if not _is_zero(self.first):
                room = _join("-", copy_tree(self.bound), copy_tree(self.ahead), span)
                yield _compare(self.first, "<=", room, span), True
        elif not _is_natural(self.first):
            end = number(0, span) if signed else self.bound
            yield _compare(self.first, ">=" if signed else "<=", end, span), not signed
        if not self._is_wide():
            yield _compare(self.bound, "<=", self._most(span), span), False

    def _conditions_down(self, span: Span, *, positive: bool) -> Iterator[tuple[Expr, bool]]:
        signed = self.type.kind == "signed"
        if not signed or not self._is_wide() or isinstance(peel(self.step), Binary):
            yield _compare(self.first, self.relation, self.bound, span), True
        if not positive:
            yield _compare(self.step, ">", number(0, span), span), False
        if signed and not _is_natural(self.bound) and not self.meets_bound:
            yield _compare(self.bound, ">=", number(0, span), span), False
        if not signed and self.relation == ">" and _is_zero(self.bound):
            rest = _join("%", copy_tree(self.first), copy_tree(self.step), span)
            yield _compare(rest, "==", number(0, span), span), False
        elif not signed and not self.meets_bound:
            yield _compare(self.step, "<=", self.bound, span), False
        # what a counter that is read behind the loop is computed from may be more than the loop itself computes
        if not self._is_wide() or not self.declares:
            yield _compare(self.first, "<=", self._most(span), span), False

    def _ranges(self, span: Span) -> Iterator[Expr]:
        """Yield the conditions under which `long long` has the values of all ends."""
        variables = dict.fromkeys(n.symbol for end in self.ends for n in names(end))
        for symbol in variables:
            if isinstance(symbol.type, Scalar) and symbol.type.bits == LONG_LONG.bits:
                yield _compare(use(symbol, span), "<=", self._highest(span), span)
        found: list[Binary] = []
        for part in (part for end in self.ends for part in _inner_first(peel(end))):
            if not any(same(part, old) for old in found):
                found.append(part)
                rest = _join("/" if part.op == "*" else "-", self._highest(span), copy_tree(part.right), span)
                yield _compare(part.left, "<=", rest, span)

    def _highest(self, span: Span) -> Expr:
        """Return the greatest number of the type in which is counted."""
        high = integer_range(self.count_type)[1]
        return Literal(span=span, type=self.type, text=_written(high, self.type), value=high)

    def _most(self, span: Span) -> Expr:
        """Return the greatest number of that type less the step."""
        return _join("-", self._highest(span), copy_tree(self.step), span)

    def _reach(self, span: Span) -> Expr:
        """Return what the first test compares with the bound."""
        if self.ahead is None:
            return self.first
        return self.ahead if _is_zero(self.first) else _join("+", copy_tree(self.first), copy_tree(self.ahead), span)

    def _is_wide(self) -> bool:
        """Whether the number of iterations is worked out in `long long`."""
        return self.type.kind == "signed" and self.type.bits < LONG_LONG.bits


def _is_simple(part: Node) -> bool:
    """Whether `_as_signed` can write a part of an end."""
    if isinstance(part, Name) or (isinstance(part, Binary) and part.op in ("+", "*")):
        # what is computed in fewer bits wraps around earlier
        return isinstance(part.type, Scalar) and (part.type.kind, part.type.bits) == ("unsigned", LONG_LONG.bits)
    return isinstance(part, Literal | SizeOf) and _is_natural(part)


def _as_signed(end: Expr) -> Expr:
    """Return a sum or product of unsigned variables and small numbers as one of `long long`."""
    end = peel(end)
    if isinstance(end, Name):
        return Cast(span=end.span, type=LONG_LONG, operand=end)
    if isinstance(end, Binary):
        return _join(end.op, _as_signed(end.left), _as_signed(end.right), end.span)
    return end if end.type == INT else Cast(span=end.span, type=LONG_LONG, operand=end)


def _inner_first(end: Expr) -> Iterator[Binary]:
    """Yield the sums and products of an end, operands before what is made of them."""
    if isinstance(end, Binary):
        yield from _inner_first(peel(end.left))
        yield from _inner_first(peel(end.right))
        yield end


def strided_header(loop: While) -> Strided | None:
    """Return the parts of the header of a loop that looks as if it had a step that is no number."""
    if loop.form != "for" or loop.init is None or loop.condition is None or loop.advance is None:
        return None
    start = find_start(loop.init)
    if start is None or not _is_counter(start[0]):
        return None
    variable, declares, first = start
    test, step = _test(loop.condition, variable), _step(loop.advance, variable, "+")
    if test is None:
        test, step = _test_down(loop.condition, variable), _step(loop.advance, variable, "-")
    if test is None or step is None:
        return None
    if test[0] == ">=" and _is_zero(test[1]) and cast(Scalar, variable.type).kind == "unsigned":
        return None
    found = Strided(variable, declares, first, test[0], test[1], step, test[2])
    if any(n.symbol == variable for end in found.ends for n in names(end)):
        return None
    return found if all(_is_held(end, found.type) for end in found.ends) else None


def _is_counter(symbol: Symbol) -> bool:
    type = symbol.type
    plain = isinstance(type, Scalar) and is_integer(type) and type.kind in _TYPES and not type.volatile
    return plain and isinstance(type, Scalar) and type.bits >= INT.bits


def _test(condition: Expr, variable: Symbol) -> tuple[_Way, Expr, Expr | None] | None:
    """Return (relation, bound, None) of `i < n` and `n >= i`, (relation, bound, k) of `i + k < n` in ints alone, or in
    the unsigned type of the counter."""
    test = peel(condition)
    if not isinstance(test, Binary) or test.op not in _MIRRORED:
        return None
    relation, left, right = test.op, peel(test.left), test.right
    if relation in (">", ">="):
        relation, left, right = _MIRRORED[relation], peel(right), test.left
    relation = cast(_Way, relation)
    if _is(left, variable):
        return relation, right, None
    if not isinstance(left, Binary) or left.op != "+":
        return None
    type = cast(Scalar, variable.type)
    unsigned = isinstance(left.type, Scalar) and (left.type.kind, left.type.bits) == ("unsigned", type.bits)
    if not (unsigned and type.kind == "unsigned") and not all(map(_is_int, (left.left, left.right, right))):
        return None
    if _is(left.left, variable):
        return relation, right, left.right
    return (relation, right, left.left) if _is(left.right, variable) else None


def _test_down(condition: Expr, variable: Symbol) -> tuple[_Way, Expr, Expr | None] | None:
    """Return (relation, bound, None) of `i > n` and `n <= i`."""
    test = peel(condition)
    if not isinstance(test, Binary) or test.op not in _MIRRORED:
        return None
    relation, left, right = test.op, test.left, test.right
    if relation in ("<", "<="):
        relation, left, right = _MIRRORED[relation], right, left
    return (cast(_Way, relation), right, None) if _is(left, variable) else None


def _is_int(expr: Expr) -> bool:
    type = promote(peel(expr).type)
    return isinstance(type, Scalar) and (type.kind, type.bits) == (INT.kind, INT.bits)


def _step(advance: Expr, variable: Symbol, op: OneOf["+", "-"]) -> Expr | None:
    """Return what each iteration adds to the variable, or subtracts from it."""
    expr = peel(advance)
    if not isinstance(expr, Assign) or not _is(expr.target, variable):
        return None
    if expr.op == f"{op}=":
        return expr.value
    value = peel(expr.value)
    if expr.op != "=" or not isinstance(value, Binary) or value.op != op:
        return None
    if _is(value.left, variable):
        return value.right
    return value.left if op == "+" and _is(value.right, variable) else None


def _is(expr: Expr, variable: Symbol) -> bool:
    expr = peel(expr)
    return isinstance(expr, Name) and expr.symbol == variable


def _is_held(end: Expr, counter: Scalar) -> bool:
    """Whether the counter's type has every value of the expression, and converts none to it."""
    own = promote(peel(end).type)
    if not isinstance(own, Scalar) or not is_integer(own):
        return False
    if own.kind == counter.kind:
        return own.bits <= counter.bits
    return (own.kind == "unsigned" and own.bits < counter.bits) or (_is_natural(end) and own.bits <= counter.bits)


def _is_natural(expr: Expr) -> bool:
    """Whether an expression is a small number, or a square of ints: at least zero wherever it has a value."""
    expr = peel(expr)
    if isinstance(expr, Literal | SizeOf):
        return isinstance(expr.value, int) and 0 <= expr.value < 2**31
    square = isinstance(expr, Binary) and expr.op == "*" and same(peel(expr.left), peel(expr.right))
    return square and isinstance(expr.type, Scalar) and expr.type.kind == "signed"


def _is_zero(expr: Expr) -> bool:
    expr = peel(expr)
    return isinstance(expr, Literal) and expr.value == 0


def _written(value: int, type: Scalar) -> str:
    suffix = "U" if type.kind == "unsigned" else ""
    return f"{value}{suffix}{'LL' if type.bits > INT.bits else ''}"


def _safe(condition: Expr, span: Span) -> Expr:
    """Return a condition that divides by positive numbers alone: it may be tested where the loop is not reached."""
    divisors = [
        part.right
        for part in walk(condition)
        if isinstance(part, Binary) and part.op in ("/", "%") and not _is_natural(part.right)
    ]
    for divisor in divisors:
        positive = _compare(divisor, ">", number(0, span), span)
        condition = Binary(span=span, type=INT, op="&&", left=positive, right=condition)
    return condition


def _compare(left: Expr, op: str, right: Expr, span: Span) -> Expr:
    return Binary(span=span, type=INT, op=op, left=copy_tree(left), right=copy_tree(right))


def _join(op: str, left: Expr, right: Expr, span: Span) -> Expr:
    return Binary(span=span, type=common_type(left.type, right.type), op=op, left=left, right=right)
