"""The walk over a file of OpenCL's host code: which kernels it launches by their names, and in which shapes.

A row of `launches` has the number of the kernel's name among `values`; an empty name stands for a launch of a kernel
that is not known, which may be any. Runs in the worker process only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from warpsmith.front.clang import kinds
from warpsmith.front.clang.device.launches.numbers import UNKNOWN
from warpsmith.front.clang.device.launches.opencl import ENQUEUES, Enqueue
from warpsmith.front.clang.device.launches.places import Shape
from warpsmith.front.clang.device.launches.rows import fill_launch, given_block
from warpsmith.front.clang.device.launches.shapes import ShapeFinder
from warpsmith.front.clang.device.launches.unread import Unread, unread_by
from warpsmith.front.clang.dump import Walk
from warpsmith.front.clang.libclang import Cursor
from warpsmith.front.clang.wire import Diagnostic, LaunchRow

__all__ = ["EnqueueWalk"]

_AROUND: Final = frozenset({
    kinds.LINKAGE_SPEC, kinds.NAMESPACE, kinds.STRUCT_DECL, kinds.CLASS_DECL, kinds.UNEXPOSED_DECL,
})  # fmt: skip
_NOTHING: Final[Shape] = (UNKNOWN,) * 3
_NOT_KNOWN: Final[Enqueue] = (UNKNOWN, _NOTHING, _NOTHING)


class EnqueueWalk(Walk):
    """The walk; what it finds is in `launches`."""

    despite_errors = True
    unread = Unread()

    def note_errors(self, unit: int, diagnostics: list[Diagnostic], main: tuple[str, bytes | None]) -> None:
        """Take note of what could not be read."""
        self.unread = unread_by(self.library, unit, diagnostics, main)

    def run(self, unit: int) -> None:
        """Look through the functions of the user's, and follow those that launch something."""
        hosts = [
            function
            for top in self.places.children(self.library.getTranslationUnitCursor(unit))
            if self.places.is_users(top)
            for function in self._functions(top)
        ]
        calls = [(call, int(host.first or 0)) for host in hosts for call in self._calls(host)]
        finder = ShapeFinder(self.library, self.places, self._constant, (), self.unread)
        finder.find(hosts, {host for _, host in calls})
        for call, _ in calls:
            self.launches += self._rows(call, finder.enqueues.get(call.second, _NOT_KNOWN), finder.reader.kernels)
        seen = {(self.places.files[file], start) for file, start, _ in (self.places.extent(call) for call, _ in calls)}
        if hosts and not self.unread.named.get(ENQUEUES, frozenset()) <= seen:
            self.launches += self._rows(hosts[0], _NOT_KNOWN, [])

    def _functions(self, cursor: Cursor) -> Iterator[Cursor]:
        if cursor.kind in kinds.FUNCTIONS:
            if any(part.kind == kinds.COMPOUND for part in self.places.children(cursor)):
                yield Cursor.from_buffer_copy(cursor)
        elif cursor.kind in _AROUND:
            for part in self.places.children(cursor):
                yield from self._functions(part)

    def _calls(self, host: Cursor) -> Iterator[Cursor]:
        """Yield the calls in a function that launch a kernel."""
        stack = [host]
        while stack:
            cursor = stack.pop()
            if cursor.kind == kinds.CALL and self.library.text(self.library.getCursorSpelling(cursor)) == ENQUEUES:
                yield cursor
            stack += self.places.children(cursor)

    def _rows(self, call: Cursor, found: Enqueue, names: list[str]) -> Iterator[LaunchRow]:
        """Yield a launch for each kernel that a call may launch."""
        kernels, grid, block = found
        nothing: list[int | None] = [None, None, None]
        # no handle is 0: a variable that was not given one yet
        for kernel in sorted(kernels - {0}, key=lambda number: -1 if number is None else number):
            name = self._value("" if kernel is None else names[int(kernel) - 1])
            row: LaunchRow = (name, *self.places.extent(call), nothing, nothing, 0, given_block(nothing), [])
            yield fill_launch(row, grid, block, frozenset({0}))

    def _constant(self, cursor: Cursor) -> int | float | None:
        value = self.values[self._evaluate_constant(cursor)]
        self.values.pop()
        return value if isinstance(value, int | float) else None
