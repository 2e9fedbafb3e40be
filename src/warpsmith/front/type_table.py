"""The worker's table of types: clang's types as rows of numbers."""

from __future__ import annotations

from warpsmith.front import kinds
from warpsmith.front.libclang import Cursor, Library, Type
from warpsmith.front.places import FilePlaces
from warpsmith.front.wire import RecordRow, TypeRow

__all__ = ["TypeTable"]

_QUALIFIERS = ("const ", "volatile ", "restrict ")


class TypeTable:
    """Numbers the types of one translation unit as they are met.

    Rows: `s` scalar (clang's kind; const, volatile), `e` enum (its integer kind; const, volatile), `p` pointer
    (to; restrict, const), `a` array (of; count, -1 where no
    extent is written, -2 where it varies), `r` record (row of `records`; const), `f` function (result;
    variadic, parameters...), `o` anything else.
    """

    def __init__(self, library: Library, files: FilePlaces) -> None:
        self.library = library
        self.places = files
        self.rows: list[TypeRow] = []
        self.records: list[RecordRow] = []
        self._ids: dict[int | None, int] = {}
        self._record_ids: dict[int | None, int] = {}

    def number(self, type: Type) -> int:
        """Return the row of `type`."""
        known = self._ids.get(type.first)
        if known is not None:
            return known
        row = self._row(type)
        self.rows.append(row)
        self._ids[type.first] = len(self.rows) - 1
        return len(self.rows) - 1

    def _row(self, type: Type) -> TypeRow:
        library = self.library
        name = ""
        if type.kind in (kinds.T_ELABORATED, kinds.T_TYPEDEF):
            inner = library.Type_getNamedType(type) if type.kind == kinds.T_ELABORATED else type
            if inner.kind == kinds.T_TYPEDEF:
                name = _plain(library.text(library.getTypeSpelling(type)))
            return self._structure(library.getCanonicalType(type), name)
        return self._structure(type, name)

    def _structure(self, type: Type, name: str) -> TypeRow:
        library, kind = self.library, type.kind
        const = int(library.isConstQualifiedType(type))
        if kind in kinds.ARITHMETIC:
            return "s", kind, (const, int(library.isVolatileQualifiedType(type))), name
        if kind in (kinds.T_POINTER, kinds.T_RECORD) and library.isVolatileQualifiedType(type):
            return "o", kind, (), f"volatile {name}" if name else library.text(library.getTypeSpelling(type))
        if kind == kinds.T_POINTER:
            restrict = int(library.isRestrictQualifiedType(type))
            return "p", self.number(library.getPointeeType(type)), (restrict, const), name
        if kind in (kinds.T_CONSTANT_ARRAY, kinds.T_INCOMPLETE_ARRAY, kinds.T_VARIABLE_ARRAY):
            count = library.getArraySize(type) if kind == kinds.T_CONSTANT_ARRAY else -1
            count = -2 if kind == kinds.T_VARIABLE_ARRAY else count
            return "a", self.number(library.getArrayElementType(type)), (count,), name
        if kind == kinds.T_ENUM:
            integer = library.getEnumDeclIntegerType(library.getTypeDeclaration(type))
            base = library.getCanonicalType(integer).kind
            numbers = (const, int(library.isVolatileQualifiedType(type)))
            return "e", base, numbers, name or _plain(library.text(library.getTypeSpelling(type)))
        if kind == kinds.T_RECORD:
            return "r", self._record(type), (const,), name
        if kind in (kinds.T_FUNCTION, kinds.T_FUNCTION_NO_PROTO):
            count = max(0, library.getNumArgTypes(type))
            arguments = tuple(self.number(library.getArgType(type, i)) for i in range(count))
            variadic = int(kind == kinds.T_FUNCTION_NO_PROTO or bool(library.isFunctionTypeVariadic(type)))
            return "f", self.number(library.getResultType(type)), (variadic, *arguments), name
        if kind not in (kinds.T_COMPLEX, kinds.T_LVALUE_REFERENCE, kinds.T_RVALUE_REFERENCE):
            canonical = library.getCanonicalType(type)
            if canonical.first != type.first and canonical.kind != kind:
                return self._structure(canonical, name)
        return "o", kind, (), library.text(library.getTypeSpelling(type))

    def _record(self, type: Type) -> int:
        declaration = self.library.getTypeDeclaration(type)
        known = self._record_ids.get(declaration.first)
        if known is not None:
            return known
        row = len(self.records)
        self._record_ids[declaration.first] = row
        # A record may point to itself: its row exists before its members are looked at.
        union = declaration.kind == kinds.UNION_DECL
        self.records.append(("", -1, union, [], -1, 0, 0))
        self.records[row] = self._members(type, declaration, union)
        return row

    def _members(self, type: Type, declaration: Cursor, union: bool) -> RecordRow:
        library = self.library
        anonymous = bool(library.Cursor_isAnonymous(declaration))
        tag = "" if anonymous else library.text(library.getCursorSpelling(declaration))
        members: list[tuple[str, int, int, bool]] = []
        for member in self.places.children(declaration):
            if member.kind == kinds.FIELD_DECL:
                name = library.text(library.getCursorSpelling(member))
                offset = int(library.Cursor_getOffsetOfField(member))
                number = self.number(library.getCursorType(member))
                members.append((name, number, offset, bool(library.Cursor_isBitField(member))))
        file, start, end = self.places.extent(declaration)
        return tag, int(library.Type_getSizeOf(type)), union, members, file, start, end


def _plain(spelling: str) -> str:
    """Return a type's spelling without its qualifiers."""
    for word in _QUALIFIERS:
        spelling = spelling.replace(word, "")
    return spelling
