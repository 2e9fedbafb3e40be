"""Text that is added to a user's file for builds that define WARPSMITH, and how it is distinguished again.

        WARPSMITH_ONLY(if (!ws_f_1(a, n)))      statements that stand by themselves: a line each
        for (…) …
    #ifdef WARPSMITH
        if (!ws_f_2(a, n)) {                    whole lines: what has an end elsewhere, or the preprocessor's own
    #endif
        …
    for (…) {
    #ifdef WARPSMITH                            a line of the user's had to be split:
        …
    #endif /* WARPSMITH: the line goes on */    then this says so
     a = 1; }
    #pragma omp parallel WARPSMITH_ONLY(if (!ws_on()))      a clause of a pragma of the user's

Invariant: taking every addition out gives the user's bytes. Of additions at one place, what closes stands before what
opens, inner statements close first, outer ones open first.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from warpsmith.base.source import Edit, SourceFile, Span
from warpsmith.tree.text.layout import indent_text, line_end
from warpsmith.tree.text.lexical import directives, tokens
from warpsmith.tree.text.places import InsertionPoint
from warpsmith.tree.text.wrapping import wrap_aligned

__all__ = ["MACRO", "ONLY", "Addition", "additions", "as_edits", "remove_additions", "wrap_in_ifdef", "wrap_includes"]

MACRO = "WARPSMITH"
"""What a build for the GPU defines."""

ONLY = "WARPSMITH_ONLY"
"""The macro whose arguments such a build compiles, and no other."""

_OPEN, _CLOSE = f"#ifdef {MACRO}\n", "#endif\n"
_SPLIT = f"#endif /* {MACRO}: the line goes on */\n"
_ONLY = re.compile(rf"^[ \t]*{ONLY}\(", re.MULTILINE)
_CLAUSE = re.compile(rf"[ \t](?:\\\r?\n[ \t]*)?{ONLY}\(")
_REST = re.compile(r"[ \t]*\r?(?:\n|\Z)")
_ENDS = {")": "(", "]": "[", "}": "{"}
_MEET = re.compile(rf"#endif(?: /\* {MACRO}: the line goes on \*/)?\n\n?#ifdef {MACRO}\n")


class Addition(Struct, frozen=True):
    """`lines` at `place`, which belong to the user's text [start, end): before it, or behind it (`closes`); `clause`:
    the only one goes on in the line of a pragma."""

    place: InsertionPoint
    lines: tuple[str, ...]
    start: int
    end: int
    closes: bool
    clause: bool = False


def wrap_in_ifdef(lines: Sequence[str]) -> str:
    """Return lines behind `#ifdef`."""
    return _OPEN + "".join(f"{line}\n" for line in lines) + _CLOSE


def wrap_includes(lines: Sequence[str]) -> str:
    """Return lines behind `#ifdef`, and that other builds compile nothing of what has a line of its own."""
    return wrap_in_ifdef([*lines, "#else", f"#define {ONLY}(...)"])


def as_edits(file: SourceFile, added: Sequence[Addition], *, lines: bool = True) -> list[Edit]:
    """Return one edit a place; additions that meet share one conditional. `lines`: a statement that stands by itself
    has a line of its own, without a conditional."""
    together: dict[int, list[Addition]] = {}
    for one in added:
        together.setdefault(one.place.offset, []).append(one)
    end = line_end(file.text)
    result = []
    for offset, group in together.items():
        group.sort(key=lambda one: (not one.closes, -one.start if one.closes else -one.end))
        if any(one.clause for one in group):
            result.append(Edit(Span(file, offset, offset), "".join(_clause(file, one) for one in group)))
            continue
        alone = lines and all(map(_stands_alone, group))
        text = "".join(map(_own_lines, group)) if alone else _MEET.sub("", "".join(map(_text, group)))
        result.append(Edit(Span(file, offset, offset), text.replace("\n", end)))
    return result


def _clause(file: SourceFile, one: Addition) -> str:
    """Return a clause, in a line of its own where it would make that of the pragma too long."""
    text = f"{ONLY}({one.lines[0]})"
    start = file.text.rfind("\n", 0, one.place.offset) + 1
    before = file.text[start : one.place.offset].expandtabs(4)
    return f" {text}" if len(before) + 1 + len(text) <= 120 else f" \\{line_end(file.text)}{one.place.indent}    {text}"


def _text(one: Addition) -> str:
    indent = one.place.indent
    lines = (_indent_lines(line, indent) for line in one.lines)
    text = wrap_in_ifdef(list(lines))
    return "\n" + text[: -len(_CLOSE)] + _SPLIT if one.place.splits else text


def _stands_alone(one: Addition) -> bool:
    """Whether every statement of an addition can be the argument of a macro."""
    return not one.place.splits and all(_is_whole(line) for line in one.lines)


@functools.lru_cache(maxsize=1024)
def _is_whole(text: str) -> bool:
    """Whether whatever is opened in a text is closed in it, and nothing else stands around its end: no comment, no
    `else`."""
    open_: list[str] = []
    found = [token for token in tokens(text) if token.kind not in ("blank", "newline")]
    for token in found:
        if token.kind == "comment" or token.directive:
            return False
        if token.sign in _ENDS.values():
            open_.append(token.sign)
        elif token.sign in _ENDS and (not open_ or open_.pop() != _ENDS[token.sign]):
            return False
    return bool(found) and not open_ and "else" not in (found[0].spelling, found[-1].spelling)


def _own_lines(one: Addition) -> str:
    indent = one.place.indent
    lines = (indent_text(_broken(f"{ONLY}({line})", indent), indent) for line in one.lines)
    return "".join(f"{indent}{line}\n" for line in lines)


def _broken(line: str, indent: str) -> str:
    """Return a line in several of at most 120 columns behind `indent`; of several, those that say one thing."""
    room = 120 - len(indent.expandtabs(4))
    if "\n" not in line:
        return wrap_aligned(line, room)
    parts = line.split("\n")
    return "\n".join(wrap_aligned(one, room) if len(one) > room and _is_whole(one) else one for one in parts)


def _indent_lines(line: str, indent: str) -> str:
    """Return a line, or several, as they stand at `indent`; the preprocessor's own lines start at the margin."""
    if line.startswith(("#define", "#undef", "#if", "#error", "#endif")):
        return line
    return indent + indent_text(_broken(line, indent), indent)


def remove_additions(text: str) -> str:
    """Return the user's text again: what was added is taken out."""
    kept: list[str] = []
    position = 0
    for start, added in additions(text):
        kept.append(text[position:start])
        position = start + len(added)
    return "".join([*kept, text[position:]])


def additions(text: str) -> Iterator[tuple[int, str]]:
    """Yield what was added, each with its offset; where a line was split, the line end before it too."""
    found: list[tuple[int, str]] = []
    for made in (_blocks(text), _find_clauses(text), _find_own_lines(text)):
        bounds = [(start, start + len(added)) for start, added in found]
        found += [one for one in made if not any(low <= one[0] < high for low, high in bounds)]
    yield from sorted(found)


def _find_clauses(text: str) -> Iterator[tuple[int, str]]:
    """Yield what stands in pragmas of the user's."""
    for directive in directives(text):
        line = text[directive.start : directive.end]
        found = _CLAUSE.search(line) if directive.word == "pragma" else None
        end = _closing(line, found.end()) if found is not None else None
        if found is not None and end is not None:
            yield directive.start + found.start(), line[found.start() : end]


def _closing(text: str, start: int) -> int | None:
    """Return the place behind the parenthesis that closes the one before `start`."""
    depth = 1
    for token in tokens(text[start:]):
        depth += (token.sign == "(") - (token.sign == ")")
        if not depth:
            return start + token.end
    return None


def _find_own_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield what stands in lines of their own."""
    for found in _ONLY.finditer(text):
        end = _closing(text, found.end())
        rest = _REST.match(text, end) if end is not None else None
        if rest is not None:
            yield found.start(), text[found.start() : rest.end()]


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield what stands behind `#ifdef`."""
    mark = 3 if text.startswith("\xef\xbb\xbf") else 0
    depth = start = 0
    for directive in directives(text):
        line = text[directive.start : directive.end].rstrip("\r")
        if not depth:
            if line == _OPEN.rstrip():
                depth, start = 1, max(mark, text.rfind("\n", 0, directive.start) + 1)
            continue
        depth += (directive.word in ("if", "ifdef", "ifndef")) - (directive.word == "endif")
        if depth:
            continue
        stop = text.find("\n", directive.end)
        stop = len(text) if stop == -1 else stop + 1
        if line == _SPLIT.rstrip():
            start -= 2 if text[:start].endswith("\r\n") else 1
        yield start, text[start:stop]
