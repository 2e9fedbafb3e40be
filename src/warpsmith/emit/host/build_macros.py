"""The macros by which the command line decides what a file says, and lines that stop a build with others.

    cc -DOPEN -DN=100 srad.c            srad.c and its headers ask for OPEN and DEBUG and use N

    #ifndef OPEN
    #error "srad.c was ported with OPEN defined: build it for the GPU with -DOPEN, or port it again"
    #endif
    #ifdef DEBUG
    #error "srad.c was ported without DEBUG: …"
    #endif
    #if (N) != (100)
    #error "srad.c was ported with N=100: …"
    #endif

A port is of the program that was read. With other macros its file is another program: it may print an array that is on
the device, or have other extents than its kernels.

Invariant: before the first line of the file, where a macro is what the command line makes of it, the lines stop no
build that has the macros of the one at hand.
Limits: values that are neither integers nor one word are not compared, nor are the compiler's own macros (`__AVX2__`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from warpsmith.base.c_lexer import GAPS, NAME
from warpsmith.base.source import SourceFile
from warpsmith.emit.file_names import in_comment
from warpsmith.tree.program import Unit
from warpsmith.tree.text.additions import MACRO
from warpsmith.tree.text.fixed_macros import ASKING, condition_words, find_conditionals, find_fixed
from warpsmith.tree.text.lexical import directives, identifiers, tokens

__all__ = ["build_text", "macro_checks"]

_OPENMP: Final = "_OPENMP"
_WORDS: Final = frozenset({"defined", "true", "false", "and", "or", "not", "linux", "unix", "i386", MACRO})
"""What is no macro in a condition, or one that compilers define."""
_LIBRARY: Final = re.compile(r"#\s*include\s*<")
_DEVICE: Final = re.compile(r"#\s*pragma\s+(omp\s+target|acc)\b")
_INTEGER: Final = re.compile(r"[\s()+*/%-]*(?:(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*[\s()+*/%<>&|-]*)+")
_WORD: Final = re.compile(NAME)


def build_text(unit: Unit, path: str) -> str:
    """Return the text of a file that stops a build of `path` with other macros; "" where it asks for none."""
    texts = [unit.file.text, *(SourceFile.read(header).text for header in unit.headers)]
    lines = macro_checks(in_comment(PurePosixPath(path).name), texts, unit.arguments)
    said = f"{in_comment(path)} was ported as it is compiled with these macros: with others it is another program."
    return "\n".join((f"/* {said} */", *lines, "")) if lines else ""


def macro_checks(name: str, texts: Sequence[str], arguments: Sequence[str]) -> tuple[str, ...]:
    """Return the lines for the file called `name` that is read from `texts`, its own and its headers', with the options
    `arguments`."""
    given = _parse_macros(arguments)
    used = frozenset[str]().union(*map(identifiers, texts))
    fixed = frozenset[str]().union(*map(find_fixed, texts))
    asked = frozenset[str]().union(*map(_find_asked, texts), ["NDEBUG"] if "assert" in used else []) - fixed
    lines: list[str] = []
    for macro, value in sorted(given.items()):
        if macro in used and macro not in fixed and value is not None and macro != _OPENMP:
            lines += _same_value(name, macro, value)
    lines += _openmp(name, given) if _OPENMP in asked else []
    # what a forced header defines is defined before the first line
    forced = any(argument.startswith(("-include", "-imacros")) for argument in arguments)
    for macro in sorted(asked):
        if given.get(macro) is None and not forced and not macro.startswith("_"):
            message = f"{name} was ported without {macro}: build it for the GPU without -D{macro}, or port it again"
            lines += [f"#ifdef {macro}", f'#error "{message}"', "#endif"]
    return tuple(lines)


def _openmp(name: str, given: Mapping[str, str | None]) -> list[str]:
    how, test = ("with", "ifndef") if _OPENMP in given else ("without", "ifdef")
    message = f"{name} was ported {how} -fopenmp, and asks for it: build it for the GPU {how} it, or port it again"
    return [f"#{test} {_OPENMP}", f'#error "{message}"', "#endif"]


def _same_value(name: str, macro: str, value: str) -> list[str]:
    """Return lines that stop a build in which a macro is not what it is here."""
    said = macro if value == "1" else f"{macro}={value}"
    message = f"{name} was ported with {said}: build it for the GPU with -D{said}, or port it again"
    if value and _INTEGER.fullmatch(value):
        return [f"#if !defined({macro}) || ({macro}) != ({value})", f'#error "{message}"', "#endif"]
    if _WORD.fullmatch(value):
        return [
            f"#define {MACRO}_IS_{value} 1",
            f"#define {MACRO}_JOINED(word) {MACRO}_IS_##word",
            f"#define {MACRO}_IS(macro) {MACRO}_JOINED(macro)",
            f"#if !defined({macro}) || {MACRO}_IS({macro}) != 1",
            f'#error "{message}"',
            "#endif",
            *(f"#undef {MACRO}_{one}" for one in (f"IS_{value}", "JOINED", "IS")),
        ]
    message = f"{name} was ported with {macro} defined: build it for the GPU with -D{macro}, or port it again"
    return [f"#ifndef {macro}", f'#error "{message}"', "#endif"]


def _parse_macros(arguments: Sequence[str]) -> dict[str, str | None]:
    """Return what the command line says of macros, the last word counts: a value, or None where it takes one away."""
    found: dict[str, str | None] = {}
    words = iter(arguments)
    for word in words:
        if word.startswith(("-fopenmp", "-qopenmp", "-openmp", "-mp")):
            found[_OPENMP] = ""
        if word[:2] in ("-D", "-U"):
            name, is_given, value = (word[2:] or next(words, "")).partition("=")
            found[name.partition("(")[0]] = None if word[1] == "U" else value if is_given else "1"
    return found


@functools.lru_cache(maxsize=256)
def _find_asked(text: str) -> frozenset[str]:
    """Return the macros that decide about the code of `text`, or about what else runs on a device; not those that
    decide about other pragmas and the library's headers alone."""
    found: set[str] = set()
    for first, last, lines in find_conditionals(text):
        inside = text[first.start : last.end]
        if _has_code(inside):
            found |= {name for line in lines for name in condition_words(text[line.start : line.end])}
    return frozenset(found) - _WORDS


def _has_code(text: str) -> bool:
    """Whether there is anything but the library's headers, comments between conditionals, and pragmas for the host."""
    lines = list(directives(text))
    ignored = (*ASKING, "else", "endif", "pragma", "error", "warning")
    said = [(d.word, text[d.start : d.end]) for d in lines]
    if any(_DEVICE.match(line) if word in ignored else not _LIBRARY.match(line) for word, line in said):
        return True
    code = (t for t in tokens(text) if t.kind not in GAPS)
    return any(not any(d.start <= t.start < d.end for d in lines) for t in code)
