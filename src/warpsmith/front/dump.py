"""One parse, one walk: a translation unit as the flat tables of wire.py. Runs in the worker process only.

The walk is one recursive visit by libclang itself, so the depth of the user's program is no limit here; the parent
of each node is the top of the path that we keep. System headers are passed over but for what the program names.
"""

from __future__ import annotations

import ctypes
from array import array
from pathlib import Path

from warpsmith.front import kinds
from warpsmith.front.libclang import CURSOR_VISITOR, Cursor, Library
from warpsmith.front.places import FilePlaces
from warpsmith.front.type_table import TypeTable
from warpsmith.front.wire import BEGINS_IN_MACRO, ELSEWHERE, Declared, Diagnostic, Dump, Request

__all__ = ["dump_file"]

_BREAK, _CONTINUE, _RECURSE = 0, 1, 2
_DETAILED_PREPROCESSING, _KEEP_GOING = 0x01, 0x200
_ERROR = 3
_EVALUATES_TO_INTEGER, _EVALUATES_TO_FLOAT = 1, 2
_TRANSLATION_UNIT = 350
_UNSIGNED_LONG = 10
_INTERNAL = 2
_OPERATORS = {
    kinds.BINARY: "getCursorBinaryOperatorKind",
    kinds.COMPOUND_ASSIGN: "getCursorBinaryOperatorKind",
    kinds.UNARY: "getCursorUnaryOperatorKind",
}
_REFERENCES = frozenset({kinds.DECL_REF, kinds.MEMBER_REF_EXPR, kinds.MEMBER_REF})
_DECLARATIONS = frozenset({kinds.FUNCTION_DECL, kinds.VAR_DECL, kinds.PARM_DECL, kinds.ENUM_CONSTANT})
_NAMED = frozenset({kinds.STRUCT_DECL, kinds.UNION_DECL, kinds.CLASS_DECL, kinds.ENUM_DECL, kinds.TYPEDEF_DECL})
_LITERALS = frozenset({kinds.INTEGER, kinds.FLOATING})


def dump_file(library: Library, index: object, request: Request) -> Dump:
    """Parse one file and return its tables; a file that clang cannot even open has one diagnostic."""
    path, arguments, text, limit, diagnostics_only = request
    options = _KEEP_GOING | (0 if diagnostics_only else _DETAILED_PREPROCESSING)
    unit = library.parse(index, path, arguments, options, text)
    if unit is None:
        broken: list[Diagnostic] = [(4, "the parser gave up", path, 1, 0)]
        return Dump(broken, [path], [True], b"", [], [], [], [], [], [], [], False)
    places = FilePlaces(library, unit, path)
    places.measure(unit, path, len(text) if text is not None else Path(path).stat().st_size)
    diagnostics = _diagnostics(library, unit)
    walk = _Walk(library, places, limit)
    if not diagnostics_only and not any(d[0] >= _ERROR for d in diagnostics):
        walk.run(unit)
    return Dump(
        diagnostics, places.files, places.user, walk.nodes.tobytes(), walk.tops, walk.declared, walk.types.rows,
        walk.types.records, walk.values, walk.macro_definitions, walk.macro_uses, walk.exceeded,
    )  # fmt: skip


def _diagnostics(library: Library, unit: int) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for number in range(library.getNumDiagnostics(unit)):
        diagnostic = library.getDiagnostic(unit, number)
        severity = library.getDiagnosticSeverity(diagnostic)
        if severity >= _ERROR:
            handle, line, offset = library.place(library.getDiagnosticLocation(diagnostic))
            file = library.text(library.getFileName(handle)) if handle else ""
            found.append((severity, library.text(library.getDiagnosticSpelling(diagnostic)), file, line, offset))
        library.disposeDiagnostic(diagnostic)
    return found


class _Walk:
    """The state of one walk; `nodes` is the table of wire.py."""

    def __init__(self, library: Library, places: FilePlaces, limit: int) -> None:
        self.library = library
        self.places = places
        self.limit = limit
        self.types = TypeTable(library, places)
        self.nodes = array("i")
        self.tops: list[tuple[int, int]] = []
        self.declared: list[Declared] = []
        self.values: list[int | float | str | None] = []
        self.macro_definitions: list[tuple[str, int, int, int]] = []
        self.macro_uses: list[tuple[str, int, int, int]] = []
        self.exceeded = False
        self.failure: Exception | None = None
        self._count = 0
        self._file = 0
        self._path: list[tuple[int, int | None, int | None]] = []
        self._declared: dict[int | None, int] = {}

    def run(self, unit: int) -> None:
        """Walk the translation unit; raises what went wrong inside the callback."""
        root = self.library.getTranslationUnitCursor(unit)
        self.library.visitChildren(root, CURSOR_VISITOR(self._visit), None)
        if self.failure is not None:
            raise self.failure

    def _visit(self, cursor: Cursor, parent: Cursor, _data: ctypes.c_void_p) -> int:
        # An exception must not cross C: ctypes would print and forget it.
        try:
            if parent.kind == _TRANSLATION_UNIT:
                return self._top(cursor)
            path, key = self._path, (parent.kind, parent.first, parent.second)
            while path and path[-1] != key:
                path.pop()
            # What clang wraps around a constant (a case label) has the same cursor as the constant itself.
            if key == (cursor.kind, cursor.first, cursor.second):
                return _RECURSE
            return self._node(cursor)
        except Exception as error:
            self.failure = error
            return _BREAK

    def _top(self, cursor: Cursor) -> int:
        kind = cursor.kind
        self._path.clear()
        if kind in (kinds.MACRO_DEFINITION, kinds.MACRO_USE):
            self._macro(cursor, kind)
            return _CONTINUE
        if kind == kinds.INCLUSION:
            return _CONTINUE
        file, _ = self.places.place(self.library.getCursorLocation(cursor))
        if file < 0 or not self.places.user[file]:
            return _CONTINUE
        self._file = file
        self.tops.append((self._count, file))
        return self._node(cursor)

    def _macro(self, cursor: Cursor, kind: int) -> None:
        file, start, end, _ = self.places.span(cursor)
        if file >= 0 and self.places.user[file]:
            name = self.library.text(self.library.getCursorSpelling(cursor))
            table = self.macro_definitions if kind == kinds.MACRO_DEFINITION else self.macro_uses
            table.append((name, file, start, end))

    def _node(self, cursor: Cursor) -> int:
        kind = cursor.kind
        file, start, end, flags = self.places.span(cursor)
        if file != self._file:
            flags |= ELSEWHERE
        typed = kind <= kinds.LAST_EXPR and kind >= kinds.UNEXPOSED_EXPR and kind != kinds.DECL_REF
        type = self.types.number(self.library.getCursorType(cursor)) if typed or kind in _DECLARATIONS else -1
        aux = self._aux(cursor, kind, flags, type)
        self.nodes.extend((len(self._path), kind, start, end, flags, type, aux))
        self._count += 1
        if self._count > self.limit:
            self.exceeded = True
            return _BREAK
        self._path.append((kind, cursor.first, cursor.second))
        return _RECURSE

    def _aux(self, cursor: Cursor, kind: int, flags: int, type: int) -> int:
        library = self.library
        if kind in _REFERENCES:
            return self._declaration(library.getCursorReferenced(cursor))
        if kind in _OPERATORS:
            return int(getattr(library, _OPERATORS[kind])(cursor))
        if kind in _DECLARATIONS:
            return self._declaration(cursor)
        if kind in _LITERALS:
            return self._evaluated(cursor) if flags & BEGINS_IN_MACRO else -1
        if kind in (kinds.CHARACTER, kinds.SIZEOF):
            return self._evaluated(cursor)
        if kind == kinds.STRING or kind in _NAMED:
            anonymous = kind != kinds.STRING and library.Cursor_isAnonymous(cursor)
            return self._value("" if anonymous else library.text(library.getCursorSpelling(cursor)))
        if kind == kinds.UNEXPOSED_EXPR and flags & BEGINS_IN_MACRO and self.types.rows[type][1] == _UNSIGNED_LONG:
            return self._evaluated(cursor)  # it may be offsetof
        return -1

    def _value(self, value: int | float | str | None) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def _evaluated(self, cursor: Cursor) -> int:
        """Return the number of the value of a constant expression; the value is None where it is not constant."""
        library = self.library
        result = library.Cursor_Evaluate(cursor)
        if not result:
            return self._value(None)
        kind = library.EvalResult_getKind(result)
        value: int | float | None = None
        if kind == _EVALUATES_TO_INTEGER:
            unsigned = library.EvalResult_isUnsignedInt(result)
            value = int((library.EvalResult_getAsUnsigned if unsigned else library.EvalResult_getAsLongLong)(result))
        elif kind == _EVALUATES_TO_FLOAT:
            value = float(library.EvalResult_getAsDouble(result))
        library.EvalResult_dispose(result)
        return self._value(value)

    def _declaration(self, cursor: Cursor) -> int:
        """Return the row of what a cursor declares; all declarations of one thing share a row."""
        known = self._declared.get(cursor.first)
        if known is not None:
            return known
        canonical = self.library.getCanonicalCursor(cursor)
        row = self._declared.get(canonical.first)
        if row is None:
            row = len(self.declared)
            self._declared[canonical.first] = row
            self.declared.append(self._describe(cursor, canonical))
        self._declared[cursor.first] = row
        return row

    def _describe(self, cursor: Cursor, canonical: Cursor) -> Declared:
        library, kind = self.library, cursor.kind
        file, offset = self.places.place(library.getCursorLocation(canonical))
        name = library.text(library.getCursorSpelling(cursor))
        if kind not in _DECLARATIONS and kind != kinds.FIELD_DECL:
            return kind, name, -1, 0, 0, file, offset, "", 0, False, False
        definition = library.getCursorDefinition(canonical) if kind == kinds.VAR_DECL else cursor
        typed = definition if definition.kind == kind else cursor
        linkage = library.getCursorLinkage(canonical)
        mangled = (
            library.text(library.Cursor_getMangling(canonical)) if linkage > 2 and kind != kinds.FIELD_DECL else ""
        )
        value = library.getEnumConstantDeclValue(cursor) if kind == kinds.ENUM_CONSTANT else 0
        marked = library.Cursor_isBitField(cursor) if kind == kinds.FIELD_DECL else False
        return (
            kind, name, self.types.number(library.getCursorType(typed)), linkage,
            library.Cursor_getStorageClass(canonical), file, offset, mangled, value,
            file < 0 or not self.places.user[file], bool(marked),
        )  # fmt: skip
