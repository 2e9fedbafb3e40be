"""Counters that live on after a nest which runs elsewhere: host statements that give them their final values.

    for (i = 0; i < n; i++)                     ws_f_k1(...);
        for (j = 0; j < m; j++)         →       i = 0 < n ? n : 0;
            a[i][j] = 0;                        if (0 < n)
    use(i, j);                                      j = 0 < m ? m : 0;

Invariant: each statement computes in O(1) what the user's loops leave in the variable. A counter of depth d is set by
the last iteration of the loops around it, so all of those must run, and only its own bounds may depend on them.
"""

from __future__ import annotations

from collections.abc import Sequence

from warpsmith.offload.expressions import binary, name, shift_expression
from warpsmith.offload.mapping.ranges import entry_condition, final_value
from warpsmith.tree.nodes import Assign, Cast, Expr, ExprStmt, For, If, Name, Node, Stmt
from warpsmith.tree.types import INT, Symbol
from warpsmith.tree.walk import names, rebuild

__all__ = ["final_statement"]


def final_statement(chain: Sequence[For]) -> Stmt | None:
    """Return the statement that sets the counter of the last loop of `chain` to its final value.

    `chain` are the loops from the fragment's outermost one inwards, each run once per iteration of the one before it.
    None where the value cannot be written.
    """
    loop, around = chain[-1], chain[:-1]
    outer = {outside.variable for outside in around}
    if any(_mentions(outside.lower, outer) or _mentions(outside.bound, outer) for outside in around):
        return None
    last = {outside.variable: _last(outside) for outside in around}
    if not _mentions(loop.lower, outer) and not _mentions(loop.bound, outer):
        value = final_value(loop)
    elif all(outside.step in (1, -1) and outside.relation != "!=" for outside in around):
        value = _substitute(final_value(loop), last)
    else:
        return None
    span = loop.span
    target = name(loop.variable, span)
    result: Stmt = ExprStmt(
        span=span, expr=Assign(span=span, type=loop.variable.type, op="=", target=target, value=value)
    )
    conditions = [entry_condition(outside) for outside in around]
    if not conditions:
        return result
    condition = conditions[0]
    for more in conditions[1:]:
        condition = binary("&&", condition, more, INT)
    return If(span=span, condition=condition, then=result, other=None)


def _last(loop: For) -> Expr:
    """Return the last value of the counter inside a loop with step 1 or -1 that runs."""
    strict = loop.relation in ("<", ">")
    inner = shift_expression(loop.bound, (-1 if loop.step > 0 else 1) if strict else 0)
    return inner if inner.type == loop.variable.type else Cast(span=inner.span, type=loop.variable.type, operand=inner)


def _mentions(expr: Expr, symbols: set[Symbol]) -> bool:
    return any(n.symbol in symbols for n in names(expr))


def _substitute(expr: Expr, values: dict[Symbol, Expr]) -> Expr:
    def change(node: Node) -> Node:
        return values[node.symbol] if isinstance(node, Name) and node.symbol in values else node

    return rebuild(expr, change)
