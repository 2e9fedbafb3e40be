"""Conditions: && || ! and ?: become branches, and plain values where nothing but arithmetic is skipped.

A compiler for GPUs turns `x < w && y < h` into two comparisons and an `and`, and `a < b ? a : b` into a select: there
is no branch where what would be skipped is cheap and has no effect. Everything else branches as C says.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.lower.conversions import convert_value, truth
from warpsmith.lower.frame import Frame, Result
from warpsmith.lower.layout import NotModeled, is_object, lanes_of, value_type
from warpsmith.lower.names import QUERIES, initialize
from warpsmith.lower.operators import binary
from warpsmith.lower.places import LocalVariable
from warpsmith.ssa.nodes import Branch, Constant, Construct, Jump, Operand
from warpsmith.ssa.types import I1
from warpsmith.tree import nodes
from warpsmith.tree import types as tree
from warpsmith.tree.types import BOOL

__all__ = ["branch", "logical", "lower_conditional"]

CHEAP = 8
"""So many operators are evaluated rather than skipped."""


def branch(frame: Frame, e: nodes.Expr, then: str, other: str, construct: Construct) -> None:
    """End the block: control goes to `then` where `e` holds, to `other` where it does not."""
    e = _bare(e)
    builder = frame.builder
    if isinstance(e, nodes.Unary) and e.op == "!":
        branch(frame, e.operand, other, then, construct)
        return
    if isinstance(e, nodes.Binary) and e.op in ("&&", "||") and not is_cheap(frame, e.right):
        between = builder.fresh("also" if e.op == "&&" else "else")
        ways = (between, other) if e.op == "&&" else (then, between)
        branch(frame, e.left, *ways, _word(e))
        builder.seal(between)
        builder.start(between)
        branch(frame, e.right, then, other, construct)
        return
    before = builder.span
    frame.at(e.span)
    condition = truth(builder, frame.scalar(e))
    builder.end(Branch(condition, then, other, span=builder.span, construct=construct))
    builder.span = before


def _bare(e: nodes.Expr) -> nodes.Expr:
    while isinstance(e, nodes.MacroUse):
        e = e.expansion
    return e


# --- what is cheap


def is_cheap(frame: Frame, e: nodes.Expr) -> bool:
    """Whether an expression may be evaluated where C would skip it, at no cost that counts."""
    cost = 0
    for part in _cost(frame, e):
        cost += part
        if cost > CHEAP:
            return False
    return True


_DEAR = CHEAP + 1


def _cost(frame: Frame, e: nodes.Expr) -> Iterator[int]:
    """Yield what the parts of an expression cost; more than CHEAP: no."""
    match e:
        case nodes.Literal() | nodes.SizeOf():
            yield 0 if e.type and not isinstance(e.type, tree.Array) else _DEAR
        case nodes.Name():
            yield 0 if _in_register(frame, e) else _DEAR
        case nodes.Member(base=nodes.Name(symbol=symbol)) if symbol.name in QUERIES:
            yield 0
        case nodes.MacroUse():
            yield from _cost(frame, e.expansion)
        case nodes.Cast() if not is_object(e.type) and not _is_void(e.type):
            yield 1
            yield from _cost(frame, e.operand)
        case nodes.Unary(op="+" | "-" | "~" | "!"):
            yield 1
            yield from _cost(frame, e.operand)
        case nodes.Binary() if e.op not in ("/", "%", ",") or _is_float(e.type):
            yield 1 if e.op not in ("/", "%") else _DEAR
            yield from _cost(frame, e.left)
            yield from _cost(frame, e.right)
        case nodes.Conditional():
            for part in (e.condition, e.then, e.other):
                yield from _cost(frame, part)
        case _:
            yield _DEAR


def _in_register(frame: Frame, e: nodes.Name) -> bool:
    symbol = e.symbol
    if symbol.value is not None or symbol.name == "warpSize" or symbol.key in frame.rules.constants:
        return not is_object(e.type)
    if symbol.storage not in ("local", "parameter") or is_object(symbol.type):
        return False
    return isinstance(frame.variable(symbol), LocalVariable)


def _is_float(type: tree.Type) -> bool:
    return isinstance(type, tree.Scalar) and type.kind == "float"


def _is_void(type: tree.Type) -> bool:
    return isinstance(type, tree.Scalar) and type.kind == "void"


# --- values


def _word(e: nodes.Binary) -> Construct:
    """Return what a branch is that && or || makes."""
    return "&&" if e.op == "&&" else "||"


def logical(frame: Frame, e: nodes.Binary) -> Result:
    """Lower a binary operator; && and || skip their right side."""
    if e.op not in ("&&", "||") or lanes_of(e.left.type) or lanes_of(e.right.type):
        return binary(frame, e)
    builder = frame.builder
    left = truth(builder, frame.scalar(e.left))
    if is_cheap(frame, e.right):
        op = "and" if e.op == "&&" else "or"
        with frame.skipping():
            right = truth(builder, frame.scalar(e.right))
        found: Operand = builder.emit(op, (left, right), I1)
        return convert_value(builder, found, BOOL, e.type)
    more, after, key = builder.fresh("also"), builder.fresh("joined"), _key(e)
    builder.write(key, left)
    ways = (more, after) if e.op == "&&" else (after, more)
    builder.end(Branch(left, *ways, span=builder.span, construct=_word(e)))
    builder.seal(more)
    builder.start(more)
    builder.write(key, truth(builder, frame.scalar(e.right)))
    builder.end(Jump(after, builder.span))
    builder.seal(after)
    builder.start(after)
    return convert_value(builder, builder.read(key, I1), BOOL, e.type)


def _key(e: nodes.Expr) -> tuple[str, int]:
    """Return a variable for the value of an expression that control decides; nodes live as long as the tree."""
    return "value", id(e)


def lower_conditional(frame: Frame, e: nodes.Conditional) -> Result:
    """Lower `condition ? then : other`."""
    builder = frame.builder
    if lanes_of(e.condition.type):
        return _chosen_lanes(frame, e)
    plain = not is_object(e.type) and not _is_void(e.type)
    if plain and is_cheap(frame, e.then) and is_cheap(frame, e.other):
        condition = truth(builder, frame.scalar(e.condition))
        with frame.skipping():
            one, two = frame.as_type(e.then, e.type), frame.as_type(e.other, e.type)
        return builder.emit("select", (condition, one, two), value_type(e.type))
    place = frame.temporary(e.type) if is_object(e.type) else None
    if isinstance(e.type, tree.Array):
        raise NotModeled("?: of arrays", e.span)
    then, other, after = builder.fresh("then"), builder.fresh("else"), builder.fresh("joined")
    branch(frame, e.condition, then, other, "?:")
    for block, arm in ((then, e.then), (other, e.other)):
        builder.seal(block)
        builder.start(block)
        if place is not None:
            initialize(frame, place, e.type, arm)
        elif plain:
            builder.write(_key(e), frame.as_type(arm, e.type))
        else:
            frame.value(arm)
        if not builder.ended:
            builder.end(Jump(after, builder.span))
    builder.seal(after)
    builder.start(after)
    if plain:
        return builder.read(_key(e), value_type(e.type))
    if place is not None and lanes_of(e.type):
        return frame.read_lanes(place, e.type)
    return place


def _chosen_lanes(frame: Frame, e: nodes.Conditional) -> tuple[Operand, ...]:
    """Lower ?: of vectors: both sides are evaluated, the top bit of each lane of the condition chooses."""
    builder, (element, own) = frame.builder, frame.lane_types(e.type)
    tests = [builder.emit("slt", (lane, Constant(lane.type, 0)), I1) for lane in frame.lanes(e.condition)]
    sides = [
        frame.lanes(side) if lanes_of(side.type) else (frame.as_type(side, element),) * len(tests)
        for side in (e.then, e.other)
    ]
    return tuple(builder.emit("select", row, own) for row in zip(tests, *sides, strict=True))
