"""Counted loops in place of loops that walk: see Canonicalize.

    for (p = a; p != end; ++p)        for (p_k = 0; p_k < end - a; p_k++)
        if (*p == x)                      if (a[p_k] == x)
            break;                            break;
                                      p += p_k;

Invariant: iteration k of the new loop does what iteration k of the old one does, and is left where that is left; behind
it every variable has the value that it has behind the old one, wherever the guards hold (loops/walking_loops.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.shape import does_not_fit, find_marked, steady
from warpsmith.loops.analysis.substitute import fixed_text
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.walk_starts import Starts, is_plain
from warpsmith.loops.walking_loops import WalkingLoop, read_walk
from warpsmith.loops.writing.counted_walks import Counted, count_walk
from warpsmith.loops.writing.storage import after, before
from warpsmith.loops.writing.walked import find_twice, left_at, write_value, write_walked
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Break,
    Continue,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    If,
    Name,
    Stmt,
    Unary,
    VarDecl,
    Verbatim,
    While,
    replace,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import INT, Pointer, Scalar, Symbol
from warpsmith.tree.walk import names, peel, walk, written_symbols

__all__ = ["Canonicalize"]


class Canonicalize(Struct, frozen=True):
    """Make a counted loop of one whose variables move by numbers until one of them meets a bound.

    Legal where every iteration moves them alike and the bound does not change. Pointers become subscripts of what they
    start from; what else must hold for the loop to go on leaves it in front of the body. That a walk with != does not
    start behind its end is tested before the loop where it is not known.

    Step: loop=f/for

    Before:
        void f(int n, const float *a, float *b)
        {
            const float *end = a + n;
            for (const float *p = a; p < end; ++p)
                *b++ = 2.0f * *p;
        }

    After:
        void f(int n, const float *a, float *b)
        {
            const float *end = a + n;
            for (long long p_k = 0; p_k < n; p_k++)
                b[p_k] = 2.0f * a[p_k];
        }
    """

    name: ClassVar[str] = "canonicalize"

    loop: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the iterations can be counted before the loop, and what has to be tested there."""
        place = LoopContext.of(program, self.loop)
        loop = place.loop
        if not isinstance(loop, While):
            return does_not_fit("the loop is counted as it stands", loop)
        hidden = facts.origin(place.function).hidden
        found = read_walk(loop, hidden)
        if isinstance(found, Reason):
            return Unknown((found,))
        stop = _obstacle(facts, place, loop, found)
        if stop is not None:
            return Unknown((stop,))
        counted = count_walk(found, _starts(place, loop, found, hidden), Fresh.of(program))
        if isinstance(counted, Reason):
            return Unknown((counted,))
        if counted.guards and not facts.options.guards:
            return does_not_fit("a test before the loop is not allowed", loop)
        return names_hold(self, program, self.loop, Proved(counted.guards))

    def apply(self, program: Program) -> Program:
        """Return the program with a counted loop."""
        place = LoopContext.of(program, self.loop)
        loop = place.loop
        assert isinstance(loop, While)
        facts = Facts.about(program, PolyOptions())
        hidden = facts.origin(place.function).hidden
        found = read_walk(loop, hidden)
        assert not isinstance(found, Reason)
        counted = count_walk(found, _starts(place, loop, found, hidden), Fresh.of(program))
        assert not isinstance(counted, Reason)
        new = _write(loop, found, counted, _live(facts, place, loop, found))
        return with_run(program, place.function, (loop,), new)


def _starts(place: LoopContext, loop: While, found: WalkingLoop, hidden: frozenset[Symbol]) -> Starts:
    return Starts(place, found.setup, hidden)


def _live(facts: Facts, place: LoopContext, loop: While, found: WalkingLoop) -> frozenset[Symbol]:
    """Return the walkers that are read behind the loop."""
    late = {n.symbol for stmt in found.last for n in names(stmt)}
    return frozenset(s for s in found.steps if s in late or s in facts.liveness(place.function).after[loop])


def _obstacle(facts: Facts, place: LoopContext, loop: While, found: WalkingLoop) -> Reason | None:
    """Return what forbids to write the loop in another form, or None."""
    pragma = find_marked(place.function, loop)
    if pragma is not None:
        return Reason(
            "STP002", "a pragma tells the compiler about this loop", pragma.span, legal_if=("remove the pragma",)
        )
    fixed = fixed_text(loop, frozenset(found.steps))
    if fixed is not None:
        return Reason("STP002", "a variable that moves is named where it must stay", fixed.span)
    odd = next((n for n in walk(loop) if isinstance(n, Verbatim) and n.control), None)
    if odd is not None:
        return Reason("STP002", "the loop may be left or entered in a way that is not known", odd.span)
    quotient = found.bound.expr if found.bound.tests else None
    ends = (quotient.left, quotient.right) if isinstance(quotient, Binary) else (found.bound.expr,)
    if not all(map(is_plain, ends)):
        return Reason("STP002", "its bound is more than numbers and plain variables", found.bound.expr.span)
    if not _is_steady(facts, place, loop, found):
        return Reason("STP002", "its bound may change in the loop", found.bound.expr.span)
    return find_twice(found.body) or _uneven(found, _live(facts, place, loop, found))


def _is_steady(facts: Facts, place: LoopContext, loop: While, found: WalkingLoop) -> bool:
    """Whether the bound keeps its value while the loop runs."""
    hidden = facts.origin(place.function).hidden
    declared = {symbol for stmt in found.setup for symbol in _declared(stmt)}
    again = [part for part in (loop.condition, loop.body, loop.advance) if part is not None]
    for name in names(found.bound.expr):
        symbol = name.symbol
        if isinstance(symbol.type, Pointer) or symbol in declared:
            own = symbol.storage in ("local", "parameter") and symbol not in hidden
            if not own or any(symbol in written_symbols(part) for part in again):
                return False
        elif isinstance(symbol.type, Scalar) and not steady(facts, place.function, name, loop):
            return False
    return True


def _uneven(found: WalkingLoop, live: frozenset[Symbol]) -> Reason | None:
    """Return where an iteration is left with some moves made and others not, where that can be seen; or None."""
    tested = {found.bound.walker: found.bound.moves}
    whole: dict[Symbol, int] = dict(tested)
    for _, ahead in left_at((*found.body, *(Continue(span=found.bound.expr.span),)), tested, Continue):
        whole = ahead
    for stmt, ahead in left_at(found.body, tested, Continue):
        if any(ahead.get(s, 0) != whole.get(s, 0) for s in found.steps):
            return Reason("STP002", "an iteration may be left by continue before all moves are made", stmt.span)
    for stmt, ahead in left_at(found.body, tested, Break):
        odd = next((s for s in sorted(live, key=lambda s: s.key) if ahead.get(s, 0) != tested.get(s, 0)), None)
        if odd is not None:
            return Reason("STP002", f"{odd.name} is read behind the loop, which is left after a move of it", stmt.span)
    if found.last and any(True for _ in left_at(found.body, tested, Break)):
        return Reason("STP002", "the loop is left in more than one place", found.last[0].span)
    return None


def _write(loop: While, found: WalkingLoop, counted: Counted, live: frozenset[Symbol]) -> tuple[Stmt, ...]:
    """Return the counted loop, with what stands in front of it and behind it."""
    moved = {found.bound.walker: found.bound.moves}
    span = before(loop.body.span)
    tests = tuple(_leave(test, span) for test in found.goes_on)
    run = write_walked((*tests, *found.body), counted.places, moved)
    restored = tuple(_restore(found, counted, live, after(loop.span)))
    own = counted.counter in found.steps
    local = any(counted.counter in _declared(s) for s in found.setup)
    declares = local and not _names_any(found.last, {counted.counter}) if own else not restored
    body = run[0] if len(run) == 1 else Block(span=loop.body.span, statements=run)
    place = before(loop.header)
    new = For(
        span=loop.span, variable=counted.counter, declares=declares, lower=counted.lower, relation=counted.relation,
        bound=counted.bound, step=counted.step, body=body, header=loop.header,
    )  # fmt: skip
    behind = (new, *restored, *found.last)
    front = [s for s in found.setup if not _is_spare(s, (*found.setup, *counted.setup, *behind), new, live)]
    scoped = any(isinstance(s, DeclStmt) for s in front)
    if not own and not declares:
        front.append(DeclStmt(span=place, declarations=(VarDecl(span=place, symbol=counted.counter, init=None),)))
    whole = (*front, *counted.setup, *behind)
    # what is declared in a header is known in the loop alone
    if scoped:
        return (Block(span=loop.span, statements=whole),)
    return whole


def _declared(stmt: Stmt) -> set[Symbol]:
    return {d.symbol for d in stmt.declarations} if isinstance(stmt, DeclStmt) else set()


def _names_any(run: tuple[Stmt, ...], symbols: set[Symbol]) -> bool:
    return any(n.symbol in symbols for stmt in run for n in names(stmt))


def _is_spare(stmt: Stmt, users: tuple[Stmt, ...], loop: For, live: frozenset[Symbol]) -> bool:
    """Whether what sets one variable in front of the loop is not needed: the loop sets it, or nobody reads it."""
    if isinstance(stmt, DeclStmt):
        declared = stmt.declarations[0]
        symbol, value = declared.symbol, declared.init
        if loop.variable == symbol:
            return loop.declares
    else:
        inner = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
        target = peel(inner.target) if isinstance(inner, Assign) and inner.op == "=" else None
        if not isinstance(inner, Assign) or not isinstance(target, Name):
            return False
        symbol, value = target.symbol, inner.value
    if value is not None and not is_plain(value):
        return False
    if symbol == loop.variable:
        return True
    others = tuple(user for user in users if user is not stmt)
    return symbol not in live and not _names_any(others, {symbol})


def _leave(test: Expr, span: Span) -> Stmt:
    """Return `if (!test) break;`."""
    bare = peel(test)
    if isinstance(bare, Binary) and bare.op in ("==", "!="):
        against: Expr = replace(bare, op="!=" if bare.op == "==" else "==")
    else:
        against = Unary(span=span, type=INT, op="!", operand=test)
    return If(span=span, condition=against, then=Break(span=span), other=None)


def _restore(found: WalkingLoop, counted: Counted, live: frozenset[Symbol], span: Span) -> Iterator[Stmt]:
    """Yield what gives the walkers the values that they have behind the loop."""
    for symbol in sorted(live, key=lambda s: s.key):
        moves = found.bound.moves if symbol == found.bound.walker else 0
        if symbol == counted.counter and not moves:
            continue
        value = write_value(symbol, counted.ends[symbol], moves, span)
        op, first = "=", value.left if isinstance(value, Binary) and value.op in ("+", "-") else None
        if isinstance(value, Binary) and isinstance(first, Name) and first.symbol == symbol:
            op, value = f"{value.op}=", value.right
        assigned = Assign(span=span, type=symbol.type, op=op, target=use(symbol, span), value=value)
        yield ExprStmt(span=span, expr=assigned)
