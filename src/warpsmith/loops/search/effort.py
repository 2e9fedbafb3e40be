"""How much work the text of a function says that it does: the figures that a survey ranks loops by.

    for (k = 0; k < n; k++)          loop 0: trips unknown, 1 operation of its own
        for (j = 0; j < 64; j++)     loop 1 inside 0: 64 trips, 5 operations, and a call of f
            a[j] += f(b[k]);

Only counts and constants are read here; what an unknown trip count counts as, and what calls multiply, is decided where
all functions are known (report/port/ranking.py). Nothing here is a verdict.
"""

from __future__ import annotations

from msgspec import Struct, field

from warpsmith.loops.search.traffic import ArrayTraffic, find_moved_by, target_of, traffic_of
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    For,
    Function,
    Index,
    Literal,
    Loop,
    Member,
    Name,
    Node,
    Unary,
    VarDecl,
    While,
)
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import children, peel, walk

__all__ = ["FunctionEffort", "LoopEffort", "effort_of", "trips_of"]

_OPERATIONS = (Assign, Binary, Call, Conditional, Index, Member, Unary, VarDecl)


class LoopEffort(Struct, frozen=True):
    """`operations` of one iteration without inner loops, `calls` likewise (keys of functions); `around`: the number of
    the loop around it in its function, -1 for none; `trips` is None where it is not a constant; `touched`: the memory
    that one iteration names, likewise."""

    around: int
    trips: int | None
    counted: bool
    operations: int
    calls: tuple[str, ...]
    touched: tuple[ArrayTraffic, ...] = ()


class FunctionEffort(Struct, frozen=True):
    """`loops` in source order; `operations` and `calls` are those outside all of them."""

    key: str
    operations: int
    calls: tuple[str, ...]
    loops: tuple[LoopEffort, ...]


class _Count(Struct):
    around: int
    loop: Loop | None
    operations: int
    calls: list[str]
    touched: list[ArrayTraffic] = field(default_factory=list)
    moving: dict[Symbol, frozenset[int]] = field(default_factory=dict)
    targets: set[int] = field(default_factory=set)


def effort_of(function: Function) -> FunctionEffort:
    """Return what the text of a function says of its work."""
    counts = [_Count(-1, None, 0, [])]
    stack: list[tuple[Node, int]] = [(function.body, 0)]
    while stack:
        node, inside = stack.pop()
        if isinstance(node, For | While):
            counter = {node.variable: frozenset({len(counts) - 1})} if isinstance(node, For) else {}
            counts.append(_Count(inside - 1, node, 1, [], moving={**counts[inside].moving, **counter}))
            inside = len(counts) - 1
        else:
            _count(node, inside - 1, counts[inside])
        stack += [(child, inside) for child in reversed(list(children(node)))]
    outside, *inner = counts
    loops = tuple(
        LoopEffort(c.around, trips_of(c.loop), isinstance(c.loop, For), c.operations, tuple(c.calls), tuple(c.touched))
        for c in inner
        if c.loop is not None
    )
    return FunctionEffort(function.symbol.key, outside.operations, tuple(outside.calls), loops)


def _count(node: Node, loop: int, into: _Count) -> None:
    if isinstance(node, _OPERATIONS):
        into.operations += 1
        target = target_of(node)
        into.targets.update({id(target)} if target is not None else set())
        seen = into.loop is None or id(node) in into.targets
        # what a subscript counts up moves what it stands in
        for part in walk(node) if loop >= 0 and isinstance(node, Assign | Index | Unary | VarDecl) else ():
            moved = find_moved_by(part, loop, into.moving)
            into.moving.update([moved] if moved is not None else [])
        touched = traffic_of(node, into.moving) if not seen else None
        into.touched += [touched] if touched is not None else []
    if isinstance(node, Call):
        function = peel(node.function)
        if isinstance(function, Name):
            into.calls.append(function.symbol.key)


def trips_of(loop: Loop) -> int | None:
    """Return how often a loop runs where its bounds are constants."""
    if not isinstance(loop, For):
        return None
    lower, bound = _number(loop.lower), _number(loop.bound)
    if lower is None or bound is None or loop.relation == "!=":
        return None if lower is None or bound is None else abs(bound - lower) // abs(loop.step)
    distance = bound - lower if loop.step > 0 else lower - bound
    if loop.relation in ("<=", ">="):
        distance += 1
    return max(0, -(-distance // abs(loop.step)))


def _number(expr: Expr) -> int | None:
    """Return the value of an expression of numbers."""
    match peel(expr):
        case Literal(value=int(value)):
            return value
        case Name(symbol=symbol):
            return symbol.value
        case Cast(operand=operand):
            return _number(operand)
        case Unary(op="-", operand=operand):
            inner = _number(operand)
            return None if inner is None else -inner
        case Binary(op="+" | "-" | "*" as op, left=left, right=right):
            a, b = _number(left), _number(right)
            return None if a is None or b is None else {"+": a + b, "-": a - b, "*": a * b}[op]
        case _:
            return None
