"""Choices one behind the other that a region of the user's has become, as one choice in front of that region.

    if (switched on) {                                        begin
        u = g->u; begin                                       u = g->u; v = g->v;                          lead
        if (apart(u, p)) k1 else for (…) u[i] = p[i]          if (switched on && apart(u, p) && apart(v, p)) { k1; k2 }
        v = g->v;                                        →    else
        if (apart(v, p)) k2 else for (…) v[i] = p[i]              #pragma omp parallel
        end                                                       { … }
    } else                                                    end
        #pragma omp parallel
        { #pragma omp for … }

Invariant: where all tests hold, the kernels run in their order; elsewhere the user's region runs as he wrote it, and
does what the statements beside the kernels do. What a later choice reads of the host's memory, the region does not
store to: it may be read in front of all.

Limits: between the choices stand declarations of the port's own and the bounds of a data region, and nothing else; the
statements of the region call nothing; a build for the referee, which records what each loop wrote, keeps its choices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from warpsmith.emit.host.outline.guarded.guards import guards_of
from warpsmith.emit.host.outline.guarded.joined import Joined, join_tests
from warpsmith.emit.host.outline.guarded.once import branches
from warpsmith.emit.host.outline.model import GuardTest
from warpsmith.emit.host.outline.runs import Runs
from warpsmith.emit.host.outline.statements import is_of_all, loaded_types, uses
from warpsmith.tree.in_place.versioned import SWITCHED
from warpsmith.tree.memory.effective_types import apart, stored_types
from warpsmith.tree.nodes import (
    Binary,
    Block,
    Call,
    DataRegionBoundary,
    DeclStmt,
    DeviceNode,
    If,
    Node,
    Stmt,
    Update,
    VerbatimExpr,
)
from warpsmith.tree.types import INT
from warpsmith.tree.walk import walk, written_symbols

__all__ = ["Bounded", "join_sequence"]

Run = tuple[Stmt, ...]


class Bounded(Struct, frozen=True):
    """One choice, and the data region around it: what `begins` and `ends` it."""

    begins: Run
    joined: Joined
    ends: Run


class _Piece(Struct, frozen=True):
    """A choice, what the port declares before it, and the host's statements in its place between `updates`."""

    declared: tuple[DeclStmt, ...]
    joined: Joined
    updates: tuple[Run, Run]


def join_sequence(stmt: If, runs: Runs) -> Bounded | None:
    """Return one choice for those that stand one behind the other where a port is switched on; None where `stmt` is
    not made of such, or a later test needs what an earlier kernel wrote."""
    ported, original = branches(stmt)
    if stmt.reasons != (SWITCHED,) or not runs.is_for_the_host(original) or any(map(runs.leaves, original)):
        return None
    begins, run, ends = _without_bounds(tuple(_flat(ported)))
    pieces = _pieces(run, runs)
    if not pieces or not _may_stand_in_front(pieces, original, runs):
        return None
    fallback = _fallback(pieces, original)
    return None if fallback is None else Bounded(begins, _joined(stmt, pieces, fallback), ends)


def _flat(run: Run) -> Iterator[Stmt]:
    for stmt in run:
        if isinstance(stmt, Block):
            yield from _flat(stmt.statements)
        else:
            yield stmt


def _without_bounds(run: Run) -> tuple[Run, Run, Run]:
    """Return the run without the data region that all its choices stand in, and what begins and ends that."""
    bounds = [n for n, stmt in enumerate(run) if isinstance(stmt, DataRegionBoundary)]
    if len(bounds) != 2:
        return (), run, ()
    first, last = (run[n] for n in bounds)
    leading = all(isinstance(stmt, DeclStmt) for stmt in run[: bounds[0]])
    if not (leading and bounds[1] == len(run) - 1 and _is_plain(first) and _is_plain(last)):
        return (), run, ()
    return (first,), (*run[: bounds[0]], *run[bounds[0] + 1 : -1]), (last,)


def _is_plain(stmt: Stmt) -> bool:
    return isinstance(stmt, DataRegionBoundary) and not (stmt.guard or stmt.flag or stmt.lasting or stmt.callers)


def _pieces(run: Run, runs: Runs) -> tuple[_Piece, ...]:
    """Return the choices of a run; none where something else stands in it."""
    found: list[_Piece] = []
    declared: list[DeclStmt] = []
    for stmt in run:
        if isinstance(stmt, DeclStmt) and runs.leaves(stmt):
            declared.append(stmt)
            continue
        if not (isinstance(stmt, If) and stmt.reasons and stmt.other is not None):
            return ()
        joined = join_tests(stmt, runs)
        updates = _updates(branches(joined.choice)[1])
        if updates is None or joined.lead:
            return ()
        found.append(_Piece(tuple(declared), joined, updates))
        declared.clear()
    return () if declared else tuple(found)


def _updates(run: Run) -> tuple[Run, Run] | None:
    """Return the updates in front of the host's statements and those behind; None where they have more for the
    device."""
    own = [n for n, stmt in enumerate(run) if not isinstance(stmt, Update)]
    if not own or any(isinstance(part, DeviceNode) for stmt in run[own[0] : own[-1] + 1] for part in walk(stmt)):
        return None
    return run[: own[0]], run[own[-1] + 1 :]


def _may_stand_in_front(pieces: Iterable[_Piece], original: Run, runs: Runs) -> bool:
    """Whether what the tests of later choices read is the same in front of the first one."""
    region = Block(span=original[0].span, statements=original)
    stores, assigned = stored_types(region), written_symbols(region)
    if stores is None:
        return False
    for piece in [*pieces][1:]:
        tests = (guard.condition for guard in piece.joined.guards if guard.condition is not None)
        needed = (one for guard in piece.joined.guards for one in guard.before)
        read: tuple[Node, ...] = (*piece.declared, *needed, *tests)
        if any(isinstance(part, Call | VerbatimExpr) for one in read for part in walk(one)):
            return False
        if any(uses(one)[symbol] for one in read for symbol in assigned):
            return False
        loads = [type for one in read for type in loaded_types(one, runs.exposed)]
        if loads and not (runs.typed and all(apart(load, store) for load in loads for store in stores)):
            return False
    return True


def _fallback(pieces: Iterable[_Piece], original: Run) -> Run | None:
    """Return the user's region with updates of everything around it; None where the choices have others."""
    leading = [one.updates[0] for one in pieces if one.updates[0]]
    trailing = [one.updates[1] for one in pieces if one.updates[1]]
    if not (_are_of_all(leading) and _are_of_all(trailing)):
        return None
    return (*(leading[0] if leading else ()), *original, *(trailing[0] if trailing else ()))


def _are_of_all(updates: Sequence[Run]) -> bool:
    """Whether these are all one and the same update of everything."""
    return all(len(run) == 1 and is_of_all(run[0]) for run in updates) and len({_way(run[0]) for run in updates}) < 2


def _way(stmt: Stmt) -> tuple[bool, bool]:
    assert isinstance(stmt, Update)
    return stmt.to_device, stmt.block


def _joined(stmt: If, pieces: tuple[_Piece, ...], fallback: Run) -> Joined:
    """Return the choice of all pieces, with what they declare in front of their tests."""
    condition = stmt.condition
    guards: list[GuardTest] = [*guards_of(stmt)]
    reasons = [*stmt.reasons]
    ported: list[Stmt] = []
    for piece in pieces:
        choice = piece.joined.choice
        for guard in piece.joined.guards:
            assert guard.condition is not None
            condition = Binary(span=stmt.span, type=INT, op="&&", left=condition, right=guard.condition)
        guards += piece.joined.guards
        reasons += choice.reasons
        ported.append(Block(span=choice.span, statements=branches(choice)[0]))
    then, other = Block(span=stmt.span, statements=tuple(ported)), Block(span=stmt.span, statements=fallback)
    whole = If(span=stmt.span, condition=condition, then=then, other=other, reasons=tuple(reasons))
    return Joined(whole, tuple(one for piece in pieces for one in piece.declared), tuple(guards))
