"""A parallel region whose port runs on one thread, as it stands in the user's own text.

    {                                             #pragma omp parallel            one thread, where the port is on
        if (guards) { launch }                    {
        else { #pragma omp parallel for    →      #pragma omp for
               for (i …) … }                          if (switched on && guards) { launch } else for (i …) …
    }                                             }

Invariant: with what is for the device taken out, the region is the user's, statement for statement.

A step (loops/steps/order/unthread.py) has shown that one thread does what the region's threads do. So the region needs
not be written a second time without its pragmas: its own pragma gets a condition.

Limits: a loop that stays on the host keeps the threads of a region that is written twice; nothing is declared for the
device between the user's statements; where a guard fails, one thread runs the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warpsmith.base.source import Span
from warpsmith.poly.facts import statement_spans
from warpsmith.tree.in_place.versioned import SWITCHED, InsertedText, Run, Versioned
from warpsmith.tree.named import find_named
from warpsmith.tree.nodes import (
    Binary,
    Block,
    DataEnter,
    DataExit,
    DataRegionBoundary,
    DeviceAlloc,
    DeviceFree,
    Expr,
    For,
    If,
    Literal,
    Node,
    Pragma,
    Stmt,
    Update,
    VarDecl,
    While,
    replace,
)
from warpsmith.tree.text.places import binds
from warpsmith.tree.types import INT, Symbol
from warpsmith.tree.walk import children, same, statements_of, walk

__all__ = ["within_region"]

_OWN_COPIES = ("private", "firstprivate", "lastprivate", "reduction", "linear", "copyin")


class _NotWithinError(Exception):
    """The port cannot stand in the region that the user wrote."""


def within_region(version: Versioned, inserted: Sequence[InsertedText]) -> Run | None:
    """Return a parallel region of the user's with its port in it, whose pragma says that one thread runs it; None where
    `version` is none, or has to be written beside it. `inserted` stands elsewhere in the function."""
    region = next((s for s in version.written if isinstance(s, Pragma) and _starts_region(s)), None)
    plain = version.condition is None and not version.before and not any(version.fallback) and not version.instance
    if region is None or not plain or _names_copies(region, inserted):
        return None
    try:
        made = tuple(_restored(version.written, version.ported))
    except _NotWithinError:
        return None
    if _shares_on_host(made) or not _is_same(version.written, tuple(_of_the_user(made))):
        return None
    return tuple(replace(stmt, alone=True) if stmt is region else stmt for stmt in made)


def _starts_region(pragma: Pragma) -> bool:
    """Whether a pragma makes threads that all run its statement, and says nothing of when it does."""
    directive = pragma.directive
    return (
        directive is not None
        and (directive.family, directive.words) == ("omp", ("parallel",))
        and not directive.has("if")
    )


def _names_copies(region: Pragma, inserted: Sequence[InsertedText]) -> bool:
    """Whether what stands around the region names a variable of which each thread has its own inside."""
    copies = set(region.directive.list_variables(*_OWN_COPIES)) if region.directive is not None else set()
    return any(symbol.name in copies for new in inserted for symbol in _find_named(new.statements))


def _find_named(run: Sequence[Stmt]) -> set[Symbol]:
    parts = [part for stmt in run for part in walk(stmt)]
    buffers = {part.buffer for part in parts if isinstance(part, DeviceFree | DataExit)}
    return buffers | {symbol for part in parts for symbol in find_named(part)}


def _find_declared(run: Sequence[Stmt]) -> set[Symbol]:
    parts = [part for stmt in run for part in walk(stmt)]
    buffers = {part.buffer for part in parts if isinstance(part, DeviceAlloc | DataEnter)}
    return buffers | {part.symbol for part in parts if isinstance(part, VarDecl)}


# --- the pragmas that the step left out, put back


def _restored(old: Run, new: Run) -> Iterator[Stmt]:
    """Yield the statements `new` with what they lack of `old`: pragmas, and the loops in whose place kernels run."""
    position = 0
    come: list[Stmt] = []
    for at, stmt in enumerate(new):
        index = _find(stmt, old, position)
        if isinstance(stmt, If) and stmt.reasons:
            start, end = _replaced(stmt, old, position)
            yield from _between(old[position:start], come, new[at:])
            yield _guarded(stmt, old[start:end])
            position, come = end, []
        elif index is not None:
            yield from _between(old[position:index], come, new[at:])
            yield _pair(old[index], stmt)
            position, come = index + 1, []
        elif isinstance(stmt, DataRegionBoundary | Update) and not come:
            yield stmt
        elif not isinstance(stmt, Pragma):
            come.append(stmt)
    yield from _between(old[position:], come, ())


def _replaced(stmt: If, old: Run, position: int) -> tuple[int, int]:
    """Return where the statements of the user's start and end that a choice of the port's stands for, with the pragmas
    in front of them."""
    found = [i for one in _other(stmt) if (i := _find(one, old, position)) is not None]
    if not found:
        raise _NotWithinError
    start = min(found)
    while start > position and isinstance(pragma := old[start - 1], Pragma) and binds(pragma.text):
        start -= 1
    return start, max(found) + 1


def _find(stmt: Stmt, old: Run, start: int) -> int | None:
    """Return the place of the statement of the user's that `stmt` is, from `start` on."""
    return next((i for i in range(start, len(old)) if type(old[i]) is type(stmt) and old[i].span == stmt.span), None)


def _other(stmt: If) -> Run:
    return () if stmt.other is None else statements_of(stmt.other)


def _between(gone: Run, come: Sequence[Stmt], behind: Run) -> Iterator[Stmt]:
    """Yield what runs in place of the statements `gone`: what has `come`, where the port is switched on. Pragmas at
    their end belong to what is `behind`."""
    last = max((i for i, stmt in enumerate(gone) if not isinstance(stmt, Pragma)), default=-1) + 1
    if bool(last) != bool(come) or _find_declared(come) & _find_named(behind):
        raise _NotWithinError
    if come:
        span = statement_spans(gone[:last])
        then, other = Block(span=span, statements=tuple(come)), Block(span=span, statements=gone[:last])
        yield If(span=span, condition=_always(span), then=then, other=other, reasons=(SWITCHED,))
    yield from gone[last:]


def _guarded(stmt: If, gone: Run) -> If:
    """Return a choice that the port makes, in the user's text, where the port may be switched off."""
    other = _other(stmt)
    mine = tuple(one for one in other if not isinstance(one, Pragma | Update))
    if not mine or not _is_same(tuple(one for one in gone if not isinstance(one, Pragma)), mine):
        raise _NotWithinError
    kept = [i for i, one in enumerate(other) if not isinstance(one, Update)]
    condition: Expr = _always(stmt.span)
    for part in _parts(stmt):
        condition = Binary(span=stmt.span, type=INT, op="&&", left=condition, right=part)
    block = Block(span=stmt.span, statements=(*other[: kept[0]], *gone, *other[kept[-1] + 1 :]))
    return replace(stmt, condition=condition, other=block, reasons=(SWITCHED, *stmt.reasons))


def _parts(stmt: If) -> list[Expr]:
    """Return the parts of a condition, one for each reason."""
    found: list[Expr] = []
    condition = stmt.condition
    for _ in stmt.reasons[1:]:
        if not (isinstance(condition, Binary) and condition.op == "&&"):
            raise _NotWithinError
        found.append(condition.right)
        condition = condition.left
    return [condition, *reversed(found)]


def _always(span: Span) -> Literal:
    return Literal(span=span, type=INT, text="1", value=1)


def _pair(old: Stmt, new: Stmt) -> Stmt:
    """Return `new`, which is the statement `old` with a port in it, with the pragmas of `old`."""
    if old is new or same(old, new):
        return old
    if isinstance(old, Block) and isinstance(new, Block):
        return replace(new, statements=tuple(_restored(old.statements, new.statements)))
    if isinstance(old, For | While) and isinstance(new, For | While):
        return replace(new, body=_pair(old.body, new.body))
    if isinstance(old, If) and isinstance(new, If) and (old.other is None) == (new.other is None):
        other = None if old.other is None or new.other is None else _pair(old.other, new.other)
        return replace(new, then=_pair(old.then, new.then), other=other)
    raise _NotWithinError


# --- what is left without the device


def _shares_on_host(run: Run) -> bool:
    """Whether threads share a loop that stays on the host: one thread would run it."""
    pending: list[Node] = [*run]
    while pending:
        node = pending.pop()
        if isinstance(node, If) and node.reasons:
            continue
        if (
            isinstance(node, Pragma)
            and node.directive is not None
            and node.directive.words[:1] in (("for",), ("loop",))
        ):
            return True
        pending += children(node)
    return False


def _of_the_user(run: Run) -> Iterator[Stmt]:
    """Yield statements without those for the device."""
    for stmt in run:
        if isinstance(stmt, If) and stmt.reasons:
            yield from _of_the_user(_other(stmt))
        elif isinstance(stmt, Block):
            yield replace(stmt, statements=tuple(_of_the_user(stmt.statements)))
        elif isinstance(stmt, For | While):
            yield replace(stmt, body=next(_of_the_user((stmt.body,))))
        elif isinstance(stmt, If):
            other = None if stmt.other is None else next(_of_the_user((stmt.other,)))
            yield replace(stmt, then=next(_of_the_user((stmt.then,))), other=other)
        elif not isinstance(stmt, DataRegionBoundary | Update):
            yield stmt


def _is_same(old: Run, new: Run) -> bool:
    return len(old) == len(new) and all(same(a, b) for a, b in zip(old, new, strict=True))
