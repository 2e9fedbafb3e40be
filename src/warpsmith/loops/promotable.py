"""Numbers in memory that a loop reads and writes at one address, and what it takes to keep them in variables.

    for (i …) if (x[i] > 0) out[(*count)++] = x[i];         *count, at an address that does not change
    for (i …) { *sum += x[i]; y[i] = 0; }                   *sum, where it is none of the elements of y

Invariant: where the guards of a `Promotion` hold, the place may be read before the loop, nothing in the loop but its
nodes is there, and the store behind the loop is one that the loop makes too, or that nobody can tell from none.
Limits: counted loops that are left at their end or by break; calls that only compute; no text that is not modelled.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal as OneOf

from msgspec import Struct

from warpsmith.base.verdict import Reason
from warpsmith.loops.analysis.evaluation import KnownBefore
from warpsmith.loops.analysis.invariants import is_element, is_still
from warpsmith.loops.analysis.shape import find_marked
from warpsmith.loops.place import LoopContext
from warpsmith.poly.aliasing.unchanged import declared_below, disturbance, is_direct, loads, other_uses
from warpsmith.poly.analyze import Facts
from warpsmith.poly.dependences.iteration_values import only_computes
from warpsmith.poly.effects.origin import own_writes
from warpsmith.tree.memory.effective_types import keeps_types
from warpsmith.tree.nodes import (
    Assign,
    Call,
    DeviceNode,
    Expr,
    ExprStmt,
    For,
    Index,
    Member,
    Name,
    Node,
    Pragma,
    Return,
    Unary,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol, is_integer
from warpsmith.tree.walk import peel, same, walk

__all__ = ["Promotion", "judge_place", "promotable_places"]

_KINDS = ("signed", "unsigned", "float", "bool")
_SHARED = ("global", "static", "static local")


class Promotion(Struct, frozen=True):
    """A place and the `nodes` of a loop that name it; `others` are lvalues of the loop that must not be it.

    `conditions`: those under which it may be read before the loop, and without which the loop does not touch it.
    `known`: for that, the block of memory that holds it has to be known. `loaded`: the loop may read what was there.
    `stored`: behind the loop it is stored `always`, where it has `changed`, or where the loop has `noted` a store.
    """

    nodes: tuple[Expr, ...]
    others: tuple[Expr, ...]
    conditions: tuple[Expr, ...]
    known: bool
    loaded: bool
    stored: OneOf["always", "changed", "noted"]

    @property
    def place(self) -> Expr:
        """The place, as the user wrote it first."""
        return self.nodes[0]

    @property
    def type(self) -> Scalar:
        """The type of what is there."""
        type = self.place.type
        assert isinstance(type, Scalar), "a place holds a number"
        return type


def promotable_places(loop: For) -> tuple[Expr, ...]:
    """Return the numbers in memory that the loop stores to at an address that its text does not change."""
    own = declared_below(loop)
    moving = own.union(_find_assigned(loop))
    found: list[Expr] = []
    for place in _find_stored(loop.body):
        fixed = not any(isinstance(part, Name) and part.symbol in moving for part in list(loads(place))[1:])
        if fixed and _is_number(place) and is_still(place, own) and not any(same(place, old) for old in found):
            found.append(place)
    return tuple(found)


def judge_place(facts: Facts, place: LoopContext, wanted: Expr) -> Promotion | Reason:
    """Return what it takes to keep `wanted`, one of the places of the loop, in a variable, or why that cannot be."""
    loop = place.require_counted()
    stop = _find_obstacle(facts, place, loop, wanted)
    if stop is not None:
        return stop
    nodes = tuple(part for part in walk(loop) if isinstance(part, Expr) and same(part, wanted))
    others = tuple(other_uses(facts.origin(place.function), loop, wanted, typed=_is_typed(place)))
    met = next((other for other in others if not is_element(other, wanted)), None)
    if met is not None:
        return _refuse(f"{show_expression(met)} may be the same memory as {show_expression(wanted)}", met)
    return _judge_accesses(KnownBefore.of(facts, place.function, loop), loop, nodes, others)


def _judge_accesses(
    evidence: KnownBefore, loop: For, nodes: tuple[Expr, ...], others: tuple[Expr, ...]
) -> Promotion | Reason:
    wanted = nodes[0]
    # a plain assignment reads nothing
    written = {id(peel(part.target)) for part in walk(loop) if isinstance(part, Assign) and part.op == "="}
    loaded = any(id(node) not in written for node in nodes)
    certain = evidence.find_stored(wanted, nodes)
    if certain is not None:
        found = Promotion(nodes, others, certain, known=False, loaded=loaded, stored="always")
    elif not loaded:
        found = Promotion(nodes, others, (), known=False, loaded=False, stored="noted")
    else:
        safe = evidence.needs(wanted, nodes)
        # of floating-point numbers a comparison does not tell all values apart
        stored: OneOf["changed", "noted"] = "changed" if is_integer(wanted.type) else "noted"
        found = Promotion(nodes, others, safe or (), known=safe is None, loaded=True, stored=stored)
    read = next((c for c in found.conditions if not all(isinstance(part, Name) for part in loads(c))), None)
    if read is not None:
        return _refuse(f"whether {show_expression(wanted)} is used depends on memory: {show_expression(read)}", read)
    if found.stored == "noted" and not _are_statements(loop, wanted):
        return _refuse(f"{show_expression(wanted)} is stored to in the middle of an expression", wanted)
    return found


def _find_obstacle(facts: Facts, place: LoopContext, loop: For, wanted: Expr) -> Reason | None:
    """Return what forbids to leave the place in memory as it is while the loop runs, or None."""
    pragma = find_marked(place.function, loop) or next((n for n in walk(loop) if isinstance(n, Pragma)), None)
    if pragma is not None:
        return Reason(
            "STP002", "a pragma tells the compiler about this loop", pragma.span, legal_if=("remove the pragma",)
        )
    for part in walk(loop):
        text = _say_what_shows(facts, part)
        if text is not None:
            return _refuse(text, part)
        if isinstance(part, Unary) and part.op == "&" and same(peel(part.operand), wanted):
            return _refuse(f"the address of {show_expression(wanted)} is taken in the loop", part)
    origin = facts.origin(place.function)
    for load in list(loads(wanted))[1:]:
        if not isinstance(load, Name):
            return _refuse(f"where {show_expression(wanted)} is, is found in memory", load)
        moved = disturbance(origin, (loop,), load, typed=_is_typed(place))
        if moved is not None:
            return _refuse(f"where {show_expression(wanted)} is may change in the loop: {moved.text}", moved.node)
    return None


def _say_what_shows(facts: Facts, part: Node) -> str | None:
    """Return why other code may see memory at this node of a loop, or leaves the function there; or None."""
    if isinstance(part, Expr) and isinstance(part.type, Scalar) and part.type.volatile:
        return "the loop has volatile accesses"
    if isinstance(part, Return):
        return "the function may end in the loop"
    if isinstance(part, Verbatim | VerbatimExpr | DeviceNode):
        return "the loop has text that is not modelled"
    if isinstance(part, Call):
        given = any(isinstance(peel(a).type, Pointer | Array) for a in part.arguments)
        return "a call may see what is in memory" if given or not only_computes(part, facts.summaries) else None
    return None


def _find_assigned(loop: For) -> Iterator[Symbol]:
    """Yield the variables that the loop writes, or a part of them, in its own text; no pointer is followed."""
    for part in walk(loop):
        yield from own_writes(part)
        if isinstance(part, For):
            yield part.variable
        yield from (root for place in _find_stored_by(part) if (root := is_direct(place)) is not None)


def _find_stored(node: Node) -> Iterator[Expr]:
    """Yield the places that assignments, ++ and -- below `node` store to."""
    for part in walk(node):
        yield from _find_stored_by(part)


def _find_stored_by(part: Node) -> Iterator[Expr]:
    """Yield the place that a node itself stores to, if any."""
    if isinstance(part, Assign):
        yield peel(part.target)
    elif isinstance(part, Unary) and ("++" in part.op or "--" in part.op):
        yield peel(part.operand)


def _is_number(place: Expr) -> bool:
    """Whether a place is a number in memory: behind a pointer, a member, or a variable that other functions know."""
    if not isinstance(place.type, Scalar) or place.type.kind not in _KINDS or place.type.volatile:
        return False
    if isinstance(place, Name):
        return place.symbol.storage in _SHARED
    return isinstance(place, Member | Index) or (isinstance(place, Unary) and place.op == "*")


def _are_statements(loop: For, wanted: Expr) -> bool:
    """Whether every store to the place is a statement of its own."""
    whole = {id(peel(part.expr)) for part in walk(loop) if isinstance(part, ExprStmt)}
    stores = [part for part in walk(loop) if any(same(place, wanted) for place in _find_stored_by(part))]
    return all(id(part) in whole for part in stores)


def _is_typed(place: LoopContext) -> bool:
    return keeps_types(place.unit.arguments)


def _refuse(text: str, node: Node) -> Reason:
    return Reason("STP002", text, node.span)
