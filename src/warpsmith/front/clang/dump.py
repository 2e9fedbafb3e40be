"""One parse, one walk: a translation unit as the flat tables of wire.py. Runs in the worker process only.

The walk is one recursive visit by libclang itself, so the depth of the user's program is no limit here; the parent
of each node is the top of the path that we keep. System headers are passed over but for what the program names.
"""

from __future__ import annotations

import ctypes
from array import array
from typing import Final

from warpsmith.front.clang import kinds
from warpsmith.front.clang.cxx_names import detail
from warpsmith.front.clang.errors import find_errors
from warpsmith.front.clang.libclang import CURSOR_VISITOR, Cursor, Library
from warpsmith.front.clang.places import FilePlaces
from warpsmith.front.clang.precompiled import PrecompiledHeaders, does_not_fit, drop
from warpsmith.front.clang.type_table import TypeTable
from warpsmith.front.clang.wire import (
    BEGINS_IN_MACRO,
    ELSEWHERE,
    SEEKS_HOST_USES,
    Declared,
    Detail,
    Diagnostic,
    Dump,
    LaunchRow,
    Mark,
    Request,
    TransferRow,
)

__all__ = ["OPERATORS", "Walk", "dump_file"]

_BREAK, _CONTINUE, _RECURSE = 0, 1, 2
_AROUND_DECLARATIONS: Final = frozenset({kinds.LINKAGE_SPEC, kinds.NAMESPACE})
_DETAILED_PREPROCESSING, _KEEP_GOING = 0x01, 0x200
_EVALUATES_TO_INTEGER, _EVALUATES_TO_FLOAT = 1, 2
OPERATORS = {
    kinds.BINARY: "getCursorBinaryOperatorKind",
    kinds.COMPOUND_ASSIGN: "getCursorBinaryOperatorKind",
    kinds.UNARY: "getCursorUnaryOperatorKind",
}
_REFERENCES = frozenset({kinds.DECL_REF, kinds.MEMBER_REF_EXPR, kinds.MEMBER_REF})
_NAMESPACES = frozenset({kinds.TRANSLATION_UNIT, kinds.NAMESPACE})
_WHOLE = frozenset({kinds.T_INT, kinds.T_UINT, kinds.T_LONG, kinds.T_ULONG, kinds.T_LONGLONG, kinds.T_ULONGLONG})
_UNSIGNED = frozenset({
    kinds.T_BOOL, kinds.T_UCHAR, kinds.T_USHORT, kinds.T_UINT, kinds.T_ULONG, kinds.T_ULONGLONG,
})  # fmt: skip
_DECLARATIONS = kinds.FUNCTIONS | {kinds.VAR_DECL, kinds.PARM_DECL, kinds.ENUM_CONSTANT}
_NAMED = kinds.TYPES
_LITERALS = frozenset({kinds.INTEGER, kinds.FLOATING, kinds.CXX_BOOL})


def reads_device_code(arguments: list[str]) -> bool:
    """Whether a file is parsed to see its device code."""
    return arguments[:2] == ["-x", "cl"] or "-DWARPSMITH_KERNELS" in arguments


def dump_file(library: Library, request: Request, walks: type[Walk], headers: PrecompiledHeaders | None = None) -> Dump:
    """Parse one file and return its tables; a file that clang cannot even open has one diagnostic. `walks`: the kind of
    walk; `headers`: where headers of ours are kept precompiled."""
    arguments = request[1]
    faster = headers.use(library, arguments) if headers is not None else None
    if faster is not None:
        dump = _dump(library, request, walks, faster)
        if not does_not_fit(dump.diagnostics):
            return dump
        drop(faster)
    return _dump(library, request, walks, arguments)


def _dump(library: Library, request: Request, walks: type[Walk], words: list[str]) -> Dump:
    """Return the tables of a file that is parsed with the options `words`."""
    path, _, text, _, diagnostics_only = request
    path = f"./{path}" if path.startswith("-") else path  # which would be an option
    options = _KEEP_GOING | (0 if diagnostics_only else _DETAILED_PREPROCESSING)
    index = library.createIndex(0, 0)
    unit = library.parse(index, path, words, options, text)
    if unit is None:
        library.disposeIndex(index)
        broken: list[Diagnostic] = [(4, "the parser gave up", path, 1, 0)]
        return Dump(broken, [path], [True], b"", [], [], [], [], [], [], [], False, [], {}, [], None, {}, [], [], [])
    dump = _walk_unit(library, unit, (path, *request[1:]), walks)
    library.disposeTranslationUnit(unit)
    library.disposeIndex(index)
    return dump


def _walk_unit(library: Library, unit: int, request: Request, walks: type[Walk]) -> Dump:
    """Return the tables of a unit that was parsed."""
    path, arguments, text, limit, diagnostics_only = request
    places = FilePlaces(library, unit, path)
    places.measure(unit, path)
    diagnostics = find_errors(library, unit, notes=SEEKS_HOST_USES in arguments)
    walk = walks(library, places, limit, cxx=arguments[1] not in ("c", "cl"))
    if not diagnostics_only and (walk.despite_errors or not diagnostics):
        walk.note_errors(unit, diagnostics, (path, text))
        walk.run(unit)
    return Dump(
        diagnostics + walk.said, places.files, places.user, walk.nodes.tobytes(), walk.tops, walk.declared,
        walk.types.rows, walk.types.records, walk.values, walk.macro_definitions, walk.macro_uses, walk.exceeded,
        walk.instances, walk.details, list(walk.includes), walk.marks, walk.constants, walk.launches, walk.transfers,
        [] if diagnostics_only else places.find_skipped(),
    )  # fmt: skip


class Walk:
    """The state of one walk; `nodes` is the table of wire.py."""

    despite_errors = False
    device = False

    def __init__(self, library: Library, places: FilePlaces, limit: int, *, cxx: bool) -> None:
        self.library = library
        self.places = places
        self.limit = limit
        self.cxx = cxx
        self.types = TypeTable(library, places, cxx=cxx, device=self.device)
        self.nodes = array("i")
        self.tops: list[tuple[int, int]] = []
        self.declared: list[Declared] = []
        self.values: list[int | float | str | None] = []
        self.macro_definitions: list[tuple[str, int, int, int]] = []
        self.macro_uses: list[tuple[str, int, int, int]] = []
        self.instances: list[tuple[int, int]] = []
        self.details: dict[int, Detail] = {}
        self.includes: dict[str, None] = {}
        self.marks: dict[int, Mark] | None = None
        self.constants: dict[int, int] = {}
        self.launches: list[LaunchRow] = []
        self.transfers: list[TransferRow] = []
        self.said: list[Diagnostic] = []
        self.exceeded = False
        self.failure: Exception | None = None
        self._in_instance = False
        self._made: dict[int | None, Cursor] = {}
        self._walked: set[int | None] = set()
        self._count = 0
        self._file = 0
        self._path: list[tuple[int, int | None, int | None]] = []
        self._declared: dict[int | None, int] = {}

    def note_errors(self, unit: int, diagnostics: list[Diagnostic], main: tuple[str, bytes | None]) -> None:
        """Take note of what is wrong with the text, where a walk goes on despite it."""

    def run(self, unit: int) -> None:
        """Walk the translation unit; raises what went wrong inside the callback."""
        root = self.library.getTranslationUnitCursor(unit)
        self.library.visitChildren(root, CURSOR_VISITOR(self._visit), None)
        while self._made and self.failure is None and not self.exceeded:
            self._instance(self._made.pop(next(iter(self._made))))
        if self.failure is not None:
            raise self.failure

    def _instance(self, cursor: Cursor) -> None:
        """Walk a function that a template made: clang's own visit shows only the template."""
        file, _ = self.places.place(self.library.getCursorLocation(cursor))
        if cursor.first in self._walked or file < 0 or not self.places.user[file]:
            return
        self._path.clear()
        self._in_instance = True
        self._file = file
        self.instances.append((self._count, file))
        self._node(cursor)
        self.library.visitChildren(cursor, CURSOR_VISITOR(self._visit), None)

    def _visit(self, cursor: Cursor, parent: Cursor, _data: ctypes.c_void_p) -> int:
        # An exception must not cross C: ctypes would print and forget it.
        try:
            if parent.kind == kinds.TRANSLATION_UNIT:
                return self._top(cursor)
            path, key = self._path, (parent.kind, parent.first, parent.second)
            if parent.kind in _AROUND_DECLARATIONS and self._leaves_file(cursor, key):
                return self._top(cursor)
            # What initializes the captures of a lambda has a parent that is never visited: it stays with what was last.
            while key in path and path[-1] != key:
                path.pop()
            # What clang wraps around a constant (a case label) has the same cursor as the constant itself.
            if key == (cursor.kind, cursor.first, cursor.second):
                return _RECURSE
            return self._node(cursor)
        except Exception as error:
            self.failure = error
            return _BREAK

    def _leaves_file(self, cursor: Cursor, parent: tuple[int, int | None, int | None]) -> bool:
        """Whether a declaration in braces stands in another file than they do, or behind such a one: `extern "C" {`
        around an `#include`. It counts as one of its own."""
        file, _ = self.places.place(self.library.getCursorLocation(cursor))
        return file != self._file or parent not in self._path

    def _top(self, cursor: Cursor) -> int:
        kind = cursor.kind
        self._path.clear()
        if kind in (kinds.MACRO_DEFINITION, kinds.MACRO_USE):
            self._macro(cursor, kind)
            return _CONTINUE
        if kind == kinds.INCLUSION:
            included = self.library.getIncludedFile(cursor)
            if included:
                self.includes[self.library.path(included)] = None
                self.places.include(included)
            return _CONTINUE
        file, _ = self.places.place(self.library.getCursorLocation(cursor))
        if file < 0 or not self.places.user[file]:
            return _CONTINUE
        self._file = file
        self.tops.append((self._count, file))
        going = self._node(cursor)
        # Nothing asks what the parameters of a prototype are called, and headers have thousands.
        prototype = kind == kinds.FUNCTION_DECL and not self.cxx and not self.library.isCursorDefinition(cursor)
        return _CONTINUE if prototype and going == _RECURSE else going

    def _macro(self, cursor: Cursor, kind: int) -> None:
        # headers and the compiler itself have thousands
        if self.places.is_users(cursor):
            file, start, end, _ = self.places.span(cursor)
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
        if kind in kinds.FUNCTIONS:
            self._walked.add(cursor.first)
        return _RECURSE

    def _aux(self, cursor: Cursor, kind: int, flags: int, type: int) -> int:
        library = self.library
        if kind in _REFERENCES or (kind == kinds.CALL and self.cxx):
            return self._reference(library.getCursorReferenced(cursor), kind)
        if kind in OPERATORS:
            return int(getattr(library, OPERATORS[kind])(cursor))
        if kind in _DECLARATIONS or kind == kinds.FUNCTION_TEMPLATE:
            return self._declaration(cursor)
        if kind in _LITERALS:
            return self._evaluate_constant(cursor) if flags & BEGINS_IN_MACRO or self._in_instance else -1
        if kind in (kinds.CHARACTER, kinds.SIZEOF):
            return self._evaluate_constant(cursor)
        if kind == kinds.STRING or kind in _NAMED:
            anonymous = kind != kinds.STRING and library.Cursor_isAnonymous(cursor)
            return self._value("" if anonymous else library.text(library.getCursorSpelling(cursor)))
        if kind == kinds.UNEXPOSED_EXPR and flags & BEGINS_IN_MACRO and self.types.rows[type][1] == kinds.T_ULONG:
            return self._evaluate_constant(cursor)  # it may be offsetof
        return -1

    def _reference(self, referenced: Cursor, kind: int) -> int:
        if kind == kinds.CALL and referenced.kind not in kinds.FUNCTIONS:
            return -1
        if self.cxx and referenced.kind in kinds.FUNCTIONS and self._is_instance(referenced):
            definition = self.library.getCursorDefinition(referenced)
            made = definition if definition.kind == referenced.kind else referenced
            if made.first not in self._walked:
                self._made[made.first] = made
        return self._declaration(referenced)

    def _is_instance(self, cursor: Cursor) -> bool:
        return bool(self.library.getSpecializedCursorTemplate(cursor).first)

    def _value(self, value: int | float | str | None) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def _evaluate_constant(self, cursor: Cursor) -> int:
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
            if self.cxx and (
                cursor.kind in kinds.FUNCTIONS or cursor.kind in (kinds.VAR_DECL, kinds.FUNCTION_TEMPLATE)
            ):
                self.details[row] = detail(self.library, self.types, canonical)
        self._declared[cursor.first] = row
        return row

    def _describe(self, cursor: Cursor, canonical: Cursor) -> Declared:
        library, kind = self.library, cursor.kind
        file, offset = self.places.place(library.getCursorLocation(canonical))
        name = library.text(library.getCursorSpelling(cursor))
        if kind not in _DECLARATIONS and kind not in (kinds.FIELD_DECL, kinds.FUNCTION_TEMPLATE):
            return kind, name, -1, 0, 0, file, offset, "", None, False, False
        definition = library.getCursorDefinition(canonical) if kind == kinds.VAR_DECL else cursor
        typed = definition if definition.kind == kind else cursor
        linkage = library.getCursorLinkage(canonical)
        # What an unnamed namespace holds is another thing in every file; a template has no linkage name of its own.
        named = linkage > (kinds.LINKAGE_UNIQUE if self.cxx else kinds.LINKAGE_INTERNAL)
        named = named and kind not in (kinds.FIELD_DECL, kinds.FUNCTION_TEMPLATE)
        mangled = library.text(library.Cursor_getMangling(canonical)) if named else ""
        value = self._enumerated(cursor) if kind == kinds.ENUM_CONSTANT else None
        if kind == kinds.VAR_DECL:
            value = self._value_for_good(definition)
        marked = library.Cursor_isBitField(cursor) if kind == kinds.FIELD_DECL else False
        return (
            kind, name, self.types.number(library.getCursorType(typed)), linkage,
            library.Cursor_getStorageClass(canonical), file, offset, mangled, value,
            file < 0 or not self.places.user[file], bool(marked),
        )  # fmt: skip

    def _enumerated(self, constant: Cursor) -> int:
        """Return the value of an enumerator: libclang gives those of unsigned types with a sign."""
        library = self.library
        value = int(library.getEnumConstantDeclValue(constant))
        integer = library.getCanonicalType(library.getEnumDeclIntegerType(library.getCursorSemanticParent(constant)))
        if value >= 0 or integer.kind not in _UNSIGNED:
            return value
        return value + (1 << 8 * int(library.Type_getSizeOf(integer)))

    def _value_for_good(self, variable: Cursor) -> int | None:
        """Return the value of a constant integer of a file or a namespace that the compiler knows; else None.

        Not those of classes and functions, which may be a template's: there, what a value depends on may be open.
        """
        library = self.library
        if variable.kind != kinds.VAR_DECL or library.getCursorSemanticParent(variable).kind not in _NAMESPACES:
            return None
        type = library.getCanonicalType(library.getCursorType(variable))
        if type.kind not in _WHOLE or not library.isConstQualifiedType(type) or library.isVolatileQualifiedType(type):
            return None
        value = self.values[self._evaluate_constant(variable)]
        return value if isinstance(value, int) else None
