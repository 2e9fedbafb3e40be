"""The worker's node table as we read it: rows, subtrees, and the macro uses that they came from.

clang's extent of what comes from a macro body is the macro's use; of what comes from a macro argument it is empty.
Here every row has its text range in the user's file: that of the outermost macro use where it begins or ends in one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from msgspec import Struct

from warpsmith.front.clang import kinds
from warpsmith.front.clang.wire import BEGINS_IN_MACRO, ENDS_IN_MACRO, Dump

__all__ = ["MacroRange", "MacroUses", "NodeTable"]


class MacroRange(Struct, frozen=True):
    """One outermost use of a macro in a file."""

    name: str
    start: int
    end: int


class MacroUses:
    """The outermost macro uses of one file, by offset."""

    def __init__(self, uses: Iterable[tuple[str, int, int]]) -> None:
        self._uses: list[MacroRange] = []
        reached = -1
        for name, start, end in sorted(uses, key=lambda u: (u[1], -u[2])):
            if start >= reached:
                self._uses.append(MacroRange(name, start, end))
                reached = end
        self._starts = [use.start for use in self._uses]

    def at(self, offset: int) -> MacroRange | None:
        """Return the use that covers the byte at `offset`."""
        number = bisect_right(self._starts, offset) - 1
        return self._uses[number] if number >= 0 and offset < self._uses[number].end else None

    def within(self, start: int, end: int) -> list[MacroRange]:
        """Return the uses that start in [start, end)."""
        return self._uses[bisect_left(self._starts, start) : bisect_left(self._starts, end)]


class NodeTable:
    """The rows of one dump; `after[i]` is the row behind the subtree of row i."""

    def __init__(self, dump: Dump) -> None:
        self.depth, self.kind, self.start, self.end, self.flags, self.type, self.aux = dump.columns()
        self.after = self._after()

    def _after(self) -> list[int]:
        depth = self.depth
        after = [len(depth)] * len(depth)
        open_rows: list[int] = []
        for row, level in enumerate(depth):
            while open_rows and depth[open_rows[-1]] >= level:
                after[open_rows.pop()] = row
            open_rows.append(row)
        return after

    def children(self, row: int) -> list[int]:
        """Return the direct children of a row."""
        found = []
        child, behind = row + 1, self.after[row]
        while child < behind:
            found.append(child)
            child = self.after[child]
        return found

    def expressions(self, row: int) -> list[int]:
        """Return the direct children that are expressions."""
        return [c for c in self.children(row) if kinds.UNEXPOSED_EXPR <= self.kind[c] <= kinds.LAST_EXPR]

    def parts(self, row: int) -> list[int]:
        """Return the direct children that are expressions or statements; behind attributes (`#pragma unroll`,
        `[[likely]]`) the statement that has them."""
        return [
            self._attributed(c) for c in self.children(row) if kinds.UNEXPOSED_EXPR <= self.kind[c] <= kinds.LAST_STMT
        ]

    def _attributed(self, row: int) -> int:
        """Return the statement that attributes stand before; any other row itself."""
        while self.kind[row] == kinds.UNEXPOSED_STMT:
            below = [c for c in self.children(row) if kinds.UNEXPOSED_EXPR <= self.kind[c] <= kinds.LAST_STMT]
            if len(below) != 1 or self.end[below[0]] != self.end[row]:
                return row
            row = below[0]
        return row

    def body(self, row: int) -> int | None:
        """Return the body of a function definition."""
        return next((child for child in self.children(row) if self.kind[child] == kinds.COMPOUND), None)

    def whole_body(self, row: int) -> int | None:
        """Return the body of a function definition, or the try block with its handlers that stands for it."""
        bodies = (kinds.COMPOUND, kinds.TRY)
        return next((child for child in self.children(row) if self.kind[child] in bodies), None)

    def inner(self, row: int) -> int:
        """Return the row below parentheses and conversions that nobody wrote."""
        while self.kind[row] in (kinds.UNEXPOSED_EXPR, kinds.PAREN):
            below = self.expressions(row)
            if len(below) != 1:
                break
            row = below[0]
        return row

    def is_written(self, row: int, uses: MacroUses) -> bool:
        """Whether a row has text in the user's file."""
        start, end = self.range(row, uses)
        return start < end

    def begins_in_macro(self, row: int) -> bool:
        """Whether the first token of the row comes from a macro."""
        return bool(self.flags[row] & BEGINS_IN_MACRO)

    def range(self, row: int, uses: MacroUses) -> tuple[int, int]:
        """Return the text range of a row in the user's file."""
        start, end, flags = self.start[row], self.end[row], self.flags[row]
        if flags & ENDS_IN_MACRO:
            use = uses.at(end)
            end = use.end if use is not None else end
        return start, end
