"""The regions of a function that shares its text with others, each as the call of a function of its instance.

    if (!ws_scale_1(n, x.data())) for (i …) …               the text of one instance
    if constexpr (std::is_same<T, float>::value) done = ws_scale_1(n, x.data());      what all of them have

Invariant: apart from these calls, an instance's text is the user's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec.structs

from warpsmith.tree.in_place.versioned import Run, Versioned
from warpsmith.tree.nodes import Block, Call, Expr, Function, If, Node, Stmt, Unary, Update, replace
from warpsmith.tree.walk import rebuild, same, statements_of, walk

__all__ = ["with_calls"]


def with_calls(function: Function, text: Function, versions: Sequence[Versioned]) -> list[Versioned] | None:
    """Return the `versions` of a function of the user's with the calls that its `text` has for them; None where the
    text has something else as well."""
    choices = [part for part in walk(text.body) if isinstance(part, If) and part.reasons]
    found: list[Versioned] = []
    for version in versions:
        mine = next((one for one in choices if _stands_for(one, version.written)), None)
        call = None if mine is None else _call(mine)
        if mine is None or call is None:
            return None
        updates = _around(statements_of(mine.then))
        found.append(msgspec.structs.replace(version, call=call, fallback=updates))
    plain = rebuild(text.body, _without)
    return found if len(choices) == len(versions) and same(plain, function.body) else None


def _stands_for(choice: If, written: Run) -> bool:
    mine = [stmt for stmt in statements_of(choice.then) if not isinstance(stmt, Update)]
    return len(mine) == len(written) and all(same(a, b) for a, b in zip(mine, written, strict=True))


def _call(choice: If) -> Call | None:
    """Return the call of `if (!call) …`."""
    test: Expr = choice.condition
    plain = choice.other is None and isinstance(test, Unary) and test.op == "!" and isinstance(test.operand, Call)
    return test.operand if plain and isinstance(test, Unary) and isinstance(test.operand, Call) else None


def _around(run: Run) -> tuple[Run, Run]:
    """Return the updates before and after the user's statements."""
    own = [n for n, stmt in enumerate(run) if not isinstance(stmt, Update)]
    return run[: own[0]], run[own[-1] + 1 :]


def _without(node: Node) -> Node:
    """Return a block with the user's statements in place of the choices in it."""
    if isinstance(node, If) and node.reasons:
        run = _own(statements_of(node.then))
        return run[0] if len(run) == 1 else Block(span=node.span, statements=run)
    if isinstance(node, Block):
        return replace(node, statements=tuple(one for stmt in node.statements for one in _flat(stmt)))
    return node


def _own(run: Iterable[Stmt]) -> Run:
    return tuple(stmt for stmt in run if not isinstance(stmt, Update))


def _flat(stmt: Stmt) -> Run:
    """Return the statements of a block that the port has made."""
    return stmt.statements if isinstance(stmt, Block) and not stmt.span.text.startswith("{") else (stmt,)
