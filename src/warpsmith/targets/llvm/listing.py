"""The text of a machine with the user's lines: LLVM's assembly between `.loc` directives, which say of which line what
follows is.

    .file 1 "examples" "0/reduction.cu"            ; reduction.cu:7: part[t] = in[t];
    .loc  1 7 15                            ──►        v_lshlrev_b32_e32 v1, 2, v0
    v_lshlrev_b32_e32 v1, 2, v0                        global_load_dword v2, v1, s[2:3]

LLVM IR has the place of each instruction behind it (`!dbg !7`, and `!7 = !DILocation(line: 7 …)`).

Line 0 is LLVM's for what has no line of its own. Sections of debug information are left
out, and what describes the kernel to a loader is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Final

from msgspec import Struct

from warpsmith.base.source import SourceFile, readable

__all__ = ["Listed", "Listing", "listing_of", "listing_of_ir"]

_LOC: Final = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)")
_FILE: Final = re.compile(r'^\s*\.file\s+(\d+)\s+(?:"[^"]*"\s+)?"(?:[^"]*/)?(\d+)/[^"/]*"')
_SECTION: Final = re.compile(r'^\s*\.(?:section\s+"?([^",\s{]+)|text\b|data\b|bss\b)')
_NOISE: Final = re.compile(
    r"^\s*(?:\.cfi_|\.file\b|\.loc\b|\.ident\b|\.Lfunc_(?:begin|end)|\.Ltmp\d+:|\.addrsig|\.set\s|\.size\b|\.type\b"
    r"|\.hidden\b|[$.]L__(?:tmp|func|debug|info))"
)
_PLACED: Final = re.compile(r",? !dbg !(\d+)")
_LOCATION: Final = re.compile(r"^!(\d+) = !DILocation\(line: (\d+),.* scope: !(\d+)", re.MULTILINE)
_SCOPE: Final = re.compile(
    r"^!(\d+) = (?:distinct )?!DI(?:Subprogram|LexicalBlockFile)\(.*\bfile: !(\d+)", re.MULTILINE
)
_NAMED: Final = re.compile(r'^!(\d+) = !DIFile\(filename: "(\d+)/', re.MULTILINE)
_METADATA: Final = re.compile(r"^\s*\.amdgpu_metadata")
"""It stands in no section."""
_DEBUG: Final = re.compile(r"^\.(?:debug|AMDGPU|note|eh_frame)|^\"?\.note")


class Listed(Struct, frozen=True):
    """A line of text, and the place in the user's text that it is of."""

    text: str
    file: SourceFile | None = None
    line: int = 0


class Listing(Struct, frozen=True):
    """The text of a machine line by line; `comment` begins a comment there."""

    lines: tuple[Listed, ...]
    comment: str

    @property
    def text(self) -> str:
        """The text with the user's line before what is of it."""
        made: list[str] = []
        last = None
        for one in self.lines:
            place = (one.file, one.line)
            if one.file is not None and place != last:
                made.append(f"    {self.comment} {_quoted(one.file, one.line)}")
                last = place
            made.append(one.text)
        return "\n".join(made) + "\n"


def listing_of(assembly: str, files: Sequence[SourceFile], comment: str) -> Listing:
    """Return LLVM's assembly as a listing; `files` are those of the debug information, by their numbers there."""
    text = list(assembly.splitlines())
    named = {found[1]: files[int(found[2])] for found in map(_FILE.match, text) if found is not None}
    return Listing(tuple(_without_blanks(_listed(text, named))), comment)


def listing_of_ir(text: str, files: Sequence[SourceFile]) -> Listing:
    """Return LLVM IR as a listing, without its debug information; `files` as for assembly."""
    named = {number: files[int(at)] for number, at in _NAMED.findall(text)}
    scopes = {number: named[file] for number, file in _SCOPE.findall(text) if file in named}
    places = {number: (scopes.get(scope), int(line)) for number, line, scope in _LOCATION.findall(text)}
    lines = []
    for line in text.splitlines():
        found = _PLACED.search(line)
        if line.startswith("!") or line.startswith(("; ModuleID", "source_filename")):
            continue
        file, number = places.get(found[1], (None, 0)) if found is not None else (None, 0)
        lines.append(Listed(_PLACED.sub("", line), file if number else None, number))
    while lines and not lines[-1].text:
        lines.pop()
    return Listing(tuple(lines), ";")


def _listed(text: Iterable[str], named: Mapping[str, SourceFile]) -> Iterable[Listed]:
    kept, place, described = True, Listed(""), False
    for line in text:
        section = _SECTION.match(line)
        if section is not None:
            kept = not _DEBUG.match(section[1] or "")
        described = described or _METADATA.match(line) is not None
        if described:
            yield Listed(line.expandtabs(8))
            described = ".end_" not in line
            continue
        found = _LOC.match(line)
        if found is not None:
            place = Listed("", named.get(found[1]) if int(found[2]) else None, int(found[2]))
        if not kept or _NOISE.match(line):
            continue
        code = line.startswith(("\t", " ")) and not line.lstrip().startswith(".")
        yield Listed(line.expandtabs(8), place.file, place.line) if code else Listed(line.expandtabs(8))


def _without_blanks(lines: Iterable[Listed]) -> Iterable[Listed]:
    """Leave out blank lines, and sections in which nothing is."""
    found = [one for one in lines if one.text.strip()]
    for number, one in enumerate(found):
        following = found[number + 1].text if number + 1 < len(found) else ".text"
        if not (_SECTION.match(one.text) and (_SECTION.match(following) or _METADATA.match(following))):
            yield one


def _quoted(file: SourceFile, line: int) -> str:
    """Return a line of the user's text as a comment has it."""
    return f"{PurePath(file.path).name}:{line}: {readable(file.line(line)).strip()}"
