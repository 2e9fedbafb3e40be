"""Changes with statements between them that stayed: parts that have nothing to do with each other.

    int *a_at = rows(a);       ┐
    for (i …) … a_at[i] …      ┘ one part
    free(p);                     stayed
    for (k …) …                  another part

Invariant: what is declared in one part is named in no other, and no text went from one to another, so that each part
does by itself what the user's statements in its place do.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.loops.fresh import declared_symbols
from warpsmith.poly.facts import statement_spans
from warpsmith.tree.named import find_named
from warpsmith.tree.nodes import Pragma, Stmt
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

__all__ = ["split_apart"]

Run = tuple[Stmt, ...]


class _Part(Struct, frozen=True):
    """Statements that differ, with the variables that the new ones declare, all that these name, and their texts."""

    old: Run
    new: Run
    declared: frozenset[Symbol]
    named: frozenset[Symbol]
    texts: frozenset[Span]

    @classmethod
    def of(cls, old: Run, new: Run) -> _Part:
        """Return the part of two runs."""
        inside = [part for stmt in new for part in walk(stmt)]
        declared = frozenset(symbol for stmt in new for symbol in declared_symbols(stmt))
        named = frozenset(symbol for part in inside for symbol in find_named(part))
        return cls(old, new, declared, named, frozenset(part.span for part in inside if isinstance(part, Stmt)))

    def needs(self, other: _Part) -> bool:
        """Whether something of this part was declared in the other, or stood there."""
        if not self.named.isdisjoint(other.declared):
            return True
        around = statement_spans(other.old)
        return any(_is_within(text, around) for text in self.texts)


def split_apart(old: Run, new: Run) -> list[tuple[Run, Run]]:
    """Return the parts of two runs; both as they are where they cannot be split."""
    gaps = list(_between_kept(old, new))
    if len(gaps) < 2 or not all(one and other for one, other in gaps):
        return [(old, new)]
    parts = [_Part.of(one, other) for one, other in gaps]
    alone = all(one is other or not one.needs(other) for one in parts for other in parts)
    return gaps if alone else [(old, new)]


def _between_kept(old: Run, new: Run) -> Iterator[tuple[Run, Run]]:
    """Yield what stands between the statements that are in both runs, in one order, and differs. A pragma goes with the
    statement behind it."""
    places = {id(stmt): number for number, stmt in enumerate(new) if not isinstance(stmt, Pragma)}
    kept = [(i, places[id(stmt)]) for i, stmt in enumerate(old) if id(stmt) in places]
    if any(later[1] < earlier[1] for earlier, later in pairwise(kept)):
        return
    start = (0, 0)
    for i, j in (*kept, (len(old), len(new))):
        gone, come = old[start[0] : i], new[start[1] : j]
        if len(gone) != len(come) or any(a is not b for a, b in zip(gone, come, strict=True)):
            yield from _by_text(gone, come)
        start = i + 1, j + 1


def _by_text(old: Run, new: Run) -> list[tuple[Run, Run]]:
    """Return each statement that is no pragma, with what has its text and what stands in front of that; both runs as
    they are where that is not all."""
    if sum(not isinstance(stmt, Pragma) for stmt in old) < 2:
        return [(old, new)]
    ends: list[tuple[int, int]] = [(0, 0)]
    for number, stmt in enumerate(old, 1):
        if not isinstance(stmt, Pragma):
            mine = [n for n, other in enumerate(new, 1) if _is_within(other.span, stmt.span)]
            ends.append((number, max(mine, default=0)))
    if ends[-1] != (len(old), len(new)) or any(b[1] <= a[1] for a, b in pairwise(ends)):
        return [(old, new)]
    return [(old[a[0] : b[0]], new[a[1] : b[1]]) for a, b in pairwise(ends)]


def _is_within(inner: Span, outer: Span) -> bool:
    return inner.file is outer.file and outer.start <= inner.start and inner.end <= outer.end
