"""Whether a kernel is free of races, in a line: `none, proven for blocks of 256`.

found      a rule tells one, at the certainty that is shown or a lower one
none       proven for this block, any grid unless one is given, and all arguments of which the assumptions hold
unknown    neither: the first pair of accesses that was not decided
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from warpsmith.report.analysis.model import AnalysisReport, AnalyzedKernel
from warpsmith.report.json_parts import Json
from warpsmith.report.legible import legible

__all__ = ["RaceLine", "race_json", "race_line", "race_lines"]

_RULES = ("SYN002", "SYN004", "SYN008")


class RaceLine(Struct, frozen=True):
    """What is said of one kernel's races."""

    verdict: Literal["none", "found", "unknown"]
    rules: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    why: str = ""
    block: str = ""

    @property
    def text(self) -> str:
        """It in words."""
        if self.verdict == "found":
            return f"found: {', '.join(self.rules)}"
        if self.verdict == "unknown":
            return f"not decided: {legible(self.why)}"
        given = f", if {'; and '.join(legible(text) for text in self.assumptions)}" if self.assumptions else ""
        return f"none, proven for blocks of {self.block}{given}"


def race_line(report: AnalysisReport, kernel: AnalyzedKernel) -> RaceLine:
    """Return what is said of one kernel."""
    known = (*report.findings, *report.kept_back)
    mine = [one for one in known if (one.kernel, one.input) == (kernel.name, kernel.input)]
    rules = dict.fromkeys(one.finding.rule for one in mine if one.finding.rule in _RULES)
    x, y, z = kernel.block
    block = f"{x}" if y == z == 1 else f"{x}x{y}" if z == 1 else f"{x}x{y}x{z}"
    if rules:
        return RaceLine("found", tuple(sorted(rules)))
    if kernel.freedom.kind == "unknown":
        return RaceLine("unknown", why=kernel.freedom.why)
    return RaceLine("none", assumptions=kernel.freedom.assumptions, block=block)


def race_lines(report: AnalysisReport) -> Iterator[str]:
    """Yield a line for each kernel, or for all devices where they agree; one kernel needs no name."""
    found: dict[str, dict[str, None]] = {}
    for kernel in report.kernels:
        found.setdefault(race_line(report, kernel).text, {})[kernel.name] = None
    if len({kernel.name for kernel in report.kernels}) == 1:
        yield from (f"races: {text}" for text in found)
        return
    yield from (f"races in {', '.join(names)}: {text}" for text, names in found.items())


def race_json(report: AnalysisReport, kernel: AnalyzedKernel) -> Json:
    """Return what is said of one kernel as data."""
    line = race_line(report, kernel)
    entry: Json = {"verdict": line.verdict}
    if line.verdict == "found":
        return entry | {"rules": list(line.rules)}
    if line.verdict == "unknown":
        return entry | {"why": legible(line.why)}
    certainty = "conditional" if line.assumptions else "proven"
    return entry | {"certainty": certainty, "assumptions": [legible(text) for text in line.assumptions]}
