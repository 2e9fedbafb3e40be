"""The gather form of a symmetric update: every iteration collects what the pairs that it is in add to its own element.

    for (i) for (j = i + 1 …) {        for (i) {
        f[i] += g(i, j);                   for (j = 0; j < i; j++) f[i] -= h(j, i);      pairs whose second is i
        f[j] -= h(i, j);                   for (j = i + 1 …) {                           pairs whose first is i
        s->e += v(i, j);                       f[i] += g(i, j);
    }                                          s->e += v(i, j);
                                           }
                                       }

Invariant: element k gets the same values in the same order: first those of the pairs (0, k) … (k - 1, k), then those of
(k, k + 1) …, so that the results are the same, bit for bit. Each pair is worked out twice. What all pairs share (a sum,
a counter) is updated by the second loop alone, which goes through all pairs once, in the order of the original.
Limits: the pairs i < j of one range; what is updated is read by its own updates only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from warpsmith.base.source import Edit
from warpsmith.loops.remedies.model import EditCode
from warpsmith.loops.remedies.pairs import (
    Memory,
    Pairs,
    find_accesses,
    find_element,
    find_memory,
    find_pairs,
    find_target,
    may_be_same,
)
from warpsmith.loops.remedies.rewriting import InsertionSite, is_plain, place_of, renamings, with_edits
from warpsmith.poly.aliasing.aliasing import relation
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import LoopFacts
from warpsmith.tree.nodes import (
    Assign,
    Block,
    Break,
    Call,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    If,
    Name,
    Node,
    Return,
    Stmt,
    VarDecl,
)
from warpsmith.tree.text.layout import own_line
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol
from warpsmith.tree.walk import names, root_symbol, same, statements_of, walk

__all__ = ["gather_forms"]


class _Updates(Struct, frozen=True):
    """The statements that update an element of the first of a pair, of the second, and what all pairs share; and the
    arrays of the elements."""

    first: list[ExprStmt]
    second: list[ExprStmt]
    shared: list[ExprStmt]
    arrays: frozenset[Symbol]


def gather_forms(facts: Facts, known: LoopFacts) -> Iterator[EditCode]:
    """Yield the edit in which every iteration of the outer loop writes its own elements only."""
    place = place_of(facts, known)
    pairs = None if place is None else find_pairs(place.loop)
    if place is None or pairs is None or not is_plain(place.loop) or not _is_pure(facts, place.loop):
        return
    updates = _updates(facts, known, pairs)
    if updates is None or not _is_read_by_updates_only(pairs, updates):
        return
    title = f"the gather form: each iteration of {pairs.outer.variable.name} updates its own elements"
    title += ", every pair is worked out twice"
    if shared := _shared_texts(updates):
        title += f", {' and '.join(shared)} only once for each"
    edit = Edit(place.loop.span, _text(place, pairs, updates))
    yield EditCode(title, (edit,), "", _requirements(facts, known, pairs, updates))


def _shared_texts(updates: _Updates) -> tuple[str, ...]:
    texts = (t.span.text for stmt in updates.shared if (t := find_target(stmt.expr)) is not None)
    return tuple(dict.fromkeys(texts))


def _requirements(facts: Facts, known: LoopFacts, pairs: Pairs, updates: _Updates) -> tuple[str, ...]:
    """Return what the program does not show: that no other name of the loop reaches what is updated."""
    named = {n.symbol for n in names(pairs.outer)} - set(pairs.pointers)
    targets = (t for stmt in updates.shared if (t := find_target(stmt.expr)) is not None)
    updated = updates.arrays | {root for target in targets if (root := root_symbol(target)) is not None}
    found: dict[frozenset[Symbol], str] = {}
    for one in sorted(updated, key=lambda s: s.key):
        for other in sorted((s for s in named if isinstance(s.type, Pointer | Array)), key=lambda s: s.key):
            if other != one and relation(facts.program, known.function, one, other, facts.summaries) != "distinct":
                found.setdefault(frozenset({one, other}), f"{one.name} and {other.name} do not overlap")
    return tuple(found.values())


def _declarations(node: Node) -> Iterator[VarDecl]:
    return (part for part in walk(node) if isinstance(part, VarDecl))


def _is_pure(facts: Facts, loop: For) -> bool:
    """Whether the body may be worked out twice: no exits, and no calls but of functions of values."""
    if any(isinstance(part, Break | Return) for part in walk(loop.body)):
        return False
    for call in (part for part in walk(loop.body) if isinstance(part, Call)):
        entry = facts.summaries.library(call)
        if entry is None or not entry.device or not entry.pure or entry.reads:
            return False
    return True


def _updates(facts: Facts, known: LoopFacts, pairs: Pairs) -> _Updates | None:
    """Return the updates of both elements of a pair, and of what is of no element; None where the body writes anything
    else that outlives it, or in another way."""
    inner = facts.of(known.function).of(pairs.inner)
    own = {d.symbol for d in _declarations(pairs.inner.body) if d.symbol.storage == "local"}
    own |= set(inner.private) - set(inner.live_out)
    declared = {d.symbol for d in _declarations(pairs.outer)}
    updates = _Updates([], [], [], frozenset())
    arrays: set[Symbol] = set()
    for stmt in (part for part in walk(pairs.inner.body) if isinstance(part, ExprStmt)):
        target = find_target(stmt.expr)
        if target is None:
            return None
        if isinstance(target, Name) and target.symbol in own:
            continue
        found = find_element(target, pairs)
        if found is None:
            # neither a variable of one iteration of the outer loop, nor a pointer, which is about to choose elements
            if root_symbol(target) in declared or not isinstance(target.type, Scalar):
                return None
            updates.shared.append(stmt)
            continue
        if not _is_update(stmt.expr, target):
            return None
        arrays.add(found[0])
        (updates.first if found[2] == pairs.outer.variable else updates.second).append(stmt)
    writes = sum(find_target(part) is not None for part in walk(pairs.inner.body))
    statements = sum(isinstance(p, ExprStmt) for p in walk(pairs.inner.body))
    prologue = any(find_target(p) is not None for stmt in pairs.prologue for p in walk(stmt))
    if not updates.first or not updates.second or writes != statements or prologue:
        return None
    return _Updates(updates.first, updates.second, updates.shared, frozenset(arrays))


def _is_update(expr: Expr, target: Expr) -> bool:
    """Whether an assignment is `x op= e`, or `x = e` with x in e."""
    if not isinstance(expr, Assign) or expr.op != "=":
        return True
    return any(same(part, target) for part in walk(expr.value))


def _is_read_by_updates_only(pairs: Pairs, updates: _Updates) -> bool:
    """Whether nothing but an update reaches the elements that updates write, and nothing but the statements that update
    what all pairs share reaches that."""
    elements, shared = (_memories(pairs, some) for some in ([*updates.first, *updates.second], updates.shared))
    if elements is None or shared is None:
        return False
    allowed = {id(part) for stmt in (*updates.first, *updates.second) for part in _own_mentions(stmt)}
    aside = _with_branches(pairs.inner.body, updates.shared)

    def touches(node: Node, left_out: set[int], memories: list[Memory]) -> bool:
        for access in find_accesses(node, pairs, left_out):
            memory = None if id(access) in allowed else find_memory(access, pairs)
            if id(access) not in allowed and (memory is None or any(may_be_same(memory, m) for m in memories)):
                return True
        return False

    return not touches(pairs.outer, {id(stmt) for stmt in aside}, [*elements, *shared]) and not any(
        touches(stmt, set(), elements) for stmt in aside
    )


def _memories(pairs: Pairs, statements: list[ExprStmt]) -> list[Memory] | None:
    found = [find_memory(t, pairs) for stmt in statements if (t := find_target(stmt.expr)) is not None]
    return None if None in found else [memory for memory in found if memory is not None]


def _own_mentions(update: ExprStmt) -> Iterator[Node]:
    """Yield the mentions of the element that an update writes and reads."""
    target = find_target(update.expr)
    for part in walk(update.expr):
        if target is not None and same(part, target):
            yield from walk(part)


def _with_branches(body: Stmt, gone: Iterable[Stmt]) -> list[Stmt]:
    """Return statements, and with them the branches of which they are all."""
    found = {id(stmt): stmt for stmt in gone}
    for part in reversed([part for part in walk(body) if isinstance(part, If)]):
        inside = [*statements_of(part.then), *(() if part.other is None else statements_of(part.other))]
        if inside and all(id(stmt) in found for stmt in inside):
            found[id(part)] = part
    return list(found.values())


def _with_unused(body: Stmt, gone: list[Stmt]) -> list[Stmt]:
    """Return statements that are left out, and with them the declarations that only they need."""
    left_out = list(gone)
    while True:
        ids = {id(part) for stmt in left_out for part in walk(stmt)}
        used = {n.symbol for n in names(body) if id(n) not in ids}
        before = {n.symbol for stmt in left_out for n in names(stmt)}
        more = [
            part
            for part in walk(body)
            if isinstance(part, DeclStmt)
            and id(part) not in ids
            and not part.types
            and part.declarations
            and all(d.symbol in before - used and isinstance(d.symbol.type, Scalar) for d in part.declarations)
        ]
        if not more:
            return left_out
        left_out += more


def _text(place: InsertionSite, pairs: Pairs, updates: _Updates) -> str:
    """Return the new nest."""
    outer, inner = pairs.outer, pairs.inner
    first, second = outer.variable, inner.variable
    swap = {first: second.name, second: first.name}
    deeper = place.unit
    head = with_edits(outer.header, [Edit(outer.bound.span, inner.bound.span.text)])
    mirrored = with_edits(
        inner.header, [Edit(inner.lower.span, outer.lower.span.text), Edit(inner.bound.span, first.name)]
    )
    lines = [f"{head} {{", f"{deeper}{mirrored} {{"]
    lines += _indent_texts([with_edits(stmt.span, renamings(stmt, swap)) for stmt in pairs.prologue], deeper * 2)
    lines += _indent_texts(
        [_body(inner, list(renamings(inner.body, swap)), [*updates.first, *updates.shared])], deeper * 2
    )
    lines += [f"{deeper}}}"]
    lines += _indent_texts([with_edits(stmt.span, []) for stmt in pairs.prologue], deeper)
    lines += [f"{deeper}{inner.header.text} {{"]
    lines += _indent_texts([_body(inner, [], updates.second)], deeper * 2)
    lines += [f"{deeper}}}", "}"]
    return place.end.join(line if number == 0 else f"{place.indent}{line}" for number, line in enumerate(lines))


def _remove_statements(inner: For, statements: list[Stmt]) -> list[Edit]:
    """Return the edits that leave statements out, with their lines where nothing else stands there."""
    listed = {id(stmt) for block in walk(inner.body) if isinstance(block, Block) for stmt in block.statements}
    return [Edit(own_line(s.span), "") if id(s) in listed else Edit(s.span, ";") for s in statements]


def _body(inner: For, edits: list[Edit], left_out: list[ExprStmt]) -> str:
    """Return the inner body's statements, without braces of its own."""
    removed = _with_unused(inner.body, _with_branches(inner.body, left_out))
    gone = {id(stmt) for stmt in removed}
    kept = [stmt.span for stmt in statements_of(inner.body) if id(stmt) not in gone]
    changes = [*edits, *_remove_statements(inner, removed)]
    return "\n".join(with_edits(span, [e for e in changes if span.contains(e.span)]) for span in kept)


def _indent_texts(texts: list[str], indent: str) -> list[str]:
    return [f"{indent}{line}" if line.strip() else "" for text in texts for line in text.split("\n") if line.strip()]
