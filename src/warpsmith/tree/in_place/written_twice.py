"""Whether the user's statements may stand in one branch of an `if`, with the port's in the other.

if (on) {
    … the port's …          what the user's declare is not seen behind the branches;
} else {                    a static variable, a label would be there twice
    … the user's …
}
"""

from __future__ import annotations

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.tree.in_place.versioned import Versioned
from warpsmith.tree.named import find_named
from warpsmith.tree.nodes import DeclStmt, Verbatim
from warpsmith.tree.walk import walk

__all__ = ["check_twice"]


def check_twice(version: Versioned, *, kept: bool) -> None:
    """Refuse to write a scope into a branch that declares what is named after it; and, where statements of it are
    `kept` in the other branch, one that has a static variable, a label or a jump."""
    for stmt in version.written if kept else ():
        for part in walk(stmt):
            static = isinstance(part, DeclStmt) and any(d.symbol.storage == "static local" for d in part.declarations)
            if static or (isinstance(part, Verbatim) and part.control):
                message = "the port would have to be written beside this, which cannot stand twice"
                raise RefusedError(Finding("POR008", "error", message, part.span))
    declared = {d.symbol for stmt in version.written if isinstance(stmt, DeclStmt) for d in stmt.declarations}
    for part in walk(version.function.body) if declared else ():
        used = declared.intersection(find_named(part))
        if used and part.span.start >= version.written[-1].span.end:
            name = min(symbol.name for symbol in used)
            message = f"the port would have to be written beside the declaration of '{name}', which is used after it"
            raise RefusedError(Finding("POR008", "error", message, version.written[0].span))
