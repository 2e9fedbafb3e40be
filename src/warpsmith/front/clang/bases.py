"""The base classes of a class, and which of them stand at the start of its objects (Itanium C++ ABI, section 2.4).

    struct D : Empty, A, B { … };      Empty and A stand at the start, B does not

An empty class takes no room unless another object of its type has its address. Where that may be, or functions are
virtual, nothing is certain.
"""

from __future__ import annotations

import ctypes
from typing import Final, NamedTuple

from warpsmith.front.clang import kinds
from warpsmith.front.clang.libclang import FIELD_VISITOR, ClangType, Cursor, Library
from warpsmith.front.clang.places import FilePlaces

__all__ = ["BaseClass", "BaseClasses", "fields_of"]

_METHODS: Final = (kinds.CXX_METHOD, kinds.DESTRUCTOR)


class BaseClass(NamedTuple):
    """One base class; `type` is canonical, and no record where it depends on arguments of a template."""

    type: ClangType
    at_start: bool

    @property
    def known(self) -> bool:
        """Whether libclang says which class it is."""
        return bool(self.type.kind == kinds.T_RECORD)


class _Shape(NamedTuple):
    """`names`: of the classes that the objects are made of."""

    empty: bool
    virtual: bool
    names: frozenset[str]


def fields_of(library: Library, type: ClangType) -> list[Cursor]:
    """Return the fields of a class; its children do not show those of one that a template made."""
    found: list[Cursor] = []

    def visit(field: Cursor, _data: ctypes.c_void_p) -> int:
        found.append(Cursor.from_buffer_copy(field))
        return 1

    library.Type_visitFields(type, FIELD_VISITOR(visit), None)
    return found


class BaseClasses:
    """Finds the base classes of classes in one parsed file."""

    def __init__(self, library: Library, places: FilePlaces) -> None:
        self.library = library
        self.places = places
        self._shapes: dict[int, _Shape] = {}

    def of(self, declaration: Cursor) -> list[BaseClass]:
        """Return the direct base classes of a class in their order."""
        parts = self.parts(declaration)
        found = [part for part in parts if part.kind == kinds.BASE_SPECIFIER]
        types = [self.library.getCanonicalType(self.library.getCursorType(part)) for part in found]
        if any(self.library.isVirtualBase(part) for part in found) or self._has_virtual(parts):
            return [BaseClass(type, False) for type in types]
        if len(types) == 1:
            return [BaseClass(types[0], True)]
        if any(type.kind != kinds.T_RECORD for type in types):
            return [BaseClass(type, False) for type in types]
        return self._place(types)

    def main(self, declaration: Cursor) -> BaseClass | None:
        """Return the base class that an object begins with: the first one that has members, or else the first."""
        bases = self.of(declaration)
        held = [base for base in bases if base.known and not self._shape(base.type).empty]
        return next(iter(held or bases), None)

    def _place(self, types: list[ClangType]) -> list[BaseClass]:
        shapes = [self._shape(type) for type in types]
        names = [name for shape in shapes for name in shape.names]
        unsure = len(names) != len(set(names)) or any(shape.virtual for shape in shapes)
        first = next((n for n, shape in enumerate(shapes) if not shape.empty), -1)
        starts = [not unsure and (shape.empty or n == first) for n, shape in enumerate(shapes)]
        return [BaseClass(type, start) for type, start in zip(types, starts, strict=True)]

    def _shape(self, type: ClangType) -> _Shape:
        declaration = self.library.getTypeDeclaration(type)
        known = self._shapes.get(declaration.first)
        if known is None:
            known = self._shapes[declaration.first] = self._look(type, declaration)
        return known

    def _look(self, type: ClangType, declaration: Cursor) -> _Shape:
        parts, fields = self.parts(declaration), fields_of(self.library, type)
        bases = [base.type for base in self.of(declaration)]
        # a class whose bases are not known may hold anything
        inner = [self._shape(base) for base in bases if base.kind == kinds.T_RECORD]
        whole = len(inner) == len(bases)
        held = [self._shape(one) for one in map(self._record_of, fields) if one is not None]
        return _Shape(
            empty=whole and not fields and all(shape.empty for shape in inner),
            virtual=not whole or self._has_virtual(parts) or any(shape.virtual for shape in inner),
            names=frozenset(
                {self.library.text(self.library.getTypeSpelling(self.library.getCanonicalType(type)))}
            ).union(*(shape.names for shape in (*inner, *held))),
        )

    def _record_of(self, field: Cursor) -> ClangType | None:
        """Return the class of a field's objects; None for numbers and pointers."""
        type = self.library.getCanonicalType(self.library.getCursorType(field))
        while type.kind == kinds.T_CONSTANT_ARRAY:
            type = self.library.getCanonicalType(self.library.getArrayElementType(type))
        return type if type.kind == kinds.T_RECORD else None

    def parts(self, declaration: Cursor) -> list[Cursor]:
        """Return what a class is declared with; an instance of a template has no children that libclang shows."""
        pattern = self.library.getSpecializedCursorTemplate(declaration)
        return self.places.children(pattern if pattern.first else declaration)

    def _has_virtual(self, parts: list[Cursor]) -> bool:
        return any(self.library.CXXMethod_isVirtual(part) for part in parts if part.kind in _METHODS)
