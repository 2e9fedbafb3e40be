"""The launches in host code, as it is looked through, and the kernels that it names without one.

    k<<<g, b>>>(a)                                  a launch
    cudaLaunchKernel((void *)k, g, b, args)         a launch
    cudaFuncSetAttribute(k, …)                      nothing
    void (*p)(int *) = k;   p<<<g, b>>>(a)          a launch, where pointers.py sees all that is done with p
    run(k);                                         k is launched somewhere, in a shape that is not known

Each kernel that is named must belong to one of the first four; what is left is of the fifth kind. Shapes that no
constant shows are followed by shapes.py. Runs in the worker process only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from warpsmith.front.clang import kinds
from warpsmith.front.clang.device.launches.numbers import Number
from warpsmith.front.clang.device.launches.places import CONFIGURES, LAUNCHERS
from warpsmith.front.clang.device.launches.pointers import KernelPointers
from warpsmith.front.clang.device.launches.rows import fill_launch, given_block
from warpsmith.front.clang.device.launches.shapes import ShapeFinder
from warpsmith.front.clang.device.launches.unread import Unread
from warpsmith.front.clang.dump import OPERATORS
from warpsmith.front.clang.libclang import Cursor, Library
from warpsmith.front.clang.places import FilePlaces
from warpsmith.front.clang.wire import LaunchRow

__all__ = ["FoundLaunches"]

_ASK: Final = ("cudaFunc", "cudaOccupancy", "cuFunc", "cuOccupancy")
_ASSIGNMENTS: Final = frozenset(range(kinds.FIRST_ASSIGNMENT, kinds.LAST_ASSIGNMENT + 1))
_WRITES: Final = {
    kinds.BINARY: _ASSIGNMENTS, kinds.COMPOUND_ASSIGN: _ASSIGNMENTS, kinds.UNARY: kinds.INCREMENTS | {kinds.ADDRESS_OF},
}  # fmt: skip
_COPIES: Final = ("", "dim3")
_UNKNOWN: Final[list[int | None]] = [None, None, None]
_WHOLE: Final = ("signed", "unsigned", "bool")


class FoundLaunches:
    """What is found in one file. `constant` evaluates a constant expression, `declaration` returns the row of what a
    cursor declares."""

    def __init__(
        self,
        library: Library,
        places: FilePlaces,
        constant: Callable[[Cursor], Number | None],
        declaration: Callable[[Cursor], int],
    ) -> None:
        self.library = library
        self.places = places
        self.unread = Unread()
        self.hosts: list[Cursor] = []
        self.outside: dict[int, Cursor] = {}
        self._constant = constant
        self._declaration = declaration
        self._rows: list[LaunchRow] = []
        self._shapes: list[set[int | None]] = []
        self._unsettled: list[bool] = []
        self._launching: list[tuple[int | None, int]] = []
        self._changed: set[int | None] = set()
        self._kernels: dict[int | None, bool] = {}
        self._named: dict[int | None, tuple[Cursor, Cursor, int]] = {}
        self._accounted: set[int | None] = set()
        self._hidden: dict[int | None, Cursor] = {}
        self._seen: set[tuple[str, int]] = set()
        self._pointers = KernelPointers(library, places)
        self._through: dict[int, int] = {}

    # --- host code, an expression at a time

    def enter(self, function: Cursor) -> None:
        """Take note of a function of the host whose body is looked through."""
        self.hosts.append(function)

    def name_outside(self, function: Cursor) -> None:
        """Take note of a function that is named in no body."""
        self.outside[int(function.first or 0)] = function

    def note_kernel(self, kernel: Cursor) -> None:
        """Take note of a kernel, which host code may launch that could not be read."""
        if self.library.text(self.library.getCursorSpelling(kernel)) in self.unread.named:
            self._hidden[kernel.first] = Cursor.from_buffer_copy(kernel)

    def look(self, cursor: Cursor, parent: Cursor, host: int) -> None:
        """Take note of an expression in the function `host`."""
        self._note_change(cursor, parent)
        self._pointers.look(cursor, parent)
        if cursor.kind == kinds.DECL_REF:
            if self.library.text(self.library.getCursorSpelling(cursor)) in self.unread.changed:
                self._changed.add(self.library.getCursorReferenced(cursor).first)
            self._note_name(cursor, host)
        elif cursor.kind == kinds.CALL:
            name = self.library.text(self.library.getCursorSpelling(cursor))
            if name == CONFIGURES and parent.kind == kinds.CALL:
                given = self.places.children(parent)[2:]
                self._note_launch(parent, parent, self.places.children(cursor)[1:], host, given)
            elif name in LAUNCHERS:
                parts = self.places.children(cursor)[1:]
                self._note_launch(cursor, parts[0], [*parts[1:3], *parts[4:5]], host) if len(parts) > 2 else None

    def _note_name(self, cursor: Cursor, host: int) -> None:
        function = self.library.getCursorReferenced(cursor)
        if function.kind in kinds.FUNCTIONS and self._is_kernel(function):
            file, start, _ = self.places.extent(cursor)
            self._seen.add((self.places.files[file] if file >= 0 else "", start))
            self._named[cursor.second] = Cursor.from_buffer_copy(cursor), Cursor.from_buffer_copy(function), host

    def _is_kernel(self, function: Cursor) -> bool:
        known = self._kernels.get(function.first)
        if known is None:
            marked = {part.kind for part in self.places.children(function)}
            known = self._kernels[function.first] = kinds.CUDA_GLOBAL in marked
        return known

    def _note_launch(
        self, launch: Cursor, kernel: Cursor, arguments: list[Cursor], host: int, given: Sequence[Cursor] = ()
    ) -> None:
        """Take note of a launch with a grid, a block and, if it says them, bytes of shared memory; `given`: what the
        kernel gets."""
        named = next(self._names(kernel), None)
        if named is None or len(arguments) < 2:
            return
        self._accounted.add(named.second)
        function = self.library.getCursorReferenced(named)
        if function.kind not in kinds.FUNCTIONS:
            variable = self._pointers.note_launch(named)
            if variable is None:
                return
            self._through[len(self._rows)] = variable
        self._shapes.append(set())
        grid, block = (self._shape(argument) for argument in arguments[:2])
        shared = self.number(arguments[2]) if len(arguments) > 2 else 0
        self._launching.append((launch.second, host))
        place = self.places.extent(launch)
        known = [self._argument(one) for one in given]
        whole = [self._is_whole(one) for one in given]
        self._unsettled.append(any(one is None and number for one, number in zip(known, whole, strict=True)))
        self._rows.append((self._declaration(function), *place, grid, block, shared, given_block(block), known))

    def _names(self, cursor: Cursor) -> Iterator[Cursor]:
        """Yield what an expression names, in the order of the text."""
        if cursor.kind == kinds.DECL_REF:
            yield cursor
        for part in self.places.children(cursor):
            yield from self._names(part)

    # --- numbers and variables

    def _argument(self, cursor: Cursor) -> list[int] | None:
        value = self.number(cursor) if self._is_whole(cursor) else None
        return None if value is None else [value]

    def _is_whole(self, cursor: Cursor) -> bool:
        """Whether an expression is a whole number."""
        kind = self.library.getCanonicalType(self.library.getCursorType(cursor)).kind
        return kind == kinds.T_ENUM or kinds.ARITHMETIC.get(kind, ("", 0, ""))[2] in _WHOLE

    def number(self, cursor: Cursor) -> int | None:
        """Return the whole number that an expression is, None where it is no constant."""
        value = self._constant(cursor)
        return value if isinstance(value, int) else None

    def _shape(self, cursor: Cursor) -> list[int | None]:
        """Return the three numbers of a dim3, as far as they are constants."""
        while True:
            parts = [p for p in self.places.children(cursor) if kinds.UNEXPOSED_EXPR <= p.kind <= kinds.LAST_EXPR]
            if cursor.kind == kinds.DECL_REF:
                variable = self.library.getCursorReferenced(cursor)
                self._shapes[-1].add(variable.first)
                init = self.library.Cursor_getVarDeclInitializer(variable) if variable.kind == kinds.VAR_DECL else None
                if init is None or not init.first:
                    return list(_UNKNOWN)
                cursor = Cursor.from_buffer_copy(init)
            elif len(parts) == 1:
                cursor = parts[0]
            elif len(parts) == 3:
                # what is left out is 1
                given = [self.number(part) for part in parts]
                return [
                    value if value is not None or self.places.children(part) else 1
                    for value, part in zip(given, parts, strict=True)
                ]
            else:
                return list(_UNKNOWN)

    def _note_change(self, cursor: Cursor, parent: Cursor) -> None:
        """Take note of a variable that is assigned to, counted up, whose address is taken, or that a function gets by
        reference: a dim3 has more than one number."""
        if self._writes(cursor):
            target: Cursor | None = cursor
            while target is not None and target.kind != kinds.DECL_REF:
                target = next(iter(self.places.children(target)), None)
            if target is not None:
                self._changed.add(self.library.getCursorReferenced(target).first)
        elif cursor.kind == kinds.DECL_REF and parent.kind == kinds.CALL and not self._copies(parent):
            self._changed.add(self.library.getCursorReferenced(cursor).first)

    def _copies(self, call: Cursor) -> bool:
        """Whether a call is the constructor that copies a shape."""
        return self.library.text(self.library.getCursorSpelling(call)) in _COPIES

    def _writes(self, cursor: Cursor) -> bool:
        """Whether an expression changes its first operand, or lets others do so."""
        read = OPERATORS.get(cursor.kind)
        return read is not None and int(getattr(self.library, read)(cursor)) in _WRITES[cursor.kind]

    # --- when all is seen

    def rows(self) -> list[LaunchRow]:
        """Return the launches; where one says its shape by variables that change, host code is followed."""
        open_ = set[int]()
        for number, named in enumerate(self._shapes):
            kernel, file, start, end, grid, block, shared, _, given = self._rows[number]
            if named & self._changed:
                grid, block = list(_UNKNOWN), list(_UNKNOWN)
            self._rows[number] = (kernel, file, start, end, grid, block, shared, given_block(block), given)
            if None in (*grid, *block, shared) or self._unsettled[number]:
                open_.add(number)
        if open_:
            self._follow(open_)
        rows = [row for number in range(len(self._rows)) for row in self._of_kernels(number)]
        return [*rows, *self._unseen()]

    def _of_kernels(self, number: int) -> Iterator[LaunchRow]:
        """Yield a launch; one through a variable, for each kernel that this points to."""
        row = self._rows[number]
        if number not in self._through:
            yield row
            return
        for named in self._pointers.kernels(self._through[number]) or ():
            yield self._declaration(self.library.getCursorReferenced(named)), *row[1:]

    def _follow(self, open_: set[int]) -> None:
        """Put in what host code computes for the launches that no constant shows."""
        finder = ShapeFinder(self.library, self.places, self._constant, self.outside, self.unread)
        found = finder.find(self.hosts, {self._launching[number][1] for number in open_})
        for number in open_:
            shapes = found.get(self._launching[number][0])
            if shapes is not None:
                self._rows[number] = fill_launch(self._rows[number], *shapes)

    def _unseen(self) -> Iterator[LaunchRow]:
        """Yield a launch that nothing is known of for each kernel that is named and not launched there."""
        for function in self._hidden.values():
            name = self.library.text(self.library.getCursorSpelling(function))
            if not self.unread.named[name] <= self._seen:
                yield self._unknown(function, function)
        for function in self.outside.values():
            if self._is_kernel(function):
                yield self._unknown(function, function)
        settled = self._accounted | self._pointers.settled()
        left = {place: found for place, found in self._named.items() if place not in settled}
        asked = self._asked({host for _, _, host in left.values()}) if left else set()
        for place, (cursor, function, _) in left.items():
            if place not in asked:
                yield self._unknown(function, cursor)

    def _unknown(self, kernel: Cursor, named: Cursor) -> LaunchRow:
        place = self.places.extent(named)
        return self._declaration(kernel), *place, list(_UNKNOWN), list(_UNKNOWN), None, given_block(_UNKNOWN), []

    def _asked(self, hosts: set[int]) -> set[int | None]:
        """Return where functions of the host name kernels only to ask for their properties, or to set them."""
        found = set[int | None]()
        stack = [host for host in self.hosts if int(host.first or 0) in hosts]
        while stack:
            cursor = stack.pop()
            parts = self.places.children(cursor)
            # a function that no header declares is no call to clang
            if cursor.kind in (kinds.CALL, kinds.UNEXPOSED_EXPR) and parts and self._name(parts[0]).startswith(_ASK):
                found |= {named.second for named in self._names(cursor)}
            stack += parts
        return found

    def _name(self, called: Cursor) -> str:
        """Return the name of a function that an expression calls, "" where it has none."""
        while not (name := self.library.text(self.library.getCursorSpelling(called))):
            parts = self.places.children(called)
            if len(parts) != 1:
                return ""
            called = parts[0]
        return name
