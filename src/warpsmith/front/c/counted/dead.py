"""Arms of branches that no run takes: `if (VERBOSE) printf(…);` where VERBOSE is 0.

Such an arm is an empty statement that keeps its text: for whoever prints it on the host it stands as it was, nothing
that it says is carried out, and device code has no part of it. A build with another value is another program
(emit/host/build_macros.py).
"""

from __future__ import annotations

from warpsmith.front.c.counted.canonical import constant_value
from warpsmith.tree.nodes import Binary, Empty, Expr, If, Name, Stmt, Unary
from warpsmith.tree.types import Scalar, common_type, integer_range, is_integer
from warpsmith.tree.walk import peel

__all__ = ["truth", "without_dead"]


def without_dead(branch: If) -> Stmt:
    """Return a branch, which may have no labels in its arms, without what never runs of it."""
    taken = truth(branch.condition)
    if taken is None or (taken and branch.other is None):
        return branch
    if branch.other is None:
        return Empty(span=branch.span, intact=True, dead=True)
    dead = Empty(span=(branch.other if taken else branch.then).span, intact=True, dead=True)
    arms = (branch.then, dead) if taken else (dead, branch.other)
    return If(span=branch.span, intact=True, condition=branch.condition, then=arms[0], other=arms[1])


def truth(condition: Expr) -> bool | None:
    """Return what a condition is in every run, or None where that is open; what it would compute before that counts."""
    condition = peel(condition)
    match condition:
        case Unary(op="!", operand=operand):
            inner = truth(operand)
            return None if inner is None else not inner
        case Binary(op="&&" | "||" as op, left=left, right=right):
            first = truth(left)
            if first is None or first is (op == "||"):
                return first
            return truth(right)
        case Binary(op="==" | "!=" | "<" | "<=" | ">" | ">=" as op, left=left, right=right):
            return _compared(op, left, right)
        case _:
            value = _number(condition)
            return None if value is None else value != 0


def _compared(op: str, left: Expr, right: Expr) -> bool | None:
    """Return what a comparison is; None where a number changes when it is converted to the type of both."""
    a, b = _number(left), _number(right)
    type = common_type(left.type, right.type)
    if a is None or b is None or not isinstance(type, Scalar) or not is_integer(type):
        return None
    low, high = integer_range(type)
    if not (low <= a <= high and low <= b <= high):
        return None
    return {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op]


def _number(expr: Expr) -> int | None:
    expr = peel(expr)
    return expr.symbol.value if isinstance(expr, Name) else constant_value(expr)
