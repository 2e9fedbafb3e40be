"""Lines and indentation: moving a piece of text to another place of a file without disturbing what it says.

Outdented text has its first line at column 0 and its other lines relative to that. A line that starts inside a string
literal is never touched: its blanks belong to the program.
"""

from __future__ import annotations

from itertools import pairwise

from warpsmith.base.source import SourceFile, Span
from warpsmith.tree.text.lexical import find_unbroken

__all__ = [
    "indent_at",
    "indent_text",
    "indentation_unit",
    "line_end",
    "outdent",
    "own_line",
    "slice_text",
    "starts_line",
]


def line_end(text: str) -> str:
    """Return the line end that `text` uses most."""
    windows = text.count("\r\n")
    return "\r\n" if windows > text.count("\n") - windows else "\n"


def indent_at(file: SourceFile, offset: int) -> str:
    """Return the blanks with which the line of `offset` starts."""
    line = file.line(file.location(offset)[0])
    return line[: len(line) - len(line.lstrip(" \t"))]


def starts_line(file: SourceFile, offset: int) -> bool:
    """Whether only blanks stand before `offset` on its line."""
    start = file.offset(file.location(offset)[0])
    return not file.text[start:offset].strip(" \t\xef\xbb\xbf")


def own_line(span: Span) -> Span:
    """Return the whole lines of `span`, their line end included, if nothing else stands on them; else `span`."""
    file = span.file
    end = file.text.find("\n", span.end)
    after = file.text[span.end :] if end == -1 else file.text[span.end : end]
    if after.strip() or not starts_line(file, span.start):
        return span
    start = file.offset(file.location(span.start)[0])
    return Span(file, start, len(file.text) if end == -1 else end + 1)


def outdent(text: str, indent: str) -> str:
    """Return `text`, whose first line stood behind `indent`, with that indentation taken from its other lines."""
    plain = text.replace("\r\n", "\n")
    if "\n" not in plain:
        return plain
    return "".join(
        piece if number == 0 else _remove_indent(piece, indent) for number, piece in enumerate(_line_pieces(plain))
    )


def indent_text(text: str, indent: str) -> str:
    """Return outdented `text` with `indent` before every line but the first; blank lines stay empty."""
    if "\n" not in text or not indent:
        return text
    pieces = _line_pieces(text)
    return pieces[0] + "".join(piece if piece in ("\n", "") else indent + piece for piece in pieces[1:])


def slice_text(span: Span) -> str:
    """Return the source slice, outdented, with plain line ends."""
    return outdent(span.text, indent_at(span.file, span.start))


def indentation_unit(text: str) -> str:
    """Return what one level of indentation is in `text`: a tab, or the usual number of blanks (4 if nothing tells)."""
    counts: dict[str, int] = {}
    before = ""
    for line in text.splitlines():
        if not line.strip():
            continue
        indent = line[: len(line) - len(line.lstrip(" \t"))]
        if len(indent) > len(before) and indent.startswith(before):
            step = indent[len(before) :]
            counts[step] = counts.get(step, 0) + 1
        before = indent
    usual = {step: count for step, count in counts.items() if step in ("\t", "  ", "   ", "    ", "        ")}
    return max(usual, key=lambda step: usual[step]) if usual else "    "


def _line_pieces(text: str) -> list[str]:
    """Cut `text` where a line starts that may be indented anew."""
    starts = [*find_unbroken(text), len(text)]
    return [text[a:b] for a, b in pairwise(starts)]


def _remove_indent(line: str, indent: str) -> str:
    common = 0
    while common < min(len(line), len(indent)) and line[common] == indent[common]:
        common += 1
    rest = line[common:]
    return rest if common == len(indent) else rest.lstrip(" \t")
