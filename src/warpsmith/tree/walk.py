"""Walking, rebuilding and comparing trees."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Hashable, Iterator, Set
from itertools import islice
from typing import TypeVar, cast

import msgspec.structs

from warpsmith.base.records import field_names, field_texts
from warpsmith.tree import nodes
from warpsmith.tree.nodes import (
    Assign,
    Empty,
    Expr,
    For,
    Function,
    Index,
    Literal,
    Loop,
    MacroUse,
    Member,
    Name,
    Node,
    Pragma,
    Stmt,
    Unary,
    VarDecl,
    While,
)  # fmt: skip
from warpsmith.tree.types import Symbol

__all__ = [
    "children",
    "has_dead",
    "loop_names",
    "loops",
    "names",
    "peel",
    "rebuild",
    "root_symbol",
    "same",
    "walk",
    "without_choices",
    "written_symbols",
]

N = TypeVar("N", bound=Node)


def children(node: Node) -> Iterator[Node]:
    """Yield the direct children of `node` in source order."""
    return iter(_below(node))


# Nodes never change, and every analysis walks the same ones again: here and below answers are remembered. What is
# remembered must be more than one large function has (53,000 nodes in a tiled nest that a generator wrote): a walk over
# more than that forgets every answer before it is asked for again.
@functools.lru_cache(maxsize=131_072)
def _below(node: Node) -> tuple[Node, ...]:
    """Return the direct children of `node` in source order."""
    found: list[Node] = []
    for name in _parts(cast(Hashable, type(node))):
        value = getattr(node, name)
        if isinstance(value, tuple):
            found += [item for item in value if isinstance(item, Node)]
        elif isinstance(value, Node):
            found.append(value)
    return tuple(found)


@functools.cache
def _parts(kind: type[Node]) -> tuple[str, ...]:
    """Return the fields of a node class that may hold nodes; walking asks for them at every node."""
    classes = (value for value in vars(nodes).values() if isinstance(value, type) and issubclass(value, Node))
    held = {"Expr", "Stmt", *(value.__name__ for value in classes)}
    return tuple(name for name, text in field_texts(kind).items() if held & set(re.findall(r"\w+", text)))


def walk(node: Node) -> Iterator[Node]:
    """Yield `node` and everything below it, parents first. Iterative: depth is no limit."""
    remembered = _short_walk(node)
    if remembered is None:
        remembered = _long_walk(node)
    return _walk(node) if remembered is None else iter(remembered)


def _walk(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack += _below(current)[::-1]


@functools.lru_cache(maxsize=8192)
def _short_walk(node: Node) -> tuple[Node, ...] | None:
    """Return the walk over an expression, a statement or a small nest; None where it is longer."""
    return _remembered_walk(node, 500)


@functools.lru_cache(maxsize=64)
def _long_walk(node: Node) -> tuple[Node, ...] | None:
    """Return the walk over a function's body and the like; None where it is too long to be remembered."""
    return _remembered_walk(node, 80_000)


def _remembered_walk(node: Node, most: int) -> tuple[Node, ...] | None:
    found = tuple(islice(_walk(node), most + 1))
    return found if len(found) <= most else None


def rebuild(node: N, change: Callable[[Node], Node], kept: Set[Node] = frozenset()) -> N:
    """Return `node` with `change` applied to every node below it and to itself, children first.

    A node none of whose parts changed is returned as it is, so that it stays intact. Nothing at or below a `kept` node
    changes. Iterative: depth is no limit.
    """
    frames: list[tuple[Node, tuple[Node, ...], list[Node]]] = [(node, _below(node), [])]
    while True:
        current, parts, made = frames[-1]
        if len(made) < len(parts):
            part = parts[len(made)]
            if part in kept:
                made.append(part)
            else:
                frames.append((part, _below(part), []))
            continue
        frames.pop()
        changed = change(_with_parts(current, parts, made))
        if not frames:
            return cast(N, changed)
        frames[-1][2].append(changed)


def _with_parts(node: Node, parts: tuple[Node, ...], made: list[Node]) -> Node:
    """Return `node` with `made` in place of its `parts`; itself if they are the same."""
    if all(a is b for a, b in zip(parts, made, strict=True)):
        return node
    changes: dict[str, object] = {}
    rest = iter(made)
    for name in field_names(node):
        value = getattr(node, name)
        if isinstance(value, Node):
            changes[name] = next(rest)
        elif isinstance(value, tuple) and any(isinstance(item, Node) for item in value):
            changes[name] = tuple(next(rest) if isinstance(item, Node) else item for item in value)
    return msgspec.structs.replace(node, intact=False, **changes)


_NO_STRUCTURE = frozenset({"span", "intact", "header", "cause", "opener"})


@functools.cache
def _structure(kind: type[Node]) -> tuple[str, ...]:
    """Return the fields of a node class that say what a node is."""
    return tuple(name for name in kind.__struct_fields__ if name not in _NO_STRUCTURE)


def same(a: Node, b: Node) -> bool:
    """Whether two trees have the same structure and symbols (spans and layout do not count)."""
    if type(a) is not type(b):
        return False
    pending = [(a, b)]
    while pending:
        left, right = pending.pop()
        for name in _structure(cast(Hashable, type(left))):
            if not _alike(getattr(left, name), getattr(right, name), pending):
                return False
    return True


def _alike(left: object, right: object, pending: list[tuple[Node, Node]]) -> bool:
    """Whether two parts may be the same: nodes of one class are put into `pending`, to be looked into."""
    if left is right:
        return True
    if isinstance(left, Node):
        pending.append((left, cast(Node, right)))
        return type(left) is type(right)
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(_alike(a, b, pending) for a, b in zip(left, right, strict=True))
    return left == right


def peel(expr: Expr) -> Expr:
    """Return what a macro use expands to; any other expression as it is."""
    while isinstance(expr, MacroUse):
        expr = expr.expansion
    return expr


def way_to(root: Node, goal: Node) -> list[Node] | None:
    """Return the nodes from `root` down to `goal`, both among them, or None where it is not below."""
    if root is goal:
        return [root]
    if not root.span.contains(goal.span):
        return None
    for child in children(root):
        rest = way_to(child, goal)
        if rest is not None:
            return [root, *rest]
    return None


def names(node: Node) -> Iterator[Name]:
    """Yield every use of a name below `node`."""
    return iter(_names(node))


@functools.lru_cache(maxsize=8192)
def _names(node: Node) -> tuple[Name, ...]:
    return tuple(n for n in walk(node) if isinstance(n, Name))


def root_symbol(expr: Expr) -> Symbol | None:
    """Return the variable at the bottom of an lvalue (`a` of `a[i].x`, `p` of `*p`), or None."""
    expr = peel(expr)
    while isinstance(expr, Index | Member | Unary):
        expr = peel(expr.operand if isinstance(expr, Unary) else expr.base)
    return expr.symbol if isinstance(expr, Name) else None


def written_symbols(node: Node) -> set[Symbol]:
    """Return the variables that `node` assigns itself, element writes (`a[i] = …`) not counted, calls not followed."""
    return set(_written_symbols(node))


@functools.lru_cache(maxsize=4096)
def _written_symbols(node: Node) -> frozenset[Symbol]:
    written: set[Symbol] = set()
    for part in walk(node):
        target: Expr | None = None
        if isinstance(part, Assign):
            target = peel(part.target)
        elif isinstance(part, Unary) and ("++" in part.op or "--" in part.op):
            target = peel(part.operand)
        elif isinstance(part, For):
            written.add(part.variable)
        elif isinstance(part, VarDecl):
            written.add(part.symbol)
        writes = getattr(part, "writes", ())
        written.update(writes)
        if isinstance(target, Name):
            written.add(target.symbol)
        elif isinstance(target, Member) and not target.arrow and (root := root_symbol(target)) is not None:
            written.add(root)
    return frozenset(written)


def loops(node: Node) -> Iterator[tuple[Loop, tuple[Loop, ...]]]:
    """Yield every loop below `node` in source order, with the loops around it, outermost first."""
    return iter(_all_loops(node))


def _loops(node: Node) -> Iterator[tuple[Loop, tuple[Loop, ...]]]:
    stack: list[tuple[Node, tuple[Loop, ...]]] = [(node, ())]
    while stack:
        current, around = stack.pop()
        inner = around
        if isinstance(current, For | While):
            yield current, around
            inner = (*around, current)
        stack += [(child, inner) for child in reversed(_below(current))]


@functools.lru_cache(maxsize=1024)
def _all_loops(node: Node) -> tuple[tuple[Loop, tuple[Loop, ...]], ...]:
    return tuple(_loops(node))


def loop_names(function: Function) -> dict[Loop, str]:
    """Return the address of every loop: `lu/k/j`; the second `i` in one place is `lu/i#2`; other loops are `while`."""
    result: dict[Loop, str] = {}
    used: dict[str, int] = {}
    for loop, around in loops(function.body):
        parent = result[around[-1]] if around else function.symbol.label or function.symbol.name
        base = f"{parent}/{loop.variable.name if isinstance(loop, For) else loop.form}"
        used[base] = used.get(base, 0) + 1
        result[loop] = base if used[base] == 1 else f"{base}#{used[base]}"
    return result


def is_constant(expr: Expr) -> bool:
    """Whether the expression is a number as written."""
    return isinstance(peel(expr), Literal)


def without_choices(statements: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Return statements without preprocessor conditionals around code (`Pragma.choice`), nor the pragmas that these
    leave out, nor what no run comes to: with what the build at hand does."""
    chosen = any(isinstance(stmt, Pragma) and stmt.choice for stmt in statements)
    kept = (s for s in statements if not (chosen and isinstance(s, Pragma) and (s.choice or s.left_out)))
    return tuple(stmt for stmt in kept if not (isinstance(stmt, Empty) and stmt.dead))


@functools.lru_cache(maxsize=131_072)
def has_dead(node: Node) -> bool:
    """Whether a node's text says something that no run comes to, and that the tree does not have (`Empty.dead`)."""
    if isinstance(node, Empty):
        return node.dead
    return not isinstance(node, Expr) and any(map(has_dead, _below(node)))


def statements_of(stmt: Stmt) -> tuple[Stmt, ...]:
    """Return the statements of a block, or the statement itself."""
    inner = getattr(stmt, "statements", None)
    return inner if isinstance(inner, tuple) else (stmt,)
