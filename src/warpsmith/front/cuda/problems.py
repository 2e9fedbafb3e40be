"""The parser's errors in a file of device code, and the functions that they affect.

inside a kernel or a function that it calls      that one is lost, with the finding; the others stay
a header that is not found                       a warning, where the kernels could be read without it
in host code                                     nothing: it is not what is analyzed
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec.structs

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.front.c.context import Context
from warpsmith.front.clang import kinds
from warpsmith.front.clang.wire import Diagnostic
from warpsmith.front.cuda.broken import BrokenNames
from warpsmith.front.cuda.source import DeviceLanguage
from warpsmith.front.diagnostics import diagnostic_findings

__all__ = ["Problems"]

_MISSING: Final = re.compile(r"file not found$")
# what leaves a call in the tree: of a host function that we take for one, or a launch in device code
_HOST_ONLY: Final = re.compile(r"^reference to __(host|global)__ ")
_KERNEL: Final = {"cuda": re.compile(r"\b__global__\b"), "opencl": re.compile(r"\b(?:__kernel|kernel)\b")}
# streams and clocks, which our headers lack: what is done with them changes no other variable
_HARMLESS: Final = re.compile(r"'(?:cout|cerr|clog|endl|flush|fixed|setw|setprecision|chrono)' in namespace")
_MOST: Final = 10


class Problems:
    """The errors of one parse, by the functions that they hit: those in which they lie, and those that name a type or a
    variable that is not understood."""

    def __init__(self, context: Context, file: SourceFile, language: DeviceLanguage, own: int) -> None:
        """`own`: how much of the file's text is the user's; what we asked for stands behind it."""
        self.language = language
        self.context = context
        self.file = file
        self.main = context.dump.files[0] if context.dump.files else file.path
        self.own = own
        self.by_file: dict[str, list[Diagnostic]] = {}
        for diagnostic in context.dump.diagnostics:
            self.by_file.setdefault(diagnostic[2], []).append(diagnostic)
        self.losses: list[list[Diagnostic]] = []
        self.matter = False
        self.functions = 0
        self.ranges: dict[str, list[tuple[int, int]]] = {}
        self.outside = tuple(self._outside())
        self.broken = BrokenNames(context, self.outside)

    def hit(self, row: int, number: int) -> list[Diagnostic]:
        """Return the errors that lie in the function in `row`."""
        start, end = self.context.table.range(row, self.context.text(number).uses)
        return [d for d in self.by_file.get(self.context.dump.files[number], ()) if start <= d[4] <= end]

    def follows(self, place: Span) -> bool:
        """Whether an error lies behind the start of a place in the same function, other than in what it prints or
        measures."""
        path = self.main if self._is_main(place.file.path) else place.file.path
        ends = [end for start, end in self.ranges.get(path, ()) if start <= place.start < end]
        behind = [d for d in self.by_file.get(path, ()) if place.start <= d[4] < min(ends, default=place.end)]
        return any(not _HARMLESS.search(d[1]) for d in behind)

    def is_lost(self, row: int, number: int) -> bool:
        """Whether the function in `row` has errors in it that leave it without a meaning."""
        inside = self.hit(row, number)
        hard = [d for d in inside if not _HOST_ONLY.match(d[1])] or self.broken.find_errors_in(row)
        self.matter = self.matter or bool(inside or hard)
        if hard:
            self.losses.append(hard)
        return bool(hard)

    def _outside(self) -> Iterator[Diagnostic]:
        """Yield the errors that lie in no function."""
        table, files = self.context.table, self.context.dump.files
        functions = self.ranges
        for top, number in self.context.dump.tops:
            row = top
            while row < table.after[top]:
                if table.kind[row] in kinds.FUNCTIONS or table.kind[row] == kinds.FUNCTION_TEMPLATE:
                    functions.setdefault(files[number], []).append((table.start[row], table.end[row]))
                    self.functions += 1
                    row = table.after[row]
                else:
                    row += 1
        for path, diagnostics in self.by_file.items():
            ranges = functions.get(path, [])
            for diagnostic in diagnostics:
                if not any(start <= diagnostic[4] < end for start, end in ranges):
                    yield diagnostic

    def findings(
        self, kernels: tuple[str, ...], templates: tuple[tuple[str, Span], ...], wanted: tuple[str, ...]
    ) -> tuple[Finding, ...]:
        """Return what there is to say about the file."""
        made: dict[tuple[str, str], Finding] = {(f.message, str(f.span)): f for f in self._find_lost()}
        for finding in self._find_instance_errors(wanted):
            made.setdefault((finding.message, ""), finding)
        meant = bool(_KERNEL[self.language].search(self.file.text)) or not self.functions
        missing = [d for d in self.context.dump.diagnostics if _MISSING.search(d[1])]
        for finding in diagnostic_findings(self.file.path, missing, self._read):
            softened = msgspec.structs.replace(finding, severity="warning") if kernels or not meant else finding
            made.setdefault((finding.message, str(finding.span)), softened)
        for name, span in templates:
            made.setdefault((name, "template"), _no_instance(name, span))
        if not kernels and not made and meant:
            others = [d for d in self.context.dump.diagnostics if d[2] == self.main]
            for finding in diagnostic_findings(self.file.path, others[:_MOST], self._read):
                made.setdefault((finding.message, str(finding.span)), finding)
        if not kernels and (not made or not meant):
            help = ("give a file with kernels: __global__ functions of CUDA, __kernel functions of OpenCL C",)
            return (*made.values(), Finding("INP001", "note", f"{self.file.path} has no kernel", None, help))
        return tuple(made.values())

    def _find_lost(self) -> Iterator[Finding]:
        """Yield what keeps functions from being read, each message once."""
        alike: dict[str, dict[str, Finding]] = {}
        for diagnostics in self.losses:
            # what follows the first error of a function says little more
            for finding in diagnostic_findings(self.file.path, diagnostics[:1], self._read):
                alike.setdefault(finding.message, {})[str(finding.span)] = finding
        for first, *others in (list(places.values()) for places in alike.values()):
            more = f"the same at {len(others)} more place{'s' * (len(others) > 1)}"
            yield msgspec.structs.replace(first, help=(*first.help, more)) if others else first

    def _read(self, path: str) -> SourceFile:
        return self.file if self._is_main(path) else SourceFile.read(path)

    def _is_main(self, path: str) -> bool:
        """Whether a path is that of the file; the parser leaves out a `./` of the user's."""
        return Path(path) == Path(self.file.path)

    def _find_instance_errors(self, wanted: tuple[str, ...]) -> list[Finding]:
        """Return why an instance that the user names cannot be made."""
        if not wanted:
            return []
        behind = [d for d in self.by_file.get(self.main, ()) if d[4] >= self.own]
        first = self.file.location(self.own)[0]
        made = []
        for _, message, _, line, _ in behind:
            name = wanted[line - first - 1] if 0 <= line - first - 1 < len(wanted) else ", ".join(wanted)
            help = ("name the template with all of its arguments: --kernel 'k<float, 32>'",)
            made.append(Finding("INP007", "error", f"there is no kernel {name}: {message}", None, help))
        return made


def _no_instance(name: str, span: Span) -> Finding:
    message = f"the kernel template {name} has no instance in this file: nothing is known of its types"
    help = (f"name one: --kernel '{name}<…>'", f"or instantiate it in the file: template __global__ void {name}<…>(…);")
    return Finding("INP007", "warning", message, Span(span.file, span.start, span.start + 1), help)
