"""The heat map of a kernel's lines: the worst branch, access and finding on each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeVar

from msgspec import Struct, field

from warpsmith.base.findings import Severity
from warpsmith.base.source import SourceFile, Span
from warpsmith.report.analysis.model import SEVERITIES, AccessEntry, AnalysisReport, BranchEntry, Reported

__all__ = ["HeatLine", "HeatMap", "heat_maps"]

Parts = Literal["", "uniform", "warps", "lanes"]

_AROUND = 1
_SKIPPED = 3
"""Lines of which nothing is said stay if they are no more than so many in a row."""


class HeatLine(Struct):
    """One line. `parts`: who parts at its branches; `sectors` a request of its dearest access to device memory, and
    `ideal`; `ways` of its dearest access to shared memory; `unknown`: an access whose address is not known."""

    number: int
    parts: Parts = ""
    sectors: int = 0
    ideal: int = 0
    ways: int = 0
    unknown: bool = False
    rules: dict[str, Severity] = field(default_factory=dict)

    @property
    def factor(self) -> float:
        """How many times the least traffic, or time in shared memory, the dearest access takes."""
        return max(self.sectors / max(1, self.ideal) if self.sectors else 0.0, float(self.ways))


class HeatMap(Struct, frozen=True):
    """The lines of one kernel (or of instances of one template) in one file; None where lines are left out."""

    kernels: tuple[str, ...]
    input: str
    file: SourceFile
    lines: tuple[HeatLine | None, ...]


def heat_maps(report: AnalysisReport) -> list[HeatMap]:
    """Return a map for each kernel and each file that it has lines in, in the order of the kernels."""
    together: dict[tuple[str, str], list[str]] = {}
    for kernel in report.kernels:
        names = together.setdefault((kernel.input, str(kernel.span) if kernel.span is not None else kernel.name), [])
        if kernel.name not in names:
            names.append(kernel.name)
    found = []
    for (input, _), names in together.items():
        files: dict[str, tuple[SourceFile, dict[int, HeatLine]]] = {}
        for kernel in report.kernels:
            if kernel.input == input and kernel.name in names and kernel.span is not None:
                _line(files, kernel.span)
        for branch in _of(report.branches, input, names):
            _branch(files, branch)
        for access in _of(report.accesses, input, names):
            _access(files, access)
        for one in _of(report.findings, input, names):
            _finding(files, one)
        found += [HeatMap(tuple(names), input, file, _order_lines(file, lines)) for file, lines in files.values()]
    return found


T = TypeVar("T", BranchEntry, AccessEntry, Reported)


def _of(entries: Iterable[T], input: str, names: Sequence[str]) -> list[T]:
    return [entry for entry in entries if entry.input == input and entry.kernel in names]


_Files = dict[str, tuple[SourceFile, dict[int, HeatLine]]]


def _line(files: _Files, span: Span) -> HeatLine:
    _, lines = files.setdefault(span.file.path, (span.file, {}))
    return lines.setdefault(span.line, HeatLine(span.line))


def _branch(files: _Files, branch: BranchEntry) -> None:
    if branch.span is None:
        return
    line = _line(files, branch.span)
    order: tuple[Parts, ...] = ("", "uniform", "warps", "lanes")
    word: Parts = "lanes" if branch.warp == "divergent" else "warps" if branch.block == "divergent" else "uniform"
    line.parts = max(line.parts, word, key=order.index)


def _access(files: _Files, access: AccessEntry) -> None:
    if access.span is None or access.space not in ("global", "generic", "shared"):
        return
    line = _line(files, access.span)
    count = access.sectors_aligned or access.sectors
    if access.space == "shared":
        line.ways = max(line.ways, access.bank_ways.most if access.bank_ways is not None else 0)
        line.unknown = line.unknown or access.bank_ways is None
    elif count is None:
        line.unknown = True
    elif count.most * max(1, line.ideal) >= line.sectors * max(1, access.ideal_sectors):
        line.sectors, line.ideal = count.most, access.ideal_sectors


def _finding(files: _Files, one: Reported) -> None:
    if one.finding.span is None:
        return
    line = _line(files, one.finding.span)
    old = line.rules.get(one.finding.rule, "note")
    line.rules[one.finding.rule] = max(old, one.severity, key=SEVERITIES.index)


def _order_lines(file: SourceFile, lines: dict[int, HeatLine]) -> tuple[HeatLine | None, ...]:
    """Return the lines of which something is said, with those around them; None for a gap."""
    wanted: dict[int, HeatLine] = {}
    for number in sorted(lines):
        for near in range(max(1, number - _AROUND), min(file.line_count, number + _AROUND) + 1):
            wanted.setdefault(near, lines.get(near) or HeatLine(near))
        wanted[number] = lines[number]
    found: list[HeatLine | None] = []
    last = 0
    for number in sorted(wanted):
        if last and number - last - 1 > _SKIPPED:
            found.append(None)
        elif last:
            found += [HeatLine(between) for between in range(last + 1, number)]
        found.append(wanted[number])
        last = number
    return tuple(found)
