"""Loop normalization: see Normalize.

    for (i = 0; i < n; i += 2 * len) {        k: the number of the iteration
        for (j = 0; j < len; j++)
            a[i + j] …                        a[k * (2 * len) + j]: row 2 k of len columns, column j
    }

Invariant: the loop runs the same iterations in the same order, with the same value of its counter in each and behind
it, wherever the guards hold (loops/strided_loops.py).
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Unknown, Verdict
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.shape import does_not_fit, find_marked, jump, movable_bounds, statements, steady
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import number, use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.strided_loops import Strided, strided_header
from warpsmith.loops.writing.storage import after, before
from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.origin import own_writes
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.regions.satisfiable import is_always_positive
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Conditional,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    Function,
    Literal,
    Name,
    Stmt,
    VarDecl,
    While,
    replace,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import INT, Symbol
from warpsmith.tree.walk import names, peel, same, walk

__all__ = ["Normalize"]


class Normalize(Struct, frozen=True):
    """Count the iterations of a loop whose step is a variable, so that it becomes a counted loop.

    Legal for loops that count up or down by a value that does not change while they run, as first value and bound do
    not. That the step is positive, and that nothing wraps around on the way, is tested before the loop where it is not
    known. The counter is computed from the number of the iteration, inside the loops that are alone in the body.

    Step: loop=f/for

    Before:
        void f(int n, int len, double *a)
        {
            for (int i = 0; i < n; i += 2 * len)
                for (int j = 0; j < len; j++)
                    a[i + j] += a[i + j + len];
        }

    After:
        void f(int n, int len, double *a)
        {
            for (int i_k = 0; i_k < ((long long)n + 2 * len - 1) / (2 * len); i_k++)
                for (int j = 0; j < len; j++) {
                    int i = i_k * (2 * len);
                    a[i + j] += a[i + j + len];
                }
        }
    """

    name: ClassVar[str] = "normalize"

    loop: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the iterations can be counted before the loop, and what has to be tested there."""
        place = LoopContext.of(program, self.loop)
        loop = place.loop
        header = strided_header(loop) if isinstance(loop, While) else None
        if header is None or not isinstance(loop, While):
            return does_not_fit("the loop does not count by a step that is a variable", loop)
        stop = _obstacle(facts, place.function, loop, header)
        if stop is not None:
            return stop
        positive = is_always_positive(place.function, loop, header.step, facts.options, facts.summaries)
        guards = header.guards(before(loop.header), positive=positive)
        if guards and not facts.options.guards:
            return does_not_fit("a test before the loop is not allowed", loop)
        return names_hold(self, program, self.loop, Proved(guards))

    def apply(self, program: Program) -> Program:
        """Return the program with a counted loop."""
        place = LoopContext.of(program, self.loop)
        loop, function = place.loop, place.function
        header = strided_header(loop) if isinstance(loop, While) else None
        assert header is not None and isinstance(loop, While)
        work = _Work(Fresh.of(program), Facts.about(program, PolyOptions()).liveness(function).after[loop])
        count = work.supply.variable(f"{header.variable.name}_k", header.count_type, header.variable)
        body = _with_counter(loop.body, header, count, work)
        counted = For(
            span=loop.span, variable=count, declares=True, lower=number(0, loop.header), relation="<",
            bound=header.trips(loop.header), step=1, body=body, header=loop.header,
        )  # fmt: skip
        new: list[Stmt] = [counted]
        if (
            not header.declares
            and header.variable in Facts.about(program, PolyOptions()).liveness(function).after[loop]
        ):
            new.append(_restore(header, loop))
        return with_run(program, function, (loop,), tuple(new))


def _obstacle(facts: Facts, function: Function, loop: While, header: Strided) -> Unknown | None:
    """Return what forbids to count the iterations, or None."""
    symbol = header.variable
    if symbol in facts.origin(function).hidden or symbol.storage not in ("local", "parameter"):
        return does_not_fit(f"{symbol.name} may be read or changed elsewhere", loop)
    if any(symbol in own_writes(n) or (isinstance(n, For) and n.variable == symbol) for n in walk(loop.body)):
        return does_not_fit(f"{symbol.name} is written in the body", loop)
    left = jump(loop.body)
    if left is not None:
        return does_not_fit("an iteration may be left early", left)
    pragma = find_marked(function, loop)
    if pragma is not None:
        return does_not_fit("a pragma tells the compiler about this loop", pragma, "remove the pragma")
    for end in header.ends:
        trial = For(
            span=loop.span, variable=symbol, declares=False, lower=end, relation="<", bound=end, step=1, body=loop.body,
            header=loop.header,
        )  # fmt: skip
        if movable_bounds(trial, divisions=end is not header.step) is not None:
            return does_not_fit("the step or a bound is more than numbers and plain variables", end)
        if not steady(facts, function, end, loop):
            return does_not_fit(f"{' '.join(end.span.text.split())} may change in the loop", end)
    return None


def _with_counter(body: Stmt, header: Strided, count: Symbol, work: _Work) -> Stmt:
    """Return the body with the counter's value set in front of it: inside the loop that is alone in it, where that does
    not read the counter in its header, or only to begin there."""
    inner = statements(body)[0] if len(statements(body)) == 1 else None
    if isinstance(inner, For):
        if not any(n.symbol == header.variable for e in _header(inner) for n in names(e)):
            return replace(inner, body=_with_counter(inner.body, header, count, work))
        rebased = _from_zero(inner, header, work)
        if rebased is not None:
            return replace(rebased, body=_with_counter(rebased.body, header, count, work))
    return Block(span=body.span, statements=(_set_counter(header, count, body.span), *statements(body)))


class _Work(Struct, frozen=True):
    """Where new variables come from, and which variables are read behind the loop."""

    supply: Fresh
    live: frozenset[Symbol]


def _from_zero(inner: For, header: Strided, work: _Work) -> For | None:
    """Return `for (j = i; j < i + m; j++)` as a loop from 0 to m that sets j first; None for any other loop.

    Where it is unsigned, m is a part of the step, so that i + m does not wrap around."""
    length = _length(inner, header)
    counter = inner.variable
    if length is None or counter in work.live or counter.type != header.type:
        return None
    if any(counter in own_writes(n) for n in walk(inner.body)):
        return None
    span = before(inner.body.span)
    count = work.supply.variable(f"{counter.name}_k", counter.type, counter)
    value = Binary(
        span=span, type=header.type, op="+", left=use(header.variable, span), right=use(count, span)
    )  # fmt: skip
    first = _declare(counter, value, span) if inner.declares else _assign(counter, value, span)
    body = Block(span=inner.body.span, statements=(first, *statements(inner.body)))
    return replace(inner, variable=count, declares=True, lower=number(0, inner.header), bound=length, body=body)


def _length(inner: For, header: Strided) -> Expr | None:
    """Return m where the loop runs from the counter i to i + m."""
    start, end = peel(inner.lower), peel(inner.bound)
    plain = inner.relation == "<" and inner.step == 1 and isinstance(start, Name) and start.symbol == header.variable
    if not plain or not isinstance(end, Binary) or end.op != "+" or end.type != header.type:
        return None
    sides = (end.left, end.right)
    others = [b for a, b in (sides, sides[::-1]) if isinstance(n := peel(a), Name) and n.symbol == header.variable]
    if len(others) != 1 or any(n.symbol in (header.variable, inner.variable) for n in names(others[0])):
        return None
    return others[0] if header.type.kind == "signed" or _is_part(others[0], header.step) else None


def _is_part(part: Expr, step: Expr) -> bool:
    """Whether a step is written as `m`, `2 * m`, `m * 2`, `m << 1` or `m + m`."""
    part, step = peel(part), peel(step)
    if same(part, step):
        return True
    if not isinstance(step, Binary):
        return False
    left, right = peel(step.left), peel(step.right)
    if step.op == "*":
        return any(same(a, part) and isinstance(b, Literal) and b.value == 2 for a, b in ((left, right), (right, left)))
    if step.op == "+":
        return same(left, part) and same(right, part)
    return step.op == "<<" and same(left, part) and isinstance(right, Literal) and right.value == 1


def _header(loop: For) -> tuple[Expr, Expr]:
    return loop.lower, loop.bound


def _set_counter(header: Strided, count: Symbol, span: Span) -> Stmt:
    span = before(span)
    value = header.value(use(count, span), span)
    return _declare(header.variable, value, span) if header.declares else _assign(header.variable, value, span)


def _restore(header: Strided, loop: While) -> Stmt:
    """Return the statement that gives the counter the value that the loop leaves it with."""
    span = after(loop.span)
    some = Binary(span=span, type=INT, op=">", left=header.trips(span), right=number(0, span))
    end = header.value(header.trips(span), span)
    value = Conditional(span=span, type=end.type, condition=some, then=end, other=copy_tree(header.first))
    return _assign(header.variable, value, span)


def _declare(symbol: Symbol, value: Expr, span: Span) -> Stmt:
    return DeclStmt(span=span, declarations=(VarDecl(span=span, symbol=symbol, init=value),))


def _assign(symbol: Symbol, value: Expr, span: Span) -> Stmt:
    target = use(symbol, span)
    return ExprStmt(span=span, expr=Assign(span=span, type=symbol.type, op="=", target=target, value=value))
