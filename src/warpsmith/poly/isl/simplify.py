"""Host expressions of whole numbers, said shorter: choices whose sides are equal, or whose test is decided, are gone.

    n < (n >= 1 ? n : 0) ? n : n >= 1 ? n : 0       n
    n >= 1 ? n : 0                                   n, where n >= 0 is known

A choice in a test is brought out of it (the test is said once for either side), and each side is simplified under what
holds there. What is known are linear inequalities; another one holds where it is one of them, or the sum of two, but
for a factor and a number.

Invariant: the result has the value of the expression wherever what is known holds, and is never longer.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from typing import Final

from msgspec import Struct

from warpsmith.base.identity import Identity
from warpsmith.poly.isl.bound_values import value_polynomial
from warpsmith.poly.isl.polynomial import Polynomial
from warpsmith.tree.nodes import Binary, Cast, Conditional, Expr, Literal, Name, Node, SizeOf, Unary, replace
from warpsmith.tree.types import Scalar, common_type, is_integer
from warpsmith.tree.walk import peel, rebuild, same, walk

__all__ = ["simplify"]

Facts = tuple[Polynomial, ...]
"""What is >= 0."""

_LONGEST: Final = 400
_DEEPEST: Final = 5
_OPPOSITE: Final = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def simplify(expr: Expr, known: Sequence[Expr] = ()) -> Expr:
    """Return an expression, or a condition, with every choice in it simplified; `known` are conditions that hold where
    it is evaluated, as those of the same names that C evaluates there."""
    if not any(isinstance(part, Conditional) for part in walk(expr)):
        return expr
    if not known:
        return _known_simple(Identity(expr))
    return _all_simpler(expr, tuple(fact for test in known if _is_pure(test) for fact in _implied(test, True)))


# the same bounds stand in the sizes, the addresses and the guards of a region
@functools.lru_cache(maxsize=1024)
def _known_simple(expr: Identity[Expr]) -> Expr:
    return _all_simpler(expr.value, ())


def _all_simpler(expr: Expr, facts: Facts) -> Expr:
    if _length(expr) > _LONGEST:
        return expr

    def change(node: Node) -> Node:
        if not isinstance(node, Conditional):
            return node
        found = _Simplifier().value(node, facts, _DEEPEST)
        return found if _length(found) < _length(node) else node

    changed = rebuild(expr, change)
    assert isinstance(changed, Expr)
    return changed


def _length(expr: Expr) -> int:
    return sum(1 for _ in walk(expr))


class _Simplifier(Struct):
    """Simplifies one choice; `left`: how many tests may still be brought out of others."""

    left: int = 64

    def value(self, expr: Expr, facts: Facts, depth: int) -> Expr:
        """Return a simpler expression of the same value where `facts` hold."""
        match expr:
            case Conditional(condition=condition, then=then, other=other):
                test = self.test(condition, facts, depth)
                if isinstance(test, bool):
                    return self.value(then if test else other, facts, depth)
                inner = _inner_choice(test) if depth and self.left else None
                if inner is not None:
                    self.left -= 1
                    whole = replace(expr, condition=test)
                    return self.split(inner.condition, _decided(whole, inner), facts, depth - 1, expr)
                sides = (then, other)
                return self.split(test, sides, facts, depth, expr)
            case Binary(op="+" | "-" | "*", left=left, right=right):
                return replace(expr, left=self.value(left, facts, depth), right=self.value(right, facts, depth))
            case Cast(operand=operand):
                return replace(expr, operand=self.value(operand, facts, depth))
            case _:
                return expr

    def split(self, test: Expr, sides: tuple[Expr, Expr], facts: Facts, depth: int, at: Conditional) -> Expr:
        """Return `test ? one : other`, or that of the two which both are."""
        holds, fails = _implied(test, True), _implied(test, False)
        one = self.value(sides[0], (*facts, *holds), depth)
        other = self.value(sides[1], (*facts, *fails), depth)
        if _equal(one, other, (*facts, *fails)):
            return one
        if _equal(one, other, (*facts, *holds)):
            return other
        return replace(at, condition=test, then=one, other=other)

    def test(self, condition: Expr, facts: Facts, depth: int) -> Expr | bool:
        """Return a simpler condition, or its value."""
        match condition:
            case Binary(op="&&" | "||" as op, left=left, right=right):
                decides = op == "||"
                first = self.test(left, facts, depth)
                if isinstance(first, bool):
                    return decides if first is decides else self.test(right, facts, depth)
                second = self.test(right, (*facts, *_implied(first, not decides)), depth)
                if isinstance(second, bool):
                    return decides if second is decides else first
                return replace(condition, left=first, right=second)
            case Binary(op="<" | "<=" | ">" | ">=" | "==" | "!="):
                new = replace(
                    condition,
                    left=self.value(condition.left, facts, depth),
                    right=self.value(condition.right, facts, depth),
                )
                known = _decide(new, facts)
                return new if known is None else known
            case _:
                return condition


def _inner_choice(test: Expr) -> Conditional | None:
    """Return a choice in a test whose own test has none, and compares whole numbers."""
    found = (part for part in walk(test) if isinstance(part, Conditional))
    return next((c for c in found if not _has_choice(c.condition) and _is_pure(c.condition)), None)


def _has_choice(expr: Expr) -> bool:
    return any(isinstance(part, Conditional) for part in walk(expr))


def _is_pure(test: Expr) -> bool:
    """Whether a test may be evaluated anywhere, and says something of whole numbers."""
    parts = [*walk(test)]
    plain = all(isinstance(part, Name | Literal | Cast | SizeOf) or _is_arithmetic(part) for part in parts)
    return plain and any(_comparison(part) is not None for part in parts if isinstance(part, Binary))


def _is_arithmetic(part: Node) -> bool:
    match part:
        case Binary(op=op):
            return op in ("+", "-", "*", "<", "<=", ">", ">=", "==", "!=", "&&", "||")
        case Unary(op=op):
            return op in ("-", "!")
        case _:
            return False


def _decided(expr: Expr, choice: Conditional) -> tuple[Expr, Expr]:
    """Return an expression where a choice in it has gone one way, and where it has gone the other."""

    def take(side: Expr) -> Expr:
        def change(node: Node) -> Node:
            return side if isinstance(node, Conditional) and same(node, choice) else node

        changed = rebuild(expr, change)
        assert isinstance(changed, Expr)
        return changed

    return take(choice.then), take(choice.other)


# --- what is known


def _comparison(expr: Expr) -> Polynomial | None:
    """Return what is >= 0 exactly where an inequality of whole numbers holds; None for any other expression."""
    if not isinstance(expr, Binary) or expr.op not in _OPPOSITE or not _is_exact(expr.left, expr.right):
        return None
    left, right = value_polynomial(expr.left), value_polynomial(expr.right)
    match expr.op:
        case "<":
            return (right - left).shift(-1)
        case "<=":
            return right - left
        case ">":
            return (left - right).shift(-1)
        case _:
            return left - right


def _is_exact(left: Expr, right: Expr) -> bool:
    """Whether C compares the numbers that two expressions are."""
    if not is_integer(left.type) or not is_integer(right.type):
        return False
    kind = common_type(left.type, right.type)
    sides = [left.type, right.type]
    return (isinstance(kind, Scalar) and kind.kind == "signed") or all(
        isinstance(side, Scalar) and side.kind == "unsigned" for side in sides
    )


def _implied(test: Expr, value: bool) -> Facts:
    """Return what is >= 0 where a test has a value."""
    match peel(test):
        case Binary(op="&&" | "||" as op, left=left, right=right):
            return (*_implied(left, value), *_implied(right, value)) if value is (op == "&&") else ()
        case Unary(op="!", operand=operand):
            return _implied(operand, not value)
        case Binary(op="==" | "!=" as op, left=left, right=right):
            if value is not (op == "==") or not _is_exact(left, right):
                return ()
            difference = value_polynomial(left) - value_polynomial(right)
            return difference, -difference
        case other:
            found = _comparison(other)
            return () if found is None else (found if value else (-found).shift(-1),)


def _decide(test: Expr, facts: Facts) -> bool | None:
    found = _comparison(test)
    if found is not None:
        return True if _holds(found, facts) else False if _holds((-found).shift(-1), facts) else None
    return None


def _equal(one: Expr, other: Expr, facts: Facts) -> bool:
    if same(one, other):
        return True
    if _has_choice(one) or _has_choice(other) or not is_integer(one.type) or not is_integer(other.type):
        return False
    difference = value_polynomial(one) - value_polynomial(other)
    return _holds(difference, facts) and _holds(-difference, facts)


def _holds(value: Polynomial, facts: Facts) -> bool:
    """Whether `value` >= 0 follows from the facts."""
    if value.number is not None:
        return value.number >= 0
    return any(_covers(value, fact) for fact in _sums(facts))


def _sums(facts: Facts) -> Iterator[Polynomial]:
    yield from facts
    yield from (a + b for a, b in combinations_with_replacement(facts[-8:], 2) if a is not b)


def _covers(value: Polynomial, fact: Polynomial) -> bool:
    """Whether `value` is, but for a positive factor, `fact` plus a number that is not negative."""
    monomial = next((m for m in fact.terms if m), None)
    if monomial is None:
        return False
    have, want = fact.terms[monomial], value.terms.get(monomial, 0)
    if have * want <= 0:
        return False
    number = (value.scale(abs(have)) - fact.scale(abs(want))).number
    return number is not None and number >= 0
