"""Associative updates: the accumulators and the running sums of a loop, by their form in the text.

    s += a[i];            sum            if (x > m) m = x;              max
    p = p * a[i];         product        h[b[i]]++;                     histogram
    s += a[i]; b[i] = s;  scan           a[i] = a[i-1] + b[i];          scan in place

Invariant: a reduction's accumulator is used in the loop by updates with one operator only, and an update's value does
not depend on it; so the loop's effect on it is the combination of all values in any order (exactly for integers; for
floating point up to rounding, and for min and max up to the sign of zero and to NaN). With && and || the accumulator
is 0 or 1 before the loop too. An extreme's companions are written by its updates only, and used for nothing else.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

from warpsmith.poly.dependences.in_place import OwnElement, find_in_place, hide_own
from warpsmith.poly.dependences.linear import linear_update, linear_value
from warpsmith.poly.dependences.sites import find_sites
from warpsmith.poly.dependences.updates import (
    AssociativeUpdate,
    chained_updates,
    combines,
    form_of,
    has_effect,
    is_truth_value,
    update_of,
)
from warpsmith.poly.effects.library import is_plain
from warpsmith.poly.facts import Reduction
from warpsmith.poly.pointers.pointers import is_persistent
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Expr,
    ExprStmt,
    For,
    Function,
    If,
    Index,
    Literal,
    Loop,
    MacroUse,
    Name,
    Node,
    SizeOf,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.types import Scalar, Symbol, is_integer
from warpsmith.tree.walk import names, peel, statements_of, walk, written_symbols

__all__ = [
    "AssociativeUpdate",
    "array_reductions",
    "array_scans",
    "constant_stores",
    "holds_truth",
    "scalar_reductions",
    "scalar_scans",
    "updates",
]


@functools.lru_cache(maxsize=1024)
def updates(loop: Loop) -> tuple[AssociativeUpdate, ...]:
    """Return every statement in `loop` that has the form of an associative update.

    Uses are distinguished by their nodes: where a rewriting has put one node of a variable in two places, it has none.
    """
    shared = _find_shared(loop)
    statements = (n for n in walk(loop.body) if isinstance(n, ExprStmt | If))
    found = [update_of(peel(n.expr) if isinstance(n, ExprStmt) else n) for n in statements]
    direct = _outermost([update for update in found if update is not None])
    known = {id(update.node) for update in direct}
    chained = (u for n in walk(loop.body) if isinstance(n, Block) for u in chained_updates(n))
    everything = (*direct, *(u for u in chained if id(u.node) not in known))
    return tuple(u for u in everything if not shared.intersection(_own(u)))


def _own(update: AssociativeUpdate) -> Iterator[Symbol]:
    """Yield the variables whose uses an update knows by their nodes."""
    yield update.symbol
    yield from (n.symbol for n in update.passed)
    yield from (s for a in update.companions if (s := _target(a)) is not None)


def _find_shared(loop: Loop) -> set[Symbol]:
    """Return the variables with a use that stands in more than one place."""
    seen: set[int] = set()
    found: set[Symbol] = set()
    for use in names(loop):
        if id(use) in seen:
            found.add(use.symbol)
        seen.add(id(use))
    return found


def _outermost(found: list[AssociativeUpdate]) -> tuple[AssociativeUpdate, ...]:
    """Leave out the assignments inside `if (x > m) { m = x; at = i; }`, which are the whole statement's."""
    inner = {n for update in found if isinstance(update.node, If) for n in walk(update.node.then)}
    return tuple(update for update in found if update.node not in inner)


def scalar_reductions(loop: Loop, live: frozenset[Symbol] = frozenset()) -> tuple[Reduction, ...]:
    """Return the scalars that the loop only updates, all by the same operator, and uses for nothing else. `live` are
    the variables that are read after the loop."""
    return tuple(_reductions(loop, lambda update: isinstance(peel(update.target), Name), live))


def array_reductions(loop: Loop) -> tuple[Reduction, ...]:
    """Return the arrays whose elements the loop only updates (`c[j] += …`, `h[b[i]]++`), by one operator, and touches
    nowhere else in the loop by that name. Whether the loop carries the update at all is the dependence test's answer;
    that no other name reaches the array is aliasing's."""
    return tuple(
        r
        for r in _reductions(loop, lambda update: isinstance(peel(update.target), Index), frozenset())
        if r.op not in ("&&", "||")
    )


def holds_truth(function: Function, symbol: Symbol) -> bool:
    """Whether a variable is 0 or 1 wherever it has a value: it is a bool, or local and only ever assigned such values.
    (Its address must not be taken.)"""
    if isinstance(symbol.type, Scalar) and symbol.type.kind == "bool":
        return True
    if symbol.storage != "local" or not is_integer(symbol.type):
        return False
    for node in walk(function.body):
        match node:
            case VarDecl(init=init) if node.symbol == symbol and init is not None and not is_truth_value(init):
                return False
            case Assign(op=op, value=value) if _is_use(node.target, symbol):
                if op not in ("=", "&=", "|=", "^=") or not is_truth_value(value):
                    return False
            case Unary(op=op) if ("++" in op or "--" in op) and _is_use(node.operand, symbol):
                return False
            case For(variable=variable) if variable == symbol:
                return False
            case Verbatim(writes=writes) | VerbatimExpr(writes=writes) if symbol in writes:
                return False
            case _:
                pass
    return True


def constant_stores(function: Function, loop: Loop, symbol: Symbol) -> Reduction | None:
    """Return the reduction that `if (a[i] == x) found = 1;` is: every write in the loop stores the same 0 or 1, nothing
    in the loop reads the variable, and it is 0 or 1 before the loop: any store that happens decides."""
    if any(isinstance(n, Verbatim | VerbatimExpr) for n in walk(loop)) or not holds_truth(function, symbol):
        return None
    stores = [u for u in updates(loop) if u.symbol == symbol]
    if not all(u.constant for u in stores) or len({u.op for u in stores}) != 1:
        return None
    targets = [n for u in stores if isinstance(n := peel(u.target), Name)]
    return Reduction(stores[0].op, symbol, stores[0].node.span) if _only(loop, symbol, targets) else None


def _is_use(target: Expr, symbol: Symbol) -> bool:
    inner = peel(target)
    return isinstance(inner, Name) and inner.symbol == symbol


def scalar_scans(loop: Loop) -> tuple[Reduction, ...]:
    """Return the scalars that each iteration updates once, by one operator, and whose running value it reads too; by +
    also more than once, and under conditions."""
    found: list[Reduction] = []
    top = statements_of(loop.body)
    for update in updates(loop):
        target = peel(update.target)
        others = [n for n in names(loop) if n.symbol == update.symbol and n not in update.nodes]
        at_top = any(isinstance(s, ExprStmt) and peel(s.expr) is update.node for s in top)
        if (
            isinstance(target, Name)
            and not update.constant
            and at_top
            and others
            and not _is_written(loop, update.symbol, update.node)
            and not _is_reached_by_calls(loop, update.symbol)
        ):
            found.append(Reduction(update.op, update.symbol, update.node.span))
    found += _conditional_scans(loop, {scan.variable for scan in found})
    return (*found, *_recurrences(loop, {scan.variable for scan in found}))


def _recurrences(loop: Loop, known: set[Symbol]) -> Iterator[Reduction]:
    """Yield the other scalars that each iteration sets once, to a linear function of what they were."""
    for stmt in statements_of(loop.body) if isinstance(loop, For) else ():
        made = linear_update(stmt)
        target = None if made is None else peel(made[0].target)
        if made is None or not isinstance(target, Name) or target.symbol in known:
            continue
        if not _is_written(loop, target.symbol, made[0]) and not _is_reached_by_calls(loop, target.symbol):
            yield Reduction("linear", target.symbol, stmt.span)


def _conditional_scans(loop: Loop, known: set[Symbol]) -> Iterator[Reduction]:
    """Yield the other scalars that iterations update, by +, some under conditions: `if (c) out[k++] = x;`."""
    if not isinstance(loop, For) or any(isinstance(n, Verbatim | VerbatimExpr) for n in walk(loop)):
        return
    for symbol in sorted(written_symbols(loop.body) - known, key=lambda s: s.key):
        if not isinstance(symbol.type, Scalar) or _counts(loop, symbol) or _is_reached_by_calls(loop, symbol):
            continue
        sites = find_sites(loop, symbol)
        if any(site.conditions for site in sites):
            yield Reduction("+", symbol, sites[0].steps[0].update.node.span)


def array_scans(loop: Loop) -> tuple[Reduction, ...]:
    """Return the arrays of which each iteration sets its own element, once, to a combination of the element before and
    of what is free of it (`a[i] = a[i - c] op e`, e may read a[i]): a running value in place."""
    if not isinstance(loop, For) or any(isinstance(n, Verbatim | VerbatimExpr) for n in walk(loop)):
        return ()
    found = ((place, _operation_in(place)) for place in find_in_place(loop))
    return tuple(Reduction(op, place.symbol, place.statement.span) for place, op in found if op is not None)


def _reductions(
    loop: Loop, wanted: Callable[[AssociativeUpdate], bool], live: frozenset[Symbol]
) -> Iterator[Reduction]:
    """Yield the accumulators among the targets that `wanted` picks."""
    if any(isinstance(n, Verbatim | VerbatimExpr) for n in walk(loop)):
        return
    all_updates = [update for update in updates(loop) if wanted(update)]
    for symbol in dict.fromkeys(update.symbol for update in all_updates):
        mine = [update for update in all_updates if update.symbol == symbol]
        belonging = [n for update in mine for part in update.nodes for n in walk(part) if isinstance(n, Name)]
        if all(u.constant for u in mine) or len({u.op for u in mine}) != 1 or not _only(loop, symbol, belonging):
            continue
        carriers = [n for update in mine for n in update.passed]
        if any(n.symbol in live or not _only(loop, n.symbol, carriers) for n in carriers):
            continue
        first = mine[0]
        companions = tuple(s for a in first.companions if (s := _target(a)) is not None)
        if _agree(loop, mine, companions):
            location = companions[0] if companions else None
            yield Reduction(first.op, symbol, first.node.span, location, first.strict, companions)


def _only(loop: Loop, symbol: Symbol, allowed: list[Name]) -> bool:
    """Whether the loop uses a variable in these places only, counts with it nowhere, and calls nothing that may use
    it."""
    known = {id(n) for n in allowed}
    only_there = all(id(n) in known for n in _uses(loop, symbol))
    return only_there and not _counts(loop, symbol) and not _is_reached_by_calls(loop, symbol)


def _counts(loop: Loop, symbol: Symbol) -> bool:
    """Whether the loop, or one in it, has the variable as its counter: its header writes it without naming it."""
    return any(isinstance(n, For) and n.variable == symbol for n in walk(loop))


def _agree(loop: Loop, mine: list[AssociativeUpdate], companions: tuple[Symbol, ...]) -> bool:
    """Whether all updates set the same companions, in the same sense of "better", to functions of the iteration."""
    sets = {tuple(_target(a) for a in update.companions) for update in mine}
    if sets == {()}:
        return True
    if len(sets) != 1 or len({update.strict for update in mine}) != 1:
        return False
    assignments = [a for update in mine for a in update.companions]
    targets = [t for a in assignments if isinstance(t := peel(a.target), Name)]
    if not all(_only(loop, symbol, targets) for symbol in companions):
        return False
    counters = {n.variable for n in walk(loop) if isinstance(n, For)}
    changing = written_symbols(loop.body) - counters
    return all(_follows(a.value, changing) for a in assignments)


def _follows(value: Expr, changing: set[Symbol]) -> bool:
    """Whether a value is computed from counters and what the loop does not change."""
    parts = [n for n in walk(value) if not isinstance(n, MacroUse)]
    if any(isinstance(n, Unary) and n.op in ("*", "&") for n in parts):
        return False
    plain = all(isinstance(n, Literal | Name | Binary | Unary | Cast | SizeOf) for n in parts)
    return plain and all(n.symbol not in changing and isinstance(n.symbol.type, Scalar) for n in names(value))


def _target(assignment: Assign) -> Symbol | None:
    inner = peel(assignment.target)
    return inner.symbol if isinstance(inner, Name) else None


def _is_reached_by_calls(loop: Loop, symbol: Symbol) -> bool:
    """Whether a function called in the loop may name the accumulator itself."""
    return is_persistent(symbol) and any(isinstance(n, Call) and not is_plain(n) for n in walk(loop))


def _uses(loop: Loop, symbol: Symbol) -> Iterator[Name]:
    return (n for n in names(loop) if n.symbol == symbol)


def _is_written(loop: Loop, symbol: Symbol, apart_from: Node) -> bool:
    """Whether something but the node writes the scalar."""
    if _counts(loop, symbol):
        return True
    for node in walk(loop.body):
        target: Expr | None = None
        if isinstance(node, Assign):
            target = peel(node.target)
        elif isinstance(node, Unary) and ("++" in node.op or "--" in node.op or node.op == "&"):
            target = peel(node.operand)
        if node is not apart_from and isinstance(target, Name) and target.symbol == symbol:
            return True
    return any(isinstance(n, Verbatim | VerbatimExpr) for n in walk(loop.body))


def _operation_in(place: OwnElement) -> str | None:
    """Return how a statement combines the element before with the rest."""
    value = hide_own(place.value, place.target)
    if any(has_effect(n) for n in walk(value)):
        return None
    if not any(n.symbol == place.symbol for n in names(value)):
        return "latest"
    form = form_of(value, place.before)
    if form is None or not form.op or not combines(form.op, place.target.type, form.values):
        return None if linear_value(value, place.before) is None else "linear"
    free = not any(n.symbol == place.symbol for part in (*form.values, *form.conditions) for n in names(part))
    return form.op if free else None
