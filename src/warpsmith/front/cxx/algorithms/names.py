"""The algorithms of the standard library whose calls are loops of the program's, by name.

std::fill(v.begin(), v.end(), 1.0);       a loop that stands where the call stands
std::sort(v.begin(), v.end());            no loop: how it goes about is the library's affair
"""

from __future__ import annotations

from typing import Final

from warpsmith.front.c.context import Context
from warpsmith.front.clang import kinds

__all__ = ["EXTREMES", "PAIRED", "QUANTIFIERS", "SEARCHES", "VALUES", "find_algorithm"]

PAIRED: Final = frozenset({"inner_product", "transform_reduce"})
EXTREMES: Final = frozenset({"min_element", "max_element"})
SEARCHES: Final = frozenset({"find", "find_if", "find_if_not"})
QUANTIFIERS: Final = frozenset({"any_of", "all_of", "none_of"})
VALUES: Final = frozenset({"accumulate", "reduce", "count", "count_if"}) | PAIRED | QUANTIFIERS | EXTREMES | SEARCHES
"""Those that make a number."""

_WRITERS: Final = frozenset({
    "adjacent_difference", "copy", "copy_n", "exclusive_scan", "fill", "fill_n", "for_each", "for_each_n",
    "inclusive_scan", "iota", "partial_sum", "replace", "replace_if", "transform",
})  # fmt: skip


def find_algorithm(context: Context, row: int) -> str:
    """Return the name of the algorithm that a row calls; "" where it calls none of these."""
    callee = context.table.aux[row] if context.table.kind[row] == kinds.CALL else -1
    if callee < 0 or not context.is_library(callee):
        return ""
    name = context.dump.declared[callee][1]
    known = name in VALUES or name in _WRITERS
    return name if known and context.detail(callee)[0] == f"std::{name}" else ""
