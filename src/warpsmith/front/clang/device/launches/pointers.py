"""Variables of host functions that point to kernels, which are launched through them.

    void (*kernel)(float *, int) = copy;      kernel<<<g, b>>>(a, n);      a launch of copy
    if (n > 9) kernel = &move;                kernel<<<g, b>>>(a, n);      one of copy, and one of move
    run(kernel);  &kernel;  k2 = kernel;      what is launched through it elsewhere is not known

Where all that is done with a variable is to give it a kernel by its name and to launch through it, each of its kernels
is launched in each of these launches' shapes, and nowhere else by these names. Runs in the worker process only.
"""

from __future__ import annotations

from typing import Final

from warpsmith.front.clang import kinds
from warpsmith.front.clang.libclang import Cursor, Library
from warpsmith.front.clang.places import FilePlaces

__all__ = ["KernelPointers"]

_FUNCTION_TYPES: Final = frozenset({kinds.T_FUNCTION, kinds.T_FUNCTION_NO_PROTO})
_AROUND_NAMES: Final = frozenset({
    kinds.UNEXPOSED_EXPR, kinds.PAREN, kinds.CAST, kinds.STATIC_CAST, kinds.REINTERPRET_CAST, kinds.FUNCTIONAL_CAST,
})  # fmt: skip
_COMPARES: Final = frozenset({kinds.BINARY_OPERATORS.index("=="), kinds.BINARY_OPERATORS.index("!=")})
_ASSIGNS: Final = kinds.BINARY_OPERATORS.index("=")


class KernelPointers:
    """The pointers of one file, by the addresses of their declarations."""

    def __init__(self, library: Library, places: FilePlaces) -> None:
        self.library = library
        self.places = places
        self._uses: dict[int | None, set[int | None]] = {}
        self._seen_through: set[int | None] = set()
        self._given: dict[int | None, dict[int | None, Cursor]] = {}

    def look(self, cursor: Cursor, parent: Cursor) -> None:
        """Take note of an expression or a declaration of host code."""
        if cursor.kind == kinds.DECL_REF:
            variable = self.library.getCursorReferenced(cursor)
            if self._is_pointer(variable):
                self._uses.setdefault(variable.first, set()).add(cursor.second)
        elif cursor.kind == kinds.VAR_DECL and self._is_pointer(cursor):
            init = self.library.Cursor_getVarDeclInitializer(cursor)
            if init.first or init.second:
                self._give(cursor.first, Cursor.from_buffer_copy(init))
        elif cursor.kind == kinds.BINARY:
            self._operate(cursor, parent)

    def _operate(self, cursor: Cursor, parent: Cursor) -> None:
        """Take note of what assigns to a variable, or compares it."""
        operator = int(self.library.getCursorBinaryOperatorKind(cursor))
        parts = self.places.children(cursor)
        if operator in _COMPARES:
            self._seen_through |= {named.second for named in map(self._find_name, parts) if named is not None}
        elif operator == _ASSIGNS and parts[0].kind == kinds.DECL_REF:
            variable = self.library.getCursorReferenced(parts[0])
            # the value of the assignment itself goes nowhere
            if not kinds.UNEXPOSED_EXPR <= parent.kind <= kinds.LAST_EXPR:
                self._seen_through.add(parts[0].second)
            if self._is_pointer(variable):
                self._give(variable.first, parts[1])

    def note_launch(self, named: Cursor) -> int | None:
        """Take note of a launch through a name; return the variable, None where it is none of these."""
        variable = self.library.getCursorReferenced(named)
        if not self._is_pointer(variable):
            return None
        self._seen_through.add(named.second)
        return int(variable.first or 0)

    def kernels(self, variable: int) -> list[Cursor] | None:
        """Return the names of the kernels that a variable is given; None where something else is done with it."""
        if self._uses.get(variable, set()) - self._seen_through:
            return None
        return list(self._given.get(variable, {}).values())

    def settled(self) -> set[int | None]:
        """Return the places of the names of kernels that are compared with something, or are given to variables of
        which everything is known."""
        known = (given for variable, given in self._given.items() if self.kernels(int(variable or 0)) is not None)
        return self._seen_through.union(*known)

    def _is_pointer(self, variable: Cursor) -> bool:
        """Whether a cursor declares a local variable that points to a function."""
        if variable.kind != kinds.VAR_DECL:
            return False
        type = self.library.getCanonicalType(self.library.getCursorType(variable))
        if type.kind != kinds.T_POINTER:
            return False
        pointee = self.library.getCanonicalType(self.library.getPointeeType(type))
        inside = self.library.getCursorSemanticParent(variable).kind in kinds.FUNCTIONS
        static = int(self.library.Cursor_getStorageClass(variable)) == kinds.STORAGE_STATIC
        return pointee.kind in _FUNCTION_TYPES and inside and not static

    def _give(self, variable: int | None, value: Cursor) -> None:
        """Take note of the kernel that a variable is given, where the value is a name and nothing else."""
        named = self._find_name(value)
        if named is not None and self.library.getCursorReferenced(named).kind in kinds.FUNCTIONS:
            self._given.setdefault(variable, {})[named.second] = Cursor.from_buffer_copy(named)

    def _find_name(self, value: Cursor) -> Cursor | None:
        """Return the name that an expression is, maybe cast or with its address taken."""
        while value.kind in _AROUND_NAMES or self._is_address(value):
            inside = [p for p in self.places.children(value) if kinds.UNEXPOSED_EXPR <= p.kind <= kinds.LAST_EXPR]
            if len(inside) != 1:
                return None
            value = inside[0]
        return value if value.kind == kinds.DECL_REF else None

    def _is_address(self, cursor: Cursor) -> bool:
        if cursor.kind != kinds.UNARY:
            return False
        return int(self.library.getCursorUnaryOperatorKind(cursor)) == kinds.ADDRESS_OF
