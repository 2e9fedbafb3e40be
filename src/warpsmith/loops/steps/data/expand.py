"""Scalar and array expansion: see Expand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.analysis.extremes import wide, wide_expr
from warpsmith.loops.analysis.shape import find_marked
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import Linear, number, use
from warpsmith.loops.place import LoopContext
from warpsmith.loops.writing.copies import (
    find_declaration,
    find_declared_run,
    fits_in_array,
    make_storage,
    move_declaration,
    room_of,
    with_storage,
)
from warpsmith.loops.writing.expansion import Shape, count_of, origin_of, settles, shape_of, slots_of
from warpsmith.loops.writing.storage import Room, after, has_memory_functions, positive
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.legality.privacy import private_in, read_after
from warpsmith.poly.pointers.control import jumps
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Expr,
    ExprStmt,
    For,
    If,
    Index,
    Loop,
    Node,
    Stmt,
    While,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import LONG_LONG, Array, Pointer, Scalar, Symbol, Type
from warpsmith.tree.walk import rebuild, walk

__all__ = ["Expand"]


class Expand(Struct, frozen=True):
    """Give every iteration its own copy of a variable, in an array with one more dimension a loop.

    Legal where each iteration writes every element that it reads before it reads it (P. Feautrier, Array expansion,
    ICS 1988). What is needed after the loop is copied back from the last iteration. Where the memory cannot be had the
    program ends. A number that the body declares with a value is a variable of all iterations first: then the loop may
    be distributed behind its declaration. `above` loops around the loop, all counted, have the memory allocated before
    the outermost of them, once. Where malloc is not declared, a small constant number of copies is a local array.

    Step: loop=f/i variable=w depth=2

    Before:
        #include <stdlib.h>

        void f(int n, int m, double a[n][m])
        {
            double w;
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++) {
                    w = a[i][j] * 2.0;
                    a[i][j] = w * w;
                }
        }

    After:
        #include <stdlib.h>

        void f(int n, int m, double a[n][m])
        {
            double w;
            double *w_all = malloc((n > 0 && m > 0 ? (size_t)n * m : 1) * sizeof(double));
            if (!w_all)
                abort();
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++) {
                    w_all[(long long)i * m + j] = a[i][j] * 2.0;
                    a[i][j] = w_all[(long long)i * m + j] * w_all[(long long)i * m + j];
                }
            free(w_all);
        }
    """

    name: ClassVar[str] = "expand"

    loop: str
    variable: str
    depth: int = 1
    above: int = 0

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the variable is private to the iterations, and whether sizes can be written."""
        declared = find_declaration(LoopContext.of(program, self.loop), self.variable)
        if declared is not None:
            program = move_declaration(program, LoopContext.of(program, self.loop), declared)
            facts = facts.after(program)
        place = LoopContext.of(program, self.loop)
        shape = shape_of(place, self.variable, self.depth)
        if isinstance(shape, Reason):
            return Unknown((shape,))
        room = room_of(place, shape, self.above, checked=not settles(facts, place, shape))
        if isinstance(room, Reason):
            return Unknown((room,))
        stop = _obstacle(facts, place, (shape, room, self.above)) or _find_no_memory(place, room)
        if stop is not None:
            return Unknown((stop,))
        found: list[Proved] = []
        for chain in shape.chains:
            verdict = private_in(facts, place.function, chain.loops[-1], shape.symbol, entry=(place.require_counted(),))
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
        declared = find_declaration(LoopContext.of(program, self.loop), self.variable)
        if declared is not None:
            program = move_declaration(program, LoopContext.of(program, self.loop), declared)
        place = LoopContext.of(program, self.loop)
        shape = shape_of(place, self.variable, self.depth)
        assert not isinstance(shape, Reason), shape.text
        facts = Facts.about(program, PolyOptions())
        room = room_of(place, shape, self.above, checked=not settles(facts, place, shape))
        assert isinstance(room, Room), "the step was checked"
        loop, supply = place.require_counted(), Fresh.of(program)
        storage = make_storage(place.unit, supply, shape, room)
        new: list[Stmt] = [_expand_loop(loop, shape, storage)]
        if read_after(facts, place.function, loop, shape.symbol):
            new.append(_last_value(supply, loop, shape, storage))
        run = find_declared_run(place, moved=declared is not None)
        return with_storage(program, place, (run, tuple(new)), (storage, room, self.above))


def _find_no_memory(place: LoopContext, room: Room) -> Reason | None:
    if has_memory_functions(place.unit) or fits_in_array(room):
        return None
    text = "malloc is not declared in this file"
    return Reason("STP002", text, place.loop.header, legal_if=("#include <stdlib.h>",))


def _obstacle(facts: Facts, place: LoopContext, about: tuple[Shape, Room, int]) -> Reason | None:
    """Return another blocker."""
    shape, room, above = about
    header = place.loop.header
    outer = place.around[len(place.around) - above :] if above else ()
    if any(jumps(loop.body) for loop in outer):
        return Reason("STP002", "a loop around it may be left early, with the memory", header)
    if any(jumps(loop.body) for chain in shape.chains for loop in chain.loops):
        return Reason("STP002", "the loop may be left early", header)
    if any(find_marked(place.function, loop) is not None for loop in (place.loop, *outer)):
        return Reason("STP002", "a pragma tells the compiler about this loop", header, legal_if=("remove the pragma",))
    if not all(_in_block(place, loop) for loop in (place.loop, *outer[:1])):
        return Reason("STP002", "the loop stands where no statement can be put beside it", header)
    changed = facts.origin(place.function).effects(place.loop).direct_writes
    moving = [s for r in shape.covers for f in (r.low, r.high) for s in f.symbols if s in changed]
    changed = facts.origin(place.function).effects(outer[0]).direct_writes if outer else changed
    moving += [s for count in room.counts for s in count.symbols if s in changed]
    if moving:
        return Reason("STP002", f"{moving[0].name}, on which the size depends, changes in the loop", header)
    return None


def _in_block(place: LoopContext, loop: Loop) -> bool:
    """Whether a loop is a statement of a block, or all that a loop or branch runs."""
    for node in walk(place.function.body):
        match node:
            case Block(statements=statements) if any(s is loop for s in statements):
                return True
            case For(body=body) | While(body=body) if body is loop:
                return True
            case If(then=then, other=other) if then is loop or other is loop:
                return True
            case _:
                pass
    return False


def _expand_loop(loop: For, shape: Shape, storage: Symbol) -> For:
    """Return the loop with an element of the storage in place of every use."""
    places = {id(use.node): (use, chain) for use, chain in shape.uses}

    def change(node: Node) -> Node:
        found = places.get(id(node))
        if found is None:
            return node
        used, chain = found
        counters = [use(inner.variable, used.node.span) for inner in chain.loops]
        return _element(shape, storage, [*counters, *used.subscripts], used.node.span)

    return rebuild(loop, change)


def _element(shape: Shape, storage: Symbol, values: Sequence[Expr], span: Span) -> Index:
    """Return the element of the storage for the values of all dimensions."""
    slots = [_less(value, origin_of(r), span) for value, r in zip(values, shape.covers, strict=True)]
    total = slots[0]
    for slot, r in zip(slots[1:], shape.covers[1:], strict=True):
        if slots_of(r) == Linear((), 1):
            continue
        size = wide_expr(slots_of(r), span)
        row = Binary(span=span, type=LONG_LONG, op="*", left=wide(total), right=_sign(size))
        total = Binary(span=span, type=LONG_LONG, op="+", left=row, right=_sign(slot))
    return Index(span=span, type=shape.element, base=use(storage, span), index=total)


def _sign(expr: Expr) -> Expr:
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


def _last_value(supply: Fresh, loop: For, shape: Shape, storage: Symbol) -> Stmt:
    """Return the statement that gives the variable what the last iteration left."""
    span = after(loop.span)
    chain = shape.chains[0].loops
    last = [wide_expr(c.high if inner.step > 0 else c.low, span) for inner, c in zip(chain, shape.levels, strict=True)]
    counters = [supply.variable(f"e{k}", LONG_LONG, shape.symbol) for k in range(len(shape.dims))]
    target: Expr = use(shape.symbol, span)
    for counter in counters:
        target = Index(span=span, type=_inner(target.type), base=target, index=use(counter, span))
    value = _element(shape, storage, [*last, *(use(c, span) for c in counters)], span)
    body: Stmt = ExprStmt(span=span, expr=Assign(span=span, type=target.type, op="=", target=target, value=value))
    for counter, dim in reversed(list(zip(counters, shape.dims, strict=True))):
        body = For(
            span=span, variable=counter, declares=True, lower=number(0, span), relation="<",
            bound=wide_expr(dim.high.shift(1), span), step=1, body=body, header=span,
        )  # fmt: skip
    condition = positive(tuple(map(count_of, shape.levels)), span)
    return body if condition is None else If(span=span, condition=condition, then=body, other=None)


def _inner(type: Type) -> Type:
    return type.of if isinstance(type, Array) else type.to if isinstance(type, Pointer) else type
