"""One compiler call, read as its compiler reads it: what it compiles, what it links, with which options.

    ccache g++ -c -Iinc -DN=4 -o out/a.o a.cpp -MF a.d    in /home/me/p
    └ Call(directory=/home/me/p, compiler=g++, stage=compile, inputs=(/home/me/p/a.cpp,), output=/home/me/p/out/a.o,
           arguments=(-I/home/me/p/inc, -DN=4))

Options that take a word of their own come out joined to it (`-I inc` is `-I/…/inc`), folders and forced headers
absolute, what only names dependency files is left out. Options of another compiler that pass through nvcc
(`-Xcompiler -fopenmp,-O3`) come out as that compiler's.
"""

from __future__ import annotations

import functools
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.project.model import CompileCommand, LinkCommand

__all__ = [
    "CompilerCall",
    "add_implied",
    "commands_of",
    "compiler_family",
    "expand_responses",
    "is_source",
    "language_of",
    "read_call",
    "split_words",
]

Stage = Literal["compile", "link", "other"]

_LAUNCHERS: Final = frozenset({"ccache", "sccache", "distcc", "icecc", "env", "time", "nice"})
_FAMILY = re.compile(
    r"(?:^|-)(gcc|g\+\+|cc|c\+\+|c89|c99|clang|clang\+\+|icc|icpc|icx|icpx|nvc|nvc\+\+|nvcc|mpicc|mpic\+\+|mpicxx|mpiCC"
    r"|mpiicc|mpiicpc|hipcc|gfortran|flang|ifort|ifx|nvfortran|mpif77|mpif90|mpifort)(?:-[0-9.]+)?(?:\.exe)?$"
)
_CXX: Final = frozenset({"g++", "c++", "clang++", "icpc", "icpx", "nvc++", "mpic++", "mpicxx", "mpiCC", "mpiicpc"})
_LANGUAGES: Final = {
    ".c": "c", ".i": "c", ".C": "c++", ".cc": "c++", ".cp": "c++", ".cpp": "c++", ".CPP": "c++", ".cxx": "c++",
    ".c++": "c++", ".ii": "c++", ".cu": "cuda",
}  # fmt: skip
_OTHER_SOURCES: Final = frozenset({
    ".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08", ".F", ".FOR", ".F77", ".F90", ".F95", ".F03", ".F08",
    ".s", ".S", ".sx", ".m", ".mm", ".hip", ".ptx",
})  # fmt: skip
_NAMED: Final = {
    "c": "c", "c-header": "c", "cpp-output": "c", "c++": "c++", "c++-header": "c++", "c++-cpp-output": "c++",
    "cu": "cuda", "cuda": "cuda",
}  # fmt: skip

_FOLDERS: Final = ("-isystem", "-iquote", "-idirafter", "-I")
_FORCED: Final = ("-include", "-imacros")
# Options whose value may be the next word; the value belongs to the text's meaning and is kept.
_KEPT: Final = (
    "-D",
    "-U",
    "-std",
    "--std",
    "-isysroot",
    "--sysroot",
    "--param",
    "-target",
    "-Xclang",
    "-Xpreprocessor",
)
_DROPPED: Final = frozenset(
    {"-MF", "-MT", "-MQ", "-dumpbase", "-dumpbase-ext", "-dumpdir", "-aux-info", "--serialize-diagnostics"}
)
_DROPPED_ALONE: Final = frozenset(
    {"-c", "-MD", "-MMD", "-M", "-MM", "-MP", "-MG", "-pipe", "-v", "-save-temps", "-dc", "--device-c"}
)
_LINK: Final = frozenset({"-Xlinker", "-l", "-L", "-T", "-z", "-u", "-e"})
_OTHER: Final = frozenset({"-Xassembler", "-Xarch_host", "-Xarch_device", "-wrapper", "-B", "-mllvm"})
_LINK_ALONE: Final = frozenset({"-shared", "-static", "-rdynamic", "-pie", "-no-pie", "-nostdlib", "-s"})
_NVCC: Final = frozenset({
    "-gencode", "--generate-code", "-arch", "--gpu-architecture", "-code", "--gpu-code", "-Xptxas", "--ptxas-options",
    "-ccbin", "--compiler-bindir", "-rdc", "--relocatable-device-code", "-maxrregcount", "--maxrregcount",
    "-diag-suppress", "--diag-suppress", "-Xcudafe", "-Xnvlink", "-Xfatbin", "-m", "--machine", "-t", "--threads",
    "-dlto", "-Werror",
})  # fmt: skip
_RESPONSES: Final = ("--options-file", "-optf")
_PASSED: Final = ("-Xcompiler", "--compiler-options")
_STAGES: Final[dict[str, Stage]] = {
    "-c": "compile", "-S": "compile", "-dc": "compile", "--device-c": "compile", "--compile": "compile",
    "-E": "other", "-M": "other", "-MM": "other", "-fsyntax-only": "other", "--version": "other",
    "-dumpversion": "other", "-dumpmachine": "other", "-cubin": "other", "-ptx": "other", "-dlink": "other",
    "--help": "other",
}  # fmt: skip


class CompilerCall(Struct, frozen=True):
    """One call of a compiler: `inputs` are (absolute path, language; None where it is no source of C, C++ or CUDA)."""

    directory: str
    compiler: str
    stage: Stage
    inputs: tuple[tuple[str, str | None], ...]
    output: str | None
    arguments: tuple[str, ...]
    link_arguments: tuple[str, ...]
    missing: tuple[str, ...] = ()


def split_words(command: str) -> list[str]:
    """Return the words of a shell command; raises ValueError where a quote is not closed."""
    return shlex.split(command)


def compiler_family(word: str) -> str | None:
    """Return which compiler a command's word names (`/usr/bin/x86_64-linux-gnu-g++-12` is g++); None: none."""
    found = _FAMILY.search(word.rsplit("/", 1)[-1])
    return found.group(1) if found else None


def expand_responses(words: Sequence[str], directory: str) -> tuple[list[str], list[str]]:
    """Return `words` with every `@file` replaced by the words in that file, and the files that are not there."""
    expanded: list[str] = []
    missing: list[str] = []
    pending, depth = list(reversed(words)), 0
    while pending:
        word = pending.pop()
        if word in _RESPONSES and pending:
            word = "@" + pending.pop()
        if not word.startswith("@") or len(word) == 1:
            expanded.append(word)
            continue
        place = Path(directory, word[1:])
        depth += 1
        try:
            inside = split_words(place.read_text("utf-8", "surrogateescape"))
        except (OSError, ValueError):
            missing.append(str(place))
            continue
        if depth > 1000:
            missing.append(str(place))
            continue
        pending += reversed(inside)
    return expanded, missing


def read_call(words: Sequence[str], directory: str) -> CompilerCall | None:
    """Return what a command of these words does in `directory`; None where no compiler is called."""
    own = _drop_launchers(words)
    family = compiler_family(own[0]) if own else None
    if family is None:
        return None
    expanded, missing = expand_responses(own[1:], directory)
    return _Reader(directory, own[0], family).read(expanded, tuple(missing))


def commands_of(call: CompilerCall) -> tuple[tuple[CompileCommand, ...], LinkCommand | None]:
    """Return the sources that a call compiles, and the program that it links."""
    if call.stage == "other":
        return (), None
    sources = [(path, language) for path, language in call.inputs if is_source(path, language)]
    objects = [path for path, language in call.inputs if not is_source(path, language)]
    linked = (call.output or _path(call.directory, "a.out")) if call.stage == "link" and call.inputs else None
    made = tuple(
        CompileCommand(path, call.directory, call.compiler, call.arguments, linked or _object(call, path), language)
        for path, language in sources
    )
    if linked is None:
        return made, None
    inputs = (*(path for path, _ in sources), *objects)
    return made, LinkCommand(linked, inputs, call.directory, call.compiler, call.link_arguments)


@functools.cache
def implied_arguments(compiler: str) -> tuple[str, ...]:
    """Return the options that a wrapper such as mpicc adds to its compiler's; none where it does not say."""
    for question in ("-showme:compile", "-show"):
        try:
            done = subprocess.run([compiler, question], capture_output=True, text=True, timeout=10, check=False)
            words = split_words(done.stdout) if done.returncode == 0 else []
        except (OSError, ValueError, subprocess.TimeoutExpired):
            continue
        said = [word for word in words if word.startswith(("-I", "-D", "-isystem", "-pthread"))]
        if words:
            return tuple(said)
    return ()


def add_implied(call: CompilerCall) -> CompilerCall:
    """Return the call of an MPI wrapper with the options that it adds; any other call as it is."""
    family = compiler_family(call.compiler) or ""
    if not family.startswith("mpi"):
        return call
    return replace(call, arguments=(*call.arguments, *implied_arguments(call.compiler)))


def is_source(path: str, language: str | None) -> bool:
    """Whether a compiler compiles the file, and does not only link it."""
    return language is not None or Path(path).suffix in _OTHER_SOURCES


def language_of(path: str) -> str | None:
    """Return the language that a suffix says; a header counts as one of C, or C++."""
    return _LANGUAGES.get(Path(path).suffix) or {".h": "c", ".hpp": "c++", ".hxx": "c++", ".hh": "c++"}.get(
        Path(path).suffix
    )


def _object(call: CompilerCall, path: str) -> str:
    return call.output or _path(call.directory, f"{Path(path).stem}.o")


def _drop_launchers(words: Sequence[str]) -> list[str]:
    """Return a command without what stands before the compiler: ccache, env A=b, cmake -E … --."""
    rest = list(words)
    while rest:
        name = rest[0].rsplit("/", 1)[-1]
        if name == "cmake" and "--" in rest:
            rest = rest[rest.index("--") + 1 :]
        elif name == "libtool" or name.endswith(("/libtool", "libtool")):
            rest = [w for w in rest[1:] if not w.startswith(("--mode=", "--tag=", "--silent", "--quiet"))]
        elif name in _LAUNCHERS:
            rest = rest[1:]
            while rest and (rest[0].startswith("-") or ("=" in rest[0] and not rest[0].startswith("/"))):
                rest = rest[1:]
        else:
            return rest
    return rest


def _path(directory: str, path: str) -> str:
    """Return an absolute path without `.` and `..` (links are left as they are: users name them)."""
    parts: list[str] = []
    for part in f"{directory}/{path}".split("/") if not path.startswith("/") else path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", ".", ".."):
            parts.append(part)
    return "/" + "/".join(parts)


class _Reader:
    """Goes through the words of one call."""

    def __init__(self, directory: str, compiler: str, family: str) -> None:
        self.directory = directory
        self.compiler = compiler
        self.family = family
        self.stage: Stage = "link"
        self.language: str | None = None
        self.output: str | None = None
        self.inputs: list[tuple[str, str | None]] = []
        self.arguments: list[str] = []
        self.link_arguments: list[str] = []

    def read(self, words: Sequence[str], missing: tuple[str, ...]) -> CompilerCall:
        rest = iter(words)
        for word in rest:
            if word in _STAGES and self.stage != "other":
                self.stage = _STAGES[word]
            self._word(word, rest)
        arguments, link = tuple(self.arguments), tuple(self.link_arguments)
        inputs, output = tuple(self.inputs), self.output
        return CompilerCall(self.directory, self.compiler, self.stage, inputs, output, arguments, link, missing)

    def _word(self, word: str, rest: Iterator[str]) -> None:
        if word in ("-", "--") or not word.startswith("-"):
            self._input(word)
        elif word in _DROPPED_ALONE:
            return
        elif word in _DROPPED or word in _OTHER:
            next(rest, "")
        elif self.family == "nvcc" and self._nvcc(word, rest):
            return
        elif word.startswith(("-o", "--output")) and not word.startswith(("-openmp", "-odir", "-optf")):
            self._output(word, rest)
        elif word == "-x" or (word.startswith("-x") and word[2:] in (*_NAMED, "none")):
            named = word[2:] or next(rest, "")
            self.language = None if named == "none" else _NAMED.get(named, "other")
        elif word.startswith(("-MF", "-MT", "-MQ")):
            return
        elif not self._take_valued(word, rest):
            self._plain(word, rest)

    def _take_valued(self, word: str, rest: Iterator[str]) -> bool:
        """Take an option whose value is a folder, a header or a word of its own."""
        for option in (*_FOLDERS, *_FORCED):
            if word == option or (word.startswith(option) and word not in ("-include-pch", "-imultilib")):
                value = word[len(option) :] or next(rest, "")
                self.arguments.append(option + self._place(value, header=option in _FORCED))
                return True
        if word == "-isysroot" or word not in _KEPT:
            return False
        joint = "=" if word in ("-std", "--std", "--sysroot", "-target") else ""
        value = next(rest, "")
        if word in ("--param", "-Xclang", "-Xpreprocessor"):
            return True
        self.arguments.append(f"{word}{joint}{value}")
        return True

    def _plain(self, word: str, rest: Iterator[str]) -> None:
        if word in _LINK:
            self.link_arguments += [word + next(rest, "") if word in ("-l", "-L") else f"{word} {next(rest, '')}"]
        elif word.startswith(("-l", "-L", "-Wl,")) or word in _LINK_ALONE:
            self.link_arguments.append(word)
        elif word not in _STAGES:
            self.arguments.append(word)

    def _nvcc(self, word: str, rest: Iterator[str]) -> bool:
        option, equals, value = word.partition("=")
        if option in _PASSED:
            passed = value if equals else next(rest, "")
            for inner in passed.strip("\"'").replace(" ", ",").split(","):
                if inner.startswith("-"):
                    self._plain(inner, iter(()))
            return True
        if option not in _NVCC:
            return False
        if not equals:
            next(rest, "")
        return True

    def _output(self, word: str, rest: Iterator[str]) -> None:
        _, equals, value = word.partition("=") if word.startswith("--") else (word[:2], word[2:], word[2:])
        self.output = _path(self.directory, value if equals else next(rest, ""))

    def _place(self, value: str, *, header: bool) -> str:
        value = value.removeprefix("=") if self.family == "nvcc" else value
        if value.startswith("=") or (header and not Path(self.directory, value).exists()):
            return value
        return _path(self.directory, value)

    def _input(self, word: str) -> None:
        if word == "-":
            self.stage = "other"
            return
        if word == "--":
            return
        language = self.language if self.language is not None else self._by_suffix(word)
        self.inputs.append((_path(self.directory, word), None if language == "other" else language))

    def _by_suffix(self, word: str) -> str | None:
        language = _LANGUAGES.get(Path(word).suffix)
        # g++ takes a file that is called .c for C++, unlike gcc
        return "c++" if language == "c" and self.family in _CXX else language
