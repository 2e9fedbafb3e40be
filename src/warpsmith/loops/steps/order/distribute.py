"""Loop distribution: see Distribute.

    for (i) { S; T; U; }    →    for (i) { S; }  for (i) { T; U; }

Invariant: each statement of the body stands in exactly one of the new loops, all of which run over the old range.
`complete` finds the finest grouping that the dependences allow: first the places where the text can be cut as it
stands (each place is legal or not on its own), then, inside a piece that cannot be cut, a set of statements that may
run before the others. A strongly connected component of the dependence graph is never cut.

Limits: inside a piece, sets are tried for at most four statements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import ClassVar

import msgspec.structs
from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Reason, Refuted, Unknown, Verdict
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.shape import (
    does_not_fit,
    find_restraint,
    refuse_uncounted,
    statements,
    unrepeatable,
    wrong_value,
)
from warpsmith.loops.analysis.substitute import copy_tree, with_symbols
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.poly.analyze import Facts
from warpsmith.poly.legality.legality import keeps_order
from warpsmith.poly.legality.privacy import private_in
from warpsmith.poly.legality.schedules import Schedule, at, counter
from warpsmith.tree.nodes import (
    Block,
    DeclStmt,
    Empty,
    For,
    Pragma,
    Stmt,
    VarDecl,
    Verbatim,
    VerbatimExpr,
    replace,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import Array, Scalar, Symbol
from warpsmith.tree.walk import names, walk, written_symbols

__all__ = ["Distribute"]

_MOST = 4

Groups = tuple[tuple[int, ...], ...]


class Distribute(Struct, frozen=True):
    """Make several loops of one, each with a part of the body.

    Legal where no dependence runs from a later part to an earlier one (Allen, Kennedy: Optimizing Compilers for Modern
    Architectures, 2.4.2). `order` lists the statements of the body, numbered from 0, as they shall stand (left out: as
    they do); `groups` are the positions in that order at which a new loop starts (left out: every statement has its
    own).

    Step: loop=f/i

    Before:
        void f(int n, double *restrict a, double *restrict b)
        {
            for (int i = 0; i < n; i++) {
                a[i] = 2 * a[i];
                b[i] = b[i] + 1;
            }
        }

    After:
        void f(int n, double *restrict a, double *restrict b)
        {
            for (int i = 0; i < n; i++) {
                a[i] = 2 * a[i];
            }
            for (int i = 0; i < n; i++)
                b[i] = b[i] + 1;
        }
    """

    name: ClassVar[str] = "distribute"
    loop: str
    groups: tuple[int, ...] = ()
    order: tuple[int, ...] = ()

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Judge the grouping."""
        place = LoopContext.of(program, self.loop)
        loop = place.loop
        if not isinstance(loop, For):
            return refuse_uncounted(loop)
        stop = find_restraint(facts, place.function, loop) or unrepeatable(facts, place.function, loop)
        if stop is not None:
            return stop
        groups = self._groups(loop)
        if isinstance(groups, Unknown):
            return groups
        shared = _find_shared(loop, groups)
        if shared is not None:
            text = f"{shared.name} is declared in the body and used in more than one of its parts"
            return does_not_fit(text, loop, f"expand={self.loop},variable={shared.name}")
        verdict = keeps_order(facts, place.function, (loop,), _schedules(loop, groups))
        if isinstance(verdict, Refuted):
            return Refuted(tuple(self._hint_grouping(facts, place, groups, reason) for reason in verdict.reasons))
        return names_hold(self, program, self.loop, verdict)

    def apply(self, program: Program) -> Program:
        """Return the program with a loop for each group."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        groups = self._groups(loop)
        if isinstance(groups, Unknown):
            raise ValueError(groups.reasons[0].text)
        return with_run(program, place.function, (loop,), _pieces(program, loop, groups))

    def complete(self, program: Program, facts: Facts) -> Distribute:
        """Return the step with the finest legal grouping written out; itself where groups are given already."""
        place = LoopContext.of(program, self.loop)
        loop = place.loop
        if not isinstance(loop, For) or self.groups or self.order:
            return self
        if find_restraint(facts, place.function, loop) is not None or len(_doing(loop)) < 2:
            return self
        groups = _finest(_doing(loop), lambda g: _is_legal(facts, place, loop, g))
        if len(groups) < 2:
            return self
        body = statements(loop.body)
        order = _with_quiet(body, [k for group in groups for k in group])
        starts = tuple(order.index(group[0]) for group in groups[1:])
        return msgspec.structs.replace(self, groups=starts, order=() if order == sorted(order) else tuple(order))

    def _hint_grouping(self, facts: Facts, place: LoopContext, groups: Groups, reason: Reason) -> Reason:
        """Add what would make the grouping legal: a scalar of which each iteration has its own, where that suffices."""
        loop = place.require_counted()
        if reason.dependence is None or reason.legal_if:
            return reason
        wanted = reason.dependence.variable
        symbol = next((n.symbol for n in names(loop.body) if n.symbol.name == wanted), None)
        if symbol is None or not isinstance(symbol.type, Scalar):
            return reason
        apart = keeps_order(facts, place.function, (loop,), _schedules(loop, groups), frozenset({symbol}))
        private = private_in(facts, place.function, loop, symbol)
        if not isinstance(apart, Proved) or not isinstance(private, Proved):
            return reason
        return msgspec.structs.replace(reason, legal_if=(f"expand={self.loop},variable={wanted}",))

    def _groups(self, loop: For) -> Groups | Unknown:
        """Return the groups as numbers of statements; what does nothing by itself is left out."""
        doing = _doing(loop)
        count = len(statements(loop.body))
        if len(doing) < 2:
            return does_not_fit(f"the body of the {loop.variable.name} loop is a single statement", loop)
        order = self.order or tuple(range(count))
        if sorted(order) != list(range(count)):
            text = f"order={':'.join(map(str, order))} does not list the statements 0 to {count - 1}, each once"
            return wrong_value(text, loop)
        starts = self.groups or tuple(range(1, count))
        if list(starts) != sorted(set(starts)) or not all(0 < start < count for start in starts):
            text = f"groups={':'.join(map(str, starts))} are not rising positions between 1 and {count - 1}"
            return wrong_value(text, loop)
        ends = (*starts, count)
        pieces = [order[a:b] for a, b in zip((0, *starts), ends, strict=True)]
        groups = tuple(found for piece in pieces if (found := tuple(k for k in piece if k in doing)))
        return groups if len(groups) > 1 else wrong_value("these groups leave the loop as it is", loop)


def _doing(loop: For) -> list[int]:
    """Return the numbers of the statements that do something; a declaration without a value goes where it is used."""
    return [k for k, stmt in enumerate(statements(loop.body)) if not _is_quiet(stmt)]


def _is_quiet(stmt: Stmt) -> bool:
    if isinstance(stmt, DeclStmt):
        return all(d.init is None and d.symbol.storage == "local" and _is_fixed(d.symbol) for d in stmt.declarations)
    return isinstance(stmt, Empty | Pragma)


def _is_fixed(symbol: Symbol) -> bool:
    """Whether the variable's type does not depend on where its declaration stands."""
    type = symbol.type
    while isinstance(type, Array):
        if type.count is None:
            return False
        type = type.of
    return True


def _with_quiet(body: Sequence[Stmt], order: list[int]) -> list[int]:
    """Return `order` with the numbers of quiet statements put in before the statement that follows them in the text."""
    result: list[int] = []
    quiet = [k for k in range(len(body)) if k not in order]
    for number in order:
        result += [k for k in quiet if k < number and k not in result and not set(range(k, number)) & set(order)]
        result.append(number)
    return result + [k for k in quiet if k not in result]


def _find_shared(loop: For, groups: Groups) -> Symbol | None:
    """Return a variable declared at the top of the body that more than one group names."""
    body = statements(loop.body)
    declared = [d.symbol for s in body if isinstance(s, DeclStmt) for d in s.declarations]
    for symbol in declared:
        users = [g for g in groups if any(_names(body[k], symbol) for k in g)]
        if len(users) > 1:
            return symbol
    return None


def _names(stmt: Stmt, symbol: Symbol) -> bool:
    for part in walk(stmt):
        if isinstance(part, Verbatim | VerbatimExpr) and symbol in (*part.reads, *part.writes):
            return True
        if isinstance(part, VarDecl) and (part.symbol == symbol or _is_measured_by(part.symbol, symbol)):
            return True
    return any(n.symbol == symbol for n in names(stmt))


def _is_measured_by(declared: Symbol, symbol: Symbol) -> bool:
    type = declared.type
    while isinstance(type, Array):
        if type.extent is not None and any(n.symbol == symbol for n in names(type.extent)):
            return True
        type = type.of
    return False


# --- legality


def _schedules(loop: For, groups: Groups) -> dict[Stmt, Schedule]:
    body = statements(loop.body)
    turn = counter(loop.variable, 1 if loop.step > 0 else -1)
    schedules: dict[Stmt, Schedule] = {}
    for number, group in enumerate(groups):
        for position, k in enumerate(group):
            schedules[body[k]] = (at(number), turn, at(position))
    return schedules


def _is_legal(facts: Facts, place: LoopContext, loop: For, groups: Groups) -> bool:
    if _find_shared(loop, groups) is not None or _is_tied(loop, groups):
        return False
    return isinstance(keeps_order(facts, place.function, (loop,), _schedules(loop, groups)), Proved)


def _is_tied(loop: For, groups: Groups) -> bool:
    """Whether a statement reads a scalar that one of another group writes, and does not write it: then each iteration's
    value has to be read before the next one is written, and the groups cannot run one after another."""
    body = statements(loop.body)
    written = {k: {s for s in written_symbols(body[k]) if isinstance(s.type, Scalar)} for g in groups for k in g}
    changed = set().union(*written.values())
    read = {k: {n.symbol for n in names(body[k])} & changed - written[k] for k in written}
    group_of = {k: number for number, group in enumerate(groups) for k in group}
    return any(read[b] & written[a] for a in written for b in written if group_of[a] != group_of[b])


def _finest(doing: Sequence[int], legal: Callable[[Groups], bool]) -> Groups:
    """Return the finest legal grouping of the statements `doing`."""
    cuts = [k for k in range(1, len(doing)) if legal((tuple(doing[:k]), tuple(doing[k:])))]
    ends = [*cuts, len(doing)]
    pieces = [tuple(doing[a:b]) for a, b in zip((0, *cuts), ends, strict=True)]
    done: list[tuple[int, ...]] = []
    for number, piece in enumerate(pieces):
        rest = [k for later in pieces[number + 1 :] for k in later]
        done += _split_piece(piece, done, rest, legal)
    return tuple(done)


def _split_piece(
    piece: tuple[int, ...], before: Sequence[tuple[int, ...]], after: Sequence[int], legal: Callable[[Groups], bool]
) -> list[tuple[int, ...]]:
    """Cut a piece that the text does not allow to cut: find statements in it that may run before the others."""
    if 1 < len(piece) <= _MOST:
        for size in range(1, len(piece)):
            for first in combinations(piece, size):
                if first == piece[:size]:
                    continue  # the text cannot be cut there
                others = tuple(k for k in piece if k not in first)
                tail = (tuple(after),) if after else ()
                if legal((*before, first, others, *tail)):
                    return [first, *_split_piece(others, [*before, first], after, legal)]
    return [piece]


# --- rewriting


def _pieces(program: Program, loop: For, groups: Groups) -> tuple[Stmt, ...]:
    """Return the new loops; the first one is what the old loop becomes, the others are new text."""
    fresh = Fresh.of(program)
    body = statements(loop.body)
    made: list[Stmt] = []
    for number, group in enumerate(groups):
        chosen = _with_declarations(body, group, groups, first=number == 0)
        if number == 0:
            inside: Stmt = replace(loop.body, statements=chosen) if isinstance(loop.body, Block) else chosen[0]
            made.append(replace(loop, body=inside))
        else:
            made.append(_another(loop, chosen, fresh))
    return tuple(made)


def _with_declarations(
    body: Sequence[Stmt], group: tuple[int, ...], groups: Groups, *, first: bool
) -> tuple[Stmt, ...]:
    """Return the statements of a group, behind the declarations without a value of what they use."""
    chosen: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, DeclStmt) and _is_quiet(stmt):
            kept = tuple(d for d in stmt.declarations if any(_names(body[k], d.symbol) for k in group))
            unused = tuple(
                d for d in stmt.declarations if not any(_names(body[k], d.symbol) for g in groups for k in g)
            )
            mine = (*kept, *unused) if first else kept
            if mine:
                chosen.append(stmt if mine == stmt.declarations else replace(stmt, declarations=mine))
        elif isinstance(stmt, Pragma) and first:
            chosen.append(stmt)
    return (*chosen, *(body[k] for k in group))


def _another(loop: For, chosen: tuple[Stmt, ...], fresh: Fresh) -> For:
    """Return a loop with the header of `loop` around other statements; its counter is its own where it declares it."""
    span = Span(loop.span.file, min(s.span.start for s in chosen), max(s.span.end for s in chosen))
    body = (
        chosen[0] if len(chosen) == 1 and not isinstance(chosen[0], DeclStmt) else Block(span=span, statements=chosen)
    )
    new = For(
        span=span,
        variable=loop.variable,
        declares=loop.declares,
        lower=copy_tree(loop.lower),
        relation=loop.relation,
        bound=copy_tree(loop.bound),
        step=loop.step,
        body=body,
        header=loop.header,
    )
    if not loop.declares:
        return new
    return with_symbols(new, {loop.variable: fresh.again(loop.variable)})
