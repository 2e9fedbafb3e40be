"""Linear forms become C expressions in the user's names, with no overflow on the way.

    w - 4*t - n + 3        narrow: every name an int and every partial sum proved to fit one
    n - 1, n any int       wide:   n - 1LL (at n = INT_MIN, where the loop runs nothing, n - 1 would overflow)

Invariant: the value of the C expression is the value of the linear form wherever `known` holds; where that cannot be
shown even in 64 bits, NotWritableError. Floors of what may be negative are written as C's truncating division needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Protocol

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.poly.isl.host import HostError, integer, operation, polynomial_expr
from warpsmith.poly.isl.polynomial import ZERO, Polynomial, atom, constant
from warpsmith.poly.isl.vocabulary import AtomVocabulary
from warpsmith.tree.nodes import Cast, Conditional, Expr, Literal, Member, Name, Unary
from warpsmith.tree.types import INT, LONG_LONG, Scalar, Symbol, common_type, integer_range, promote
from warpsmith.tree.walk import peel

__all__ = ["ExpressionWriter", "IslBound", "IslVariable", "KnownFacts", "NotWritableError"]

_INT = integer_range(INT)
_WIDE = integer_range(LONG_LONG)


class NotWritableError(Exception):
    """A value cannot be written: it may not fit 64 bits, or has no host expression."""


class KnownFacts(Protocol):
    """What holds where an expression is evaluated."""

    def holds(self, value: Polynomial) -> bool:
        """Whether value >= 0 everywhere."""
        ...


class IslVariable(Struct, frozen=True):
    """The loop variable of a row: the row is `sign * symbol`."""

    symbol: Symbol
    sign: int


class IslBound(Struct, frozen=True):
    """A bound of a row: ceil(value / divisor) from below, floor(value / divisor) from above."""

    value: Polynomial
    divisor: int

    def negate(self) -> IslBound:
        """Return the bound of minus the row."""
        return IslBound(-self.value, self.divisor)


class ExpressionWriter(Struct, frozen=True):
    """Writes at one place of a nest. `variables`: the rows that are loops here; `spelled`: how the user writes a
    parameter (a macro's name); `quoted`: his own bounds, for values that he has written himself."""

    vocabulary: AtomVocabulary
    span: Span
    variables: Mapping[str, IslVariable]
    spelled: Mapping[str, Expr]
    quoted: Sequence[tuple[Polynomial, Expr]]
    known: KnownFacts

    # --- sums

    def sum(self, value: Polynomial) -> Expr:
        """Return a linear form as an expression of a signed type."""
        own = self.quote(value)
        if own is not None:
            return own
        terms = self._order_terms(value)
        if not terms:
            return self._number(value.constant_term, False)
        if len(terms) == 1 and not value.constant_term and self._factor(terms[0]) == 1:
            return self._make_signed(terms[0][0])
        if self._is_narrow(value, terms):
            return self._narrow(value, terms)
        return self._wide(value, terms)

    def quote(self, value: Polynomial) -> Expr | None:
        """Return the user's own expression for a number."""
        if value.number is None:
            return None
        return next((expr for known, expr in self.quoted if known == value), None)

    def _order_terms(self, value: Polynomial) -> list[tuple[str, int]]:
        """Return the terms: what is added first, loop variables before parameters."""
        terms = [(m[0], c) for m, c in value.terms.items() if m]
        level = {name: k for k, name in enumerate(self.variables)}
        return sorted(terms, key=lambda t: (self._factor(t) < 0, level.get(t[0], len(level)), t[0]))

    def _factor(self, term: tuple[str, int]) -> int:
        name, factor = term
        return factor * self.variables[name].sign if name in self.variables else factor

    def _leaf(self, name: str) -> Expr:
        if name in self.variables:
            symbol = self.variables[name].symbol
            return Name(span=self.span, type=symbol.type, symbol=symbol)
        if name in self.spelled:
            return self.spelled[name]
        known = self.vocabulary[name]
        if known.expr is not None:
            if not _is_plain(known.expr):
                raise NotWritableError(f"{known.text} is read from memory: copy it to a local variable before the loop")
            return peel(known.expr)
        if any(self._bits(part) > INT.bits for part in known.parts):
            raise NotWritableError(f"{known.text} may not fit 64 bits")
        try:
            return polynomial_expr(self.vocabulary, atom(name), self.span)
        except HostError as error:
            raise NotWritableError(f"{error} has no value that the program can compute") from error

    def _bits(self, name: str) -> int:
        expr = self.vocabulary[name].expr
        return expr.type.bits if expr is not None and isinstance(expr.type, Scalar) else LONG_LONG.bits

    def _make_signed(self, name: str) -> Expr:
        """Return a name with a signed type: an unsigned one under a cast."""
        expr = self._leaf(name)
        kind = promote(expr.type)
        if isinstance(kind, Scalar) and kind.kind == "signed":
            return expr
        if not self._fits(atom(name), _WIDE):
            raise NotWritableError(f"{self.vocabulary[name].text} may not fit 64 bits")
        return Cast(span=self.span, type=LONG_LONG, operand=expr)

    def _is_narrow(self, value: Polynomial, terms: Sequence[tuple[str, int]]) -> bool:
        if any(promote(self._leaf(name).type) != INT for name, _ in terms):
            return False
        products = [atom(name).scale(factor) for name, factor in terms]
        return all(self._fits(part, _INT) for part in (*products, *_prefixes(products, value.constant_term)))

    def _fits(self, value: Polynomial, limits: tuple[int, int]) -> bool:
        low, high = limits
        least, most = self._range(value)
        if low <= least and most <= high:
            return True
        return self.known.holds(value.shift(-low)) and self.known.holds(constant(high) - value)

    def _range(self, value: Polynomial) -> tuple[int, int]:
        """Return the range of a linear form by the types of its names."""
        least = most = value.constant_term
        for monomial, factor in value.terms.items():
            if not monomial:
                continue
            ends = [factor * end for end in self._type_range(monomial[0])]
            least, most = least + min(ends), most + max(ends)
        return least, most

    def _type_range(self, name: str) -> tuple[int, int]:
        variable = self.variables.get(name)
        if variable is not None and isinstance(variable.symbol.type, Scalar):
            low, high = integer_range(variable.symbol.type)
            return (low, high) if variable.sign > 0 else (-high, -low)
        known = self.vocabulary[name] if name in self.vocabulary.atoms else None
        if known is None or known.low is None or known.high is None:
            return -(2**200), 2**200
        return known.low, known.high

    def _narrow(self, value: Polynomial, terms: Sequence[tuple[str, int]]) -> Expr:
        return self._join_terms([(self._factor(t), self._leaf(t[0])) for t in terms], value.constant_term)

    def _join_terms(
        self, terms: Sequence[tuple[int, Expr]], number: int, *, wide: frozenset[int] = frozenset()
    ) -> Expr:
        """Return the sum; the literal factors of the terms in `wide` are long long."""
        result: Expr | None = None
        if number > 0 and terms[0][0] < 0:
            result, number = integer(number, self.span), 0
        for k, (factor, expr) in enumerate(terms):
            term = expr if abs(factor) == 1 else operation("*", self._number(abs(factor), k in wide), expr)
            if result is None:
                result = term if factor > 0 else Unary(span=self.span, type=promote(term.type), op="-", operand=term)
            else:
                result = operation("+" if factor > 0 else "-", result, term)
        assert result is not None, "a sum has terms"
        if number:
            result = operation("+" if number > 0 else "-", result, integer(abs(number), self.span))
        return result

    def _number(self, value: int, wide: bool) -> Expr:
        if value < 0:
            own = self._number(-value, wide)
            return Unary(span=self.span, type=own.type, op="-", operand=own)
        if wide:
            return Literal(span=self.span, type=LONG_LONG, text=f"{value}LL", value=value)
        return integer(value, self.span)

    def _wide(self, value: Polynomial, terms: Sequence[tuple[str, int]]) -> Expr:
        """Return the sum in 64 bits: its first operand is one, and each product that may not fit an int."""
        products = [atom(name).scale(factor) for name, factor in terms]
        number = value.constant_term
        leading = self._factor(terms[0]) < 0 < number
        parts = [*products, *_prefixes(products, number, leading)]
        if not all(self._fits(part, _WIDE) for part in parts):
            raise NotWritableError(f"{self._show(value)} may not fit 64 bits")
        leaves = [(self._factor(t), self._make_signed(t[0])) for t in terms]
        wide = {
            k
            for k, (factor, expr) in enumerate(leaves)
            if abs(factor) > 1 and not _is_wide(expr.type) and (k == 0 or not self._fits(products[k], _INT))
        }
        first = leaves[0]
        if not _is_wide(first[1].type) and 0 not in wide:
            if len(leaves) == 1 and number and not leading and first[0] > 0:
                sign = "+" if number > 0 else "-"
                return operation(sign, first[1], self._number(abs(number), True))
            leaves[0] = first[0], Cast(span=self.span, type=LONG_LONG, operand=first[1])
        return self._join_terms(leaves, number, wide=frozenset(wide))

    def _show(self, value: Polynomial) -> str:
        named = value.rename(lambda n: self.variables[n].symbol.name if n in self.variables else n)
        known = {n: self.vocabulary[n].text if n in self.vocabulary.atoms else n for n in named.atoms()}
        pieces = [f"{c}*{known[m[0]]}" if m else str(c) for m, c in named.terms.items()]
        return " + ".join(pieces)

    # --- bounds

    def floor(self, value: Polynomial, divisor: int, *, clamped: bool = False) -> Expr:
        """Return floor(value / divisor); `clamped`: a value below zero counts as zero anyway."""
        total = self.sum(value)
        if divisor == 1:
            return total
        number = integer(divisor, self.span)
        if clamped or self.known.holds(value):
            return operation("/", total, number)
        low = self.sum(value.shift(1 - divisor))
        test = operation("<", total, integer(0, self.span))
        top = Conditional(span=self.span, type=common_type(total.type, low.type), condition=test, then=low, other=total)
        return operation("/", top, number)

    def least(self, bounds: Sequence[IslBound]) -> Expr:
        """Return the greatest of the lower bounds."""
        natural = any(b.divisor == 1 and (n := b.value.number) is not None and n >= 0 for b in bounds)
        natural = natural or any(b.divisor == 1 and self.known.holds(b.value) for b in bounds)
        parts = [self.floor(b.value.shift(b.divisor - 1), b.divisor, clamped=natural) for b in _simple_last(bounds)]
        return reduce(lambda a, b: self._choice(">", a, b), parts)

    def greatest(self, bounds: Sequence[IslBound]) -> Expr:
        """Return the least of the upper bounds."""
        parts = [self.floor(b.value, b.divisor) for b in _simple_last(bounds)]
        return reduce(lambda a, b: self._choice("<", a, b), parts)

    def _choice(self, op: str, a: Expr, b: Expr) -> Expr:
        kind = common_type(a.type, b.type)
        return Conditional(span=self.span, type=kind, condition=operation(op, a, b), then=a, other=b)

    def compare(self, value: Polynomial, *, equality: bool) -> Expr:
        """Return the condition value >= 0 (value = 0): the single name on the left, the rest on the right."""
        name = self._subject(value)
        if name is None:
            return operation("==" if equality else ">=", self.sum(value), integer(0, self.span))
        factor = value.terms[(name,)]
        rest = -value.drop_name(name) if factor > 0 else value.drop_name(name)
        sign = self.variables[name].sign if name in self.variables else 1
        left = self._make_signed(name)
        upper = factor * sign < 0
        rest = rest if sign > 0 else -rest
        if equality:
            return operation("==", left, self.sum(rest))
        if rest.constant_term == (-1 if upper else 1) and rest.atoms():
            return operation("<" if upper else ">", left, self.sum(rest.shift(1 if upper else -1)))
        return operation("<=" if upper else ">=", left, self.sum(rest))

    def _subject(self, value: Polynomial) -> str | None:
        """Return the innermost loop variable that stands alone, else a parameter that does."""
        alone = [m[0] for m, c in value.terms.items() if m and abs(c) == 1]
        order = {name: k for k, name in enumerate(self.variables)}
        return max(alone, key=lambda n: (order.get(n, -1), n), default=None)


def _prefixes(products: Sequence[Polynomial], number: int, leading: bool = False) -> Iterable[Polynomial]:
    """Yield every partial sum of the terms, then with the number (or from it on, where it is `leading`)."""
    total = constant(number) if leading else ZERO
    for product in products:
        total = total + product
        yield total
    yield total if leading else total.shift(number)


def _is_plain(expr: Expr) -> bool:
    """Whether an expression may be evaluated anywhere: a variable, or a member of one."""
    expr = peel(expr)
    while isinstance(expr, Member) and not expr.arrow:
        expr = peel(expr.base)
    return isinstance(expr, Name)


def _is_wide(kind: object) -> bool:
    return isinstance(kind, Scalar) and kind.kind == "signed" and kind.bits == LONG_LONG.bits


def _simple_last(bounds: Sequence[IslBound]) -> list[IslBound]:
    return sorted(bounds, key=lambda b: (-len(b.value.terms), -b.divisor, repr(sorted(b.value.terms.items()))))
