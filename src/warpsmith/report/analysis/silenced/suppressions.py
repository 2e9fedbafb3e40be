"""Comments in the source that silence findings:

    // warpsmith: ignore[MEM001, SYN] reason           this line and the next one
    // warpsmith: ignore-kernel[DIV001] reason         the kernel that comes next
    // warpsmith: ignore-file[MEM] reason              the whole file

One without a reason, or with a placeholder for one, works and is reported (SUP002); one that silences nothing is
reported as well (SUP001).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct

from warpsmith.base.c_lexer import GAPS, lex
from warpsmith.base.source import SourceFile, Span

__all__ = ["PLACEHOLDER", "Suppression", "suppression_for", "suppressions"]

PLACEHOLDER: Final = "TODO: say why"
"""What stands for a reason that is still to be written."""

_WORDS: Final = re.compile(r"warpsmith:\s*ignore(-kernel|-file)?\s*\[([^\]]*)\]([^\n]*)")


class Suppression(Struct, frozen=True):
    """One comment. `first` and `last` are the lines that it covers (a line, for `ignore`)."""

    reach: Literal["line", "kernel", "file"]
    codes: tuple[str, ...]
    reason: str
    span: Span
    first: int
    last: int

    def names(self, code: str, name: str) -> bool:
        """Whether it names a rule, by code, by name or by the start of its code."""
        return any(one in ("ALL", name) or (one and code.startswith(one)) for one in self.codes)


def suppressions(file: SourceFile) -> tuple[Suppression, ...]:
    """Return every suppression that stands in a file."""
    return tuple(_find_suppressions(file)) if "warpsmith:" in file.text else ()


def _find_suppressions(file: SourceFile) -> Iterator[Suppression]:
    every = tuple(lex(file.text))
    code = sorted({token.line for token in every if token.kind not in GAPS})
    for token in every:
        if token.kind != "comment":
            continue
        for words in _WORDS.finditer(token.text):
            reach, codes, reason = words.groups()
            span = Span(file, token.start + words.start(), token.start + words.end())
            last = file.location(token.end - 1)[0]
            alone = not file.text[file.offset(token.line) : token.start].strip()
            yield Suppression(
                "kernel" if reach == "-kernel" else "file" if reach == "-file" else "line",
                tuple(code.strip() if "-" in code else code.strip().upper() for code in codes.split(",")),
                reason.replace("*/", "").replace(PLACEHOLDER, "").strip(),
                span,
                token.line,
                (_next(code, last + 1) or file.line_count + 1) if alone else last,
            )


def suppression_for(
    found: Sequence[Suppression], rule: tuple[str, str], place: Span, kernel_lines: Sequence[int], kernel_line: int
) -> Suppression | None:
    """Return the suppression that silences a finding, None where there is none.

    `rule` is its code and its name; `kernel_lines` are the lines of the file at which kernels start, in order;
    `kernel_line` is that of the finding's.
    """
    for one in found:
        if one.span.file.path != place.file.path or not one.names(*rule):
            continue
        if one.reach == "file":
            return one
        if one.reach == "line" and one.first <= place.line <= one.last:
            return one
        if one.reach == "kernel" and _next(kernel_lines, one.first) == kernel_line:
            return one
    return None


def _next(lines: Sequence[int], line: int) -> int | None:
    """Return the first of `lines` that is not before `line`."""
    at = bisect_right(lines, line - 1)
    return lines[at] if at < len(lines) else None
