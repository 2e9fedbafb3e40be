"""Device code that uses what only the host has: in programs of other hands, which our headers may not fit in full.

clang's device mode complains of much that a complete CUDA would take. Only what it says of variables and functions that
the program itself, or the C library, has on the host alone is reported here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.front.clang.process import Failed, parse_files
from warpsmith.front.cuda.check import DEVICE_TIME_LIMIT_S, device_request, in_device_words
from warpsmith.front.diagnostics import diagnostic_findings

__all__ = ["find_host_uses"]

_REFERENCE: Final = re.compile(r"^reference to __host__ (?:variable|function) '")
_CALL: Final = re.compile(r"^no matching function for call to '(?:\w+::)*(\w+)'")
# Functions of the C library that no device has.
_LIBRARY: Final = re.compile(
    r"ato[fil]|calloc|exit|f(?:open|close|flush|gets|printf|puts|read|scanf|write)|getchar|getenv|puts|putchar|qsort|rand"
    r"|random|realloc|scanf|snprintf|sprintf|srand|sscanf|strto[dl]|system|time|usleep"
)
_DEFINITION: Final = r"(?:^|[;}}])(?P<head>[^;{{}}()]*?)\b{name}\s*\([^;{{}}]*\)[^;{{}}()]*\{{"


def find_host_uses(
    texts: Mapping[str, str], name: str, arguments: Sequence[str] = (), directory: str = "."
) -> tuple[Finding, ...]:
    """Return where device code of the file called `name`, or of a header of it, uses what belongs to the host.

    `texts` are the program's files by name; `arguments` are -I -D -U options, relative to `directory`. A file that
    clang cannot read is not judged.
    """
    file = SourceFile(name, texts[name])
    options = (*arguments, "-iquote", directory, "-ferror-limit=0")
    (answer,) = parse_files([device_request(file, options)], DEVICE_TIME_LIMIT_S)
    if isinstance(answer, Failed):
        return ()

    def read(path: str) -> SourceFile:
        return file if path == name else SourceFile.read(path)

    own = "".join(texts.values())
    said = [diagnostic for diagnostic in answer.diagnostics if _is_of_the_host(diagnostic[1], own)]
    return tuple(in_device_words(finding) for finding in diagnostic_findings(name, said, read))


def _is_of_the_host(message: str, text: str) -> bool:
    if _REFERENCE.match(message):
        return True
    called = _CALL.match(message)
    if called is None:
        return False
    heads = [found["head"] for found in re.finditer(_DEFINITION.format(name=called[1]), text, re.MULTILINE)]
    if not heads:
        return _LIBRARY.fullmatch(called[1]) is not None
    return not any("__device__" in head or "__global__" in head for head in heads)
