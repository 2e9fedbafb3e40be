"""Device code that uses what only the host has: in programs of other hands, which our headers may not fit in full.

clang's device mode complains of much that a complete CUDA would take. Only what it says of variables and functions that
the program itself, the C library or the C++ library has on the host alone is reported here, and what it takes although
no device does (clang/device/uses.py).

    half(x)        double half(double);               a function of the host
    square(x)      constexpr int square(int);         the same, but with --expt-relaxed-constexpr
    abs(x)         in <cmath>                         nvcc has it for devices

Source: CUDA C++ Programming Guide, "Execution Space Specifiers" and "Constexpr functions and function templates". Where
a __host__ __device__ function calls one of the host, nvcc 13.0 only warns, and leaves out what comes to the call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.c_lexer import CUDA
from warpsmith.base.c_text import mask_code
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.front.clang.process import Failed, parse_files
from warpsmith.front.clang.wire import SEEKS_HOST_USES, Diagnostic
from warpsmith.front.cuda.check import DEVICE_TIME_LIMIT_S, device_request, in_device_words
from warpsmith.front.diagnostics import diagnostic_findings

__all__ = ["find_host_uses"]

Read = Callable[[str], SourceFile]

_MOST_NODES: Final = 2_000_000
_STRICT: Final = ("-Xclang", "-fno-cuda-host-device-constexpr")
_RELAXED: Final = "-D__CUDACC_RELAXED_CONSTEXPR__"
_SAID: Final = re.compile(
    r"cannot use '(?:throw|try)' in|host code (?:calls|takes)|device code (?:uses|has)|the kernel |a lambda of the host"
)
_REFERENCE: Final = re.compile(r"reference to __host__ (variable|function) '([^<']*)")
_NOTE: Final = re.compile(r"(?P<file>.*):(?P<line>\d+): .*(?:call to __host__ function from __.*|declared here)")
_OF_DEVICE: Final = re.compile(
    r"(?!.*/warpsmith/front/headers/)[^:]*:\d+: .*call to __device__ function from __host__ function"
)
_NAMED: Final = re.compile(r"'(?:\w+::)*(~?\w+)[^']*'$")
# Functions of the C library that no device has.
_LIBRARY: Final = re.compile(
    r"abort|ato[fil]|calloc|div|exit|f(?:open|close|flush|gets|printf|puts|read|scanf|write)|getchar|getenv|puts|putchar"
    r"|qsort|rand|random|realloc|scanf|snprintf|sprintf|srand|sscanf|strto[dl]|system|time|usleep"
)
_CPLUSPLUS: Final = re.compile(r"/c\+\+/(?:.*/)?([\w.]+)$")
# Headers of the C++ library with functions that nvcc has for devices as well.
_ON_DEVICES: Final = frozenset({
    "cmath", "cstdio", "cstdlib", "cstring", "ctime", "initializer_list", "math.h", "new", "range_access.h",
    "specfun.h", "std_abs.h", "stdlib.h",
})  # fmt: skip
_MOVES: Final = frozenset({"move", "forward"})
_CONSTEXPR: Final = re.compile(r"constexpr|_CONSTEXPR|_CXX\w*_CONSTEXPR\w*")
_CLASS: Final = re.compile(r"\b(?:struct|class|union)\b[^()]*$")
_HELP: Final = "give it a __device__ definition, or __host__ __device__"
_HELP_BOTH: Final = "give it __host__ __device__"
_HELP_RELAXED: Final = (
    "give it __host__ __device__, or compile with nvcc --expt-relaxed-constexpr and say so here with "
    "-D__CUDACC_RELAXED_CONSTEXPR__"
)


class _Use(Struct, frozen=True):
    """A use of the host, as clang says it; `help`: what to do, where the words of `in_device_words` do not say it."""

    said: Diagnostic
    help: tuple[str, ...] = ()


def find_host_uses(
    texts: Mapping[str, str], name: str, arguments: Sequence[str] = (), directory: str = "."
) -> tuple[Finding, ...]:
    """Return where device code of the file called `name`, or of a header of it, uses what belongs to the host.

    `texts` are the program's files by name; `arguments` are -I -D -U options, relative to `directory`. A file that
    clang cannot read is not judged.
    """
    file = SourceFile(name, texts[name])
    strict = () if any(word.startswith(_RELAXED) for word in arguments) else _STRICT
    options = (*arguments, "-iquote", directory, "-ferror-limit=0", SEEKS_HOST_USES, *strict)
    path, words, data, _, _ = device_request(file, options)
    (answer,) = parse_files([(path, words, data, _MOST_NODES, False)], DEVICE_TIME_LIMIT_S)
    if isinstance(answer, Failed):
        return ()

    def read(path: str) -> SourceFile:
        return file if path == name else SourceFile.read(path)

    found = dict[tuple[str, str], Finding]()
    for use in _uses(answer.diagnostics, read):
        for finding in diagnostic_findings(name, [use.said], read):
            worded = in_device_words(finding)
            found.setdefault((worded.message, str(worded.span)), replace(worded, help=use.help or worded.help))
    return tuple(found.values())


def _uses(diagnostics: Sequence[Diagnostic], read: Read) -> Iterator[_Use]:
    for severity, lines, file, line, offset in diagnostics:
        message, *notes = lines.split("\n")
        said = (severity, message, file, line, offset)
        reference = _REFERENCE.match(message)
        if _SAID.match(message):
            if not (message.startswith("device code uses") and _is_evaluated(said, read)):
                yield _Use(said, (_help(message),))
        elif reference is not None and reference[1] == "variable":
            yield _Use(said)
        else:
            yield from _called(said, reference[2] if reference is not None else "", notes, read)


def _called(said: Diagnostic, name: str, notes: Sequence[str], read: Read) -> Iterator[_Use]:
    """Yield the call that a diagnostic is about, where all that is named so is the host's."""
    if any(_OF_DEVICE.fullmatch(note) for note in notes):
        yield _Use(said, (_HELP_BOTH,))
        return
    if name and not notes:  # a function that clang knows by itself
        if _LIBRARY.fullmatch(name) is not None:
            yield _Use(said, (_HELP,))
        return
    candidates = [found for note in notes if (found := _NOTE.fullmatch(note)) is not None]
    if not candidates or (not name and not any("__host__" in found.group() for found in candidates)):
        return
    if not name:
        named = _NAMED.search(said[1])
        name = named[1] if named is not None else ""
    if not all(_is_host_only(found["file"], name) for found in candidates):
        return
    if any(_is_constexpr(found["file"], int(found["line"]), read) for found in candidates):
        if not _in_class(said, read):
            yield _Use(said, (_HELP_RELAXED,))
    else:
        yield _Use(said, (_HELP,))


def _is_host_only(file: str, name: str) -> bool:
    """Whether a function declared in `file` is the host's alone: what our own headers have may be there for devices."""
    if "/warpsmith/front/headers/" in file:
        return False
    library = _CPLUSPLUS.search(file)
    if library is not None:
        return library[1] not in _ON_DEVICES and name not in _MOVES
    return not file.startswith("/usr/") or _LIBRARY.fullmatch(name) is not None


def _is_constexpr(file: str, line: int, read: Read) -> bool:
    """Whether the declaration at a line says that it is constexpr: in the line, or before it in the same statement."""
    try:
        source = read(file)
    except OSError:
        return False
    before = reversed([source.line(n) for n in range(max(1, line - 4), line)])
    head = [*takewhile(lambda text: not re.search(r"[;{}]\s*$", text), before), source.line(line)]
    return any(_CONSTEXPR.search(text) for text in head)


def _in_class(said: Diagnostic, read: Read) -> bool:
    """Whether a place lies in a class, but in none of its functions: it is what a member is made from."""
    try:
        text = mask_code(read(said[2]).text, CUDA)[: said[4]]
    except OSError:
        return False
    depth = 0
    for place in range(len(text) - 1, -1, -1):
        depth += (text[place] == "}") - (text[place] == "{")
        if depth < 0:
            head = re.split(r"[;{}]", text[:place])[-1]
            return _CLASS.search(head) is not None
    return False


def _is_evaluated(said: Diagnostic, read: Read) -> bool:
    """Whether a place lies in the condition of an `if constexpr`, or in what a constant of this line is made from."""
    try:
        source = read(said[2])
    except OSError:
        return False
    line = source.text[source.offset(said[3]) : said[4]]
    return re.search(r"\bconstexpr\b[^;{}]*$", line) is not None


def _help(message: str) -> str:
    if message.startswith("device code uses"):
        return "pass it to the kernel as a parameter, or give it __device__ or __constant__"
    if message.startswith("a lambda"):
        return "write __device__ behind its parameters (nvcc --extended-lambda), or use a class with such an operator()"
    if "address" in message:
        return "take the address in device code: `__device__ F pointer = function;`, copied with cudaMemcpyFromSymbol"
    if message.startswith("the kernel"):
        return "take it by value, or as a pointer to device memory"
    if message.startswith("host code"):
        return _HELP_BOTH
    return "write it without"
