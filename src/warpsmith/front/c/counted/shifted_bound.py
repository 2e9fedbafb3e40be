"""Bounds of loops that compare what lies a constant ahead of their counter: `i + 1 < n` is `i < n - 1`.

Invariant: the new comparison has the same value as the user's in every iteration of a loop that starts at `lower` and
advances by `step`, for every value of the bound, and its arithmetic never wraps where the user's did not:

    int     i + c < n      i < (long long)n - c                 the sum does not wrap (C17 6.5p5), nor does this
    size_t  i + c < n      i < (n >= c ? n - c : 0)             from a constant on, one by one: lower + c does not wrap,
                                                                so i + c meets n before it does; n < c leaves nothing
"""

from __future__ import annotations

from typing import cast

from warpsmith.front.cxx.objects import again, before
from warpsmith.tree.nodes import Binary, Cast, Conditional, Expr, Literal, Name, Relation
from warpsmith.tree.types import INT, LONG_LONG, Scalar, Symbol, Type, common_type, is_integer
from warpsmith.tree.walk import names, peel

__all__ = ["shifted_bound"]

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def shifted_bound(test: Binary, variable: Symbol, lower: int | None, step: int | None) -> tuple[Relation, Expr] | None:
    """Return what the counter itself may be compared with in place of the condition `test`; None where it is no
    comparison of the counter plus or minus something, or where no such bound has its value. `lower` and `step` are the
    first value and the advance, where they are constants."""
    if test.op not in _MIRRORED:
        return None
    for near, far, op in ((test.left, test.right, test.op), (test.right, test.left, _MIRRORED[test.op])):
        ahead = _ahead(peel(near), variable)
        if ahead is None or any(name.symbol == variable for name in names(far)):
            continue
        sum, by, sign = ahead
        type = common_type(sum.type, far.type)
        if _is_int(sum.type) and _is_int(far.type):
            return cast(Relation, op), _exact(far, by, sign)
        counted = by.value if isinstance(by, Literal) and sign == "+" else None
        signed = isinstance(sum.type, Scalar) and sum.type.kind == "signed"
        if not (is_integer(type) and isinstance(counted, int) and (signed or sum.type == type)):
            return None
        if step != 1 or lower is None or not 0 <= lower <= _largest(sum.type) - counted:
            return None
        return _clip_bound(op, far, counted, type)
    return None


def _largest(type: Type) -> int:
    assert isinstance(type, Scalar), "sums of integers are counted"
    return int(2 ** (type.bits - (type.kind == "signed"))) - 1


def _ahead(near: Expr, variable: Symbol) -> tuple[Binary, Expr, str] | None:
    """Return a sum or difference of the counter, what is added or taken away, and which."""
    if not isinstance(near, Binary) or near.op not in ("+", "-") or not is_integer(near.type):
        return None
    left, right = peel(near.left), peel(near.right)
    if isinstance(left, Name) and left.symbol == variable:
        by = right
    elif near.op == "+" and isinstance(right, Name) and right.symbol == variable:
        by = left
    else:
        return None
    return None if any(name.symbol == variable for name in names(by)) else (near, by, near.op)


def _is_int(type: Type) -> bool:
    return isinstance(type, Scalar) and type.kind in ("signed", "bool") and type.bits <= INT.bits


def _exact(far: Expr, by: Expr, sign: str) -> Expr:
    wide = Cast(span=before(far.span), type=LONG_LONG, operand=far)
    return Binary(span=before(far.span), type=LONG_LONG, op="-" if sign == "+" else "+", left=wide, right=by)


def _clip_bound(op: str, far: Expr, by: int, type: Type) -> tuple[Relation, Expr] | None:
    """Return the bound where the difference could wrap; a loop that counts up has no other relations."""
    by -= op == "<="
    if op not in ("<", "<=") or by < 0:
        return None
    if by == 0:
        return "<", far
    at = before(far.span)
    amount, none = (Literal(span=at, type=INT, text=str(n), value=n) for n in (by, 0))
    enough = Binary(span=at, type=INT, op=">=", left=far, right=amount)
    less = Binary(span=at, type=type, op="-", left=again(far), right=again(amount))
    return "<", Conditional(span=at, type=type, condition=enough, then=less, other=none)
