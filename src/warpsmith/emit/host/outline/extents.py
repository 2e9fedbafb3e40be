"""How much of the arrays is meant, said once: the extents that a function repeats are variables of its own.

    if (!ws_apart(a, a + (n >= 1 ? (long long)n * n : 0), b, b + (n >= 1 ? (long long)n * n : 0))) …
    long long a_bytes = (n >= 1 ? (long long)n * n : 0) * (long long)sizeof(double);
                                                                                         ↓
    const long long extent = n >= 1 ? (long long)n * n : 0;
    if (!ws_apart(a, a + extent, b, b + extent)) …
    long long a_bytes = extent * (long long)sizeof(double);

Invariant: an extent is a choice between numbers that parameters alone make, so that it is the same wherever it stands;
it is computed where it is needed first, behind the guards before that place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec.structs

from warpsmith.emit.host.outline.model import GuardTest
from warpsmith.emit.words import fresh
from warpsmith.tree.nodes import (
    Binary,
    Cast,
    Conditional,
    DeclStmt,
    Literal,
    Name,
    Node,
    SizeOf,
    Stmt,
    Unary,
    VarDecl,
)
from warpsmith.tree.printing.printer import nothing, print_expr
from warpsmith.tree.types import Scalar, Symbol
from warpsmith.tree.walk import children, rebuild, walk

__all__ = ["name_extents"]

Run = tuple[Stmt, ...]
N = TypeVar("N", bound=Node)


def name_extents(
    guards: Sequence[GuardTest], written: Run, lead: int, taken: Iterable[str]
) -> tuple[tuple[GuardTest, ...], Run]:
    """Return the guards and the statements of a function, which has `lead` of them in front of the guards, with every
    repeated extent in a variable, none of whose names is among those `taken`."""
    conditions = [guard.condition for guard in guards if guard.condition is not None]
    found = Counter(print_expr(part, nothing) for root in (*conditions, *written) for part in _extents(root))
    names = _Names({text for text, count in found.items() if count > 1}, set(taken))
    for stmt in written[:lead]:
        # these run before the guards: what they say stands for itself
        names.wanted -= {print_expr(part, nothing) for part in _extents(stmt)}
    tests = []
    for guard in guards:
        if guard.condition is not None:
            condition, before = names.replace(guard.condition)
            guard = msgspec.structs.replace(guard, condition=condition, before=(*guard.before, *before))
        tests.append(guard)
    body: list[Stmt] = [*written[:lead]]
    for stmt in written[lead:]:
        new, before = names.replace(stmt)
        body += [*before, new]
    return tuple(tests), tuple(body)


class _Names:
    """The variables of the extents so far; `wanted`: the texts of those that have one."""

    def __init__(self, wanted: set[str], taken: set[str]) -> None:
        self.wanted = wanted
        self._taken = taken
        self._symbols: dict[str, Symbol] = {}

    def replace(self, root: N) -> tuple[N, tuple[DeclStmt, ...]]:
        """Return a tree with variables for its extents, and the declarations that it needs before it."""
        before: list[DeclStmt] = []

        def change(node: Node) -> Node:
            if not isinstance(node, Conditional) or (text := print_expr(node, nothing)) not in self.wanted:
                return node
            if text not in self._symbols:
                symbol = self._symbols[text] = self._fresh(node)
                before.append(
                    DeclStmt(span=node.span, declarations=(VarDecl(span=node.span, symbol=symbol, init=node),))
                )
            symbol = self._symbols[text]
            return Name(span=node.span, type=symbol.type, symbol=symbol)

        return (rebuild(root, change), tuple(before)) if self.wanted else (root, ())

    def _fresh(self, extent: Conditional) -> Symbol:
        number = len(self._symbols) + 1
        name = fresh(f"extent{'' if number == 1 else number}", self._taken)
        self._taken.add(name)
        assert isinstance(extent.type, Scalar)
        type = msgspec.structs.replace(extent.type, const=True)
        return Symbol(name, f"extent:{name}", type, "local", extent.span)


def _extents(root: Node) -> Iterator[Conditional]:
    """Yield the outermost choices between numbers that parameters make."""
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, Conditional):
            if isinstance(node.type, Scalar) and all(map(_is_fixed, walk(node))):
                yield node
        else:
            pending += children(node)


def _is_fixed(part: Node) -> bool:
    """Whether a part of an expression is a number that never changes in a function, and that is always there."""
    match part:
        case Name(symbol=symbol):
            return symbol.storage == "parameter" and isinstance(symbol.type, Scalar)
        case Binary(op=op):
            return op not in ("/", "%", ",")
        case Unary(op=op):
            return op in ("+", "-", "~", "!")
        case Literal() | Cast() | Conditional() | SizeOf():
            return True
        case _:
            return False
