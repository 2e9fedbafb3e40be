"""Pragma nodes from the text of a file: lines, `_Pragma("…")`, and macros that are made of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from warpsmith.base.c_lexer import NAME, unspliced
from warpsmith.base.c_text import stripped
from warpsmith.base.source import Span
from warpsmith.front.c.context import Context, FileText
from warpsmith.front.pragmas import read_directive
from warpsmith.tree.nodes import Pragma
from warpsmith.tree.text.directives import Directive

__all__ = ["macro_bodies", "macro_pragmas", "pragma_line"]

_MADE = re.compile(r"\b_Pragma\s*\(")
_WHOLE = re.compile(r'\b_Pragma\s*\(\s*"(?:\\.|[^"\\])*"\s*\)')
_DEFINED = re.compile(rf"({NAME})(\()?(.*)", re.DOTALL)


def pragma_line(context: Context, text: FileText, span: Span) -> Pragma:
    """Return the node of a pragma line."""
    directive = read_directive(span.text, macro_bodies(context, called=False))
    left_out = text.is_skipped(span.start)
    return Pragma(span=span, intact=True, text=span.text, directive=directive, left_out=left_out)


def macro_pragmas(context: Context, text: FileText, start: int, end: int) -> Iterator[Pragma]:
    """Yield a node for every use in [start, end) of a macro whose body is a `_Pragma`."""
    uses = text.uses.within(start, end)
    bodies = macro_bodies(context, called=True) if uses else {}
    for use in uses:
        body = bodies.get(use.name, "")
        inside = any(line.start <= use.start < line.end for line in text.scan.lines(start, end))
        if _MADE.search(body) and not inside:
            span = Span(text.file, use.start, use.end)
            directive = _of_macro(context, body, span.text)
            yield Pragma(span=span, intact=True, text=span.text, directive=directive)


def _of_macro(context: Context, body: str, use: str) -> Directive | None:
    """Return what the use of a macro says; a `_Pragma(#x)` has its words from the arguments."""
    whole = _WHOLE.search(body)
    if whole is not None:
        return read_directive(whole[0], macro_bodies(context, called=False))
    inside = use[use.find("(") + 1 : use.rfind(")")].strip()
    if re.search(r"#\s*pragma|_Pragma", inside) is None and re.match(r"(omp|acc)\b", inside):
        return read_directive(f"#pragma {inside}", macro_bodies(context, called=False))
    return Directive("omp", (), unknown=(use,))


def macro_bodies(context: Context, *, called: bool) -> Mapping[str, str]:
    """Return the bodies of the file's object-like macros by name; with `called`, of those with parameters too. A macro
    that is defined twice has none."""
    found: dict[str, set[str]] = {}
    for name, number, start, end in context.dump.macro_definitions:
        defined = _DEFINED.match(unspliced(context.text(number).file.text[start:end]))
        if defined is not None and defined[1] == name and (called or not defined[2]):
            found.setdefault(name, set()).add(" ".join(stripped(defined[3]).split()))
    return {name: min(bodies) for name, bodies in found.items() if len(bodies) == 1}
