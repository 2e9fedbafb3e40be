"""Where control may go: loops that are left early, iterations that are cut short."""

from __future__ import annotations

import functools

from warpsmith.tree.nodes import Block, Break, Continue, If, Node, Return, Stmt, Switch, Verbatim
from warpsmith.tree.walk import walk

__all__ = ["ends_early", "ends_in_continue", "escapes", "jumps", "leaves"]


def ends_in_continue(stmt: Stmt) -> bool:
    """Whether a statement ends by starting the next iteration."""
    if isinstance(stmt, Block):
        return bool(stmt.statements) and ends_in_continue(stmt.statements[-1])
    return isinstance(stmt, Continue)


def ends_early(body: Stmt) -> bool:
    """Whether the loop with this body may be left before its end."""
    return leaves(body) or any(_binds(body, Break))


def jumps(body: Stmt) -> bool:
    """Whether the loop with this body may be left early, or skip statements as the walk does not follow."""
    return ends_early(body) or _deep_continue(body, top=True)


@functools.lru_cache(maxsize=8192)
def leaves(node: Node) -> bool:
    """Whether control may leave the function, or go anywhere, from inside."""
    return any(isinstance(n, Return) or (isinstance(n, Verbatim) and n.control) for n in walk(node))


def escapes(stmt: Stmt) -> bool:
    """Whether control may go from inside a statement to elsewhere than to what stands behind it."""
    return leaves(stmt) or bool(_binds(stmt, Break)) or bool(_binds(stmt, Continue))


def _binds(node: Node, kind: type[Break] | type[Continue]) -> list[Node]:
    """Return the break or continue statements below `node` that belong to the loop whose body `node` is."""
    found: list[Node] = []
    stack: list[Node] = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, kind):
            found.append(current)
        inner: tuple[Stmt | None, ...] = ()
        match current:
            case Block(statements=parts):
                inner = parts
            case If(then=then, other=other):
                inner = (then, other)
            case Switch(cases=cases) if kind is Continue:
                inner = tuple(s for case in cases for s in case.body)
        stack += [s for s in inner if s is not None]
    return found


def _deep_continue(stmt: Stmt, *, top: bool) -> bool:
    """Whether a continue stands where `run` does not follow it: elsewhere than `if (c) … continue;` at the top."""
    if isinstance(stmt, Block) and top:
        return any(_deep_continue(s, top=False) for s in stmt.statements)
    if isinstance(stmt, If) and not top and stmt.other is None and ends_in_continue(stmt.then):
        return len(_binds(stmt.then, Continue)) > 1
    return bool(_binds(stmt, Continue))
