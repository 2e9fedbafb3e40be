"""Scalar and array expansion: see Expand."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.extremes import Cover, cover_of, extreme, is_writable, number, whole, wide, wide_expr
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import Linear
from warpsmith.loops.place import Place, with_run
from warpsmith.loops.storage import Room, after, allocation, before, fresh, has_memory_functions, positive, release
from warpsmith.loops.storage import use as _use
from warpsmith.loops.uses import Chain, Use, chains, declared_in, element_of, uses, variable
from warpsmith.poly.analyze import Facts
from warpsmith.poly.control import jumps
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.privacy import private_in, read_after, writes_all
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Expr,
    ExprStmt,
    For,
    If,
    Index,
    Node,
    Stmt,
    While,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import LONG_LONG, Array, Pointer, Scalar, Symbol, Type
from warpsmith.tree.walk import children, loops, rebuild, walk, written_symbols

__all__ = ["Expand"]

# a counter that starts here or below keeps its value as its slot
_SMALL = 16


@dataclass(frozen=True, slots=True)
class Expand:
    """Give every iteration its own copy of a variable, in an array with one more dimension a loop.

    Legal where each iteration writes every element that it reads before it reads it (P. Feautrier, Array expansion,
    ICS 1988). What is needed after the loop is copied back from the last iteration. Where the memory cannot be had the
    program ends.

    Step: loop=f/i, variable=w

    Before:
        #include <stdlib.h>
        void f(int n, int m, double a[n][m])
        {
            for (int i = 0; i < n; i++)
                w = 0;
        }

    After:
    """

    name: ClassVar[str] = "expand"

    loop: str
    variable: str
    depth: int = 1

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the variable is private to the iterations, and whether sizes can be written."""
        place = Place.of(program, self.loop)
        shape = shape_of(place, self.variable, self.depth)
        if isinstance(shape, Reason):
            return Unknown((shape,))
        stop = _obstacle(facts, place, shape)
        if stop is not None:
            return Unknown((stop,))
        found: list[Proved] = []
        for chain in shape.chains:
            verdict = private_in(facts, place.function, chain.loops[-1], shape.symbol, entry=(place.counted(),))
            if not isinstance(verdict, Proved):
                return verdict
            found.append(verdict)
        if read_after(facts, place.function, place.loop, shape.symbol) and not settles(facts, place, shape):
            text = f"{shape.symbol.name} is needed after the loop, and the last iteration may not write all of it"
            remedy = f"every iteration writes the same elements of {shape.symbol.name}, under no condition"
            return Unknown((Reason("STP002", text, place.loop.header, legal_if=(remedy,)),))
        return Proved(tuple(dict.fromkeys(a for verdict in found for a in verdict.assumptions)))

    def apply(self, program: Program) -> Program:
        """Return the program with the variable expanded."""
        place = Place.of(program, self.loop)
        shape = shape_of(place, self.variable, self.depth)
        assert not isinstance(shape, Reason), shape.text
        facts = Facts.about(program, PolyOptions())
        room = Room(tuple(map(slots_of, shape.ranges)), tuple(map(count_of, shape.ranges)), checked=not settles(facts, place, shape))
        loop, span = place.counted(), place.loop.span
        name = fresh(program, f"{shape.symbol.name}_all")
        key = f"{place.unit.file.path}:{span.start}:{name}"
        storage = Symbol(name, key, Pointer(dataclasses.replace(shape.element, const=False)), "local")
        new = [*allocation(place.unit, storage, room, before(span)), _expanded(loop, shape, storage)]
        if read_after(facts, place.function, loop, shape.symbol):
            new += _last_value(program, place, shape, storage)
        return with_run(program, place.function, (loop,), (*new, release(storage, after(span))))


def _obstacle(facts: Facts, place: Place, shape: Shape) -> Reason | None:
    """Return what else stands in the way."""
    header = place.loop.header
    if any(jumps(loop.body) for chain in shape.chains for loop in chain.loops):
        return Reason("STP002", "the loop may be left early", header)
    if not _in_block(place):
        return Reason("STP002", "the loop stands where no statement can be put beside it", header)
    changed = facts.origin(place.function).effects(place.loop).direct_writes
    moving = [s for r in shape.ranges for f in (r.low, r.high) for s in f.symbols if s in changed]
    if moving:
        return Reason("STP002", f"{moving[0].name}, on which the size depends, changes in the loop", header)
    if not has_memory_functions(place.unit):
        help_text = ("#include <stdlib.h>",)
        return Reason("STP002", "malloc is not declared in this file", header, legal_if=help_text)
    return None


def _in_block(place: Place) -> bool:
    """Whether the loop is a statement of a block, or all that a loop or branch runs."""
    for node in walk(place.function.body):
        match node:
            case Block(statements=statements) if any(s is place.loop for s in statements):
                return True
            case For(body=body) | While(body=body) if body is place.loop:
                return True
            case If(then=then, other=other) if then is place.loop or other is place.loop:
                return True
            case _:
                pass
    return False


def _expanded(loop: For, shape: Shape, storage: Symbol) -> For:
    """Return the loop with an element of the storage in place of every use."""
    places = {id(use.node): (use, chain) for use, chain in shape.uses}

    def change(node: Node) -> Node:
        found = places.get(id(node))
        if found is None:
            return node
        use, chain = found
        counters = [use(inner.variable, use.node.span) for inner in chain.loops]
        return _element(shape, storage, [*counters, *use.subscripts], use.node.span)

    return rebuild(loop, change)


def _element(shape: Shape, storage: Symbol, values: Sequence[Expr], span: Span) -> Index:
    """Return the element of the storage for the values of all dimensions."""
    slots = [_less(value, origin_of(r), span) for value, r in zip(values, shape.ranges, strict=True)]
    total = slots[0]
    for slot, r in zip(slots[1:], shape.ranges[1:], strict=True):
        size = wide_expr(slots_of(r), span)
        row = Binary(span=span, type=LONG_LONG, op="*", left=wide(total), right=_signed(size))
        total = Binary(span=span, type=LONG_LONG, op="+", left=row, right=_signed(slot))
    return Index(span=span, type=shape.element, base=use(storage, span), index=total)


def _signed(expr: Expr) -> Expr:
    """Return an operand that keeps 64-bit arithmetic signed."""
    type = expr.type
    return wide(expr) if isinstance(type, Scalar) and type.kind == "unsigned" and type.bits == 64 else expr


def _less(value: Expr, origin: Linear, span: Span) -> Expr:
    if origin == Linear():
        return value
    if not origin.terms:
        op, size = ("-", origin.constant) if origin.constant > 0 else ("+", -origin.constant)
        return Binary(span=span, type=LONG_LONG, op=op, left=wide(value), right=number(size, span))
    return Binary(span=span, type=LONG_LONG, op="-", left=wide(value), right=wide_expr(origin, span))


def _last_value(program: Program, place: Place, shape: Shape, storage: Symbol) -> tuple[Stmt, ...]:
    """Return the statements that give the variable what the last iteration left."""
    span = after(place.loop.span)
    chain = shape.chains[0].loops
    last = [wide_expr(r.high if loop.step > 0 else r.low, span) for loop, r in zip(chain, shape.levels, strict=True)]
    counters: list[Symbol] = []
    for number_of in range(len(shape.dims)):
        name = fresh(program, f"e{number_of}", *(c.name for c in counters))
        counters.append(Symbol(name, f"{place.unit.file.path}:{span.start}:{name}", LONG_LONG, "local"))
    values = [*last, *(use(c, span) for c in counters)]
    target: Expr = use(shape.symbol, span)
    for counter in counters:
        target = Index(span=span, type=_inner(target.type), base=target, index=use(counter, span))
    value = _element(shape, storage, values, span)
    copy = ExprStmt(span=span, expr=Assign(span=span, type=target.type, op="=", target=target, value=value))
    body: Stmt = copy
    for counter, dim in reversed(list(zip(counters, shape.dims, strict=True))):
        body = For(
            span=span, variable=counter, declares=True, lower=number(0, span), relation="<",
            bound=wide_expr(dim.high.shifted(1), span), step=1, body=body, header=span,
        )  # fmt: skip
    condition = positive(tuple(map(count_of, shape.levels)), span)
    return (body if condition is None else If(span=span, condition=condition, then=body, other=None),)


def _inner(type: Type) -> Type:
    return type.of if isinstance(type, Array) else type.to if isinstance(type, Pointer) else type
