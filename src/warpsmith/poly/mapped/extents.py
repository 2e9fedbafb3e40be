"""The parts of arrays that map clauses name and that statements touch, as polynomials over the program's integers.

    map(to: a[0:n*m])     [0, n*m)         for (i = 0; i < n*m; i++) … a[i] …     [0, n*m)

Comparisons are for sizes: every name in a bound is taken as at least 1. Whole numbers have no width here: a bound that
overflows is an error of the program already. What cannot be read is an atom that equals only itself.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from warpsmith.poly.isl.polynomial import ONE, ZERO, Polynomial, atom, constant
from warpsmith.tree.nodes import Binary, Cast, Conditional, Expr, Literal, MacroUse, Name, SizeOf, Unary
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.types import INT, Array, Pointer, Scalar, Symbol, Type, integer_range
from warpsmith.tree.walk import names, peel, same, walk

__all__ = [
    "Extent", "at_most", "below", "inner_sizes", "lower_bound", "named_extent", "polynomial", "simpler_bound",
    "upper_bound",
]  # fmt: skip

Values = Mapping[Symbol, Polynomial]

# in an atom, between the text of an expression that is no polynomial and the variables that it names
_MEANING: Final = " @ "
_QUOTIENT: Final = re.compile(r"\(([^()]+)\) / ([^()]+)")
_SECTION: Final = re.compile(r"\[([^\[\]]*)\]")
_CAST: Final = re.compile(r"\(\s*(?:(?:unsigned|signed|const|long|int|short|size_t|std::size_t)\s*)+\)")
_COMPARISONS: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_GREATEST: Final = integer_range(INT)[1]
_OPERATORS: Final = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.LShift: "<<"}


class Extent(Struct, frozen=True):
    """The elements [lower, upper) of an object."""

    lower: Polynomial
    upper: Polynomial

    def __hash__(self) -> int:
        return hash((frozenset(self.lower.terms.items()), frozenset(self.upper.terms.items())))

    def holds(self, other: Extent) -> bool:
        """Whether every element of `other` is certainly in it."""
        return at_most(self.lower, other.lower) and at_most(other.upper, self.upper)

    def misses(self, other: Extent) -> bool:
        """Whether no element is certainly in both."""
        return at_most(self.upper, other.lower) or at_most(other.upper, self.lower)

    def meets(self, other: Extent) -> bool:
        """Whether some element is certainly in both."""
        return below(self.lower, other.upper) and below(other.lower, self.upper)

    def common(self, other: Extent) -> Extent | None:
        """Return the elements that are in both; None where it is not known which ends are these."""
        lower = _greater(self.lower, other.lower)
        upper = _greater(-self.upper, -other.upper)
        return None if lower is None or upper is None else Extent(lower, -upper)

    @property
    def text(self) -> str:
        """The extent in the user's words."""
        return f"[{_text(self.lower)}, {_text(self.upper)})"


# --- comparisons


def at_most(one: Polynomial, other: Polynomial) -> bool:
    """Whether `one <= other` for all sizes of at least 1."""
    return any(_is_no_size_less_than_0(_least(other - one, both=both)) for both in (True, False))


def _is_no_size_less_than_0(difference: Polynomial) -> bool:
    least = sum(value for monomial, value in difference.terms.items() if value < 0 or not _may_be_zero(monomial))
    return all(value >= 0 for monomial, value in difference.terms.items() if monomial) and least >= 0


def below(one: Polynomial, other: Polynomial) -> bool:
    """Whether `one < other` for all sizes that are large enough."""
    difference = _least(other - one, both=True)
    grows = any(value > 0 for monomial, value in difference.terms.items() if monomial)
    return all(value >= 0 for monomial, value in difference.terms.items() if monomial) and (
        grows or difference.constant_term > 0
    )


def _greater(one: Polynomial, other: Polynomial) -> Polynomial | None:
    if at_most(one, other):
        return other
    return one if at_most(other, one) else None


def _may_be_zero(monomial: tuple[str, ...]) -> bool:
    return any(name.startswith("(") for name in monomial)


def _least(value: Polynomial, *, both: bool) -> Polynomial:
    """Return what is negative wherever the value is: of x / d, where x is not negative, d times it is x at most and,
    with `both`, x - (d - 1) at least."""
    for name in sorted(value.atoms(), key=len, reverse=True):
        quotient = _parse_quotient(name)
        factor = value.coefficient(name)
        if quotient is None or factor is None:
            continue
        dividend, divisor = quotient
        signs = {count > 0 for count in factor.terms.values()}
        if signs == {False} or (both and signs == {True}):
            # the sign is that of the value times d
            end = dividend - divisor + ONE if signs == {True} else dividend
            value = value.drop_name(name) * divisor + factor * end
    return value


def _parse_quotient(name: str) -> tuple[Polynomial, Polynomial] | None:
    """Return dividend and divisor of an atom that is a quotient; None for others, and where d may be no size."""
    found = _QUOTIENT.fullmatch(name)
    dividend, divisor = (_parse_key(found[1]), _parse_key(found[2])) if found is not None else (None, None)
    if dividend is None or divisor is None:
        return None
    number = divisor.number
    if number is not None:
        return (dividend, divisor) if number > 0 else None
    return (dividend, divisor) if at_most(ZERO, dividend) and at_most(ONE, divisor) else None


def _parse_key(text: str) -> Polynomial | None:
    """Read what `_key` has written; None where a quotient or what is no polynomial stands in it."""
    if "(" in text or _MEANING in text:
        return None
    found = ZERO
    for term in text.split(" + "):
        factor, *rest = term.split("*")
        if re.fullmatch(r"-?\d+", factor):
            found = found + Polynomial({tuple(sorted(rest)): int(factor)})
        else:
            found = found + Polynomial({tuple(sorted((factor, *rest))): 1})
    return found


def _text(value: Polynomial) -> str:
    parts = [
        f"{'' if factor == 1 and monomial else factor}{'*' if factor != 1 and monomial else ''}"
        f"{'*'.join(map(_name, monomial))}"
        for monomial, factor in sorted(value.terms.items(), key=lambda term: (-len(term[0]), term[0]))
    ]
    return " + ".join(parts).replace("+ -", "- ") or "0"


def _name(name: str) -> str:
    shown, opaque, _ = name.partition(_MEANING)
    if opaque:
        return shown
    if (quotient := _parse_quotient(name)) is not None:
        dividend, divisor = (_text(one) if len(one.terms) == 1 else f"({_text(one)})" for one in quotient)
        return f"({dividend} / {divisor})"
    return re.sub(r"^.*:", "", name.rpartition("/")[2]) if ":" in name else name


# --- expressions of the tree


def polynomial(expr: Expr, values: Values) -> Polynomial:
    """Return an integer expression, where `values` are those of variables."""
    expr = peel(expr)
    match expr:
        case Literal(value=int() as value) | SizeOf(value=int() as value):
            return constant(value)
        case Name(symbol=symbol):
            if symbol in values:
                return values[symbol]
            return constant(symbol.value) if symbol.value is not None else atom(symbol.key)
        case Cast(operand=inner) | MacroUse(expansion=inner) | Unary(op="+", operand=inner):
            return polynomial(inner, values)
        case Unary(op="-", operand=operand):
            return -polynomial(operand, values)
        case Conditional() if (dividend := _floored(expr)) is not None:
            return polynomial(dividend, values)
        case Binary(op=op, left=left, right=right) if op in ("+", "-", "*", "/", "%", "<<"):
            return _combine(op, polynomial(left, values), polynomial(right, values))
        case _:
            return _opaque(expr, values)


def _opaque(expr: Expr, values: Values) -> Polynomial:
    """Return an atom for what is no polynomial: two are equal where text and variables are. It may be 0."""
    meant = " ".join(_key(polynomial(name, values)) for name in names(expr))
    return atom(f"({print_expr(expr)}){_MEANING}{meant}")


def _floored(expr: Conditional) -> Expr | None:
    """Return x of `x < 0 ? x + 1 - c : x`, the dividend of a division that rounds down; x is not negative here."""
    test, other = peel(expr.condition), peel(expr.other)
    if isinstance(test, Binary) and test.op == "<" and same(test.left, other):
        right = peel(test.right)
        return other if isinstance(right, Literal) and right.value == 0 else None
    return None


def _combine(op: str, left: Polynomial, right: Polynomial) -> Polynomial:
    if op == "+":
        return left + right
    if op == "-":
        return left - right
    if op == "*":
        return left * right
    a, b = left.number, right.number
    if op == "<<" and b is not None and 0 <= b < 63:
        return left.scale(1 << b)
    if a is not None and b is not None and a >= 0 and b > 0 and op in ("/", "%"):
        return constant(a // b if op == "/" else a % b)
    if op == "/" and b is not None and b > 0 and all(value % b == 0 for value in left.terms.values()):
        return Polynomial({monomial: value // b for monomial, value in left.terms.items()})
    if op == "/" and (exact := _divided(left, right)) is not None:
        return exact
    return atom(f"({_key(left)}) {op} {_key(right)}")


def _divided(left: Polynomial, right: Polynomial) -> Polynomial | None:
    """Return the quotient of a sum of products that all have one factor, by this factor."""
    if len(right.terms) != 1:
        return None
    ((factors, number),) = right.terms.items()
    found: dict[tuple[str, ...], int] = {}
    for monomial, value in left.terms.items():
        rest = list(monomial)
        for name in factors:
            if name not in rest:
                return None
            rest.remove(name)
        if value % number:
            return None
        found[tuple(rest)] = value // number
    return Polynomial(found)


def _key(value: Polynomial) -> str:
    if len(value.terms) == 1:
        ((monomial, factor),) = value.terms.items()
        if len(monomial) == 1 and factor == 1:
            return monomial[0]
    return (
        " + ".join(f"{'*'.join((str(factor), *monomial))}" for monomial, factor in sorted(value.terms.items())) or "0"
    )


def upper_bound(expr: Expr, values: Values) -> Polynomial:
    """Return a bound that is no less: of `c ? x : 0`, an empty section where c does not hold, x."""
    return _bound(expr, values)


def simpler_bound(expr: Expr, values: Values) -> Polynomial | None:
    """Return a bound of `x <= y ? x : y < x ? y : 0` that is no less and no choice: y, or x, the simpler one.
    None where `upper_bound` is none, or no such is known."""
    if not isinstance(peel(expr), Conditional) or _is_plain(expr):
        return None
    return min(_uppers(expr, values), key=_complexity, default=None)


def _complexity(one: Polynomial) -> tuple[bool, bool, int, int, str]:
    """Return what is least for plain variables and numbers; the end of a type is no size."""
    opaque = any(" " in name for name in one.atoms())
    end = one.number is not None and one.number >= _GREATEST
    return opaque, end, len(one.terms), max(map(len, one.terms), default=0), _key(one)


def _is_plain(expr: Expr) -> bool:
    """Whether a choice is of one number or none, or one that is clipped to an end."""
    bare = peel(expr)
    if not isinstance(bare, Conditional):
        return True
    other = peel(bare.other)
    empty = isinstance(other, Literal) and other.value == 0
    clipped = isinstance(bare.condition, Binary) and bare.condition.op in ("<", "<=")
    return (empty or clipped) and _is_plain(bare.then)


def _uppers(expr: Expr, values: Values) -> list[Polynomial]:
    """Return numbers, each of which the value of an expression does not exceed, unless that is 0: an empty section."""
    bare = peel(expr)
    if not isinstance(bare, Conditional):
        return [polynomial(bare, values)]
    arms: list[list[Polynomial]] = []
    for arm, holds in ((bare.then, bare.condition), (bare.other, None)):
        inner = peel(arm)
        if isinstance(inner, Literal) and inner.value == 0:
            continue
        found = _uppers(inner, values)
        tests = [*_tests(holds, values)] if holds is not None else []
        more = [right for left, right in tests if left in found or any(_is_number_below(f, left) for f in found)]
        arms.append([*found, *more])
    return [one for one in arms[0] if all(one in other for other in arms)] if arms else []


def _is_number_below(one: Polynomial, other: Polynomial) -> bool:
    return one.number is not None and other.number is not None and one.number <= other.number


def _tests(condition: Expr, values: Values) -> Iterator[tuple[Polynomial, Polynomial]]:
    """Yield the pairs of which a condition, joined by &&, says that the first is no more than the second."""
    bare = peel(condition)
    if not isinstance(bare, Binary):
        return
    if bare.op == "&&":
        yield from _tests(bare.left, values)
        yield from _tests(bare.right, values)
    elif bare.op in ("<", "<=", ">", ">="):
        left, right = polynomial(bare.left, values), polynomial(bare.right, values)
        yield (left, right) if bare.op in ("<", "<=") else (right, left)


def lower_bound(expr: Expr, values: Values) -> Polynomial:
    """Return a bound that is no greater, of a section that is not empty."""
    return _bound(expr, values)


def _bound(expr: Expr, values: Values) -> Polynomial:
    bare = peel(expr)
    if isinstance(bare, Conditional):
        holds = _holds(bare.condition, values)
        if holds is not None:
            return _bound(bare.then if holds else bare.other, values)
        arm, other = _bound(bare.then, values), _bound(bare.other, values)
        if other in (ZERO, arm):
            return arm
        # clipped to the object's ends: `x < end ? x : end`
        if isinstance(bare.condition, Binary) and bare.condition.op in ("<", "<="):
            return _bound(bare.then, values)
    return polynomial(bare, values)


def _holds(condition: Expr, values: Values) -> bool | None:
    """Whether a condition holds that compares numbers; None where it has others."""
    bare = peel(condition)
    if not isinstance(bare, Binary):
        return None
    if bare.op in ("&&", "||"):
        sides = {_holds(bare.left, values), _holds(bare.right, values)}
        ends = bare.op == "||"
        if ends in sides:
            return ends
        return None if None in sides else not ends
    compare = _COMPARISONS.get(bare.op)
    left, right = polynomial(bare.left, values).number, polynomial(bare.right, values).number
    # a negative number is another one where it comes to an unsigned type
    if compare is None or left is None or right is None or not _keeps_signs(bare):
        return None
    return compare(left, right)


def _keeps_signs(compared: Binary) -> bool:
    return not any(isinstance(part, Expr) and isinstance(part.type, Scalar) and part.type.kind == "unsigned"
                   for part in walk(compared))  # fmt: skip


# --- clauses


def inner_sizes(type: Type, values: Values) -> list[Polynomial] | None:
    """Return how many innermost elements one step of each subscript is, outermost first; None where it is not known."""
    found: list[Polynomial] = []
    outer = True
    while isinstance(type, Array | Pointer):
        inner = type.of if isinstance(type, Array) else type.to
        if isinstance(type, Pointer) and not outer:
            return None  # rows of their own
        if not outer and isinstance(type, Array):
            size = _length(type, values)
            if size is None:
                return None
            found.append(size)
        outer, type = False, inner
    strides = [ONE]
    for size in reversed(found):
        strides.insert(0, strides[0] * size)
    return strides


def _length(type: Array, values: Values) -> Polynomial | None:
    if type.count is not None:
        return constant(type.count)
    return None if type.extent is None else polynomial(type.extent, values)


def named_extent(section: str, type: Type, values: Values, names: Callable[[str], Symbol | None]) -> Extent | None:
    """Return the elements that `[0:n][0:m]` behind a variable of some type are; without brackets all of an array.
    None where that is not known."""
    strides = inner_sizes(type, values)
    if strides is None:
        return None
    whole = _length(type, values) if isinstance(type, Array) else None
    parts = _SECTION.findall(section)
    if not parts:
        return None if whole is None else Extent(ZERO, whole * strides[0])
    sizes = [whole, *(_quotient(strides, k) for k in range(len(strides) - 1))]
    lower = upper = None
    for position, part in enumerate(parts[: len(strides)]):
        begin, colon, length = part.partition(":")
        first = _read(begin, values, names) if begin.strip() else ZERO
        count = ONE if not colon else _read(length, values, names) if length.strip() else sizes[position]
        if first is None or count is None:
            return None
        if position == 0:
            lower, upper = first * strides[0], (first + count) * strides[0]
        elif first != ZERO or count != sizes[position]:
            return None
    return None if lower is None or upper is None or len(parts) > len(strides) else Extent(lower, upper)


def _quotient(strides: list[Polynomial], position: int) -> Polynomial | None:
    """Return the size of an inner dimension."""
    outer, inner = strides[position], strides[position + 1]
    if inner == ONE:
        return outer
    a, b = outer.number, inner.number
    return constant(a // b) if a is not None and b is not None and b > 0 else None


def _read(text: str, values: Values, names: Callable[[str], Symbol | None]) -> Polynomial | None:
    try:
        tree = ast.parse(_CAST.sub("", text).strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    return _value(tree, values, names)


def _value(node: ast.expr, values: Values, names: Callable[[str], Symbol | None]) -> Polynomial | None:
    match node:
        case ast.Constant(value=int(number)):
            return constant(number)
        case ast.Name(id=name):
            symbol = names(name)
            if symbol is None:
                return None
            if symbol in values:
                return values[symbol]
            return constant(symbol.value) if symbol.value is not None else atom(symbol.key)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _value(operand, values, names)
            return None if inner is None else -inner
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            a, b = _value(left, values, names), _value(right, values, names)
            return None if a is None or b is None else _combine(_OPERATORS[type(op)], a, b)
        case _:
            return None
