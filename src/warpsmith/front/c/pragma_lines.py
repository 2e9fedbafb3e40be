"""Pragma nodes from the text of a file: lines, `_Pragma("…")`, and macros that are made of it."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping

from warpsmith.base.c_lexer import NAME, join_splices
from warpsmith.base.c_text import strip_code, words_anywhere
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
    """Yield a node for every use in [start, end) of a macro whose body is a `_Pragma`, or uses such a macro."""
    uses = text.uses.within(start, end)
    bodies = macro_bodies(context, called=True) if uses else {}
    for use in uses:
        # a `_Pragma` that is written in the use, or that the use is written in, is a line of its own
        apart = all(line.end <= use.start or use.end <= line.start for line in text.scan.lines(start, end))
        if apart and _makes_pragma(bodies, use.name):
            span = Span(text.file, use.start, use.end)
            directive = _of_macro(context, bodies[use.name], span.text)
            yield Pragma(span=span, intact=True, text=span.text, directive=directive)


def _makes_pragma(bodies: Mapping[str, str], name: str) -> bool:
    """Whether a `_Pragma` stands in a macro's body, or in that of a macro that it uses."""
    pending, seen = [name], {name}
    while pending:
        body = bodies.get(pending.pop(), "")
        if _MADE.search(body):
            return True
        used = {word for word in words_anywhere(body) if word in bodies} - seen
        pending += used
        seen |= used
    return False


def _of_macro(context: Context, body: str, use: str) -> Directive | None:
    """Return what the use of a macro says; a `_Pragma(#x)` has its words from the arguments."""
    whole = _WHOLE.search(body)
    if whole is not None:
        return read_directive(whole[0], macro_bodies(context, called=False))
    inside = use[use.find("(") + 1 : use.rfind(")")].strip()
    if re.search(r"#\s*pragma|_Pragma", inside) is None and re.match(r"(omp|acc)\b", inside):
        return read_directive(f"#pragma {inside}", macro_bodies(context, called=False))
    return Directive("omp", (), unknown=(use,))


# asked at every pragma of a file
@functools.lru_cache(maxsize=4)
def macro_bodies(context: Context, *, called: bool) -> Mapping[str, str]:
    """Return the bodies of the file's object-like macros by name; with `called`, of those with parameters too. A macro
    that is defined twice has none."""
    found: dict[str, set[str]] = {}
    for name, number, start, end in context.dump.macro_definitions:
        defined = _DEFINED.match(join_splices(context.text(number).file.text[start:end]))
        if defined is not None and defined[1] == name and (called or not defined[2]):
            found.setdefault(name, set()).add(" ".join(strip_code(defined[3]).split()))
    return {name: min(bodies) for name, bodies in found.items() if len(bodies) == 1}
