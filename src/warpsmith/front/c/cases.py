"""The cases of a switch by the worker's rows: the labels before a statement, and those that stand inside of others.

case 1: case 2: f(); g();            (1, 2) before f(); g() belongs to the same case
case 1: { f(); case 2: g(); }        a label inside of another statement: no plain list of cases
"""

from __future__ import annotations

from collections.abc import Callable

from warpsmith.front.clang import kinds
from warpsmith.front.clang.node_table import NodeTable
from warpsmith.tree.nodes import Expr

__all__ = ["has_case", "labels_before"]


def labels_before(
    table: NodeTable, row: int, build: Callable[[int], Expr], *, macros: bool
) -> tuple[list[Expr | None], int]:
    """Return the labels in front of a statement of a switch (None: default), and the row of the statement; `macros`:
    also those that a macro has written."""
    labels: list[Expr | None] = []
    while table.kind[row] in (kinds.CASE, kinds.DEFAULT):
        parts = table.parts(row)
        if not parts or len(parts) > 2 or (table.begins_in_macro(row) and not macros):
            break
        labels.append(build(parts[0]) if table.kind[row] == kinds.CASE else None)
        row = parts[-1]
    return labels, row


def has_case(table: NodeTable, row: int) -> bool:
    """Whether a case label of the switch around it stands in a statement."""
    node, behind = row, table.after[row]
    while node < behind:
        kind = table.kind[node]
        if kind in (kinds.CASE, kinds.DEFAULT):
            return True
        node = table.after[node] if kind == kinds.SWITCH else node + 1
    return False
