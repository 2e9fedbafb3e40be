"""The tokens that clang's own lexer finds in a text, without preprocessing it.

Differences to the lexer that is compared with it, which are taken out here:

- A line splice in front of a token, or behind a string that does not end, belongs to the token in clang, to a blank in
  ours.
- clang's raw lexer knows no header names: `<a//b>` are a sign, a word and a comment for it. Of a line with a header
  name what stands from there on is not compared.
- A block comment without an end is no token for clang.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clang.cindex import SourceLocation, SourceRange, TranslationUnit

from warpsmith.base.c_lexer import C17, C23, CUDA, CXX, Dialect, Token, lex

LANGUAGES: dict[str, tuple[Dialect, tuple[str, ...]]] = {
    "c": (C17, ("-x", "c", "-std=gnu17")),
    "c23": (C23, ("-x", "c", "-std=gnu2x")),
    "c++": (CXX, ("-x", "c++", "-std=gnu++20")),
    "cuda": (
        CUDA,
        ("-x", "cuda", "-std=gnu++20", "--cuda-host-only", "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent"),
    ),
    "opencl": (C17, ("-x", "cl", "-Xclang", "-cl-std=CL2.0")),
}

Place = tuple[int, int]
_SPLICE = r"\\[ \t\f\v]*(?:\r\n?|\n\r?)"


def clang_places(text: str, language: str) -> list[Place]:
    """Return where the tokens and comments of `text` start and end for clang."""
    arguments = [*LANGUAGES[language][1], "-nostdinc", "-w", "-ferror-limit=1"]
    data = text.encode("latin-1")
    unit = TranslationUnit.from_source("t.c", arguments, unsaved_files=[("t.c", data)])  # type: ignore[no-untyped-call]
    file = unit.get_file("t.c")
    first, last = (SourceLocation.from_offset(unit, file, offset) for offset in (0, len(data)))  # type: ignore[no-untyped-call]
    found = unit.get_tokens(extent=SourceRange.from_locations(first, last))  # type: ignore[no-untyped-call]
    extents = (token.extent for token in found)
    return [_without_splices(text, e.start.offset, e.end.offset) for e in extents]


def _without_splices(text: str, start: int, end: int) -> Place:
    leading = re.match(rf"(?:{_SPLICE})*", text[start:end])
    trailing = re.search(rf"(?:{_SPLICE})*\Z", text[start:end])
    assert leading is not None and trailing is not None
    begin = start + leading.end()
    return begin, end if text.startswith("//", begin) else end - len(trailing[0])


def our_places(text: str, language: str) -> list[Token]:
    """Return our tokens and comments of `text`."""
    kept = [t for t in lex(text, LANGUAGES[language][0]) if t.kind not in ("blank", "newline")]
    if kept and kept[-1].spelling.startswith("/*") and not kept[-1].spelling[2:].endswith("*/"):
        kept.pop()
    return kept


def differences(text: str, language: str) -> Iterator[str]:
    """Yield where clang and we differ in a text: a line for the first place, nothing where they agree."""
    tokens = our_places(text, language)
    ends = [t.start for t in lex(text, LANGUAGES[language][0]) if t.kind == "newline"]
    lines = [(t.start, min((e for e in ends if e > t.start), default=len(text))) for t in tokens if t.kind == "header"]

    def compared(place: Place) -> bool:
        return not any(start <= place[0] < end for start, end in lines)

    ours = [(t.start, t.end) for t in tokens if compared((t.start, t.end))]
    clangs = [place for place in clang_places(text, language) if compared(place)]
    if ours != clangs:
        at = next(
            (n for n, (a, b) in enumerate(zip(ours, clangs, strict=False)) if a != b), min(len(ours), len(clangs))
        )
        shown = [[(text[a:b], a) for a, b in places[at : at + 3]] for places in (ours, clangs)]
        yield f"ours {shown[0]}, clang's {shown[1]}"
