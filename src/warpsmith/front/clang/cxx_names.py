"""The names of a C++ function or variable: in its program, in the addresses of its loops, and the class of a member.

    heat::Solver::step      qualified: names it from everywhere        Solver::step      label: enough for people
    blur                    of a template, with its arguments:         blur<float>

Runs in the worker process only.
"""

from __future__ import annotations

from typing import Final

from warpsmith.front.clang import kinds
from warpsmith.front.clang.libclang import Cursor, Library
from warpsmith.front.clang.type_table import TypeTable
from warpsmith.front.clang.wire import ANONYMOUS, CONST, INSTANCE, PATTERN, VIRTUAL, Detail

__all__ = ["detail"]

_CLASSES: Final = frozenset({kinds.STRUCT_DECL, kinds.CLASS_DECL, kinds.UNION_DECL, *kinds.TEMPLATES})


def detail(library: Library, types: TypeTable, cursor: Cursor) -> Detail:
    """Return the row of `wire.Dump.details` of a declaration (its canonical cursor)."""
    spelling = library.text(library.getCursorSpelling(cursor))
    scopes: list[str] = []
    classes: list[str] = []
    flags = 0
    parent = library.getCursorSemanticParent(cursor)
    owner = -1
    member = parent.kind in _CLASSES and cursor.kind in kinds.FUNCTIONS and cursor.kind != kinds.FUNCTION_DECL
    if member and not (cursor.kind == kinds.CXX_METHOD and library.CXXMethod_isStatic(cursor)):
        owner = types.number(library.getCursorType(parent))
    while parent.kind == kinds.NAMESPACE or parent.kind in _CLASSES:
        name = library.text(library.getCursorDisplayName(parent)).replace(", ", ",")
        if parent.kind in _CLASSES:
            classes.insert(0, name)
            flags |= PATTERN if parent.kind in kinds.TEMPLATES else 0
        if name:
            scopes.insert(0, name)
        else:
            flags |= ANONYMOUS
        parent = library.getCursorSemanticParent(parent)
    if parent.kind in kinds.FUNCTIONS or parent.kind == kinds.FUNCTION_TEMPLATE:
        scopes = []  # a class inside a function has no qualified name
    arguments = _arguments(library, cursor)
    if library.getSpecializedCursorTemplate(cursor).first:
        flags |= INSTANCE
    if cursor.kind == kinds.CXX_METHOD and library.CXXMethod_isVirtual(cursor):
        flags |= VIRTUAL
    if cursor.kind == kinds.CXX_METHOD and library.CXXMethod_isConst(cursor):
        flags |= CONST
    label = "::".join([*classes, spelling + arguments]).replace("/", "÷")
    return "::".join([*scopes, spelling]), label, owner, flags


def _arguments(library: Library, cursor: Cursor) -> str:
    """Return `<double,3>` of a function that a template made, as far as its arguments can be written."""
    words: list[str] = []
    if cursor.kind not in kinds.FUNCTIONS:
        return ""
    for number in range(max(0, library.Cursor_getNumTemplateArguments(cursor))):
        kind = library.Cursor_getTemplateArgumentKind(cursor, number)
        if kind == kinds.ARGUMENT_TYPE:
            type = library.Cursor_getTemplateArgumentType(cursor, number)
            words.append(library.text(library.getTypeSpelling(type)).replace(", ", ","))
        elif kind == kinds.ARGUMENT_INTEGRAL:
            words.append(str(library.Cursor_getTemplateArgumentValue(cursor, number)))
        else:
            words.append("…")
    return f"<{','.join(words)}>" if words else ""
