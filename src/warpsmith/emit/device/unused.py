"""Variables and functions that only the device still uses: removed or marked, so that host text draws no new warning.

    int i, j, k;        i and j count only in kernels now: `int k;`
    double t = f();     read only in kernels now: `(void)t;` behind it
    static helper       called only by kernels now: `(void)helper;` where they are launched

Invariant: a declarator is dropped only where nothing of the function names its variable, a clause of a pragma included,
and it has no effect.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec.structs

from warpsmith.tree.nodes import (
    Assign,
    Block,
    CaptureStmt,
    Cast,
    DeclStmt,
    ExprStmt,
    For,
    Function,
    GlobalDecl,
    Literal,
    Name,
    Node,
    Pragma,
    SizeOf,
    Stmt,
    Top,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
    replace,
)
from warpsmith.tree.printing.patch import is_added
from warpsmith.tree.program import Unit
from warpsmith.tree.text.lexical import identifiers
from warpsmith.tree.types import VOID, Array, Pointer, Symbol, Type
from warpsmith.tree.walk import rebuild, walk

__all__ = ["count_uses", "drop_unused"]


def drop_unused(original: Unit, rewritten: Unit) -> Unit:
    """Return `rewritten` with what its device statements left unused in host text dropped or marked as used."""
    pairs = [(a, b) for a, b in zip(original.items, _drop_added(rewritten.items), strict=True) if a is not b]
    known = {id(old) for old, _ in pairs}
    functions = _drop_added(rewritten.functions)
    pairs += [(a, b) for a, b in zip(original.functions, functions, strict=True) if a is not b and id(a) not in known]
    changed = {
        id(new): _function(old, new) for old, new in pairs if isinstance(old, Function) and isinstance(new, Function)
    }
    idle = _idle_statics(original, rewritten)
    for old, new in pairs:
        mine = {symbol for symbol in idle if symbol in count_uses(old)}
        if isinstance(new, Function) and isinstance(old, Function) and mine:
            changed[id(new)] = _mark_unused(old, changed[id(new)], sorted(mine, key=lambda s: s.key))
            idle -= mine
    return msgspec.structs.replace(
        rewritten,
        items=tuple(changed.get(id(item), item) for item in rewritten.items),
        functions=tuple(changed.get(id(f), f) for f in rewritten.functions),
    )


def _drop_added(items: Sequence[Top]) -> list[Top]:
    """Return the items that stand for the user's text: those that a step added are left out."""
    return [item for item in items if not is_added(item)]


def _function(old: Function, new: Function) -> Function:
    before, read_before, read_after = count_uses(old.body), _reads(old.body), _reads(new.body)
    unread = {symbol for symbol in read_before if symbol not in read_after}

    def change(node: Node) -> Node:
        if isinstance(node, Block) and any(isinstance(stmt, DeclStmt) for stmt in node.statements):
            # A block that was written twice (ported and not) declares its variables twice: each answers for itself.
            used, read = count_uses(node), _reads(node)
            gone = {symbol for symbol in before if symbol not in used}
            idle = {symbol for symbol in read_before if symbol not in read}
            statements = tuple(kept for stmt in node.statements for kept in _keep_statement(stmt, gone, idle))
            same = len(statements) == len(node.statements) and all(map(_is, statements, node.statements))
            return node if same else replace(node, statements=statements)
        return node

    # what stands as it did declares and uses what it did
    result = replace(new, body=rebuild(new.body, change, frozenset(walk(old.body))))
    idle = [p for p in new.parameters if p in unread and p not in read_after]
    return _mark_unused(old, result, idle) if idle else result


def _is(a: object, b: object) -> bool:
    return a is b


def _keep_statement(stmt: Stmt, gone: set[Symbol], unread: set[Symbol]) -> Iterator[Stmt]:
    if not isinstance(stmt, DeclStmt):
        yield stmt
        return
    kept = tuple(d for d in stmt.declarations if not (d.symbol in gone and _is_plain(d)))
    if len(kept) == len(stmt.declarations):
        yield stmt
    elif kept or stmt.types:
        yield replace(stmt, declarations=kept)
    yield from (_use(d.symbol, stmt) for d in kept if d.symbol in unread)


def _is_plain(declaration: VarDecl) -> bool:
    return declaration.symbol.storage == "local" and isinstance(declaration.init, Literal | None)


def _use(symbol: Symbol, node: Node) -> Stmt:
    name = Name(span=node.span, type=symbol.type, symbol=symbol)
    return ExprStmt(span=node.span, expr=Cast(span=node.span, type=VOID, operand=name))


def _mark_unused(old: Function, new: Function, symbols: Iterable[Symbol]) -> Function:
    """Say `(void)symbol;` before the first statement of the body that changed."""
    known = {id(stmt) for stmt in old.body.statements}
    statements = new.body.statements
    first = next(
        (n for n, stmt in enumerate(statements) if id(stmt) not in known and not isinstance(stmt, DeclStmt)), 0
    )
    while first and isinstance(statements[first - 1], Pragma):
        first -= 1  # a pragma stands with what follows it
    marks = tuple(_use(symbol, statements[first] if statements else new.body) for symbol in symbols)
    return replace(new, body=replace(new.body, statements=(*statements[:first], *marks, *statements[first:])))


def _idle_statics(original: Unit, rewritten: Unit) -> set[Symbol]:
    """Return the static functions and variables that host text used and no longer uses."""
    before: Counter[Symbol] = Counter()
    after: Counter[Symbol] = Counter()
    for unit, counts in ((original, before), (rewritten, after)):
        for item in unit.items:
            counts.update(
                symbol for symbol in count_uses(item) if not (isinstance(item, Function) and symbol == item.symbol)
            )
    return {symbol for symbol in _statics(original) if before[symbol] and not after[symbol]}


def _statics(unit: Unit) -> Iterator[Symbol]:
    for item in unit.items:
        if isinstance(item, Function) and item.static and "inline" not in _head(item):
            yield item.symbol
        elif isinstance(item, GlobalDecl):
            yield from (d.symbol for d in item.declarations if d.symbol.storage == "static")


def _head(function: Function) -> set[str]:
    text = function.span.text
    return identifiers(text[: max(0, function.body.span.start - function.span.start)])


# Nodes never change, and most of them stand in the text of the port as in those for the referee.
@functools.lru_cache(maxsize=4096)
def count_uses(root: Node) -> Mapping[Symbol, int]:
    """Count every place below `root` that names a variable or a function, its own declaration not included."""
    nodes = [*walk(root)]
    counts = Counter(symbol for node in nodes for symbol in _find_named(node))
    named = {word for node in nodes if isinstance(node, SizeOf | Pragma) for word in identifiers(node.text)}
    if named:
        counts.update(n.symbol for n in nodes if isinstance(n, VarDecl) and n.symbol.name in named)
    return counts


def _find_named(node: Node) -> Iterator[Symbol]:
    match node:
        case Name():
            yield node.symbol
        case For() if not node.declares:
            yield node.variable
        case Verbatim() | VerbatimExpr():
            yield from (*node.reads, *node.writes)
        case CaptureStmt():
            yield node.symbol
            if node.buffer is not None:
                yield node.buffer
        case VarDecl():
            yield from _in_type(node.symbol.type)
        case Cast():
            yield from _in_type(node.type)
        case _:
            return


def _in_type(type: Type) -> Iterator[Symbol]:
    while isinstance(type, Array | Pointer):
        if isinstance(type, Array) and type.extent is not None:
            yield from (part.symbol for part in walk(type.extent) if isinstance(part, Name))
        type = type.of if isinstance(type, Array) else type.to


@functools.lru_cache(maxsize=4096)
def _reads(root: Node) -> Mapping[Symbol, int]:
    """Count the uses that gcc takes for uses: an assignment or ++ as a statement of its own only sets its variable."""
    counts = Counter(count_uses(root))
    for node in walk(root):
        target = _only_set(node)
        if isinstance(target, Name):
            counts[target.symbol] -= 1
    return +counts


def _only_set(node: Node) -> Node | None:
    if not isinstance(node, ExprStmt):
        return None
    match node.expr:
        case Assign():
            return node.expr.target
        case Unary() if "++" in node.expr.op or "--" in node.expr.op:
            return node.expr.operand
        case _:
            return None
