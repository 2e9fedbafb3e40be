"""A PTX file becomes a module of the kernel IR.

Spans are the user's source lines where `.loc` names a file that can be read, else lines of the PTX file itself. An
inlined line of a library's header stands for the call of it, which is in the user's text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.front.ptx.code import translate
from warpsmith.front.ptx.declarations import read_file
from warpsmith.front.ptx.model import File, Routine
from warpsmith.front.ptx.statements import PtxStatement
from warpsmith.ssa.nodes import Function, Module, Parameter

__all__ = ["read_ptx"]

_LOC: Final = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")
# headers of a toolkit or of its packages
_LIBRARY: Final = re.compile(r"/(cccl|cub|thrust|libcudacxx|(cuda[\w.-]*/(targets/[\w-]+/)?|nvidia/\w+/)include)/")
_Place: TypeAlias = tuple[int, int, int]


def read_ptx(
    file: SourceFile, sources: Mapping[str, SourceFile] = MappingProxyType({})
) -> tuple[Module, tuple[Finding, ...]]:
    """Return what a PTX file holds, and a diagnostic for each part of it that could not be read.

    An unknown instruction makes what it gives unknown; a broken declaration is left out; both are said. `sources`:
    files that `.file` may name, by path, where they need not be read.
    """
    made, findings = read_file(file)
    found = list(findings)
    results = {routine.name: tuple(one.type for one in routine.results) for routine in made.routines}
    places = _Places(file, made, sources)
    functions: list[Function] = []
    for routine in made.routines:
        if routine.body is None:
            functions.append(_declare_routine(routine))
            continue
        function, problems = translate(routine, made.symbols, results, places.of(routine))
        functions.append(function)
        found += problems
    return Module(tuple(functions), made.symbols), tuple(found)


def _declare_routine(routine: Routine) -> Function:
    parameters = tuple(
        Parameter(one.name, one.bytes, one.align, one.type if one.count == 1 else None) for one in routine.parameters
    )
    results = tuple(one.type for one in routine.results)
    file = routine.span.file
    return Function(routine.name, routine.kernel, parameters, results, (), (), routine.limits, routine.span, file)


class _Places:
    """Where statements come from."""

    def __init__(self, ptx: SourceFile, file: File, sources: Mapping[str, SourceFile]) -> None:
        self.ptx = ptx
        self.names = file.files
        self.sources = {os.path.realpath(path): source for path, source in sources.items()}
        self.read: dict[int, SourceFile | None] = {}

    def of(self, routine: Routine) -> dict[int, Span]:
        """Return the span for each statement of a body, by its start."""
        return dict(self._places(routine.body or ()))

    def _places(self, body: tuple[PtxStatement, ...]) -> Iterator[tuple[int, Span]]:
        here: Span | None = None
        written: dict[_Place, _Place] = {}
        for statement in body:
            if statement.kind == "directive" and (found := _LOC.match(statement.words)):
                here = self._span(self._where_written(found, written))
            elif statement.kind == "instruction":
                yield statement.span.start, here or statement.span

    def _where_written(self, found: re.Match[str], written: dict[_Place, _Place]) -> _Place:
        """Return the place of a `.loc`; for code of a library that was inlined, that of the call that is not in one.

        `inlined_at` names one call, so the calls above it are those of the `.loc` before (PTX ISA, `.loc`).
        """
        file, line, column, *called = (int(text) for text in found.groups() if text is not None)
        place = (file, line, column)
        if called and self._is_of_library(file):
            place = (called[0], called[1], called[2])
            place = written.get(place, place)
        written[file, line, column] = place
        return place

    def _is_of_library(self, number: int) -> bool:
        file = self._source(number)
        return file is None or _LIBRARY.search(Path(file.path).as_posix()) is not None

    def _span(self, place: _Place) -> Span | None:
        number, line, column = place
        file = self._source(number)
        if file is None or not 1 <= line <= file.line_count:
            return None
        start, end = file.offset(line), file.offset(line) + len(file.line(line))
        return Span(file, min(start + max(0, column - 1), end), end)

    def _source(self, number: int) -> SourceFile | None:
        if number not in self.read:
            name = self.names.get(number, "")
            place = Path(self.ptx.path).parent / name
            known = self.sources.get(os.path.realpath(place)) or self.sources.get(os.path.realpath(name))
            try:
                read = SourceFile.read(str(place)) if known is None and name and place.is_file() else known
                self.read[number] = read
            except OSError:
                self.read[number] = None
        return self.read[number]
