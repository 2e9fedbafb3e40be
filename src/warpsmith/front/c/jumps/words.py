"""Gotos and labels of a function by their text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

from warpsmith.base.source import Span
from warpsmith.front.c.context import FileText
from warpsmith.front.clang import kinds
from warpsmith.front.clang.node_table import NodeTable
from warpsmith.tree.nodes import Verbatim

__all__ = ["count_jumps", "label_name", "make_goto"]

_GOTO: Final = re.compile(r"goto\s+(\w+)\s*;$")
_LABEL: Final = re.compile(r"(\w+)\s*:$")


def make_goto(span: Span) -> Verbatim:
    """Return the goto that a text is."""
    return Verbatim(
        span=span, intact=True, text=span.text, reads=(), writes=(), calls=False, control=True, reason="goto",
        goes=_target(span.text),
    )  # fmt: skip


def label_name(span: Span) -> str:
    """Return the label that a text is; empty where it is more than that."""
    found = _LABEL.match(span.text)
    return found[1] if found else ""


def count_jumps(table: NodeTable, text: FileText, row: int) -> Mapping[str, int]:
    """Return how many gotos in the function's body at `row` lead to each label.

    None where there is one whose label is not known: computed, or made by a macro.
    """
    found: Counter[str] = Counter()
    for node in range(row, table.after[row]):
        kind = table.kind[node]
        if kind in (kinds.INDIRECT_GOTO, kinds.ADDRESS_OF_LABEL):
            return {}
        if kind == kinds.GOTO:
            start, end = table.range(node, text.uses)
            target = "" if table.begins_in_macro(node) else _target(text.file.text[start:end] + ";")
            if not target:
                return {}
            found[target] += 1
    return found


def _target(text: str) -> str:
    found = _GOTO.match(text)
    return found[1] if found else ""
