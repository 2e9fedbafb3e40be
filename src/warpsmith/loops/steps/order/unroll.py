"""Unrolling: see Unroll.

    for (i = 0; i < n; i++) S(i);   →   for (i = 0; i < n - n % 4; i += 4) { S(i); S(i + 1); S(i + 2); S(i + 3); }
                                        for (i = n - n % 4; i < n; i++) S(i);

Invariant: the main loop's bound is reached exactly, so its counter cannot pass the old bound, and no i + 3 is past it.
Where n lies below the first value, n % 4 of C is not positive and both loops are empty; a first value other than 0 is
tested instead. Unsigned arithmetic never goes below zero.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Unknown, Verdict
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.shape import (
    compares_plainly,
    does_not_fit,
    find_restraint,
    refuse_uncounted,
    trip_count,
    unrepeatable,
    wrong_value,
)
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import Linear, number, use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.writing.pieces import choice, compare_copies, instance, once_more, plus, typed_number, unchangeable
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import Binary, Block, Cast, Empty, Expr, For, Stmt, replace
from warpsmith.tree.program import Program
from warpsmith.tree.types import INT, LONG_LONG, Scalar, common_type

__all__ = ["Unroll"]

_MOST = 64


class Unroll(Struct, frozen=True):
    """Write out several iterations of a loop, one after another, in each turn of it.

    Always legal, as no iteration changes its place. `factor` iterations are written out, and a second loop does those
    that are left over; factor=0 writes out a whole loop of at most 64 iterations.

    Step: loop=f/i factor=2

    Before:
        void f(int n, double *a)
        {
            for (int i = 0; i < n; i++)
                a[i] = 2 * a[i];
        }

    After:
        void f(int n, double *a)
        {
            for (int i = 0; i < n - n % 2; i += 2) {
                a[i] = 2 * a[i];
                a[i + 1] = 2 * a[i + 1];
            }
            for (int i = n - n % 2; i < n; i++)
                a[i] = 2 * a[i];
        }
    """

    name: ClassVar[str] = "unroll"
    loop: str
    factor: int

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the iterations can be written out."""
        place = LoopContext.of(program, self.loop)
        loop = place.loop
        if not isinstance(loop, For):
            return refuse_uncounted(loop)
        stop = find_restraint(facts, place.function, loop) or unrepeatable(facts, place.function, loop)
        stop = stop or unchangeable(loop) or self._misfit(loop)
        return stop or names_hold(self, program, self.loop, Proved())

    def apply(self, program: Program) -> Program:
        """Return the program with iterations written out."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        fresh = Fresh.of(program)
        new = _whole(loop, fresh) if self.factor == 0 else _partly(loop, self.factor, fresh)
        return with_run(program, place.function, (loop,), new)

    def _misfit(self, loop: For) -> Unknown | None:
        trips = trip_count(loop)
        if self.factor == 0:
            if trips is None:
                return does_not_fit(f"how often the {loop.variable.name} loop runs is not a number", loop, "factor=4")
            if trips > _MOST:
                return does_not_fit(f"the loop runs {trips} times, more than {_MOST}", loop, "factor=4")
            return None
        if not 2 <= self.factor <= _MOST:
            return wrong_value(f"factor={self.factor}: 2 to {_MOST} iterations can be written out, or 0 for all", loop)
        if loop.step < 0 or loop.relation == "!=" or not compares_plainly(loop):
            name = loop.variable.name
            return does_not_fit(f"the {name} loop does not count up to its bound without conversions", loop)
        if loop.relation == "<=" and not _is_signed(loop):
            return does_not_fit(f"the counter {loop.variable.name} may pass its bound and wrap around", loop)
        if _main_end(loop, self.factor) is None:
            return does_not_fit("the number of iterations cannot be computed without overflow", loop)
        return None


def _is_signed(loop: For) -> bool:
    return isinstance(loop.variable.type, Scalar) and loop.variable.type.kind == "signed"


def _whole(loop: For, fresh: Fresh) -> tuple[Stmt, ...]:
    """Return all iterations; nothing but an empty statement where there are none."""
    lower = Linear.of(loop.lower)
    start, trips = (lower.constant if lower is not None else 0), trip_count(loop) or 0
    written: list[Stmt] = []
    for turn in range(trips):
        value = typed_number(start + turn * loop.step, loop.variable.type, loop)
        written += instance(loop, value, fresh)
    return tuple(written) or (Empty(span=loop.span),)


def _partly(loop: For, factor: int, fresh: Fresh) -> tuple[Stmt, ...]:
    """Return the loop with `factor` iterations a turn, and the loop over the rest."""
    end = _main_end(loop, factor)
    if end is None:
        raise ValueError("the number of iterations cannot be computed")
    turns: list[Stmt] = [*_first(loop)]
    for turn in range(1, factor):
        turns += instance(loop, plus(use(loop.variable, loop.header), turn * loop.step), fresh)
    span = loop.body.span
    body = replace(loop.body, statements=tuple(turns)) if isinstance(loop.body, Block) else None
    main = replace(
        loop,
        relation="<",
        bound=copy_tree(end),
        step=factor * loop.step,
        body=body or Block(span=span, statements=tuple(turns)),
    )
    trips = trip_count(loop)
    # By larger steps the last turn may end past the bound: the main loop stops before it.
    if trips is not None and trips % factor == 0 and loop.step == 1:
        return (main,)
    rest = replace(once_more(loop, fresh), lower=copy_tree(end))
    return main, rest


def _first(loop: For) -> tuple[Stmt, ...]:
    """Return the body as it is; what it declares stays in a block of its own."""
    if not isinstance(loop.body, Block):
        return (loop.body,)
    plain = not any(type(s).__name__ == "DeclStmt" for s in loop.body.statements)
    return loop.body.statements if plain else (replace(loop.body),)


def _main_end(loop: For, factor: int) -> Expr | None:
    """Return one past the last value that the main loop covers: past - (past - lower) % (factor * step)."""
    span, whole = loop.header, factor * loop.step
    lower = Linear.of(loop.lower)
    start = None if lower is None else lower.number
    counter = loop.variable.type
    if start is None or not isinstance(counter, Scalar):
        return _wide_end(loop, whole)
    past = loop.bound if loop.relation == "<" else plus(loop.bound, 1)
    bound = Linear.of(loop.bound)
    if bound is not None and bound.number is not None:
        last = bound.number + (loop.relation == "<=")
        return number(last - max(0, last - start) % whole, span)
    if start < 0:
        return _wide_end(loop, whole)
    if loop.relation == "<=" and start == 1:
        length: Expr = loop.bound
    else:
        length = plus(past, -start)
    end = _minus(past, _rest(length, whole, span), span)
    if start == 0 or (start == 1 and loop.relation == "<="):
        return end
    return choice(compare_copies(loop.lower, loop.relation, loop.bound), end, loop.lower)


def _wide_end(loop: For, whole: int) -> Expr | None:
    """Return the same in long long, for a first value that may be anything of 32 bits."""
    sides = [getattr(end.type, "bits", 64) for end in (loop.lower, loop.bound)]
    if max(*sides, getattr(loop.variable.type, "bits", 64)) > INT.bits:
        return None
    span = loop.header
    low, bound = (Cast(span=span, type=LONG_LONG, operand=copy_tree(end)) for end in (loop.lower, loop.bound))
    past = plus(bound, 1 if loop.relation == "<=" else 0)
    length = _minus(past, low, span)
    return choice(
        compare_copies(loop.lower, loop.relation, loop.bound), _minus(past, _rest(length, whole, span), span), low
    )


def _rest(length: Expr, whole: int, span: Span) -> Expr:
    return Binary(
        span=span, type=common_type(length.type, INT), op="%", left=copy_tree(length), right=number(whole, span)
    )


def _minus(left: Expr, right: Expr, span: Span) -> Expr:
    return Binary(
        span=span, type=common_type(left.type, right.type), op="-", left=copy_tree(left), right=copy_tree(right)
    )
