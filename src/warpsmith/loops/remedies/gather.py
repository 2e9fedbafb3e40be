"""The gather form of a symmetric update: every iteration collects what the pairs that it is in add to its own element.

    for (i) for (j = i + 1 …) {        for (i) {
        f[i] += g(i, j);                   for (j = 0; j < i; j++) f[i] -= h(j, i);      pairs whose second is i
        f[j] -= h(i, j);                   for (j = i + 1 …)       f[i] += g(i, j);      pairs whose first is i
    }                                  }

Invariant: element k gets the same values in the same order: first those of the pairs (0, k) … (k - 1, k), then those of
(k, k + 1) …, so that the results are the same, bit for bit. Each pair is worked out twice.
Limits: the pairs i < j of one range; what is updated is read by its own updates only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from warpsmith.base.source import Edit
from warpsmith.loops.remedies.model import EditCode
from warpsmith.loops.remedies.rewriting import InsertionSite, is_plain, may_meet, place_of, renamings, with_edits
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import LoopFacts
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    Index,
    Literal,
    Member,
    Name,
    Node,
    Return,
    Unary,
    VarDecl,
    While,
)
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.text.layout import own_line
from warpsmith.tree.types import Pointer, Scalar, Symbol
from warpsmith.tree.walk import names, peel, same, statements_of, walk, written_symbols

__all__ = ["gather_forms"]

_HERE = "@"
_STEPS = ("++x", "--x", "x++", "x--")


class _Pairs(Struct, frozen=True):
    """The loops over all pairs first < second; `prologue` declares what only depends on the first."""

    outer: For
    prologue: tuple[DeclStmt, ...]
    inner: For
    pointers: dict[Symbol, Expr]


class _Updates(Struct, frozen=True):
    """The statements that update an element of the first and of the second of a pair, and the arrays of both."""

    first: list[ExprStmt]
    second: list[ExprStmt]
    arrays: frozenset[Symbol]


def gather_forms(facts: Facts, known: LoopFacts) -> Iterator[EditCode]:
    """Yield the edit in which every iteration of the outer loop writes its own elements only."""
    place = place_of(facts, known)
    pairs = None if place is None else _pairs(place.loop)
    if place is None or pairs is None or not is_plain(place.loop) or not _is_pure(facts, place.loop):
        return
    updates = _updates(facts, known, pairs)
    if updates is None or not _is_read_by_updates_only(pairs, updates):
        return
    others = {n.symbol for n in names(place.loop)} - updates.arrays - set(pairs.pointers)
    requires = [
        f"{array.name} and {other.name} do not overlap"
        for array in sorted(updates.arrays, key=lambda s: s.key)
        for other in sorted(others, key=lambda s: s.key)
        if may_meet(facts, known, array, other)
    ]
    title = f"the gather form: each iteration of {pairs.outer.variable.name} updates its own elements"
    edit = Edit(place.loop.span, _text(place, pairs, updates))
    yield EditCode(f"{title}, every pair is worked out twice", (edit,), "", tuple(dict.fromkeys(requires)))


def _pairs(loop: For) -> _Pairs | None:
    statements = statements_of(loop.body)
    inner = statements[-1] if statements else None
    prologue = [stmt for stmt in statements[:-1] if isinstance(stmt, DeclStmt)]
    if not isinstance(inner, For) or len(prologue) != len(statements) - 1:
        return None
    if (loop.step, inner.step, loop.relation, inner.relation) != (1, 1, "<", "<"):
        return None
    if any(isinstance(part, For | While) for part in walk(inner.body)) or not _starts_behind(inner, loop.variable):
        return None
    if not same(loop.bound, inner.bound) and not (loop.declares and _is_one_less(loop.bound, inner.bound)):
        return None
    declared = (d for part in walk(loop) if isinstance(part, DeclStmt) for d in part.declarations)
    pointers = {d.symbol: d.init for d in declared if isinstance(d.symbol.type, Pointer) and d.init is not None}
    if written_symbols(loop.body) & set(pointers) - {d.symbol for d in _declarations(loop)}:
        return None
    return _Pairs(loop, tuple(prologue), inner, pointers)


def _declarations(node: Node) -> Iterator[VarDecl]:
    return (part for part in walk(node) if isinstance(part, VarDecl))


def _starts_behind(inner: For, counter: Symbol) -> bool:
    lower = peel(inner.lower)
    if not isinstance(lower, Binary) or lower.op != "+":
        return False
    sides = {print_expr(lower.left), print_expr(lower.right)}
    return sides == {counter.name, "1"}


def _is_one_less(bound: Expr, other: Expr) -> bool:
    less = peel(bound)
    return (
        isinstance(less, Binary)
        and less.op == "-"
        and same(less.left, other)
        and isinstance(one := peel(less.right), Literal)
        and one.value == 1
    )


def _is_pure(facts: Facts, loop: For) -> bool:
    """Whether the body may be worked out twice: no exits, and no calls but of functions of values."""
    if any(isinstance(part, Break | Return) for part in walk(loop.body)):
        return False
    for call in (part for part in walk(loop.body) if isinstance(part, Call)):
        entry = facts.summaries.library(call)
        if entry is None or not entry.device or not entry.pure or entry.reads:
            return False
    return True


def _updates(facts: Facts, known: LoopFacts, pairs: _Pairs) -> _Updates | None:
    """Return the updates of both elements of a pair; None where the body writes anything else that outlives it."""
    inner = facts.of(known.function).of(pairs.inner)
    own = {d.symbol for d in _declarations(pairs.inner.body) if d.symbol.storage == "local"}
    own |= set(inner.private) - set(inner.live_out)
    first: list[ExprStmt] = []
    second: list[ExprStmt] = []
    arrays: set[Symbol] = set()
    for stmt in (part for part in walk(pairs.inner.body) if isinstance(part, ExprStmt)):
        target = _find_updated(stmt.expr)
        if target is None:
            return None
        if isinstance(target, Name):
            if target.symbol not in own:
                return None
            continue
        found = _element(target, pairs)
        if found is None or not _is_update(stmt.expr, target):
            return None
        arrays.add(found[0])
        (first if found[2] == pairs.outer.variable else second).append(stmt)
    writes = sum(isinstance(p, Assign) or (isinstance(p, Unary) and p.op in _STEPS) for p in walk(pairs.inner.body))
    statements = sum(isinstance(p, ExprStmt) for p in walk(pairs.inner.body))
    prologue = any(isinstance(p, Assign) for stmt in pairs.prologue for p in walk(stmt))
    if not first or not second or writes != statements or prologue:
        return None
    return _Updates(first, second, frozenset(arrays))


def _find_updated(expr: Expr) -> Expr | None:
    if isinstance(expr, Assign):
        return peel(expr.target)
    return peel(expr.operand) if isinstance(expr, Unary) and expr.op in _STEPS else None


def _is_update(expr: Expr, target: Expr) -> bool:
    """Whether an assignment is `x op= e`, or `x = x op e`."""
    if isinstance(expr, Unary):
        return True
    if not isinstance(expr, Assign) or expr.op != "=":
        return True
    value = peel(expr.value)
    return isinstance(value, Binary) and same(peel(value.left), target)


def _element(expr: Expr, pairs: _Pairs) -> tuple[Symbol, str, Symbol] | None:
    """Return the array of an element, its path with `@` for the counter, and the counter that chooses it; None where
    two values of the counter could choose the same one."""
    found = _path(expr, pairs)
    if found is None:
        return None
    base, path, counters = found
    if len(counters) != 1 or path.count(_HERE) != 1 or not isinstance(expr.type, Scalar):
        return None
    return base, path, counters[0]


def _path(expr: Expr, pairs: _Pairs) -> tuple[Symbol, str, tuple[Symbol, ...]] | None:
    expr = peel(expr)
    match expr:
        case Name(symbol=symbol) if symbol in pairs.pointers:
            start = peel(pairs.pointers[symbol])
            if isinstance(start, Unary) and start.op == "&":
                return _path(start.operand, pairs)
            if isinstance(start, Binary) and start.op == "+":
                return _index_path(start.left, start.right, pairs)
            return None
        case Name(symbol=symbol):
            return symbol, "", ()
        case Index(base=base, index=index):
            return _index_path(base, index, pairs)
        case Member(base=base, field=field):
            inner = _path(base, pairs)
            return None if inner is None else (inner[0], f"{inner[1]}.{field}", inner[2])
        case Unary(op="*", operand=operand):
            return _path(operand, pairs)
        case _:
            return None


def _index_path(base: Expr, index: Expr, pairs: _Pairs) -> tuple[Symbol, str, tuple[Symbol, ...]] | None:
    inner = _path(base, pairs)
    if inner is None:
        return None
    index = peel(index)
    counters = {pairs.outer.variable, pairs.inner.variable}
    if isinstance(index, Name) and index.symbol in counters:
        return inner[0], f"{inner[1]}[{_HERE}]", (*inner[2], index.symbol)
    if isinstance(index, Literal):
        return inner[0], f"{inner[1]}[{index.text}]", inner[2]
    return None


def _is_read_by_updates_only(pairs: _Pairs, updates: _Updates) -> bool:
    """Whether nothing but an update reads what an update writes: every other mention of its array is of another
    member."""
    targets = [t for stmt in (*updates.first, *updates.second) if (t := _find_updated(stmt.expr)) is not None]
    written = {_path(t, pairs) for t in targets}
    fields = {(p[0], _field(p[1])) for p in written if p is not None}
    allowed = {id(part) for t in targets for part in walk(t)}
    for stmt in (*updates.first, *updates.second):
        if isinstance(stmt.expr, Assign) and stmt.expr.op == "=" and isinstance(v := peel(stmt.expr.value), Binary):
            allowed |= {id(part) for part in walk(v.left)}
    heads = {id(part) for init in pairs.pointers.values() for part in walk(init)}
    inside = {id(part) for node in walk(pairs.outer) if isinstance(node, Index | Member) for part in walk(node)}
    for node in walk(pairs.outer):
        if id(node) in allowed | heads:
            continue
        if isinstance(node, Name) and id(node) not in inside and node.symbol in updates.arrays:
            return False
        if isinstance(node, Index | Member | Unary) and isinstance(node.type, Scalar) and _reads(node):
            path = _path(node, pairs)
            if path is None or (path[0], _field(path[1])) in fields:
                return False
    return True


def _reads(node: Index | Member | Unary) -> bool:
    return not isinstance(node, Unary) or node.op == "*"


def _field(path: str) -> str:
    """Return the members of a path, and whether it has any index beside the counter's."""
    return re.sub(r"\[[^\]]*\]", "[]", path)


def _text(place: InsertionSite, pairs: _Pairs, updates: _Updates) -> str:
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
    lines += _indent_texts([_body(inner, list(renamings(inner.body, swap)), updates.first)], deeper * 2)
    lines += [f"{deeper}}}"]
    lines += _indent_texts([with_edits(stmt.span, []) for stmt in pairs.prologue], deeper)
    lines += [f"{deeper}{inner.header.text} {{"]
    lines += _indent_texts([_body(inner, [], updates.second)], deeper * 2)
    lines += [f"{deeper}}}", "}"]
    return place.end.join(line if number == 0 else f"{place.indent}{line}" for number, line in enumerate(lines))


def _remove_statements(inner: For, statements: list[ExprStmt]) -> list[Edit]:
    """Return the edits that leave statements out, with their lines where nothing else stands there."""
    listed = {id(stmt) for block in walk(inner.body) if isinstance(block, Block) for stmt in block.statements}
    return [Edit(own_line(s.span), "") if id(s) in listed else Edit(s.span, ";") for s in statements]


def _body(inner: For, edits: list[Edit], left_out: list[ExprStmt]) -> str:
    """Return the inner body's statements, without braces of its own."""
    gone = {id(stmt) for stmt in left_out}
    kept = [stmt.span for stmt in statements_of(inner.body) if id(stmt) not in gone]
    changes = [*edits, *_remove_statements(inner, left_out)]
    return "\n".join(with_edits(span, [e for e in changes if span.contains(e.span)]) for span in kept)


def _indent_texts(texts: list[str], indent: str) -> list[str]:
    return [f"{indent}{line}" if line.strip() else "" for text in texts for line in text.split("\n") if line.strip()]
