"""Is the device code of a `.cu` text device code? clang reads it in CUDA's device mode, with our own small CUDA header.

Device mode knows what runs where: a kernel that touches a variable of the host, or calls a function that exists on
the host only or nowhere, does not pass. Findings are INP005.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from warpsmith.base.c_text import find_includes
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.front.clang.process import Failed, parse_files
from warpsmith.front.clang.system_headers import own_headers, system_arguments
from warpsmith.front.clang.wire import Dump, Request
from warpsmith.front.diagnostics import diagnostic_findings

__all__ = ["DEVICE_TIME_LIMIT_S", "check_device", "device_findings", "device_request", "in_device_words"]

DEVICE_TIME_LIMIT_S: Final = 60.0
_PLAIN: Final = ("plain", "cuda")
_FULL: Final = ("cuda",)
_CUDA: Final = "cuda/mini_cuda.h"
_PORT_FILE: Final = "plain/port_file.h"
_PORT_INCLUDES: Final = frozenset({"<cuda_runtime.h>", "<mutex>", "<stdio.h>", "<stdlib.h>"})
"""What `_PORT_FILE` includes."""
# what the plain headers can stand in for, or do not meet
_C_HEADER: Final = re.compile(r"<(algorithm|map|mutex|vector|[\w/]+\.h)>")
_WORDS: Final = (
    (re.compile(r"^reference to __host__ variable (`.*`) in (.*) function$"), r"\2 code uses the host's variable \1"),
    (re.compile(r"^reference to __host__ function (`.*`) in (.*) function$"), r"\2 code calls the host's function \1"),
    (
        re.compile(r"^no matching function for call to (`.*`)$"),
        r"\1 is not a device function for these arguments",
    ),
)


def check_device(text: str, name: str) -> tuple[Finding, ...]:
    """Return what clang's device mode says against the text of a `.cu` file called `name`; nothing: it passes.

    `text` holds one character a byte (base/source.py).
    """
    file = SourceFile(name, text)
    (answer,) = parse_files([device_request(file)], DEVICE_TIME_LIMIT_S)
    return device_findings(file, answer)


def device_request(file: SourceFile, options: Sequence[str] = ()) -> Request:
    """Return the question that the parser is asked about a `.cu` file; its answer is for `device_findings`. A file that
    needs `options` of the user's is read with the system's headers."""
    included = frozenset(find_includes(file.text))
    if options or not _is_plain(included):
        return _request(file, _FULL, options=options)
    return _request(file, _PLAIN, _PORT_FILE if included >= _PORT_INCLUDES else _CUDA)


def device_findings(file: SourceFile, answer: Dump | Failed) -> tuple[Finding, ...]:
    """Return what an answer says against `file`."""
    found = _findings(file, answer)
    # C++ headers take most of the time: what is well without them needs no second look, what is not gets one.
    if found and _is_plain(find_includes(file.text)):
        (answer,) = parse_files([_request(file, _FULL)], DEVICE_TIME_LIMIT_S)
        found = _findings(file, answer)
    return found


def _is_plain(included: Iterable[str]) -> bool:
    return all(_C_HEADER.fullmatch(header) for header in included)


def _request(file: SourceFile, folders: tuple[str, ...], first: str = _CUDA, options: Sequence[str] = ()) -> Request:
    """Return a question about `file` with our headers in `folders` before the system's, and `first` before its text."""
    arguments = [
        "-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-device-only", "--cuda-gpu-arch=sm_70",
        "--cuda-path=/nonexistent", "-std=c++17", "-w", "-ferror-limit=20",
        *(word for folder in folders for word in ("-I", str(own_headers() / folder))),
        "-include", str(own_headers() / first), *options, *system_arguments(),
    ]  # fmt: skip
    return file.path, arguments, file.data(), 0, True


def _findings(file: SourceFile, answer: Dump | Failed) -> tuple[Finding, ...]:
    name = file.path
    if isinstance(answer, Failed):
        message = f"{name} could not be checked as device code: {answer.why}"
        return (Finding("INP004", "error", message, None, ("compile it with nvcc to see whether it is right",)),)

    def read(path: str) -> SourceFile:
        return file if path == name else SourceFile.read(path)

    return tuple(in_device_words(finding) for finding in diagnostic_findings(name, answer.diagnostics, read))


def in_device_words(finding: Finding) -> Finding:
    """Return what clang says in the words of CUDA's qualifiers."""
    message = finding.message
    for pattern, words in _WORDS:
        message = pattern.sub(words, message)
    help = ("pass it to the kernel as a parameter, or give it a __device__ definition",)
    return replace(finding, rule="INP005", message=message, help=help if message != finding.message else ())
