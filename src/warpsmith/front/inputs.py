"""Input files before they are parsed: can they be read, what language, which options go to the parser."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from msgspec import Struct

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.front.clang.system_headers import own_headers, system_arguments
from warpsmith.tree.program import Language

__all__ = ["Input", "Source", "parser_arguments", "read_input"]

BYTES_A_NODE: Final = 16
"""A file with more bytes than this for every node allowed is refused unparsed; C has about five bytes a node."""

_LANGUAGES: Final[dict[str, Language]] = {
    ".c": "c", ".h": "c", ".cpp": "c++", ".cc": "c++", ".cxx": "c++", ".c++": "c++", ".hpp": "c++", ".cu": "cuda",
}  # fmt: skip
_STANDARDS: Final[dict[Language, str]] = {"c": "gnu17", "c++": "gnu++17", "cuda": "gnu++17"}
_PARSER_LANGUAGES: Final[dict[Language, str]] = {"c": "c", "c++": "c++", "cuda": "cuda"}
_QUIET = (
    # gcc takes these for warnings, and a program that its compiler accepts must be accepted here.
    "-w", "-ferror-limit=20", "-Wno-implicit-function-declaration", "-Wno-implicit-int", "-Wno-int-conversion",
    "-Wno-incompatible-function-pointer-types", "-Wno-return-type",
)  # fmt: skip
# What says how the text is read; the parser knows few of the options that make code (`-fno-ipa-sra` is an error to it).
_OF_TEXT = (
    "-I", "-D", "-U", "-std", "-ansi", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-isysroot",
    "--sysroot", "-nostdinc", "-funsigned-char", "-fsigned-char", "-fshort-enums", "-fno-exceptions", "-fno-rtti",
    "-fgnu89-inline", "-ffreestanding", "-fpermissive", "-fms-extensions", "-fno-builtin", "-pthread", "-m32", "-m64",
)  # fmt: skip
_WITH_VALUE = frozenset(
    ("-I", "-D", "-U", "--std", "-std", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-isysroot")
)
_OPENMP = "-D_OPENMP=201511"


class Source(Struct, frozen=True):
    """One file that shall be read, with compiler options of its own; `language`: c, c++ or cuda (None: by suffix);
    `text` (one character a byte) stands in place of what the file holds, which then need not exist."""

    path: str
    arguments: tuple[str, ...] = ()
    language: str | None = None
    text: str | None = None


class Input(Struct, frozen=True):
    """One input file that can be parsed; `arguments` are all of its options; `unsaved`: its text is not the file's."""

    file: SourceFile
    language: Language
    arguments: tuple[str, ...]
    unsaved: bool = False


def read_input(source: Source, node_limit: int) -> Input | Finding:
    """Return the input file of `source`, or why it cannot be used."""
    path, language = source.path, source.language
    place = Path(path)
    known = _language(path, language)
    if source.text is None and not place.exists():
        return _unusable(f"{path} does not exist", "check the path")
    if place.is_dir():
        return _unusable(f"{path} is a directory", f"name the files in it: {path.rstrip('/')}/*.c")
    if known is None:
        return _unusable(f"{path}: the suffix {place.suffix or '(none)'} says no language", "use --lang c, c++ or cuda")
    try:
        size = place.stat().st_size if source.text is None else len(source.text)
        if size > BYTES_A_NODE * node_limit:
            return _too_large(path, size, node_limit)
        file = SourceFile.read(path) if source.text is None else SourceFile(path, source.text)
    except OSError as error:
        return _unusable(f"{path} cannot be read: {error.strerror or error}", "check its permissions")
    if "\0" in file.text:
        return _unusable(f"{path} is not a text file: it has zero bytes", "give C source text")
    if not file.text.strip():
        return _unusable(f"{path} is empty", "give a file with a function in it")
    return Input(file, known, source.arguments, source.text is not None)


def _language(path: str, language: str | None) -> Language | None:
    if language is not None:
        return {"c": "c", "c++": "c++", "cuda": "cuda"}.get(language)  # type: ignore[return-value]
    return _LANGUAGES.get(Path(path).suffix.lower())


def _unusable(message: str, remedy: str) -> Finding:
    return Finding("INP001", "error", message, None, (remedy,))


def _too_large(path: str, size: int, node_limit: int) -> Finding:
    limit = BYTES_A_NODE * node_limit
    return Finding(
        "INP003", "error",
        f"{path} has {size:,} bytes: more than the limit of {limit:,} bytes ({node_limit:,} syntax tree nodes)",
        None, ("split the file, and give the part with the loops",),
    )  # fmt: skip


def parser_arguments(language: Language, arguments: tuple[str, ...]) -> list[str]:
    """Return the parser's options for a file: the user's own, after those that it needs to see what gcc sees."""
    result = ["-x", _PARSER_LANGUAGES[language], *_QUIET]
    given = [_standard(argument) for argument in _join_options(arguments)]
    if not any(argument.startswith("-std=") for argument in given):
        result.append(f"-std={_STANDARDS[language]}")
    if language == "cuda":
        result += [
            "-nocudainc", "-nocudalib", "--cuda-host-only", "--cuda-gpu-arch=sm_70", "--cuda-path=/nonexistent",
            "-I", str(own_headers() / "cuda"), "-include", str(own_headers() / "cuda" / "mini_cuda.h"),
        ]  # fmt: skip
    # OpenMP is read from the pragmas: with -fopenmp the parser would hide the loops below them.
    openmp = any(a.startswith(("-fopenmp", "-qopenmp", "-openmp", "-mp")) for a in given)
    given = [a for a in given if a.startswith(_OF_TEXT)]
    return [*result, *([_OPENMP] if openmp else []), *given, *system_arguments()]


def _join_options(arguments: tuple[str, ...]) -> list[str]:
    """Return the options with `-I x`, `-isystem x` and `--std x` written as one word each."""
    result: list[str] = []
    pending = ""
    for argument in arguments:
        if pending:
            result.append(f"{pending}{'=' if pending in ('--std', '-std') else ''}{argument}")
            pending = ""
        elif argument in _WITH_VALUE:
            pending = argument
        else:
            result.append(argument)
    return result


def _standard(argument: str) -> str:
    return f"-std={argument.removeprefix('--std=')}" if argument.startswith("--std=") else argument
