"""The worker's view of places: which file a location is in, and at which byte."""

from __future__ import annotations

import ctypes
from bisect import bisect_right

from warpsmith.front.clang.libclang import CURSOR_VISITOR, Cursor, Library, Location

__all__ = ["FilePlaces"]

_MACRO_BIT = 0x80000000
_OURS = "/warpsmith/front/headers/"
_CONTINUE = 1


class FilePlaces:
    """Numbers the files of one translation unit; the main file is 0.

    clang writes a place as one number, the files laid end to end, each as often as it is included. Inside the main file
    the offset is that number less the file's base: no call is needed. `base` and `limit` come from the interface and
    are checked against each other; where they do not fit, every place is asked for. Of another file the first place is
    asked for, which tells the base, and the end follows from its length.

        main.c        a.h      b.h      a.h again
        0 ··· size    ·····    ·····    ·····          _starts, _ends: what is known of these, in order
    """

    def __init__(self, library: Library, unit: int, path: str) -> None:
        self.library = library
        self.files: list[str] = []
        self.user: list[bool] = []
        self._unit = unit
        self._numbers: dict[int, int] = {0: -1}
        self._starts: list[int] = []
        self._ends: list[tuple[int, int]] = []
        handle = library.getFile(unit, path.encode("utf-8", "surrogateescape")) or 0
        start = library.getLocationForOffset(unit, handle, 0)
        self.base, self.limit = start.data, start.data
        self._number(handle, start)
        self.user[:1] = [True]

    def measure(self, unit: int, handle_path: str) -> None:
        """Learn where the main file ends in clang's numbering."""
        handle = self.library.getFile(unit, handle_path.encode("utf-8", "surrogateescape")) or 0
        size = self.library.size(unit, handle)
        end = self.library.getLocationForOffset(unit, handle, size)
        self.limit = end.data if end.data - self.base == size else self.base

    def _number(self, handle: int, location: object) -> int:
        known = self._numbers.get(handle)
        if known is None:
            known = len(self.files)
            self._numbers[handle] = known
            path = self.library.path(handle)
            self.files.append(path)
            # in front of its pragma, a header of ours is none of the system's
            self.user.append(_OURS not in path and not self.library.Location_isInSystemHeader(location))
        return known

    def include(self, handle: int) -> None:
        """Number an included file of the user's: one that declares nothing may include others."""
        if handle not in self._numbers:
            start = self.library.getLocationForOffset(self._unit, handle, 0)
            if not self.library.Location_isInSystemHeader(start):
                self._number(handle, start)

    def place(self, location: Location) -> tuple[int, int]:
        """Return (file, offset) of a location; file -1 is none (a builtin)."""
        data = int(location.data)
        return self._find_known(data) or self._find_place(data, location)

    def _find_known(self, data: int) -> tuple[int, int] | None:
        """Return the place of a number of clang's, where it is in what is known."""
        at = bisect_right(self._starts, data) - 1
        if at < 0 or data > self._ends[at][0]:
            return None
        return self._ends[at][1], data - self._starts[at]

    def _find_place(self, data: int, location: Location) -> tuple[int, int]:
        handle, _, offset = self.library.place(location)
        file = self._number(handle, location)
        size = self.library.size(self._unit, handle) if handle and not data & _MACRO_BIT else -1
        if 0 <= offset <= size and data > offset:
            at = bisect_right(self._starts, data - offset)
            self._starts.insert(at, data - offset)
            self._ends.insert(at, (data - offset + size, file))
        return file, offset

    def extent(self, cursor: Cursor) -> tuple[int, int, int]:
        """Return (file, start, end) of a cursor."""
        extent = self.library.getCursorExtent(cursor)
        file, start = self.place(self.library.getRangeStart(extent))
        return file, start, self.place(self.library.getRangeEnd(extent))[1]

    def is_users(self, cursor: Cursor) -> bool:
        """Whether a cursor begins in a file of the user's."""
        extent = self.library.getCursorExtent(cursor)
        file, _ = self._find_known(extent.begin) or self.place(self.library.getRangeStart(extent))
        return file >= 0 and self.user[file]

    def span(self, cursor: Cursor) -> tuple[int, int, int, int]:
        """Return (file, start, end, macro flags) of a cursor, quickly for the main file."""
        extent = self.library.getCursorExtent(cursor)
        begin, end = extent.begin, extent.end
        if self.base <= begin <= self.limit and self.base <= end <= self.limit and begin:
            return 0, begin - self.base, end - self.base, 0
        first, last = self._find_known(begin), self._find_known(end)
        if first is not None and last is not None:
            return *first, last[1], 0
        file, start = self.place(self.library.getRangeStart(extent))
        flags = (1 if begin & _MACRO_BIT else 0) | (2 if end & _MACRO_BIT else 0)
        return file, start, self.place(self.library.getRangeEnd(extent))[1], flags

    def find_skipped(self) -> list[tuple[int, int, int]]:
        """Return (file, start, end) of what conditionals leave out of the user's files."""
        found: list[tuple[int, int, int]] = []
        for handle, number in self._numbers.items():
            if number < 0 or not self.user[number]:
                continue
            listed = self.library.getSkippedRanges(self._unit, handle)
            for k in range(listed.contents.count):
                extent = listed.contents.ranges[k]
                ends = self.library.getRangeStart(extent), self.library.getRangeEnd(extent)
                start, end = (self.library.place(location)[2] for location in ends)
                found.append((number, start, end))
            self.library.disposeSourceRangeList(listed)
        return found

    def children(self, cursor: Cursor) -> list[Cursor]:
        """Return the direct children of a cursor."""
        found: list[Cursor] = []

        def visit(child: Cursor, _parent: Cursor, _data: ctypes.c_void_p) -> int:
            found.append(Cursor.from_buffer_copy(child))
            return _CONTINUE

        self.library.visitChildren(cursor, CURSOR_VISITOR(visit), None)
        return found
