"""Launches in the host code of OpenCL: a C or C++ file becomes the launches that it makes.

A kernel goes by its name there: `clCreateKernel(program, "add", &error)`. What is launched by a handle that cannot be
followed is a launch of any kernel (`LaunchSite.kernel` is ""), in a shape that nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.front.c.context import Context
from warpsmith.front.clang.process import Failed, parse_files
from warpsmith.front.clang.system_headers import own_headers
from warpsmith.front.clang.wire import SEEKS_ENQUEUES
from warpsmith.front.inputs import Source, parser_arguments, read_input
from warpsmith.front.kernels import LaunchSite
from warpsmith.front.load import FrontOptions

__all__ = ["load_enqueues"]

_MOST_ERRORS: Final = "-ferror-limit=0"


def load_enqueues(source: Source, options: FrontOptions) -> tuple[LaunchSite, ...] | None:
    """Return the launches in a file of host code; None where it cannot be read."""
    given = read_input(source, options.node_limit)
    if isinstance(given, Finding):
        return None
    headers = "-I", str(own_headers() / "opencl_host")
    arguments = parser_arguments(given.language, given.arguments)
    words = [*arguments[:2], *headers, *arguments[2:], _MOST_ERRORS, SEEKS_ENQUEUES]
    request = (given.file.path, words, given.file.text.encode("latin-1"), options.node_limit, False)
    (answer,) = parse_files([request], options.timeout_s)
    if isinstance(answer, Failed):
        return None
    own = Path(given.file.path)
    context = Context(answer, lambda path: given.file if Path(path) == own else SourceFile.read(path))

    def launches() -> Iterator[LaunchSite]:
        for name, file, start, end, grid, block, shared, (blocks, complete) in answer.launches:
            possible = tuple(tuple(one) for one in blocks)
            kernel = str(answer.values[name])
            yield LaunchSite(
                kernel, tuple(grid), tuple(block), shared, context.span(file, start, end), possible, complete
            )

    return tuple(launches())
