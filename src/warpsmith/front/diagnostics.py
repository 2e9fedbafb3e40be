"""The parser's diagnostics, in the user's words.

INP001  a file that cannot be read or parsed        INP002  a header that is not found
INP003  a limit (size, nesting)                     INP004  the parser itself failed on the file
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.front.clang.wire import Diagnostic

__all__ = ["diagnostic_findings"]

_MISSING = re.compile(r"'([^']+)' file not found")
_NESTING = re.compile(r"bracket nesting level exceeded")
_NOT_SAID = re.compile(r"too many errors emitted")
_MOST_FOLDERS: Final = 400
_MOST_FINDINGS: Final = 20
_WORD = re.compile(r"\w+|.", re.DOTALL)
_PLAIN: Final = (
    (re.compile(r"^expected '(.*)'$"), r"a `\1` is missing here"),
    (re.compile(r"^expected ';' (.*)$"), r"a `;` is missing \1"),
    (re.compile(r"^expected expression$"), "a value is missing here, or something here does not belong"),
    (re.compile(r"^use of undeclared identifier '([^']*)'.*$"), r"`\1` is not declared"),
    (re.compile(r"^unknown type name '([^']*)'.*$"), r"`\1` is not a type that is known here"),
    (re.compile(r"^redefinition of '(.*)'$"), r"`\1` is defined twice"),
    (re.compile(r"^function definition is not allowed here$"), "a function cannot be defined inside a function"),
    (re.compile(r"^expected '\}'$"), "a `}` is missing"),
    (re.compile(r"^bracket nesting level exceeded maximum of (\d+)$"), r"brackets are nested more than \1 deep"),
    (re.compile(r"^invalid value '(.*)' in '(.*)'$"), r"the option `\2\1` is not known"),
    (re.compile(r"^unknown argument: '(.*)'$"), r"the option `\1` is not known"),
)


def diagnostic_findings(
    path: str, diagnostics: Sequence[Diagnostic], read: Callable[[str], SourceFile]
) -> tuple[Finding, ...]:
    """Return the findings of one input file; `read` gives the file of a path that clang names (or raises OSError)."""
    findings: dict[tuple[str, str], Finding] = {}
    # One missing header, or a limit of the parser, is followed by errors that say nothing more.
    for cause in (_MISSING, _NESTING):
        if any(cause.search(message) for _, message, *_ in diagnostics):
            diagnostics = [diagnostic for diagnostic in diagnostics if cause.search(diagnostic[1])]
    for diagnostic in diagnostics:
        _, message, file, _, offset = diagnostic
        span = _span(file or path, offset, read) if file else None
        if _NOT_SAID.match(message):
            continue
        missing = _MISSING.search(message)
        if missing is not None:
            finding = _missing_header(path, missing.group(1), span)
        else:
            rule = "INP003" if _NESTING.search(message) else "INP001"
            finding = Finding(rule, "error", _plain(message), span, _help(message))
        findings.setdefault((finding.message, str(span)), finding)
    return tuple(findings.values())[:_MOST_FINDINGS]


def _plain(message: str) -> str:
    for pattern, words in _PLAIN:
        if pattern.match(message):
            return pattern.sub(words, message)
    return message.replace("'", "`")


def _help(message: str) -> tuple[str, ...]:
    if _NESTING.search(message):
        return ("split the code into functions, or the expression into statements",)
    return ("the file must compile as it is; -D, -U, -I and --std are passed on to the parser",)


def _span(file: str, offset: int, read: Callable[[str], SourceFile]) -> Span | None:
    try:
        source = read(file)
    except OSError:
        return None
    place = min(offset, len(source.text))
    word = _WORD.match(source.text, place)
    return Span(source, place, word.end() if word and not word.group().isspace() else place)


def _missing_header(path: str, header: str, span: Span | None) -> Finding:
    places = {place.resolve(): place for place in _nearby(path) if (place / header).is_file()}
    remedy = [f"it is in {place}: add -I {place}" for place in list(places.values())[:2]]
    if header in ("stddef.h", "stdarg.h", "stdint.h", "stdio.h", "stdlib.h", "math.h", "string.h"):
        remedy.append(
            "the C compiler's own headers are not installed: install gcc (`warpsmith doctor` shows what is found)"
        )
    elif not remedy:
        remedy.append(f"name the folder that holds {header} with -I DIR")
    return Finding("INP002", "error", f"the header {header} is not found", span, tuple(remedy))


def _nearby(path: str) -> Iterator[Path]:
    """Yield folders near the input file: its own, those below it, then those below the folder above it."""
    start = Path(path).parent
    seen = 0
    for root in (start, start / ".."):
        for folder, below, _ in os.walk(root):
            below[:] = sorted(name for name in below if not name.startswith("."))
            seen += 1
            if seen > _MOST_FOLDERS:
                return
            yield Path(os.path.normpath(folder))
