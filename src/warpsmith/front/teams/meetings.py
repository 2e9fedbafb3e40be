"""Phases between which no barrier stands: each is judged by itself, so threads must not meet across them.

    for (int r = 0; r < rounds; r++) {
        part[t] = b[r * B + t];          no barrier between this one and
    #pragma omp barrier
        mine += part[B - 1 - t];         this one of the round before: refused
    }

A branch or a loop with a barrier inside splits what stands around it although there is no barrier at its ends.
Invariant: where nothing is raised, two phases that follow one another without a barrier on some way do not both touch
what threads share, or none of them writes it.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Final

from warpsmith.front.teams.construct import NotReadError
from warpsmith.front.teams.own import leads_to
from warpsmith.front.teams.phases import Around, BarrierMark, Phase, TeamItem
from warpsmith.tree.nodes import (
    Assign,
    Call,
    DeclStmt,
    For,
    If,
    Index,
    Member,
    Name,
    Node,
    Stmt,
    Unary,
    While,
)
from warpsmith.tree.types import Array, Record, Symbol
from warpsmith.tree.walk import walk

__all__ = ["check_meetings"]

_NOTHING: Final = 0
_READS: Final = 1
_WRITES: Final = 2


def check_meetings(items: tuple[TeamItem, ...], body: Stmt, fixed: Set[Symbol]) -> None:
    """Raise NotReadError where two phases of a region may meet that no barrier keeps apart. `fixed`: what nobody writes
    while the construct runs."""
    own = {d.symbol for n in walk(body) if isinstance(n, DeclStmt) for d in n.declarations}
    own |= {n.variable for n in walk(body) if isinstance(n, For) and n.declares}
    _after(items, _NOTHING, (own, fixed | own))


def _after(items: tuple[TeamItem, ...], before: int, known: tuple[Set[Symbol], Set[Symbol]]) -> int:
    """Return what threads may have done since the last barrier when they come to the end of `items`; `before`: when
    they come to their start."""
    done = before
    for item in items:
        if isinstance(item, BarrierMark):
            done = _NOTHING
        elif isinstance(item, Phase):
            does = max(_does(stmt, *known) for stmt in item.statements)
            if done and does and max(done, does) == _WRITES:
                text = "no barrier stands between what threads do here and what they do before a loop or branch ends"
                raise NotReadError(text, item.statements[0].span)
            done = max(done, does)
        elif isinstance(item, Around):
            done = _around(item, done, known)
    return done


def _around(item: Around, before: int, known: tuple[Set[Symbol], Set[Symbol]]) -> int:
    ends = [_after(arm, before, known) for arm in item.arms]
    if isinstance(item.stmt, For | While):
        return max(before, _after(item.arms[0], max(before, *ends), known))
    if isinstance(item.stmt, If) and item.stmt.other is None:
        ends.append(before)
    return max(ends)


def _does(stmt: Node, own: Set[Symbol], quiet: Set[Symbol]) -> int:
    """Return what a statement does to memory that threads share."""
    found = _NOTHING
    for part in walk(stmt):
        match part:
            case Assign(target=place) | Unary(op="++x" | "--x" | "x++" | "x--", operand=place):
                found = max(found, _NOTHING if _is_own(place, own) else _WRITES)
            case Call():
                found = _WRITES
            case Unary(op="*"):
                found = max(found, _READS)
            case Index(base=base):
                inside = isinstance(base.type, Array) and _is_own(part, own)
                found = max(found, _NOTHING if inside else _READS)
            case Member():
                found = max(found, _NOTHING if _is_own(part, own) else _READS)
            case Name(symbol=symbol):
                shared = symbol not in quiet and symbol.value is None and not isinstance(symbol.type, Array | Record)
                found = max(found, _READS if shared else _NOTHING)
            case _:
                pass
    return found


def _is_own(place: Node, own: Set[Symbol]) -> bool:
    return any(leads_to(place, symbol) for symbol in own)
