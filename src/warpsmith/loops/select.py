"""Which loops were asked for: `--loop FILE:LINE`, `--loop lu/k/j`, or region pragmas in the source."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.tree.nodes import NOT_MADE, Loop, While
from warpsmith.tree.program import Program, Unit
from warpsmith.tree.walk import loop_names

__all__ = ["find_loop", "select_loops"]


def select_loops(program: Program, requests: tuple[str, ...]) -> tuple[Loop, ...] | None:
    """Return the loops that `requests` name, else those that region pragmas mark, else None (search everywhere).

    Raises UsageError naming the nearest loops where a request matches none.
    """
    if requests:
        return tuple(find_loop(program, request) for request in requests)
    marked = tuple(
        loop for unit, loop, _ in _loops(program) if any(_starts_in(region, loop.span) for region in unit.pragmas)
    )
    return marked or None


def find_loop(program: Program, request: str) -> Loop:
    """Return the loop at `FILE:LINE` or with the address `function/i/j`; raises UsageError where there is none."""
    file, _, line = request.rpartition(":")
    found = [(loop, name) for _, loop, name in _loops(program)]
    if file and line.isdecimal():
        there = [(loop, name) for loop, name in found if _is_file(loop.span.file.path, file)]
        here = [loop for loop, _ in there if loop.header.line == int(line)]
        if here:
            # what a template made is meant, if that is known
            return next((loop for loop in here if not (isinstance(loop, While) and loop.reason == NOT_MADE)), here[0])
        at = sorted((loop.header.line, name) for loop, name in there)
        near = [f"{name} (line {number})" for number, name in sorted(at, key=lambda a: abs(a[0] - int(line)))[:3]]
        raise UsageError(_no_loop(f"no loop starts at {request}", near))
    for loop, name in found:
        if name == request:
            return loop
    near = difflib.get_close_matches(request, [name for _, name in found], n=3, cutoff=0.3)
    raise UsageError(_no_loop(f"no loop is called {request}", near))


def _no_loop(message: str, near: list[str]) -> Finding:
    helps = (f"the nearest loops: {', '.join(near)}",) if near else ("the input has no loop there",)
    return Finding("INP010", "error", message, help=(*helps, "`warpsmith port --survey FILE` lists every loop"))


def _loops(program: Program) -> Iterator[tuple[Unit, Loop, str]]:
    for unit, function in program.functions():
        for loop, name in loop_names(function).items():
            yield unit, loop, name


def _is_file(path: str, given: str) -> bool:
    given = given.removeprefix("./")
    return path.removeprefix("./") == given or path.endswith("/" + given) or _real(path) == _real(given)


def _real(path: str) -> str:
    return os.path.realpath(path)


def _starts_in(region: Span, loop: Span) -> bool:
    return region.file is loop.file and region.start <= loop.start < region.end
