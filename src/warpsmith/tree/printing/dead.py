"""Arms that no run takes, as text again: for the original that a port is compared with, whose text must say all that
the user's says, whatever an analysis makes of it."""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.tree.nodes import Block, CaptureStmt, Empty, For, Function, Node, Stmt, Verbatim, replace
from warpsmith.tree.program import Program
from warpsmith.tree.walk import has_dead, rebuild, walk

__all__ = ["with_dead_text"]


def with_dead_text(program: Program, user: Program) -> Program:
    """Return a program, which has captures besides what the user has written, with text in place of each `Empty.dead`
    that stands where he wrote it: in functions that steps have changed, the names in it may mean nothing any more."""
    written = {(unit.file.path, f.symbol): f for unit, f in user.functions()}
    for unit, function in tuple(program.functions()):
        own = written.get((unit.file.path, function.symbol))
        if own is not None and has_dead(own.body) and [*_shape(own)] == [*_shape(function)]:
            program = program.with_function(function, replace(function, body=rebuild(function.body, _as_text)))
    return program


def _shape(function: Function) -> Iterator[tuple[type[Node], int, int, str]]:
    """Yield the statements of a function in their order, without captures and the blocks that hold them."""
    for part in walk(function.body):
        if isinstance(part, Stmt) and not isinstance(part, Block | CaptureStmt):
            yield type(part), part.span.start, part.span.end, part.variable.name if isinstance(part, For) else ""


def _as_text(node: Node) -> Node:
    if not (isinstance(node, Empty) and node.dead):
        return node
    return Verbatim(
        span=node.span, intact=True, text=node.span.text, reads=(), writes=(), calls=False, control=False,
        reason="an arm that no run takes",
    )  # fmt: skip
