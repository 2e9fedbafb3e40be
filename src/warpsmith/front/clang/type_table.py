"""The worker's table of types: clang's types as rows of numbers."""

from __future__ import annotations

from warpsmith.front.clang import kinds
from warpsmith.front.clang.bases import BaseClasses, fields_of
from warpsmith.front.clang.libclang import ClangType, Cursor, Library
from warpsmith.front.clang.places import FilePlaces
from warpsmith.front.clang.wire import MemberRow, RecordRow, TypeRow

__all__ = ["TypeTable"]

_MOST_INT = 2**31 - 1
_QUALIFIERS = (
    "const ", "volatile ", "restrict ", "__private ", "__global ", "__local ", "__constant ", "__generic ",
)  # fmt: skip


class TypeTable:
    """Numbers the types of one translation unit as they are met.

    Of C++: a reference is a pointer that is marked; a container of the standard library is a record of what a loop
    needs of it (tree/containers.py); the members of a base class stand among the class's own.

    Rows: `s` scalar (clang's kind; const, volatile), `e` enum (its integer kind; const, volatile), `p` pointer
    (to; restrict, const, reference, address space), `a` array (of; count, -1 where no
    extent is written, -2 where it varies), `r` record (row of `records`; const), `f` function (result;
    variadic, parameters...), `v` vector of device code (element; lanes, bytes, const), `o` anything else.
    """

    def __init__(self, library: Library, files: FilePlaces, *, cxx: bool = False, device: bool = False) -> None:
        self.library = library
        self.cxx = cxx
        self.device = device
        self.places = files
        self.bases = BaseClasses(library, files)
        self.rows: list[TypeRow] = []
        self.records: list[RecordRow] = []
        self._ids: dict[int | None, int] = {}
        self._record_ids: dict[int | None, int] = {}

    def number(self, type: ClangType) -> int:
        """Return the row of `type`."""
        known = self._ids.get(type.first)
        if known is not None:
            return known
        row = self._row(type)
        self.rows.append(row)
        self._ids[type.first] = len(self.rows) - 1
        return len(self.rows) - 1

    def _row(self, type: ClangType) -> TypeRow:
        library = self.library
        name = ""
        if type.kind in (kinds.T_ELABORATED, kinds.T_TYPEDEF):
            inner = library.Type_getNamedType(type) if type.kind == kinds.T_ELABORATED else type
            if inner.kind == kinds.T_TYPEDEF and not (self.cxx and self._is_scoped(inner)):
                name = _plain(library.text(library.getTypeSpelling(type)))
            return self._structure(library.getCanonicalType(type), name)
        return self._structure(type, name)

    def _is_scoped(self, type: ClangType) -> bool:
        """Whether a typedef stands in a class or namespace, so that its name alone means nothing elsewhere."""
        parent = self.library.getCursorSemanticParent(self.library.getTypeDeclaration(type))
        return bool(parent.kind != kinds.TRANSLATION_UNIT)

    def _structure(self, type: ClangType, name: str) -> TypeRow:
        row = self._structure_of_device(type, name) if self.device else None
        if row is None and self.cxx:
            row = self._structure_of_cxx(type, name)
        return row if row is not None else self._structure_of_c(type, name)

    def _structure_of_device(self, type: ClangType, name: str) -> TypeRow | None:
        """Return the row of a type that only device code has, or that it may look into."""
        library, kind = self.library, type.kind
        const = int(library.isConstQualifiedType(type))
        if kind in kinds.HALVES:
            return "s", kind, (const, int(library.isVolatileQualifiedType(type))), name
        if kind in (kinds.T_VECTOR, kinds.T_EXT_VECTOR):
            element, lanes = library.getElementType(type), int(library.getNumElements(type))
            return "v", self.number(element), (lanes, int(library.Type_getSizeOf(type)), const), name
        if kind in (kinds.T_POINTER, kinds.T_LVALUE_REFERENCE, kinds.T_RVALUE_REFERENCE):
            to = library.getPointeeType(type)
            space = int(library.getAddressSpace(to))
            if kind != kinds.T_POINTER:
                return "p", self.number(to), (0, 1, 1 + (kind == kinds.T_RVALUE_REFERENCE), space), ""
            return "p", self.number(to), (int(library.isRestrictQualifiedType(type)), const, 0, space), name
        if kind == kinds.T_RECORD:
            plain = name or _plain(library.text(library.getTypeSpelling(type)))
            return "r", self._record(type), (const,), "auto" if plain.startswith("(lambda") else plain
        return None

    def _structure_of_cxx(self, type: ClangType, name: str) -> TypeRow | None:
        """Return the row of a type that C does not have, or has under another name."""
        library, kind = self.library, type.kind
        const = int(library.isConstQualifiedType(type))
        if kind == kinds.T_BOOL:
            return "s", kind, (const, int(library.isVolatileQualifiedType(type))), name or "bool"
        if kind in (kinds.T_LVALUE_REFERENCE, kinds.T_RVALUE_REFERENCE):
            return "p", self.number(library.getPointeeType(type)), (0, 1, 1 + (kind == kinds.T_RVALUE_REFERENCE)), ""
        if kind != kinds.T_RECORD or library.isVolatileQualifiedType(type):
            return None
        name = name or _plain(library.text(library.getTypeSpelling(type)))
        name = "auto" if name.startswith("(lambda") else name
        return self._std_array(type) or ("r", self._record(type), (const,), name)

    def _structure_of_c(self, type: ClangType, name: str) -> TypeRow:
        library, kind = self.library, type.kind
        const = int(library.isConstQualifiedType(type))
        if kind in kinds.ARITHMETIC:
            return "s", kind, (const, int(library.isVolatileQualifiedType(type))), name
        if kind in (kinds.T_POINTER, kinds.T_RECORD) and library.isVolatileQualifiedType(type):
            return "o", kind, (), f"volatile {name}" if name else library.text(library.getTypeSpelling(type))
        if kind == kinds.T_POINTER:
            restrict = int(library.isRestrictQualifiedType(type))
            return "p", self.number(library.getPointeeType(type)), (restrict, const, 0), name
        if kind in (kinds.T_CONSTANT_ARRAY, kinds.T_INCOMPLETE_ARRAY, kinds.T_VARIABLE_ARRAY):
            count = library.getArraySize(type) if kind == kinds.T_CONSTANT_ARRAY else -1
            count = -2 if kind == kinds.T_VARIABLE_ARRAY else count
            return "a", self.number(library.getArrayElementType(type)), (count,), name
        if kind == kinds.T_ENUM:
            return self._enum(type, name)
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

    def _enum(self, type: ClangType, name: str) -> TypeRow:
        library = self.library
        integer = library.getEnumDeclIntegerType(library.getTypeDeclaration(type))
        base = library.getCanonicalType(integer).kind
        if self.device and self.cxx and base == kinds.T_UINT and self._promotes_to_int(type):
            base = kinds.T_INT
        numbers = (int(library.isConstQualifiedType(type)), int(library.isVolatileQualifiedType(type)))
        return "e", base, numbers, name or _plain(library.text(library.getTypeSpelling(type)))

    def _promotes_to_int(self, type: ClangType) -> bool:
        """Whether values of an enum of C++ become int: it names no type of its own, and they all fit."""
        library, declaration = self.library, self.library.getTypeDeclaration(type)
        policy = library.getCursorPrintingPolicy(declaration)
        text = library.text(library.getCursorPrettyPrinted(declaration, policy))
        library.PrintingPolicy_dispose(policy)
        values = [p for p in self.places.children(declaration) if p.kind == kinds.ENUM_CONSTANT]
        own = ":" in text.partition("{")[0].replace("::", "")
        # what does not fit comes as a negative number
        return not own and all(0 <= library.getEnumConstantDeclValue(p) <= _MOST_INT for p in values)

    def _record(self, type: ClangType) -> int:
        declaration = self.library.getTypeDeclaration(type)
        known = self._record_ids.get(declaration.first)
        if known is not None:
            return known
        row = len(self.records)
        self._record_ids[declaration.first] = row
        # A record may point to itself: its row exists before its members are looked at.
        union = declaration.kind == kinds.UNION_DECL
        self.records.append(("", -1, union, [], -1, 0, 0, True, False, [], 0, False, 0, -1, []))
        container = self._container(type) if self.cxx and not self.device else None
        self.records[row] = container or self._members(type, declaration, union)
        return row

    def _std(self, type: ClangType) -> tuple[str, str]:
        """Return the name and the full spelling of a class template's type of namespace std; "" for other types."""
        library = self.library
        declaration = library.getTypeDeclaration(type)
        name = library.text(library.getCursorSpelling(declaration))
        if name not in ("vector", "array", "unique_ptr"):
            return "", ""
        scope = library.getCursorSemanticParent(declaration)
        while scope.kind == kinds.NAMESPACE and library.text(library.getCursorSpelling(scope)) != "std":
            scope = library.getCursorSemanticParent(scope)
        if scope.kind != kinds.NAMESPACE or library.Type_getNumTemplateArguments(type) < 1:
            return "", ""
        return name, _plain(library.text(library.getTypeSpelling(type)))

    def _std_array(self, type: ClangType) -> TypeRow | None:
        """Return the row of a std::array: it is an array, whose name is no address."""
        canonical = self.library.getCanonicalType(type)
        name, tag = self._std(canonical)
        if name != "array":
            return None
        element = self.library.Type_getTemplateArgumentAsType(canonical, 0)
        size, bytes = int(self.library.Type_getSizeOf(canonical)), int(self.library.Type_getSizeOf(element))
        if bytes <= 0 or size <= 0 or size % bytes:
            return None
        return "a", self.number(element), (size // bytes,), tag

    def _container(self, type: ClangType) -> RecordRow | None:
        """Return the record that stands for a std::vector, or for a std::unique_ptr to an array; None for any other
        type."""
        canonical = self.library.getCanonicalType(type)
        name, tag = self._std(canonical)
        if name == "unique_ptr":
            return self._owner(canonical, tag)
        if name != "vector":
            return None
        element = self.library.Type_getTemplateArgumentAsType(canonical, 0)
        size = max(0, int(self.library.Type_getSizeOf(canonical)))
        if self.library.getCanonicalType(element).kind == kinds.T_BOOL:
            return tag, size, False, [], -1, 0, 0, False, False, [], 0, False, 0, -1, []
        self.rows.append(("p", self.number(element), (0, 0, 0), ""))
        pointer = len(self.rows) - 1
        members: list[MemberRow] = [("data()", pointer, 0, 0, False), ("size()", self._unsigned_long(), 64, 0, False)]
        return tag, size, False, members, -1, 0, 0, False, False, [], 0, False, 0, -1, []

    def _owner(self, type: ClangType, tag: str) -> RecordRow | None:
        """Return the record of a std::unique_ptr to an array that `delete[]` takes back; None for any other one."""
        library = self.library
        array = library.getCanonicalType(library.Type_getTemplateArgumentAsType(type, 0))
        plain = f"std::unique_ptr<{_plain(library.text(library.getTypeSpelling(array)))}>"
        if array.kind != kinds.T_INCOMPLETE_ARRAY or tag != plain:
            return None
        element = library.getArrayElementType(array)
        if not library.isPODType(element):
            return None  # whose end may run code
        self.rows.append(("p", self.number(element), (0, 0, 0), ""))
        size = max(0, int(library.Type_getSizeOf(type)))
        members: list[MemberRow] = [("get()", len(self.rows) - 1, 0, 0, False)]
        return tag, size, False, members, -1, 0, 0, False, False, [], 0, False, 0, -1, []

    def _unsigned_long(self) -> int:
        self.rows.append(("s", kinds.T_ULONG, (0, 0), "size_t"))
        return len(self.rows) - 1

    def _members(self, type: ClangType, declaration: Cursor, union: bool) -> RecordRow:
        library = self.library
        anonymous = bool(library.Cursor_isAnonymous(declaration))
        tag = "" if anonymous else library.text(library.getCursorSpelling(declaration))
        spelling = library.text(library.getTypeSpelling(type)) if self.device else ""
        closure = "(lambda at " in spelling
        members: list[MemberRow] = []
        if self.cxx:
            members += self._find_inherited(declaration)
            tag = _plain(library.text(library.getTypeSpelling(type))) if tag or closure else tag
        for member in fields_of(self.library, type) if self.cxx else self.places.children(declaration):
            if member.kind == kinds.FIELD_DECL:
                name = library.text(library.getCursorSpelling(member))
                offset = int(library.Cursor_getOffsetOfField(member))
                number = self.number(library.getCursorType(member))
                if self.device and not closure and (not name or "(" in name):
                    members += self._find_unnamed(library.getCursorType(member), offset)
                bits = int(library.getFieldDeclBitWidth(member)) if library.Cursor_isBitField(member) else 0
                members.append((name, number, offset, bits, self.device and self._begins(member)))
        file, start, end = self.places.extent(declaration)
        hidden = [
            library.text(library.getCursorSpelling(f))
            for f in (fields_of(self.library, type) if self.cxx else ())
            if self._is_hidden(f)
        ]
        plain = not self.cxx or bool(library.isPODType(type))
        ends = self.cxx and self._ends(type, declaration)
        alignment = int(library.Type_getAlignOf(type)) if self.device else 0
        size = int(library.Type_getSizeOf(type))
        fresh, base, bases = self._fresh(declaration, members) if self.device and self.cxx else (0, -1, [])
        one_base = len(bases) == 1 and bases[0][1]
        made = (max(0, alignment), one_base, fresh, base, bases)
        return tag, size, union, members, file, start, end, plain, ends, hidden, *made

    def _begins(self, field: Cursor) -> bool:
        """Whether a member has a value of its own in its class; before it stand arguments of its type ahead of the
        name, a width, or the extents of an array."""
        _, named = self.places.place(self.library.getCursorLocation(field))
        parts = [p for p in self.places.children(field) if kinds.UNEXPOSED_EXPR <= p.kind <= kinds.LAST_EXPR]
        parts = [p for p in parts if self.places.extent(p)[1] > named]
        if self.library.Cursor_isBitField(field):
            return len(parts) > 1
        array = self.library.getCanonicalType(self.library.getCursorType(field)).kind == kinds.T_CONSTANT_ARRAY
        return bool(parts) and (not array or parts[-1].kind == kinds.INIT_LIST)

    def _fresh(self, declaration: Cursor, members: list[MemberRow]) -> tuple[int, int, list[tuple[int, bool]]]:
        """Return whether an object that is made from nothing gets values, the base class that it begins with, and all
        base classes (see RecordRow)."""
        bases, main = self.bases.of(declaration), self.bases.main(declaration)
        first = self.number(main.type) if main is not None and main.known else -1
        rows = [(self.number(base.type) if base.known else -1, base.at_start) for base in bases]
        parts = self.bases.parts(declaration)
        own = any(p.kind == kinds.CONSTRUCTOR and self._needs_nothing(p) for p in parts)
        if own or any(base.known and self.records[self._record(base.type)][12] for base in bases):
            return 2, first, rows
        return int(any(begins or self._is_fresh(number) for _, number, _, _, begins in members)), first, rows

    def _needs_nothing(self, constructor: Cursor) -> bool:
        """Whether a constructor of the user's takes no arguments."""
        if self.library.CXXMethod_isDefaulted(constructor):
            return False
        parameters = [p for p in self.places.children(constructor) if p.kind == kinds.PARM_DECL]
        return all(
            any(c.kind <= kinds.LAST_EXPR and c.kind >= kinds.UNEXPOSED_EXPR for c in self.places.children(p))
            for p in parameters
        )

    def _is_fresh(self, number: int) -> bool:
        tag, inner, _, _ = self.rows[number]
        while tag == "a":
            tag, inner, _, _ = self.rows[inner]
        return tag == "r" and bool(self.records[inner][12])

    def _find_unnamed(self, type: ClangType, offset: int) -> list[MemberRow]:
        """Return the members of an unnamed struct or union, which are members of what it stands in."""
        type = self.library.getCanonicalType(type)
        inner = self.records[self._record(type)][3] if type.kind == kinds.T_RECORD else []
        return [(name, number, offset + at, bits, begins) for name, number, at, bits, begins in inner if name]

    def _is_hidden(self, field: Cursor) -> bool:
        return self.cxx and int(self.library.getCXXAccessSpecifier(field)) in (
            kinds.ACCESS_PROTECTED,
            kinds.ACCESS_PRIVATE,
        )

    def _ends(self, type: ClangType, declaration: Cursor) -> bool:
        """Whether the end of an object of a class runs code of the user's."""
        library = self.library
        places = self.bases.parts(declaration)
        file, _ = self.places.place(library.getCursorLocation(declaration))
        if file < 0 or not self.places.user[file]:
            return False
        if any(part.kind == kinds.DESTRUCTOR for part in places):
            return True
        parts = [library.getCanonicalType(library.getCursorType(c)) for c in places if c.kind == kinds.BASE_SPECIFIER]
        parts += [library.getCanonicalType(library.getCursorType(c)) for c in fields_of(self.library, type)]
        while any(part.kind == kinds.T_CONSTANT_ARRAY for part in parts):
            parts = [library.getArrayElementType(p) if p.kind == kinds.T_CONSTANT_ARRAY else p for p in parts]
        return any(part.kind == kinds.T_RECORD and self.records[self._record(part)][8] for part in parts)

    def _find_inherited(self, declaration: Cursor) -> list[MemberRow]:
        """Return the members of the base class that an object begins with; none in device code where that is not
        certain, since the places of members count there."""
        main = self.bases.main(declaration)
        if main is None or not main.known or (self.device and not main.at_start):
            return []
        return list(self.records[self._record(main.type)][3])


def _plain(spelling: str) -> str:
    """Return a type's spelling without its qualifiers."""
    for word in _QUALIFIERS:
        spelling = spelling.replace(word, "")
    return spelling
