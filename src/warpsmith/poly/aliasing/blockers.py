"""Constructs that make a whole loop unanalyzable: the model cannot hold them. Each has its rule and its place."""

from __future__ import annotations

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.poly.aliasing.asynchronous_writes import find_asynchronous_writes
from warpsmith.poly.effects.library import describe_as, sets_what_is_read
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.nodes import (
    Block,
    Break,
    Call,
    Case,
    DeviceNode,
    For,
    If,
    Loop,
    Node,
    Return,
    Stmt,
    Switch,
    Verbatim,
    VerbatimExpr,
    While,
)
from warpsmith.tree.types import Scalar
from warpsmith.tree.walk import children, walk

__all__ = ["blocker", "find_unmodeled"]


def blocker(origin: Origin, loop: Loop) -> Reason | None:
    """Return why nothing can be said of `loop`, or None."""
    if isinstance(loop, While):
        text = loop.reason or "its iterations are not counted by a canonical counter"
        return Reason("POR008", f"not a counted loop: {text}", loop.header)
    construct = _constructs(origin, loop)
    if construct is not None:
        return construct
    early = _break(loop.body)
    if early is not None:
        return Reason("POR008", "the loop may be left early by break", early.span)
    return _effects(origin, loop, loop.header) or _find_hidden(origin, loop) or find_asynchronous_writes(origin, loop)


def find_unmodeled(origin: Origin, stmt: Stmt) -> Reason | None:
    """Return what keeps `stmt` from being run in another order, or None; leaving its loops early does not. An assertion
    does: what stands behind it may be valid only where it holds."""
    return _constructs(origin, stmt) or _effects(origin, stmt, stmt.span) or _find_assertion(origin, stmt)


def _constructs(origin: Origin, stmt: Stmt) -> Reason | None:
    reasons = (_construct(node) or _recursion(origin, node) for node in walk(stmt))
    return next((reason for reason in reasons if reason is not None), None)


def _effects(origin: Origin, stmt: Stmt, span: Span) -> Reason | None:
    done = origin.effects(stmt)
    if not (done.calls_unknown or done.io or done.allocates):
        return None
    return Reason(
        "POR006",
        done.reason or "it calls a function whose effects are not known",
        done.span or span,
        legal_if=_remedies(origin, done.span) if done.calls_unknown else ("move the call out of the loop",),
    )


def _find_assertion(origin: Origin, stmt: Stmt) -> Reason | None:
    if not origin.effects(stmt).asserts:
        return None
    return Reason("POR006", "an assertion in it may end the program", stmt.span)


def _remedies(origin: Origin, place: Span | None) -> tuple[str, ...]:
    """Return what to do about a call of a function that is not known, which stands at `place`."""
    give = "give the function's source, or move the call out of the loop"
    for function in origin.summaries.definitions.values():
        if place is not None and function.span.contains(place):
            for node in walk(function):
                name = direct_call(node) if isinstance(node, Call) and node.span == place else None
                if isinstance(node, Call) and name is not None and origin.summaries.library(node) is None:
                    return (give, f"or say what it does, in a file for --effects:\n{describe_as(node, name)}")
    return (give,)


def _find_hidden(origin: Origin, loop: Loop) -> Reason | None:
    """Return the call that sets a hidden variable (errno) which the function of the loop reads."""
    for node in walk(loop.body):
        known = origin.summaries.library(node) if isinstance(node, Call) else None
        variable = sets_what_is_read(known, origin.function) if known is not None else ""
        if known is not None and variable:
            text = f"{known.name} may set {variable}, which {origin.function.symbol.name} reads"
            return Reason("POR006", text, node.span, legal_if=(f"read {variable} in another function",))
    return None


def _recursion(origin: Origin, node: Node) -> Reason | None:
    callee = direct_call(node) if isinstance(node, Call) else None
    if callee is None or callee not in origin.summaries.definitions or not origin.summaries.is_recursive(callee):
        return None
    return Reason("POR008", f"{callee.name} is recursive", node.span, legal_if=("write the recursion as a loop",))


def _construct(node: Node) -> Reason | None:
    match node:
        case Return():
            return Reason("POR008", "the loop may be left early by return", node.span)
        case Verbatim(reason=reason) | VerbatimExpr(reason=reason):
            return Reason("POR008", f"a construct that is not modelled: {reason}", node.span)
        case DeviceNode():
            return Reason("POR008", "a part of the loop runs on the device already", node.span)
        case _:
            type = getattr(node, "type", None)
            if isinstance(type, Scalar) and type.volatile:
                return Reason("POR008", "a volatile object is accessed", node.span)
            return None


def _break(body: Node) -> Node | None:
    """Return a break that belongs to the loop with this body."""
    stack = [body]
    while stack:
        node = stack.pop()
        if isinstance(node, Break):
            return node
        if isinstance(node, Block | If | Case) and not isinstance(node, Switch | For | While):
            stack += list(children(node))
    return None
