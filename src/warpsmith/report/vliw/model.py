"""The report on programs of AMD IL."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from warpsmith.base.findings import Finding
from warpsmith.machine.vliw.slots import Generation
from warpsmith.report.status import Status
from warpsmith.targets.il.optimize import Optimized
from warpsmith.targets.r600.analyze import IlFigures
from warpsmith.targets.r600.segments import IlSegment

__all__ = ["VliwReport", "VliwRow"]


class VliwRow(Struct, frozen=True):
    """One file: what is to be said of it, and its figures where it has any; `about`: what it reads and writes;
    `optimized`: how it can be shorter; `segments`: where it has control flow, of each generation what runs together."""

    path: str
    about: str
    findings: tuple[Finding, ...]
    figures: IlFigures | None = None
    optimized: Optimized | None = None
    segments: Mapping[Generation, tuple[IlSegment, ...]] = field(default_factory=dict)


class VliwReport(Struct, frozen=True):
    """All files."""

    rows: tuple[VliwRow, ...]

    @property
    def status(self) -> Status:
        """How it ended: an error of some files leaves the report incomplete, one of all is an error."""
        wrong = [any(one.severity == "error" for one in row.findings) for row in self.rows]
        return "ok" if not any(wrong) else "error" if all(row.about == "" for row in self.rows) else "incomplete"

    @property
    def exit_code(self) -> int:
        """The exit code that follows."""
        return {"ok": 0, "incomplete": 3, "error": 2, "negative": 1}[self.status]
