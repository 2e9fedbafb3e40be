"""The body of a thread that goes through loops together with others: the lanes of its warp, or a column of its block.

    s = lane == 0 ? s : -0.0;                        what was there before counts once
    for (j = lane; j < n; j += Lanes)
        s += A[i][j] * x[j];
    s = ws_warp_sum(s, Lanes);
    if (lane == 0)
        y[i] = s;

`Lanes` is 32, or 1 where a launch has short loops: then every thread has an iteration of its own, lane 0 is its only
one, and the text does what it did before. The threads of a column of a block say `row` and `Rows` in their place, and
wait at barriers; those past the last iteration go along with them, and store nothing (`inside`).

Invariant: where threads share loops, all of a warp, or of a block, come to each function that combines values and to
each wait together: nothing that lanes take a branch by differs between them, nor what threads of a block do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.offload.expressions import binary, name, number, wide
from warpsmith.offload.mapping.sharing.judged_loops import JudgedLoop, OneStore
from warpsmith.offload.values.reductions import Accumulator
from warpsmith.offload.values.updates import neutral
from warpsmith.tree.memory.shared_values import BLOCK_SYNC, WARP_SYNC, column_function, warp_function
from warpsmith.tree.nodes import (
    Assign,
    Block,
    Call,
    Cast,
    Conditional,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    If,
    Literal,
    Name,
    Stmt,
    VarDecl,
    While,
    replace,
)
from warpsmith.tree.types import INT, VOID, Symbol
from warpsmith.tree.walk import loops, names, peel, root_symbol, statements_of, walk

__all__ = ["SharingVariables", "write_shared"]


class SharingVariables(Struct, frozen=True):
    """The variables of the text: which thread it is (`rank`), of how many (`count`), for each loop whose counter could
    run over its end a wide one, and whether the thread has an iteration of the launch (`inside`; None: all that are
    here have one). Where it is given, threads of a column share loops, else lanes of a warp."""

    rank: Symbol
    count: Symbol
    wide: Mapping[For, Symbol]
    inside: Symbol | None = None


def write_shared(
    body: Stmt, shared: Sequence[JudgedLoop], stores: Sequence[OneStore], variables: SharingVariables
) -> Stmt:
    """Return a thread's body in which threads share loops, and one of them runs the `stores`."""
    return _without_last_wait(_Writer(body, shared, stores, variables).write(body))


def _without_last_wait(stmt: Stmt) -> Stmt:
    """Return a thread's body without a wait behind which it does nothing."""
    if isinstance(stmt, Block) and stmt.statements:
        *before, last = stmt.statements
        kept = () if _is_wait(last) else (_without_last_wait(last),)
        return replace(stmt, statements=(*before, *kept))
    if isinstance(stmt, If) and stmt.other is None:
        return replace(stmt, then=_without_last_wait(stmt.then))
    return stmt


def _is_wait(stmt: Stmt) -> bool:
    if not isinstance(stmt, ExprStmt) or not isinstance(stmt.expr, Call):
        return False
    function = stmt.expr.function
    return isinstance(function, Name) and function.symbol in (BLOCK_SYNC, WARP_SYNC)


class _Writer:
    def __init__(
        self, body: Stmt, shared: Sequence[JudgedLoop], stores: Sequence[OneStore], variables: SharingVariables
    ) -> None:
        self._shared = {id(one.loop): one for one in shared}
        by_lanes = {id(part) for one in shared if one.stores for part in walk(one.loop)}
        self._stores = {id(one.stmt): one for one in stores if id(one.stmt) not in by_lanes}
        self._variables, self._body = variables, body
        self._repeated = {loop for loop, around in loops(body) if around}
        inside = {id(use) for one in self._stores.values() for use in names(one.stmt)}
        self._read = {use.symbol for use in names(body) if id(use) not in inside}

    def write(self, stmt: Stmt) -> Stmt:
        """Return a statement with what is below it."""
        if id(stmt) in self._shared or id(stmt) in self._stores:
            written = self._list((stmt,))
            return written[0] if len(written) == 1 else Block(span=stmt.span, statements=tuple(written))
        if isinstance(stmt, Block):
            return replace(stmt, statements=tuple(self._list(stmt.statements)))
        if isinstance(stmt, If):
            other = None if stmt.other is None else self.write(stmt.other)
            return replace(stmt, then=self.write(stmt.then), other=other)
        return replace(stmt, body=self.write(stmt.body)) if isinstance(stmt, For | While) else stmt

    def _list(self, statements: Sequence[Stmt]) -> list[Stmt]:
        made: list[Stmt] = []
        group: list[OneStore] = []
        for at, stmt in enumerate(statements):
            if id(stmt) in self._stores:
                group.append(self._stores[id(stmt)])
                continue
            made += self._by_one_lane(group)
            group = []
            one = self._shared.get(id(stmt))
            made += [self.write(stmt)] if one is None else self._loop(one, statements[:at])
        return [*made, *self._by_one_lane(group)]

    def _by_one_lane(self, group: Sequence[OneStore]) -> list[Stmt]:
        if not group:
            return []
        span = group[0].stmt.span
        stores: tuple[Stmt, ...] = tuple(one.stmt for one in group)
        then = stores[0] if len(stores) == 1 else Block(span=span, statements=stores)
        first = binary("==", name(self._variables.rank, span), number(0, span), INT)
        if self._variables.inside is not None:
            first = binary("&&", first, name(self._variables.inside, span), INT)
        found: Stmt = If(span=span, condition=first, then=then, other=None)
        if not any(one.root in self._read for one in group):
            return [found]
        # other lanes read what is stored: not before it is there, and not late what was there before
        return [self._wait(span), found, self._wait(span)]

    def _loop(self, one: JudgedLoop, before: Sequence[Stmt]) -> list[Stmt]:
        starts = [self._start(each) for each in one.together if not _starts_neutral(each, before)]
        ends = [self._end(each) for each in one.together]
        counted = self._counted(one.loop)
        if one.stores and self._variables.inside is not None:
            span, inside = one.loop.span, self._variables.inside
            counted = If(span=span, condition=name(inside, span), then=counted, other=None)
        made = [*(start for start in starts if start is not None), counted, *ends]
        within = {id(use) for use in names(one.loop)}
        if not one.stores or (one.loop not in self._repeated and not self._is_used_outside(one.loop, within)):
            return made
        # what lanes store other lanes read before it, or behind it
        return [self._wait(one.loop.span), *made, self._wait(one.loop.span)]

    def _is_used_outside(self, loop: For, within: Collection[int]) -> bool:
        """Whether something else of the body names what a loop stores to."""
        stored = {root_symbol(part.target) for part in walk(loop.body) if isinstance(part, Assign)}
        return any(use.symbol in stored and id(use) not in within for use in names(self._body))

    def _wait(self, span: Span) -> Stmt:
        function = WARP_SYNC if self._variables.inside is None else BLOCK_SYNC
        return _call(function, (name(self._variables.count, span),), span)

    def _start(self, one: Accumulator) -> Stmt | None:
        """Return what leaves the value before the loop to one lane; values that combining changes nothing of stay."""
        if one.keeps:
            return None
        span = one.element.span
        first = binary("==", name(self._variables.rank, span), number(0, span), INT)
        value = Conditional(span=span, type=one.type, condition=first, then=one.element, other=neutral(one))
        return _assign(one.symbol, value, span)

    def _end(self, one: Accumulator) -> Stmt:
        span = one.element.span
        arguments = (one.element, name(self._variables.count, span))
        made = warp_function if self._variables.inside is None else column_function
        function = made(one.op, one.type)
        call = Call(span=span, type=one.type, function=name(function, span), arguments=arguments)
        return _assign(one.symbol, call, span)

    def _counted(self, loop: For) -> Stmt:
        span, counter, ahead = loop.span, loop.variable, self._variables.wide.get(loop)
        moved = counter if ahead is None else ahead
        rank = _times(name(self._variables.rank, span), loop.step)
        lower = loop.lower if ahead is None else wide(loop.lower)
        first = binary("+", lower, rank, moved.type)
        body: Stmt = loop.body
        if ahead is not None:
            value = Cast(span=span, type=counter.type, operand=name(ahead, span))
            given = _declare(counter, value, span) if loop.declares else _assign(counter, value, span)
            body = Block(span=span, statements=(given, *statements_of(loop.body)))
        declares = loop.declares or ahead is not None
        return While(
            span=span,
            form="for",
            init=_declare(moved, first, span) if declares else _assign(moved, first, span),
            condition=binary(loop.relation, name(moved, span), loop.bound, INT),
            advance=Assign(
                span=span,
                type=moved.type,
                op="+=",
                target=name(moved, span),
                value=_times(name(self._variables.count, span), loop.step),
            ),
            body=body,
            header=loop.header,
            reason="threads share it",
        )


def _starts_neutral(one: Accumulator, before: Sequence[Stmt]) -> bool:
    """Whether all lanes may begin with what the variable has: a statement in front of the loop gives it the value that
    changes nothing."""
    for stmt in reversed(before):
        if all(use.symbol != one.symbol for use in names(stmt)) and not _declares(stmt, one.symbol):
            continue
        given = _given(stmt, one.symbol)
        value = None if given is None else peel(given)
        wanted = 1 if one.op == "*" else 0
        return isinstance(value, Literal) and value.value == wanted
    return False


def _declares(stmt: Stmt, symbol: Symbol) -> bool:
    return isinstance(stmt, DeclStmt) and any(one.symbol == symbol for one in stmt.declarations)


def _given(stmt: Stmt, symbol: Symbol) -> Expr | None:
    if isinstance(stmt, DeclStmt):
        return next((one.init for one in stmt.declarations if one.symbol == symbol), None)
    if isinstance(stmt, ExprStmt) and isinstance(inner := peel(stmt.expr), Assign) and inner.op == "=":
        return inner.value
    return None


def _declare(symbol: Symbol, value: Expr, span: Span) -> Stmt:
    return DeclStmt(span=span, declarations=(VarDecl(span=span, symbol=symbol, init=value),))


def _assign(symbol: Symbol, value: Expr, span: Span) -> Stmt:
    expr = Assign(span=span, type=symbol.type, op="=", target=name(symbol, span), value=value)
    return ExprStmt(span=span, expr=expr)


def _times(expr: Expr, step: int) -> Expr:
    return expr if step == 1 else binary("*", number(step, expr.span), expr, INT)


def _call(function: Symbol, arguments: tuple[Expr, ...], span: Span) -> Stmt:
    call = Call(span=span, type=VOID, function=name(function, span), arguments=arguments)
    return ExprStmt(span=span, expr=call)
