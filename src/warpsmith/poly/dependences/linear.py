"""Linear recurrences of first order: what an iteration multiplies the value before it by, and what it adds.

    y = 0.9 * y + x[i];                   factor 0.9               summand x[i]
    y = (y - m[i]) * w[i];                factor w[i]              summand -m[i] * w[i]
    run = x[i] > 0 ? run + 1 : 0;         factor x[i] > 0 ? 1 : 0  summand x[i] > 0 ? 1 : 0

Invariant: the value of the expression is factor * y + summand for every y: for integers modulo 2 to the width of y, for
floating point up to rounding and overflow. Neither of the two names y.
The composition of such maps is associative: (a1, b1) then (a2, b2) is (a1 a2, b1 a2 + b2) (P. Kogge, H. Stone, A
Parallel Algorithm for the Efficient Solution of a General Class of Recurrence Equations, 1973).
Limits: a floating-point factor that is a number is at most 1, so that products of many stay small; no floating-point
choice leaves y out (0 times infinity is no 0).
"""

from __future__ import annotations

from msgspec import Struct

from warpsmith.tree.nodes import Assign, Binary, Cast, Conditional, Expr, ExprStmt, Literal, Name, Stmt, Unary
from warpsmith.tree.types import INT, UNSIGNED, Scalar, Type, common_type, is_float, is_integer
from warpsmith.tree.walk import names, peel, root_symbol, same

__all__ = ["LinearUpdate", "linear_update", "linear_value"]

_WIDE = Scalar("unsigned long long", 64, "unsigned")


class LinearUpdate(Struct, frozen=True):
    """An expression as factor * y + summand."""

    factor: Expr
    summand: Expr


def linear_update(stmt: Stmt) -> tuple[Assign, LinearUpdate] | None:
    """Return the assignment `y = …` that a statement is, and its value as a function of y, if that is linear."""
    node = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
    target = peel(node.target) if isinstance(node, Assign) and node.op == "=" else None
    if not isinstance(node, Assign) or not isinstance(target, Name):
        return None
    found = linear_value(node.value, target)
    return None if found is None else (node, found)


def linear_value(value: Expr, mine: Expr) -> LinearUpdate | None:
    """Return `value` as a linear function of the variable or element `mine`, which it reads; None where it is none.
    Both parts are in the type in which such functions are composed: unsigned, or the widest floating point of `value`.
    """
    type, whole = mine.type, peel(value).type
    if not isinstance(type, Scalar) or type.volatile or type.kind == "bool" or not isinstance(whole, Scalar):
        return None
    if not (is_integer(type) or is_float(type)) or type.bits > 64 or whole.bits > 64:
        return None
    ring = _Ring(mine, _composed(type, whole))
    if not ring.holds(value):
        return None
    found = ring.split(value)
    number = None if found is None else _number(found.factor)
    grows = is_float(type) and number is not None and not -1 <= number <= 1
    return None if found is None or grows else LinearUpdate(ring.leaf(found.factor), ring.leaf(found.summand))


def _composed(type: Scalar, whole: Scalar) -> Scalar:
    if is_float(type):
        wide = whole if is_float(whole) and whole.bits > type.bits else type
        return Scalar(wide.name, wide.bits, wide.kind)
    return UNSIGNED if type.bits <= UNSIGNED.bits else _WIDE


class _Ring(Struct, frozen=True):
    """What an expression is linear in, and the type in which the parts are computed."""

    mine: Expr
    type: Scalar

    def holds(self, expr: Expr) -> bool:
        root = root_symbol(self.mine)
        return any(n.symbol == root for n in names(expr))

    def split(self, expr: Expr) -> LinearUpdate | None:
        expr = peel(expr)
        if same(expr, self.mine):
            return LinearUpdate(self.literal(1), self.literal(0))
        if not self.fits(expr.type):
            return None
        if isinstance(expr, Cast):
            return self.split(expr.operand)
        if isinstance(expr, Unary) and expr.op in ("+", "-"):
            inner = self.split(expr.operand)
            return (
                inner
                if inner is None or expr.op == "+"
                else LinearUpdate(_negate(inner.factor), _negate(inner.summand))
            )
        if isinstance(expr, Conditional):
            return self.split_choice(expr)
        return self.split_operation(expr) if isinstance(expr, Binary) else None

    def split_choice(self, expr: Conditional) -> LinearUpdate | None:
        arms: list[LinearUpdate] = []
        for arm in (expr.then, expr.other):
            alone = not self.holds(arm)
            if alone and (is_float(self.type) or not is_integer(arm.type)):
                return None
            found = LinearUpdate(self.literal(0), self.leaf(arm)) if alone else self.split(arm)
            if found is None:
                return None
            arms.append(found)
        if self.holds(expr.condition):
            return None
        one, two = arms
        return LinearUpdate(self.choose(expr, one.factor, two.factor), self.choose(expr, one.summand, two.summand))

    def split_operation(self, expr: Binary) -> LinearUpdate | None:
        left = self.holds(expr.left)
        if left == self.holds(expr.right):
            return None
        held, rest = (expr.left, expr.right) if left else (expr.right, expr.left)
        inner = self.split(held)
        if inner is None or not (is_integer(rest.type) or is_float(rest.type)):
            return None
        rest = self.leaf(rest)
        match expr.op:
            case "+":
                return LinearUpdate(inner.factor, _join("+", inner.summand, rest))
            case "-" if left:
                return LinearUpdate(inner.factor, _join("-", inner.summand, rest))
            case "-":
                return LinearUpdate(_negate(inner.factor), _join("-", rest, inner.summand))
            case "*":
                return LinearUpdate(_join("*", inner.factor, rest), _join("*", inner.summand, rest))
            case "/" if left and is_float(self.type):
                return LinearUpdate(_join("/", inner.factor, rest), _join("/", inner.summand, rest))
            case _:
                return None

    def fits(self, type: Type) -> bool:
        """Whether arithmetic of a type keeps what is linear: of the same family, and no narrower than the variable."""
        own = self.mine.type
        if not isinstance(type, Scalar) or not isinstance(own, Scalar) or type.kind == "bool":
            return False
        alike = is_float(type) if is_float(own) else is_integer(type)
        return alike and own.bits <= type.bits <= 64

    def leaf(self, expr: Expr) -> Expr:
        """Return an expression in the type of the parts."""
        return expr if expr.type == self.type else Cast(span=expr.span, type=self.type, operand=expr)

    def literal(self, value: int) -> Expr:
        span = self.mine.span
        if not is_float(self.type):
            return Literal(span=span, type=INT, text=str(value), value=value)
        text = f"{value}.0{'f' if self.type.bits == 32 else ''}"
        return Literal(span=span, type=self.type, text=text, value=float(value))

    def choose(self, expr: Conditional, then: Expr, other: Expr) -> Expr:
        if same(peel(then), peel(other)):
            return then
        type = common_type(then.type, other.type)
        return Conditional(span=expr.span, type=type, condition=expr.condition, then=then, other=other)


def _number(expr: Expr) -> float | None:
    inner = peel(expr)
    while isinstance(inner, Cast):
        inner = peel(inner.operand)
    if isinstance(inner, Unary) and inner.op == "-":
        value = _number(inner.operand)
        return None if value is None else -value
    return inner.value if isinstance(inner, Literal) and isinstance(inner.value, int | float) else None


def _negate(expr: Expr) -> Expr:
    if _number(expr) == 0:
        return expr
    return Unary(span=expr.span, type=common_type(expr.type, INT), op="-", operand=expr)


def _join(op: str, left: Expr, right: Expr) -> Expr:
    """Return `left op right` without what changes nothing."""
    zero, one = _number(left) == 0, _number(left) == 1
    if op in ("+", "-") and _number(right) == 0:
        return left
    if op == "+" and zero:
        return right
    if op == "-" and zero:
        return _negate(right)
    if op in ("*", "/") and zero:
        return left
    if op == "*" and one:
        return right
    return Binary(span=right.span, type=common_type(left.type, right.type), op=op, left=left, right=right)
