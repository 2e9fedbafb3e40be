"""The definitions that a kernel may need, as the user wrote them: types, enums and macros of the user's files, those in
functions too.

One text may define several names (`typedef struct s { … } t;`, the enumerators of an enum): each has its own entry
with the same text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec.structs

from warpsmith.base.c_text import words_anywhere
from warpsmith.base.source import Span
from warpsmith.front.c.context import Context
from warpsmith.front.clang import kinds
from warpsmith.tree.program import TypeText

__all__ = ["type_texts"]

_KEYWORDS: Final = frozenset({
    "auto", "break", "case", "char", "const", "continue", "default", "define", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short",
    "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while",
    "_Bool", "_Complex",
})  # fmt: skip
_TAGGED = frozenset({kinds.STRUCT_DECL, kinds.UNION_DECL, kinds.ENUM_DECL})
_TYPES = _TAGGED | {kinds.TYPEDEF_DECL, kinds.TYPE_ALIAS}


def type_texts(context: Context) -> tuple[TypeText, ...]:
    """Return the definitions in the user's files: macros, types of functions, types of files.

    A macro that is undefined or redefined on the way has no single text: its entry has none.
    """
    macros: dict[str, TypeText] = {}
    changed = set(_find_undefined(context))
    for text in _macros(context):
        if macros.setdefault(text.name, text).text != text.text:
            changed.add(text.name)
    types: dict[tuple[str, str, Span | None], TypeText] = {}
    for text in _types(context):
        types.setdefault((text.name, text.text, text.scope), text)
    defined = (_entry(m.name, "", m.span, macro=True) if m.name in changed else m for m in macros.values())
    return (*defined, *types.values())


def _entry(name: str, text: str, span: Span | None, *, macro: bool = False) -> TypeText:
    words = dict.fromkeys(words_anywhere(text))
    needs = tuple(word for word in words if word != name and word not in _KEYWORDS)
    return TypeText(name, text, needs, macro, span)


def _macros(context: Context) -> Iterator[TypeText]:
    for name, number, start, end in context.dump.macro_definitions:
        text = context.text(number)
        line = text.scan.lines(text.file.offset(text.file.location(start)[0]), start)
        span = Span(text.file, line[-1].start if line else start, end)
        yield _entry(name, f"#define {text.file.text[start:end]}", span if number == 0 else None, macro=True)


def _find_undefined(context: Context) -> Iterator[str]:
    for number in sorted({0, *(number for _, number in context.dump.tops)}):
        text = context.text(number)
        for line in text.scan.directives:
            if line.word == "undef":
                yield from words_anywhere(text.file.text[line.start : line.end])[1:2]


def _types(context: Context) -> Iterator[TypeText]:
    """Yield the types of the user's files, those of functions first; a tag that a typedef defines on the way has the
    typedef's text."""
    for top, number in context.tops:
        if context.table.kind[top] in kinds.FUNCTIONS:
            text = context.text(number)
            for block, rows in _find_local(context, top).items():
                scope = Span(text.file, *context.table.range(block, text.uses))
                yield from _find_declared(context, [(row, number) for row in rows], scope)
    yield from _find_declared(context, context.tops, None)


def _find_local(context: Context, top: int) -> dict[int, list[int]]:
    """Map the blocks of a function to what their own statements declare; what is declared inside a type has that type's
    text."""
    table = context.table
    found: dict[int, list[int]] = {}
    around = [top]
    for row in range(top + 1, table.after[top]):
        while row >= table.after[around[-1]]:
            around.pop()
        if table.kind[row] in (kinds.COMPOUND, kinds.FOR):
            around.append(row)
        elif table.kind[row] == kinds.DECL_STMT:
            found.setdefault(around[-1], []).extend(table.children(row))
    return found


def _find_declared(context: Context, rows: Sequence[tuple[int, int]], scope: Span | None) -> Iterator[TypeText]:
    """Yield the types that are declared in `rows`, each with the number of its file."""
    table = context.table
    wanted = _TYPES if scope is None else kinds.TYPES
    pending = [pair for pair in rows if table.kind[pair[0]] in wanted]
    for position, (row, number) in enumerate(pending):
        kind, text = table.kind[row], context.text(number)
        start, end = table.range(row, text.uses)
        for later, file in pending[position + 1 : position + 4]:
            first, last = table.range(later, text.uses)
            if file == number and table.kind[later] == kinds.TYPEDEF_DECL and first <= start and end <= last:
                start, end = first, last
        body = text.file.text[start:end]
        if kind in _TAGGED and "{" not in body:
            continue
        span = Span(text.file, start, end) if number == 0 else None
        for name in _names(context, row):
            yield msgspec.structs.replace(_entry(name, f"{body};", span), scope=scope)


def _names(context: Context, row: int) -> Iterator[str]:
    table, values = context.table, context.dump.values
    name = values[table.aux[row]] if table.aux[row] >= 0 else ""
    if name:
        yield str(name)
    if table.kind[row] == kinds.ENUM_DECL:
        for child in table.children(row):
            if table.kind[child] == kinds.ENUM_CONSTANT:
                yield context.dump.declared[table.aux[child]][1]
