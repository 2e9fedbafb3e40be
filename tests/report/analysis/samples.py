"""A small report of an analysis, written by hand: what the formats are tried on."""

from __future__ import annotations

from msgspec.structs import replace

from warpsmith.analysis.rules.finding import Estimate, EvidenceTable, KernelFinding, Why
from warpsmith.analysis.uniformity.facts import Count, RaceVerdict, ResourceFact
from warpsmith.base.findings import Certainty, Finding, Note, Severity
from warpsmith.base.fixes import Fix
from warpsmith.base.source import Edit, SourceFile, Span
from warpsmith.machine.occupancy import Occupancy
from warpsmith.report.analysis.model import AccessEntry, AnalysisReport, AnalyzedKernel, BranchEntry, Reported

__all__ = ["FILE", "access", "branch", "fix", "kernel", "report", "reported", "span"]

TEXT = "".join(f"line {number};\n" for number in range(1, 31))
FILE = SourceFile("src/k.cu", TEXT)


def span(line: int, file: SourceFile = FILE) -> Span:
    """Return the word of a line, its number left out."""
    return Span(file, file.offset(line), file.offset(line) + 4)


def reported(
    rule: str = "MEM001",
    line: int | None = 3,
    message: str = "uncoalesced store to out",
    severity: Severity = "warning",
    kernel: str = "k",
    *,
    file: SourceFile = FILE,
    certainty: Certainty = "proven",
    impact: float = 2.0,
) -> Reported:
    """Return a finding with everything that one may have."""
    finding = KernelFinding(
        rule, message, certainty, kernel, None if line is None else span(line, file), "subject", "the label",
        assumptions=("n >= 8",) if certainty == "conditional" else (),
        why=(Why("because", span(1)), Why("of this")),
        related=(Note(span(2), "see here"),),
        evidence=(EvidenceTable("addresses", ("lane", "byte"), (("0", "+0"), ("1", "+32"))),),
        estimate=Estimate("traffic", 8.0, "times the minimum"),
        help=("swap the loops",),
        impact=impact,
    )  # fmt: skip
    return Reported(finding, file.path, kernel, severity, f"print-{rule}-{line}-{kernel}", ("h100",))


def fix(*, safe: bool = True) -> Fix:
    """Return a fix that changes a word of line 3."""
    return Fix("say it otherwise", (Edit(span(3), "word"),), safe)


def kernel(name: str = "k", line: int = 1, **changes: object) -> AnalyzedKernel:
    """Return a kernel on a device."""
    held = ResourceFact(32, "estimate", 4096, 128, 0, 0, 256, Occupancy(6, 48, 64, "registers"))
    made = AnalyzedKernel(
        FILE.path, name, f"_Z1{name}", span(line), "h100", (32, 8, 1), None, (), (), held, 1, 2, RaceVerdict("none")
    )
    return replace(made, **changes)


def access(line: int | None = 3, **changes: object) -> AccessEntry:
    """Return an access of kernel k."""
    made = AccessEntry(
        input=FILE.path, kernel="k", span=None if line is None else span(line), variable="out", kind="store",
        space="global", bytes=4, pattern="strided", stride_bytes=128, index="out + 128·tid.x", sectors=Count(32, 32),
        sectors_aligned=None, ideal_sectors=4, bank_ways=None, certainty="proven", assumptions=(), blocked="",
    )  # fmt: skip
    return replace(made, **changes)


def branch(line: int | None = 5, warp: str = "divergent", block: str = "divergent") -> BranchEntry:
    """Return a branch of kernel k."""
    return BranchEntry(FILE.path, "k", None if line is None else span(line), "bra", warp, block, (("i", span(1)),))


def report(**changes: object) -> AnalysisReport:
    """Return a report with a kernel, two accesses, a branch, a warning, a note, and something kept back."""
    made = AnalysisReport(
        (FILE.path,), "ok", 0,
        diagnostics=(Finding("INP001", "error", "no such file", span(1), ("check the path",)),),
        kernels=(kernel(),),
        branches=(branch(),),
        accesses=(access(), access(4, space="shared", sectors=None, bank_ways=Count(2, 2), variable="tile")),
        findings=(reported(), reported("DIV008", 5, "a bounds check", "note")),
        kept_back=(replace(reported("MEM010", 7), hidden="suppressed", reason="meant"),),
        below=1,
        timing_s={"read": 0.25, "rules": 0.5},
    )  # fmt: skip
    return replace(made, **changes)
