"""A parallel region of a team as what the team does, one thing after the other: phases of all threads, and loops and
branches around them that are the same in every thread.

    s[t] = a[t];                              Phase
    #pragma omp barrier
    for (int h = B / 2; h > 0; h /= 2) {      a loop of the team
        if (t < h) s[t] += s[t + h];              Phase
    #pragma omp barrier
    }

Invariant: run phase by phase, in each thread after thread, the region does what it does in one of the ways in which
OpenMP may run it; where no two threads of a phase meet in memory, that is what it does in all of them.
Limits: barriers inside what threads decide for themselves, or inside loops whose condition reads memory or what the
loop's body sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.front.teams.construct import NotReadError
from warpsmith.front.teams.copies import at_start
from warpsmith.front.teams.own import changes_in, is_pure, named_in
from warpsmith.tree.nodes import Assign, Block, DeclStmt, Expr, For, If, Name, Node, Pragma, Stmt, Unary, VarDecl, While
from warpsmith.tree.types import Pointer, Scalar, Symbol
from warpsmith.tree.walk import peel, walk

__all__ = ["Around", "BarrierMark", "Phase", "RegionPlan", "TeamItem", "make_plan"]


class Phase(Struct, frozen=True, eq=False):
    """What every thread does between two barriers."""

    statements: tuple[Stmt, ...]

    @property
    def span(self) -> Span:
        """From its first statement to its last one."""
        first, last = self.statements[0].span, self.statements[-1].span
        return Span(first.file, first.start, max(first.start, last.end))


class Around(Struct, frozen=True, eq=False):
    """A loop, a branch or a block with barriers inside: `arms` are what stands in it."""

    stmt: For | While | If | Block
    arms: tuple[tuple[TeamItem, ...], ...]


class BarrierMark(Struct, frozen=True, eq=False):
    """All threads have done what stands before, and nothing of what stands behind."""


TeamItem = Phase | Around | BarrierMark | DeclStmt
"""What a team does: a declaration is the team's own variable."""


class RegionPlan(Struct):
    """A region taken apart. `again`: the variables whose values follow from numbers, in order, with their declarations;
    `split`: those of a thread's own variables that several phases know, each an array of the team."""

    items: tuple[TeamItem, ...] = ()
    again: dict[Symbol, VarDecl] = field(default_factory=dict)
    split: dict[Symbol, VarDecl] = field(default_factory=dict)


def make_plan(body: Stmt, fixed: frozenset[Symbol], number: Symbol) -> RegionPlan:
    """Return a region of which every thread runs `body`; `number` is the variable that holds the thread's. `fixed`:
    what has one value all the time that the construct runs, the same in all threads. Raises NotReadError."""
    maker = _Maker(body, {number})
    plan = maker.plan
    items = maker.listed(body.statements if isinstance(body, Block) else (body,), fixed)
    plan.again = {**_said_again(items), **plan.again}
    plan.items = _without(items, plan.again)
    phases = [*_phases(plan.items)]
    for symbol, declaration in maker.kept.items():
        using = [phase for phase in phases if any(symbol in named_in(stmt) for stmt in _with_again(plan, phase))]
        if len(using) > 1 or (len(using) == 1 and not _declares(using[0], symbol)):
            plan.split[symbol] = declaration
    return plan


def _said_again(items: tuple[TeamItem, ...]) -> dict[Symbol, VarDecl]:
    """Return the declarations of a team that only threads use: they say them again, and nothing of them stands between
    the loops over teams and over threads."""
    own = {d.symbol: d for item in items if isinstance(item, DeclStmt) for d in item.declarations}
    heads = [part for item in _arounds(items) for part in _heads(item.stmt)]
    heads += [stmt for item in _arounds(items) for arm in item.arms for stmt in arm if isinstance(stmt, DeclStmt)]
    kept: set[Symbol] = set()
    pending = [s for part in heads for s in named_in(part)]
    pending += [s for s, d in own.items() if not isinstance(s.type, Scalar | Pointer) for s in (s, *named_in(d))]
    while pending:
        symbol = pending.pop()
        if symbol in own and symbol not in kept:
            kept.add(symbol)
            pending += named_in(own[symbol])
    return {symbol: declaration for symbol, declaration in own.items() if symbol not in kept}


def _arounds(items: tuple[TeamItem, ...]) -> Iterator[Around]:
    for item in items:
        if isinstance(item, Around):
            yield item
            for arm in item.arms:
                yield from _arounds(arm)


def _heads(stmt: For | While | If | Block) -> tuple[Node, ...]:
    match stmt:
        case For():
            return (stmt.lower, stmt.bound)
        case While():
            return tuple(part for part in (stmt.init, stmt.condition, stmt.advance) if part is not None)
        case If():
            return (stmt.condition,)
        case Block():
            return ()


def _without(items: tuple[TeamItem, ...], again: Mapping[Symbol, VarDecl]) -> tuple[TeamItem, ...]:
    """Return what a team does without the declarations that its threads say again."""
    return tuple(i for i in items if not (isinstance(i, DeclStmt) and i.declarations[0].symbol in again))


def _with_again(plan: RegionPlan, phase: Phase) -> tuple[Node, ...]:
    """Return a phase's statements, and the declarations that it needs said again."""
    return (*phase.statements, *(plan.again[s] for s in needed(plan, phase)))


def needed(plan: RegionPlan, phase: Phase) -> list[Symbol]:
    """Return the variables that follow from numbers and that a phase uses, in the order of their declarations."""
    found: set[Symbol] = set()
    pending = [s for stmt in phase.statements for s in named_in(stmt)]
    while pending:
        symbol = pending.pop()
        if symbol in plan.again and symbol not in found:
            found.add(symbol)
            pending += named_in(plan.again[symbol])
    return [symbol for symbol in plan.again if symbol in found]


def _declares(phase: Phase, symbol: Symbol) -> bool:
    own = (d for stmt in phase.statements if isinstance(stmt, DeclStmt) for d in stmt.declarations)
    return any(d.symbol == symbol for d in own)


def _phases(items: tuple[TeamItem, ...]) -> Iterator[Phase]:
    for item in items:
        if isinstance(item, Phase):
            yield item
        elif isinstance(item, Around):
            for arm in item.arms:
                yield from _phases(arm)


def _waits(node: Node) -> bool:
    return any(_is_barrier(part) for part in walk(node))


def _is_barrier(part: Node) -> bool:
    directive = part.directive if isinstance(part, Pragma) and not part.left_out else None
    return directive is not None and directive.words == ("barrier",)


def _end(found: list[TeamItem], phase: list[Stmt]) -> None:
    """Let a phase end, if it has a statement."""
    if any(not isinstance(stmt, Pragma) for stmt in phase):
        found.append(Phase(tuple(phase)))
    phase.clear()


class _Maker:
    """The walk over a region. `known`: the variables whose values follow from numbers; `kept`: the other ones that
    threads declare between barriers."""

    def __init__(self, body: Stmt, known: set[Symbol]) -> None:
        self.body = body
        self.plan = RegionPlan()
        self.known = known
        self.kept: dict[Symbol, VarDecl] = {}

    def listed(self, statements: tuple[Stmt, ...], same: frozenset[Symbol]) -> tuple[TeamItem, ...]:
        """Return what the statements of a block are for the team; `same`: what is the same in every thread there, and
        keeps its value."""
        found: list[TeamItem] = []
        phase: list[Stmt] = []
        before: list[Stmt] = []
        for stmt in statements:
            if _is_barrier(stmt) or _waits(stmt):
                _end(found, phase)
            if _is_barrier(stmt):
                found.append(BarrierMark())
            elif isinstance(stmt, Pragma):
                before.append(stmt)
                continue
            elif _waits(stmt):
                if any(isinstance(p, Pragma) and p.directive is not None and not p.left_out for p in before):
                    raise NotReadError("a pragma stands before what has a barrier in it", stmt.span)
                found.append(self._around(stmt, same))
            elif isinstance(stmt, DeclStmt):
                same = self._declared(stmt, same, found, phase)
            else:
                phase += [*before, stmt]
            before = []
        _end(found, phase)
        return tuple(found)

    def _declared(
        self, stmt: DeclStmt, same: frozenset[Symbol], found: list[TeamItem], phase: list[Stmt]
    ) -> frozenset[Symbol]:
        """Sort what a statement declares; return `same` with it."""
        for one in _apart(stmt):
            declared = one.declarations[0]
            if self._is_team(declared, same):
                same |= {declared.symbol}
                found.append(one)
            elif not self._is_known(declared, same):
                self.kept[declared.symbol] = declared
                phase.append(one)
        return same

    def _is_team(self, one: VarDecl, same: frozenset[Symbol]) -> bool:
        """Whether a variable is the same in every thread, for good."""
        if one.symbol.storage != "local":
            raise NotReadError(f"{one.symbol.name} is no variable of one thread", one.span)
        return one.init is not None and is_pure(one.init, same) and not any(changes_in(self.body, one.symbol))

    def _is_known(self, one: VarDecl, same: frozenset[Symbol]) -> bool:
        """Note a variable whose value follows from numbers; say whether it is one."""
        if not isinstance(one.symbol.type, Scalar | Pointer) or one.init is None:
            return False
        if not is_pure(one.init, same | self.known) or any(changes_in(self.body, one.symbol)):
            return False
        self.known.add(one.symbol)
        self.plan.again[one.symbol] = one
        return True

    def _around(self, stmt: Stmt, same: frozenset[Symbol]) -> Around:
        match stmt:
            case Block(statements=inner):
                return Around(stmt, (self.listed(inner, same),))
            case If(condition=test, then=then, other=other):
                self._same(test, same)
                arms = (then,) if other is None else (then, other)
                return Around(stmt, tuple(self.listed(_statements(arm), same) for arm in arms))
            case For(declares=True, lower=lower, bound=bound, variable=counter):
                self._same(lower, same)
                self._same(bound, same)
                return Around(stmt, (self.listed(_statements(stmt.body), same | {counter}),))
            case While(form="for", init=DeclStmt(declarations=(only,)), condition=test, advance=advance):
                counter = only.symbol
                moves = _moved(advance, counter)
                if only.init is None or test is None or moves is None or [*changes_in(stmt, counter)] != [moves[0]]:
                    raise NotReadError("a loop with a barrier in it has no counter that is the same in all threads",
                                       stmt.header)  # fmt: skip
                self._same(only.init, same)
                for part in (test, *moves[1]):
                    self._same(part, same | {counter})
                return Around(stmt, (self.listed(_statements(stmt.body), same | {counter}),))
            case _:
                raise NotReadError("a barrier stands in what is not known to be the same for all threads", stmt.span)

    def _same(self, expr: Expr, same: frozenset[Symbol]) -> None:
        if not is_pure(expr, same):
            raise NotReadError("whether threads meet a barrier depends on what may differ between them", expr.span)


def _moved(advance: Expr | None, counter: Symbol) -> tuple[Expr, tuple[Expr, ...]] | None:
    """Return what moves a loop on, and what the next value is made of."""
    move = peel(advance) if advance is not None else None
    if isinstance(move, Assign) and isinstance(target := peel(move.target), Name) and target.symbol == counter:
        return move, (move.value,)
    if isinstance(move, Unary) and move.op in ("++x", "--x", "x++", "x--"):
        target = peel(move.operand)
        return (move, ()) if isinstance(target, Name) and target.symbol == counter else None
    return None


def _statements(body: Stmt) -> tuple[Stmt, ...]:
    return body.statements if isinstance(body, Block) else (body,)


def _apart(stmt: DeclStmt) -> tuple[DeclStmt, ...]:
    """Return a statement for each variable that one declares."""
    if stmt.types:
        raise NotReadError("a type is declared between barriers", stmt.span)
    if len(stmt.declarations) == 1:
        return (stmt,)
    place = at_start(stmt.span)
    return tuple(DeclStmt(span=place, declarations=(replace(one, span=at_start(one.span), intact=False),))
                 for one in stmt.declarations)  # fmt: skip
