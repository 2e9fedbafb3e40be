"""The walk over a file of device code: kernels whole, host code only for what it asks of them.

    __global__ kernels, __device__ functions        every row, errors elsewhere or not
    what they call, wherever it is written          every row as well: instances of templates, functions of headers
    host functions                                  no rows: the instances that they name, their `<<<…>>>`, and what
                                                    their loops allocate and copy (transfers.py)

Runs in the worker process only.
"""

from __future__ import annotations

import ctypes
from typing import Final

from warpsmith.front.clang import kinds
from warpsmith.front.clang.cxx_names import detail
from warpsmith.front.clang.device.launches.found import FoundLaunches
from warpsmith.front.clang.device.launches.unread import unread_by
from warpsmith.front.clang.device.transfers import TRANSFERS, repeated_transfers
from warpsmith.front.clang.dump import Walk
from warpsmith.front.clang.libclang import CURSOR_VISITOR, Cursor, Library
from warpsmith.front.clang.places import FilePlaces
from warpsmith.front.clang.wire import INITIALIZER, Declared, Diagnostic, Mark

__all__ = ["DeviceWalk"]

_BREAK, _CONTINUE, _RECURSE = 0, 1, 2
_TERSE: Final = 17
_SPACES: Final = {1: "global", 2: "shared", 3: "constant", 6: "global", 7: "global"}
_HAVE_INITIALIZERS: Final = frozenset({kinds.VAR_DECL, kinds.PARM_DECL})
_REFERENCES: Final = frozenset({kinds.DECL_REF, kinds.MEMBER_REF_EXPR, kinds.CALL})
_NAMES: Final = frozenset({kinds.DECL_REF, kinds.MEMBER_REF_EXPR})
Key = tuple[int, int | None, int | None]


class DeviceWalk(Walk):
    """The walk over device code; `marks` has what is known of each declaration's attributes."""

    despite_errors = True
    device = True

    def __init__(self, library: Library, places: FilePlaces, limit: int, *, cxx: bool) -> None:
        super().__init__(library, places, limit, cxx=cxx)
        self.marks: dict[int, Mark] = {}
        self._initializers: dict[Key, Key] = {}
        self._light = CURSOR_VISITOR(self._glance)
        self._seen_patterns: set[int | None] = set()
        self._found = FoundLaunches(library, places, self._constant, self._declaration)
        self._transfers = False
        self._host = 0

    def note_errors(self, unit: int, diagnostics: list[Diagnostic], main: tuple[str, bytes | None]) -> None:
        """Take note of what host code may do that could not be read."""
        self._found.unread = unread_by(self.library, unit, diagnostics, main)

    def run(self, unit: int) -> None:
        """Walk the translation unit."""
        super().run(unit)
        self.launches += self._found.rows()

    def _constant(self, cursor: Cursor) -> int | float | None:
        value = self.values[self._evaluate_constant(cursor)]
        self.values.pop()
        return value if isinstance(value, int | float) else None

    # --- what is walked

    def _top(self, cursor: Cursor) -> int:
        if cursor.kind in (kinds.CLASS_TEMPLATE, kinds.PARTIAL_SPECIALIZATION):
            return _CONTINUE  # what is used of it is walked as it was made
        return super()._top(cursor)

    def _instance(self, cursor: Cursor) -> None:
        file, _ = self.places.place(self.library.getCursorLocation(cursor))
        if cursor.first in self._walked or file < 0:
            return
        self._path.clear()
        self._in_instance = True
        self._file = file
        self.instances.append((self._count, file))
        self._node(cursor)
        self.library.visitChildren(cursor, CURSOR_VISITOR(self._visit), None)

    def _node(self, cursor: Cursor) -> int:
        kind = cursor.kind
        if kinds.FIRST_ATTRIBUTE <= kind <= kinds.LAST_ATTRIBUTE:
            self._attribute(cursor)
            return _CONTINUE
        if kind in (kinds.CLASS_TEMPLATE, kinds.PARTIAL_SPECIALIZATION):
            return _CONTINUE
        if self._path and self._path[-1][0] == kinds.FUNCTION_TEMPLATE:
            return _CONTINUE
        if self._is_host_body(kind):
            self._walked.discard(self._path[-1][1])
            self._host_body(cursor)
            return _CONTINUE
        before = self._count
        result = super()._node(cursor)
        if kind in _HAVE_INITIALIZERS and self._count > before:
            self._expects(cursor)
        self._note(cursor, before)
        return result

    def _is_host_body(self, kind: int) -> bool:
        """Whether what is met is the body of a function that is host code, as far as it says."""
        body = kind == kinds.COMPOUND and bool(self._path) and self._path[-1][0] in kinds.FUNCTIONS
        return body and self.cxx and not self._in_instance and not self._on_device(self._path[-1])

    def _aux(self, cursor: Cursor, kind: int, flags: int, type: int) -> int:
        if kind == kinds.FIELD_DECL:
            return self._declaration(cursor)
        if kind == kinds.CALL:
            return self._reference(self.library.getCursorReferenced(cursor), kind)
        return super()._aux(cursor, kind, flags, type)

    def _expects(self, cursor: Cursor) -> None:
        init = self.library.Cursor_getVarDeclInitializer(cursor)
        if init.first or init.second:
            self._initializers[cursor.kind, cursor.first, cursor.second] = init.kind, init.first, init.second

    def _note(self, cursor: Cursor, row: int) -> None:
        """Put down what else is known of the node in `row`."""
        kind = cursor.kind
        if len(self._path) > 1 and self._initializers:
            wanted = self._initializers.get(self._path[-2])
            if wanted is not None and wanted[1:] == (cursor.first, cursor.second):
                self.nodes[row * 7 + 4] |= INITIALIZER
        childless = kind == kinds.UNEXPOSED_EXPR
        if (kind in _NAMES and self._is_constant(cursor)) or childless:
            value = self._evaluate_constant(cursor) if not childless or not self.places.children(cursor) else -1
            if value >= 0 and self.values[value] is not None:
                self.constants[row] = value

    def _is_constant(self, cursor: Cursor) -> bool:
        referenced = self.library.getCursorReferenced(cursor)
        if referenced.kind not in (kinds.VAR_DECL, kinds.UNEXPOSED_DECL):
            return False
        type = self.library.getCanonicalType(self.library.getCursorType(referenced))
        return bool(self.library.isConstQualifiedType(type)) and type.kind in kinds.ARITHMETIC

    # --- attributes

    def _attribute(self, cursor: Cursor) -> None:
        owner = self._owner
        if owner is None:
            return
        row = self._declaration(owner)
        words, text = self.marks.get(row, ([], ""))
        kind = cursor.kind
        if kind == kinds.CUDA_GLOBAL:
            self._found.note_kernel(owner)
        if kind in kinds.DEVICE_ATTRIBUTES:
            words = [*words, kinds.DEVICE_ATTRIBUTES[kind]]
        elif kind == kinds.ANNOTATION:
            words = [*words, self.library.text(self.library.getCursorSpelling(cursor))]
        if not text and ("kernel" in words or "shared" in words or kind not in kinds.DEVICE_ATTRIBUTES):
            text = self._print_cursor(owner)
        self.marks[row] = (words, text)

    def _print_cursor(self, cursor: Cursor) -> str:
        library = self.library
        policy = library.getCursorPrintingPolicy(cursor)
        library.PrintingPolicy_setProperty(policy, _TERSE, 1)
        text = library.text(library.getCursorPrettyPrinted(cursor, policy))
        library.PrintingPolicy_dispose(policy)
        return " ".join(text.split())

    def _on_device(self, key: Key) -> bool:
        row = self._declared.get(key[1])
        words = self.marks.get(row, ([], ""))[0] if row is not None else []
        return "kernel" in words or "device" in words

    def _visit(self, cursor: Cursor, parent: Cursor, _data: ctypes.c_void_p) -> int:
        self._owner = parent if kinds.FIRST_ATTRIBUTE <= cursor.kind <= kinds.LAST_ATTRIBUTE else None
        return super()._visit(cursor, parent, _data)

    def _declaration(self, cursor: Cursor) -> int:
        fresh = len(self.declared)
        row = super()._declaration(cursor)
        if row == fresh and cursor.kind == kinds.VAR_DECL:
            self._place(cursor, row)
        if row == fresh and cursor.kind in kinds.FUNCTIONS and row not in self.details and self.cxx:
            self.details[row] = detail(self.library, self.types, cursor)
        return row

    def _describe(self, cursor: Cursor, canonical: Cursor) -> Declared:
        """Return what a cursor declares; an instance of a variable template, for which clang's interface has no kind,
        is a variable."""
        made = super()._describe(cursor, canonical)
        if cursor.kind != kinds.UNEXPOSED_DECL:
            return made
        library = self.library
        type = self.types.number(library.getCursorType(cursor))
        words = [kinds.DEVICE_ATTRIBUTES.get(part.kind, "") for part in self.places.children(cursor)]
        self.marks[len(self.declared)] = ([word for word in words if word], "")
        linkage, mangled = library.getCursorLinkage(canonical), library.text(library.Cursor_getMangling(canonical))
        return (kinds.VAR_DECL, made[1], type, linkage, 0, made[5], made[6], mangled, 0, made[9], False)

    def _place(self, cursor: Cursor, row: int) -> None:
        """Put down the memory of a variable of OpenCL, which its type says."""
        space = _SPACES.get(int(self.library.getAddressSpace(self.library.getCursorType(cursor))))
        if space is not None and not self.cxx:
            words, text = self.marks.get(row, ([], ""))
            self.marks[row] = ([*words, space], text)

    # --- what else is needed

    def _reference(self, referenced: Cursor, kind: int) -> int:
        """Return the row of what a node names; a function that has a text is walked, wherever that is."""
        if kind == kinds.CALL and referenced.kind not in kinds.FUNCTIONS:
            return -1
        if referenced.kind in kinds.FUNCTIONS:
            inside = any(kind in kinds.FUNCTIONS for kind, _, _ in self._path)
            if not inside:
                self._found.name_outside(Cursor.from_buffer_copy(self.library.getCursorDefinition(referenced)))
            (self._want if inside or not self.cxx else self._from_host)(referenced)
        return self._declaration(referenced)

    def _want(self, referenced: Cursor) -> None:
        if self.cxx and self.library.CXXMethod_isDefaulted(referenced):
            return  # clang makes a text for it that does not show what it does
        definition = self.library.getCursorDefinition(referenced)
        if definition.kind == referenced.kind and definition.first not in self._walked:
            self._made.setdefault(definition.first, Cursor.from_buffer_copy(definition))

    # --- host code

    def _host_body(self, body: Cursor) -> None:
        self._transfers = False
        self._enter(Cursor.from_buffer_copy(self.library.getCursorSemanticParent(body)))
        self.library.visitChildren(body, self._light, None)
        if self.failure is not None:
            raise self.failure
        if self._transfers:
            self.transfers += repeated_transfers(self.library, self.places, body, self._found.number)

    def _enter(self, function: Cursor) -> None:
        """Take note of the function whose body is looked through."""
        self._host = int(function.first or 0)
        self._found.enter(function)

    def _glance(self, cursor: Cursor, parent: Cursor, _data: ctypes.c_void_p) -> int:
        try:
            self._found.look(cursor, parent, self._host)
            if cursor.kind in _REFERENCES:
                referenced = self.library.getCursorReferenced(cursor)
                if referenced.kind in kinds.FUNCTIONS and self._is_instance(referenced):
                    self._from_host(referenced)
                if cursor.kind == kinds.CALL and self.library.text(self.library.getCursorSpelling(cursor)) in TRANSFERS:
                    self._transfers = True
            return _RECURSE
        except Exception as error:
            self.failure = error
            return _BREAK

    def _from_host(self, referenced: Cursor) -> None:
        """Follow a template's instance that host code names: a kernel is walked, host code looked through."""
        definition = self.library.getCursorDefinition(referenced)
        if definition.kind != referenced.kind or definition.first in self._walked | self._seen_patterns:
            return
        file, _ = self.places.place(self.library.getCursorLocation(definition))
        if file < 0 or not self.places.user[file]:
            return
        kept = Cursor.from_buffer_copy(definition)
        marked = {part.kind for part in self.places.children(kept)}
        if 413 in marked or 414 in marked:
            self._made.setdefault(kept.first, kept)
            return
        self._seen_patterns.add(kept.first)
        outer = self._host
        self._enter(kept)
        self.library.visitChildren(kept, self._light, None)
        self._host = outer
