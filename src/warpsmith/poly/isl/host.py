"""Polynomials and formulas over parameters become C host expressions and text in the user's names.

All arithmetic is done in `long long`: the first name of a product or sum is cast where it is narrower, so `n * m` of
two ints cannot overflow there. A comparison of one name with a number needs no cast and prints as the user would write
it (`n >= 1`).
"""

from __future__ import annotations

from functools import reduce

from warpsmith.base.source import Span
from warpsmith.poly.isl.formula import And, Compare, Formula, Or
from warpsmith.poly.isl.polynomial import Monomial, Polynomial
from warpsmith.poly.isl.space import Floored
from warpsmith.poly.isl.vocabulary import AtomVocabulary
from warpsmith.tree.nodes import Binary, Cast, Conditional, Expr, Literal
from warpsmith.tree.types import DOUBLE, INT, LONG_LONG, Scalar, Type, common_type, is_integer
from warpsmith.tree.walk import peel

__all__ = [
    "HostError",
    "condition_expr",
    "condition_text",
    "floored_expr",
    "integer",
    "operation",
    "polynomial_expr",
    "product",
    "product_expr",
]

_LARGEST = 2**63 - 1


# doubles decide up to here what lies below 2^63: `product_expr`
_SAFE = 2**62


class HostError(Exception):
    """An atom has no host expression (the unwritten extent of an array, say), or a number no type."""


def integer(value: int, span: Span) -> Expr:
    """Return a number as an expression, of type int where it fits."""
    small = -(2**31) < value < 2**31
    literal = Literal(
        span=span, type=INT if small else LONG_LONG, text=str(abs(value)) + ("" if small else "LL"), value=abs(value)
    )
    if value >= 0:
        return literal
    zero = Literal(span=span, type=INT, text="0", value=0)
    return Binary(span=span, type=literal.type, op="-", left=zero, right=literal)


def operation(op: str, left: Expr, right: Expr) -> Expr:
    """Return `left op right` with the type that C gives it; a cast is left out where C converts the operand anyway."""
    if op not in ("&&", "||") and _is_wide(left.type):
        right = _uncast(right)
    logical = op in ("<", "<=", ">", ">=", "==", "!=", "&&", "||")
    return Binary(
        span=left.span, type=INT if logical else common_type(left.type, right.type), op=op, left=left, right=right
    )


def product(left: Expr, right: Expr) -> Expr:
    """Return `left * right`; a factor of zero or one is worked out."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Literal) and one.value in (0, 1):
            return one if one.value == 0 else other
    return operation("*", left, right)


def _is_wide(type: Type) -> bool:
    return isinstance(type, Scalar) and type.name == LONG_LONG.name


def _uncast(operand: Expr) -> Expr:
    """Return what a cast to long long casts, where that is an integer all of whose values long long has."""
    if not isinstance(operand, Cast) or not _is_wide(operand.type):
        return operand
    own = operand.operand.type
    exact = isinstance(own, Scalar) and is_integer(own) and own.bits < LONG_LONG.bits
    return operand.operand if exact else operand


def _leaf(vocabulary: AtomVocabulary, name: str, span: Span, *, wide: bool) -> Expr:
    atom = vocabulary[name]
    if atom.parts:
        return reduce(lambda a, b: operation("*", a, b), (_leaf(vocabulary, p, span, wide=True) for p in atom.parts))
    if atom.kind == "quotient" and isinstance(atom.definition, Compare) and atom.definition.equality:
        own = atom.definition.polynomial.coefficient(name)
        if own is not None and own.number in (1, -1):
            rest = atom.definition.polynomial.drop_name(name)
            return polynomial_expr(vocabulary, -rest if own.number == 1 else rest, span)
    if atom.expr is None:
        raise HostError(atom.text)
    expr = peel(atom.expr)
    if not wide or (isinstance(expr.type, Scalar) and expr.type.name == LONG_LONG.name):
        return expr
    return Cast(span=span, type=LONG_LONG, operand=expr)


def polynomial_expr(vocabulary: AtomVocabulary, value: Polynomial, span: Span) -> Expr:
    """Return the polynomial as a `long long` expression; raises HostError."""
    positive, negative = _sides(value)
    result = _sum(vocabulary, positive, span) if positive.terms else None
    for monomial, factor in _order_terms(negative):
        term = _term(vocabulary, monomial, factor, span, wide=True)
        result = operation("-", integer(0, span) if result is None else result, term)
    return result if result is not None else integer(0, span)


def _sum(vocabulary: AtomVocabulary, value: Polynomial, span: Span, *, wide: bool = True) -> Expr:
    terms = [_term(vocabulary, m, c, span, wide=wide) for m, c in _order_terms(value)]
    return reduce(lambda a, b: operation("+", a, b), terms) if terms else integer(0, span)


def _term(vocabulary: AtomVocabulary, monomial: Monomial, factor: int, span: Span, *, wide: bool) -> Expr:
    if factor > _LARGEST:
        raise HostError(str(factor))
    factors = [_leaf(vocabulary, name, span, wide=wide) for name in monomial]
    if factor != 1 or not factors:
        factors.insert(0, integer(factor, span))
    return reduce(lambda a, b: operation("*", a, b), factors)


def _order_terms(value: Polynomial) -> list[tuple[Monomial, int]]:
    return sorted(value.terms.items(), key=lambda item: (-len(item[0]), item[0]))


def _sides(value: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Split into positive terms and the negation of the negative ones."""
    positive = Polynomial({m: c for m, c in value.terms.items() if c > 0})
    return positive, Polynomial({m: -c for m, c in value.terms.items() if c < 0})


def condition_expr(vocabulary: AtomVocabulary, formula: Formula, span: Span) -> Expr:
    """Return a formula over parameters as a host condition; raises HostError."""
    match formula:
        case Compare(polynomial, equality):
            return _compare_expr(vocabulary, polynomial, equality, span)
        case And(parts) | Or(parts):
            op = "&&" if isinstance(formula, And) else "||"
            if not parts:
                return integer(1 if op == "&&" else 0, span)
            return reduce(lambda a, b: operation(op, a, b), (condition_expr(vocabulary, p, span) for p in parts))


def _compare_expr(vocabulary: AtomVocabulary, polynomial: Polynomial, equality: bool, span: Span) -> Expr:
    left, op, right = _arrange(polynomial, equality)
    if op == "<=" and right.number is not None and right.number > _LARGEST and _is_natural(vocabulary, left):
        # nothing in `long long` is larger, but the sum may not be there: a smaller limit, where doubles decide
        return product_expr(vocabulary, left, _SAFE, span)
    plain = _is_plain(vocabulary, left, right)
    test = operation(op, _sum(vocabulary, left, span, wide=not plain), _sum(vocabulary, right, span, wide=not plain))
    if plain:
        return test
    for name in sorted(polynomial.atoms()):
        high, expr = vocabulary[name].high, vocabulary[name].expr
        if high is not None and high > _LARGEST and expr is not None:
            test = operation("&&", operation("<=", expr, integer(_LARGEST, span)), test)
    return test


def _is_natural(vocabulary: AtomVocabulary, terms: Polynomial) -> bool:
    """Whether no name in the terms is ever negative."""
    lows = [vocabulary[part].low for name in terms.atoms() for part in (vocabulary[name].parts or (name,))]
    return all(low is not None and low >= 0 for low in lows)


def _is_plain(vocabulary: AtomVocabulary, left: Polynomial, right: Polynomial) -> bool:
    """Whether the comparison is one name against a number that its type can hold."""
    number = right.number if right.number is not None else left.number
    other = left if right.number is not None else right
    atoms = tuple(other.atoms())
    if number is None or len(other.terms) != 1 or len(atoms) != 1 or set(other.terms.values()) != {1}:
        return False
    atom = vocabulary[atoms[0]]
    in_type = atom.low is not None and atom.high is not None and atom.low <= number <= atom.high
    return atom.kind in ("parameter", "counter") and in_type and number >= 0


def _arrange(polynomial: Polynomial, equality: bool) -> tuple[Polynomial, str, Polynomial]:
    """Return (left, op, right): names on the left where there is a choice, `a < b` rather than `b >= a + 1`."""
    left, right = _sides(polynomial)
    if equality:
        return left, "==", right
    if right.number is not None:
        return left, ">=", right
    if left.number is not None:
        return right, "<=", left
    if polynomial.constant_term == -1:
        return right.shift(-right.constant_term), "<", left
    return right, "<=", left


def product_expr(vocabulary: AtomVocabulary, terms: Polynomial, limit: int, span: Span) -> Expr:
    """Return `terms <= limit` in double arithmetic, for terms that are all >= 0; raises HostError.

    A sum below 2^53 is exact in double and a greater one stays greater, so a limit up to 2^62 that leaves a factor of
    two to the true one is safe.
    """
    factors: list[Expr] = []
    for monomial, factor in _order_terms(terms):
        parts: list[Expr] = [Literal(span=span, type=DOUBLE, text=f"{factor}.0", value=float(factor))]
        for name in (part for each in monomial for part in (vocabulary[each].parts or (each,))):
            inner = _leaf(vocabulary, name, span, wide=False)
            parts.append(Cast(span=span, type=DOUBLE, operand=inner))
        used = parts[1:] if factor == 1 and len(parts) > 1 else parts
        factors.append(reduce(lambda a, b: operation("*", a, b), used))
    bound = Literal(span=span, type=DOUBLE, text=f"{limit}.0", value=float(limit))
    return operation("<=", reduce(lambda a, b: operation("+", a, b), factors), bound)


def condition_text(vocabulary: AtomVocabulary, formula: Formula) -> str:
    """Return a formula as the user would write it."""
    match formula:
        case Compare(polynomial, equality):
            left, op, right = _arrange(polynomial, equality)
            return f"{vocabulary.text(left)} {op} {vocabulary.text(right)}"
        case And(parts):
            return " && ".join(_group_terms(vocabulary, p) for p in parts) or "1"
        case Or(parts):
            return " || ".join(_group_terms(vocabulary, p) for p in parts) or "0"


def _group_terms(vocabulary: AtomVocabulary, formula: Formula) -> str:
    text = condition_text(vocabulary, formula)
    return text if isinstance(formula, Compare) else f"({text})"


def floored_expr(vocabulary: AtomVocabulary, value: Floored, span: Span) -> Expr:
    """Return floor(value) as a host expression; raises HostError."""
    total = polynomial_expr(vocabulary, value.polynomial, span)
    for factor, inner in value.floors:
        term = product(integer(abs(factor), span), floored_expr(vocabulary, inner, span))
        total = operation("+" if factor > 0 else "-", total, term)
    if value.divisor == 1:
        return total
    divisor = integer(value.divisor, span)
    up = operation("-", operation("+", total, integer(1, span)), divisor)
    negative = operation("<", total, integer(0, span))
    floor = Conditional(span=span, type=LONG_LONG, condition=negative, then=up, other=total)
    return operation("/", floor, divisor)
