"""C integer expressions become polynomials, with C's machine arithmetic taken seriously.

Invariant: `exact(e)` is the mathematical value of `e` at every point of the current path, under what the oracle was
asked to `require` and granted. Signed overflow is undefined in C, so signed arithmetic is mathematical arithmetic.
Unsigned arithmetic is arithmetic modulo 2^bits: + - * commute with the modulus, so `residue(e)` follows them without
any condition, and only where the value is *used* as a number (a subscript, a comparison, a division, a widening) must
it lie in its type's range:

    unsigned i, n;   i < n - 1     residue(n - 1) = n - 1,  exact only if n - 1 >= 0   (guard: n >= 1)

C's / and % truncate. The quotient q of p by c > 0 is pinned down by  c q <= p <= c q + c - 1  where p >= 0, and by
c q - c + 1 <= p <= c q  where p < 0: exact for either sign, so no condition is needed.

Bits are arithmetic too (bitwise.py): `e ^ m` is e + m - 2 (e & m), and `e & ~m` is e - (e & m).

Limits: shift counts are literals; divisors and one of two masked values are numbers or do not change in the region
(of the latter the result is bounded only, see `Vocabulary.images`); anything else is None, and whoever asked
over-approximates.
"""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from warpsmith.poly.isl.bitwise import divide, mask_value, ones
from warpsmith.poly.isl.choices import common_quotient, decide_comparison, extreme_of
from warpsmith.poly.isl.formula import TRUE, Formula, at_least, atoms_of, both, either, equal, negate
from warpsmith.poly.isl.polynomial import ONE, ZERO, Polynomial, atom, constant
from warpsmith.poly.isl.vocabulary import AtomVocabulary, Quotient
from warpsmith.tree.nodes import Binary, Cast, Conditional, Expr, Index, Literal, Member, Name, SizeOf, Unary
from warpsmith.tree.types import Scalar, Type, common_type, integer_range, is_integer
from warpsmith.tree.walk import peel

__all__ = ["AffineReader", "Oracle", "Residue", "compare"]

_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_LOGICAL = (*_COMPARISONS, "&&", "||")

Residue = tuple[Polynomial, bool]


class Oracle(Protocol):
    """What the walk over the region knows at the point where an expression is evaluated."""

    def scalar(self, name: Name) -> Polynomial | None:
        """Return the value of a variable here, or None where it is not known."""
        ...

    def load_parameter(self, expr: Expr) -> Polynomial | None:
        """Return the parameter for a read of memory that the region does not write, or None."""
        ...

    def require(self, nonnegative: tuple[Polynomial, ...], what: Expr) -> bool:
        """Prove (or assume with a guard) that all polynomials are >= 0 here; False where that fails."""
        ...


class AffineReader(Struct, frozen=True):
    """The reader of expressions for one region."""

    vocabulary: AtomVocabulary
    oracle: Oracle

    def exact(self, expr: Expr, target: Type | None = None) -> Polynomial | None:
        """Return the value of `expr`, converted to `target` where that is given; None where it is not known."""
        expr = peel(expr)
        own, wanted = expr.type, expr.type if target is None else target
        if not isinstance(own, Scalar) or not isinstance(wanted, Scalar):
            return None
        if not is_integer(own) or not is_integer(wanted) or (wanted.kind == "bool" and own.kind != "bool"):
            return None
        found = self.residue(expr)
        if found is None:
            return None
        value, in_range = found
        have, want = integer_range(own), integer_range(wanted)
        if wanted.bits > own.bits:
            want = max(have[0], want[0]), min(have[1], want[1])
        if in_range and want[0] <= have[0] and have[1] <= want[1]:
            return value
        return value if self._within(value, want, expr) else None

    def residue(self, expr: Expr) -> Residue | None:
        """Return a polynomial congruent to `expr` modulo 2^bits of its type, and whether it is surely its value."""
        expr = peel(expr)
        own = expr.type
        if not isinstance(own, Scalar) or not is_integer(own):
            return None
        match expr:
            case Literal(value=int(number)):
                return constant(number), True
            case SizeOf(value=int(number)):
                return constant(number), True
            case Name(symbol=symbol):
                fixed = symbol.value
                return _sure(self.oracle.scalar(expr) if fixed is None else constant(fixed))
            case Index() | Member():
                return _sure(self.oracle.load_parameter(expr))
            case Cast(operand=operand):
                return self._convert(operand, own)
            case Unary():
                return self._unary(expr, own)
            case Binary():
                return self._binary(expr, own)
            case Conditional(condition=condition, then=then, other=other):
                return _sure(self._choice(condition, self.exact(then, own), self.exact(other, own)))
            case _:
                return None

    def condition(self, expr: Expr, holds: bool = True) -> tuple[Formula, bool]:
        """Return a formula implied by `expr` being true (false where not `holds`), and whether it is equivalent."""
        formula, faithful = self.faithful_condition(expr, holds)
        return formula, faithful and not self.vocabulary.images(atoms_of(formula))

    def unread(self, expr: Expr) -> tuple[Expr, ...]:
        """Return the parts of a condition, which `!`, `&&` and `||` join, that have no formula."""
        expr = peel(expr)
        if isinstance(expr, Unary) and expr.op == "!":
            return self.unread(expr.operand)
        if isinstance(expr, Binary) and expr.op in ("&&", "||"):
            return (*self.unread(expr.left), *self.unread(expr.right))
        return () if self.faithful_condition(expr)[1] else (expr,)

    def faithful_condition(self, expr: Expr, holds: bool = True) -> tuple[Formula, bool]:
        """Return a formula implied by `expr` being true (false where not `holds`), and whether it is equivalent where
        the images in it (`i & m`) have their values."""
        expr = peel(expr)
        match expr:
            case Unary(op="!", operand=operand):
                return self.faithful_condition(operand, not holds)
            case Binary(op=op, left=left, right=right) if op in ("&&", "||"):
                parts = (self.faithful_condition(left, holds), self.faithful_condition(right, holds))
                join = both if (op == "&&") == holds else either
                return join(f for f, _ in parts), all(e for _, e in parts)
            case Binary(op=op, left=left, right=right) if op in _COMPARISONS:
                formula = self._comparison(op, left, right)
            case _:
                value = self.exact(expr)
                formula = None if value is None else negate(equal(value, ZERO))
        if formula is not None:
            formula = self.vocabulary.linear_formula(formula if holds else negate(formula))
        return (TRUE, False) if formula is None else (formula, True)

    def _comparison(self, op: str, left: Expr, right: Expr) -> Formula | None:
        shared = common_type(peel(left).type, peel(right).type)
        if not is_integer(shared):
            return None
        a, b = self.exact(left, shared), self.exact(right, shared)
        if a is None or b is None:
            return None
        return compare(op, a, b)

    def _within(self, value: Polynomial, limits: tuple[int, int], what: Expr) -> bool:
        number = value.number
        if number is not None:
            return limits[0] <= number <= limits[1]
        return self.oracle.require((value.shift(-limits[0]), constant(limits[1]) - value), what)

    def _convert(self, operand: Expr, target: Scalar) -> Residue | None:
        """Return the operand of an arithmetic operator of type `target`, modulo 2^bits where that is unsigned."""
        own = peel(operand).type
        if not isinstance(own, Scalar) or not is_integer(own):
            return None
        if target.kind != "unsigned":
            return _sure(self.exact(operand, target))
        found = self.residue(operand) if own.bits >= target.bits else _sure(self.exact(operand))
        if found is None:
            return None
        low, high = integer_range(own)
        return found[0], found[1] and low >= 0 and high <= integer_range(target)[1]

    def _unary(self, expr: Unary, own: Scalar) -> Residue | None:
        if expr.op == "*":
            return _sure(self.oracle.load_parameter(expr))
        if expr.op == "!":
            return _sure(self._choice(expr, ONE, ZERO))
        found = self._convert(expr.operand, own)
        if found is None:
            return None
        signed = own.kind != "unsigned"
        match expr.op:
            case "+":
                return found
            case "-":
                return -found[0], signed
            case "~":
                return (-found[0]).shift(-1), signed
            case _:
                return None

    def _binary(self, expr: Binary, own: Scalar) -> Residue | None:
        if expr.op in _LOGICAL:
            return _sure(self._choice(expr, ONE, ZERO))
        if expr.op in ("/", "%", ">>"):
            return _sure(self._divide(expr, own))
        if expr.op in ("&", "|", "^"):
            return _sure(self._bits(expr, own))
        left = self._convert(expr.left, own)
        right = self._convert(expr.right, own) if expr.op != "<<" else _sure(self.exact(expr.right))
        if left is None or right is None:
            return None
        signed = own.kind != "unsigned"
        match expr.op:
            case "+":
                return left[0] + right[0], signed
            case "-":
                return left[0] - right[0], signed
            case "*":
                return self._product(left[0], right[0]), signed
            case "<<" if (count := right[0].number) is not None and 0 <= count < own.bits:
                return left[0].scale(2**count), signed
            case _:
                return None

    def _product(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """Multiply; `i * (n + 1)` keeps its width n + 1 as one parameter, so that it can be delinearized."""
        for a, b in ((left, right), (right, left)):
            wide = len(b.terms) > 1 and all(self.vocabulary.invariant(n) for n in b.atoms())
            if wide and not all(self.vocabulary.invariant(n) for n in a.atoms()):
                return a * self._width(b)
        return left * right

    def _width(self, value: Polynomial) -> Polynomial:
        linear = self.vocabulary.linear(value)
        if linear is None:
            return value
        name, new = self.vocabulary.quotient(("width", _key(linear)), f"({self.vocabulary.text(linear)})")
        if new:
            self.vocabulary.define(name, equal(atom(name), linear))
        return atom(name)

    def _divide(self, expr: Binary, own: Scalar) -> Polynomial | None:
        value = self.exact(expr.left, own)
        divisor = self.exact(expr.right, own if expr.op != ">>" else None)
        if value is None or divisor is None:
            return None
        amount = divisor.number
        if amount is None:
            return self._divide_by(expr, value, divisor) if expr.op != ">>" else None
        if amount < 0 or (expr.op != ">>" and amount == 0):
            return None
        if expr.op == ">>":
            return self.quotient(value, 2**amount, floor=True) if amount < own.bits else None
        quotient = self.quotient(value, amount, floor=own.kind == "unsigned")
        if quotient is None or expr.op == "/":
            return quotient
        return value - quotient.scale(amount)

    def _divide_by(self, expr: Binary, value: Polynomial, divisor: Polynomial) -> Polynomial | None:
        """`value / divisor` or `value % divisor` of what is not negative by what does not change in the region."""
        parts = divide(self.vocabulary, value, divisor)
        if parts is None or not self.oracle.require((value, divisor.shift(-1)), expr):
            return None
        return parts[0] if expr.op == "/" else parts[1]

    def _bits(self, expr: Binary, own: Scalar) -> Polynomial | None:
        if expr.op == "&":
            for one, other in ((expr.right, expr.left), (expr.left, expr.right)):
                found = self._remainder(one, other, own) or self._cleared(one, other, own)
                if found is not None:
                    return found
        left, right = self.exact(expr.left, own), self.exact(expr.right, own)
        common = None if left is None or right is None else self.bitwise_and(left, right)
        if left is None or right is None or common is None:
            return None
        return {"&": common, "|": left + right - common, "^": left + right - common.scale(2)}[expr.op]

    def _remainder(self, mask: Expr, other: Expr, own: Scalar) -> Polynomial | None:
        """`e & (2^k - 1)` is e modulo 2^k, for negative e as well (two's complement), and for one that has wrapped."""
        value = self.exact(mask, own)
        number = None if value is None else value.number
        if number is None or number < 0 or number & (number + 1):
            return None
        found = self._convert(other, own)
        quotient = None if found is None else self.quotient(found[0], number + 1, floor=True)
        return None if found is None or quotient is None else found[0] - quotient.scale(number + 1)

    def _cleared(self, mask: Expr, other: Expr, own: Scalar) -> Polynomial | None:
        """`e & ~m`, where ~m has ones in all bits of the result's type above its own."""
        inner = peel(mask)
        kind = inner.type
        if not isinstance(inner, Unary) or inner.op != "~" or not isinstance(kind, Scalar):
            return None
        if kind.kind == "unsigned" and kind.bits < own.bits:
            return None
        value, cleared = self.exact(other, own), self.exact(inner.operand, own)
        common = None if value is None or cleared is None else self.bitwise_and(value, cleared)
        return None if value is None or common is None else value - common

    def bitwise_and(self, left: Polynomial, right: Polynomial) -> Polynomial | None:
        """Return `left & right` of two integers in two's complement."""
        for mask, value in ((right.number, left), (left.number, right)):
            if mask is not None and mask < 0:
                rest = self.bitwise_and(value, constant(-mask - 1))
                return None if rest is None else value - rest
            runs = None if mask is None else ones(mask)
            if runs is not None:
                return self._digits(value, runs)
        return mask_value(self.vocabulary, left, right)

    def _digits(self, value: Polynomial, runs: tuple[tuple[int, int], ...]) -> Polynomial | None:
        """Return the value with all bits outside the runs cleared."""
        total = ZERO
        for low, high in runs:
            ends = (self.quotient(value, 2**low, floor=True), self.quotient(value, 2**high, floor=True))
            if ends[0] is None or ends[1] is None:
                return None
            total = total + ends[0].scale(2**low) - ends[1].scale(2**high)
        return total

    def quotient(self, value: Polynomial, divisor: int, *, floor: bool) -> Polynomial | None:
        """Return value / divisor (divisor > 0) rounded down, or toward zero where not `floor`."""
        linear = self.vocabulary.linear(value)
        if linear is None or divisor == 1:
            return value if divisor == 1 else None
        text = f"({self.vocabulary.text(linear)})/{divisor}"
        name, new = self.vocabulary.quotient((divisor, floor, _key(linear)), text)
        if new:
            remainder = linear - atom(name).scale(divisor)
            down = both((at_least(remainder, ZERO), at_least(constant(divisor - 1), remainder)))
            up = both((at_least(ZERO, remainder), at_least(remainder, constant(1 - divisor))))
            positive = both((at_least(linear, ZERO), down))
            negative = both((at_least(constant(-1), linear), up))
            definition = down if floor else either((positive, negative))
            self.vocabulary.define(name, definition, Quotient(linear, divisor, floor))
        return atom(name)

    def _choice(self, test: Expr, then: Polynomial | None, other: Polynomial | None) -> Polynomial | None:
        """Return the value that is `then` where `test` holds and `other` elsewhere."""
        if then is None or other is None:
            return None
        yes, exact = self.condition(test)
        always = decide_comparison(yes) if exact else None
        if always is not None:
            return then if always else other
        first, second = self.vocabulary.linear(then), self.vocabulary.linear(other)
        if first is None or second is None:
            return self._step(test, then, other)
        then, other = first, second
        if not exact:
            return None
        floored = common_quotient(self.vocabulary, yes, then, other)
        if floored is not None:
            return self.quotient(*floored, floor=True)
        name, new = self.vocabulary.quotient((repr(yes), _key(then), _key(other)), "(a condition's value)")
        if new:
            value = atom(name)
            sides = both((yes, equal(value, then))), both((negate(yes), equal(value, other)))
            self.vocabulary.define(name, either(sides), extreme_of(yes, then, other))
        return atom(name)

    def _step(self, test: Expr, then: Polynomial, other: Polynomial) -> Polynomial | None:
        """Return `y == 0 ? c : c - n` as c - n*b where b is 0 or 1, so that n stays a stride."""
        step = other - then
        if not all(self.vocabulary.invariant(name) for name in step.atoms()):
            return None
        taken = self._choice(test, ZERO, ONE)
        return None if taken is None else then + taken * step


def compare(op: str, a: Polynomial, b: Polynomial) -> Formula:
    """Return `a op b` as a formula."""
    match op:
        case "<":
            return at_least(b, a.shift(1))
        case "<=":
            return at_least(b, a)
        case ">":
            return at_least(a, b.shift(1))
        case ">=":
            return at_least(a, b)
        case "==":
            return equal(a, b)
        case _:
            return negate(equal(a, b))


def _sure(value: Polynomial | None) -> Residue | None:
    return None if value is None else (value, True)


def _key(value: Polynomial) -> frozenset[tuple[tuple[str, ...], int]]:
    return frozenset(value.terms.items())
