"""The numbers of the kernel table: what a kernel's accesses and branches come to, in few words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.analysis.uniformity.facts import SEVERAL, Dim
from warpsmith.base.fixes import Fix
from warpsmith.base.source import Span
from warpsmith.report.analysis.groups import group_findings
from warpsmith.report.analysis.model import AccessEntry, AnalysisReport, AnalyzedKernel, Reported

__all__ = [
    "COLUMNS",
    "ESTIMATED",
    "NOT_KNOWN",
    "KernelRow",
    "closing",
    "count_noun",
    "fix_words",
    "footnotes",
    "kernel_rows",
    "sort_findings",
]

COLUMNS = (
    "kernel", "device", "block", "regs", "shared", "occupancy", "load / store sectors", "bank ways", "divergence",
    "findings",
)  # fmt: skip
ESTIMATED = "* estimated from what is live at once; exact with ptxas"
NOT_KNOWN = "+? besides accesses whose addresses are not known"
"""What signs in the cells mean."""


class KernelRow(Struct, frozen=True):
    """One line of the table; `cells` belong to COLUMNS."""

    kernel: AnalyzedKernel
    cells: tuple[str, ...]


def kernel_rows(report: AnalysisReport) -> list[KernelRow]:
    """Return a line for each kernel on each device."""
    return [KernelRow(kernel, _cells(report, kernel)) for kernel in report.kernels]


def _cells(report: AnalysisReport, kernel: AnalyzedKernel) -> tuple[str, ...]:
    held = kernel.resources
    estimated = "*" if held.source == "estimate" else ""
    mine = [access for access in report.accesses if access.kernel == kernel.name and access.input == kernel.input]
    occupancy = "unknown"
    if held.occupancy is not None:
        occupancy = f"{100 * held.occupancy.warps / max(1, held.occupancy.limit):.0f}%{estimated}"
    device = [access for access in mine if access.space in ("global", "generic")]
    own = [
        one
        for one in report.findings
        if (one.kernel, one.input) == (kernel.name, kernel.input) and kernel.device in one.devices
    ]
    findings = Counter(group.first.severity for group in group_findings(own))
    return (
        kernel.name,
        kernel.device,
        _sizes(kernel.block) + ("?" if kernel.block_assumed else ""),
        f"{held.registers}{estimated}",
        f"{held.shared_bytes + held.dynamic_shared_bytes:,} B",
        occupancy,
        f"{_sectors(device, ('load',))} / {_sectors(device, ('store', 'atomic'))}",
        _ways(mine),
        _divergence(kernel),
        ", ".join(count_noun(findings[word], word) for word in ("error", "warning", "note") if findings[word])
        or "none",
    )


def _sizes(block: Dim) -> str:
    x, y, z = block
    return f"{x}" if y == z == 1 else f"{x}x{y}" if z == 1 else f"{x}x{y}x{z}"


def _divergence(kernel: AnalyzedKernel) -> str:
    diverged = f"{kernel.divergent_branches} of {kernel.branches}" if kernel.divergent_branches else "none"
    return diverged + ("†" if kernel.grid_assumed else "")


def footnotes(report: AnalysisReport) -> list[str]:
    """Return what the signs in the table mean, those that are in it."""
    found = []
    cells = [cell for row in kernel_rows(report) for cell in row.cells[6:8]]
    if any(kernel.resources.source == "estimate" for kernel in report.kernels):
        found.append(ESTIMATED)
    assumed = [text for kernel in report.kernels for text in kernel.block_assumed]
    if any(SEVERAL in text for text in assumed):
        found.append("? one of several blocks that host code gives, or a likely one: --block X,Y,Z")
    elif assumed:
        found.append("? a likely block, since nothing says it: --block X,Y,Z")
    grids = dict.fromkeys(text for kernel in report.kernels for text in kernel.grid_assumed)
    found += [f"† if {text}, since nothing says it: --grid X,Y,Z" for text in grids]
    if any("+?" in cell or cell.startswith("?") or " ?" in cell for cell in cells):
        found.append(NOT_KNOWN)
    return found


def _sectors(accesses: Sequence[AccessEntry], kinds: Sequence[str]) -> str:
    """Return the mean of the sectors of a request, least and most; `?` stands for accesses that are not known."""
    wanted = [access for access in accesses if access.kind in kinds]
    known = [found for access in wanted if (found := access.sectors_aligned or access.sectors) is not None]
    if not wanted:
        return "-"
    if not known:
        return "?"
    least, most = (sum(getattr(count, name) for count in known) / len(known) for name in ("least", "most"))
    return (f"{most:.1f}" if least == most else f"{least:.1f}-{most:.1f}") + ("+?" if len(known) < len(wanted) else "")


def _ways(accesses: Sequence[AccessEntry]) -> str:
    shared = [access.bank_ways for access in accesses if access.space == "shared"]
    known = [ways.most for ways in shared if ways is not None]
    if not shared:
        return "-"
    if not known:
        return "?"
    return f"{max(known)}-way" + ("+?" if len(known) < len(shared) else "")


def count_noun(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def closing(report: AnalysisReport) -> str:
    """Return the last line: how much was found, and what is not shown."""
    groups = group_findings(report.findings)
    count = Counter(group.first.severity for group in groups)
    listed = ", ".join(count_noun(count[word], word) for word in ("error", "warning", "note") if count[word])
    places = sum(group.number for group in groups)
    listed += f" at {places:,} places" if places > len(groups) else ""
    kernels = len({(kernel.input, kernel.name) for kernel in report.kernels})
    seconds = sum(report.timing_s.values())
    if not kernels:
        return f"No kernel was analyzed ({seconds:.2f} s)." + (f" Found {listed}." if listed else "")
    parts = [f"Found {listed or 'nothing'} in {count_noun(kernels, 'kernel')} ({seconds:.2f} s)."]
    hidden: Counter[str] = Counter(one.hidden for one in report.kept_back)
    kept = [f"{hidden[key]} {word}" for key, word in (("baseline", "in the baseline"), ("suppressed", "suppressed")) if
            hidden[key]]  # fmt: skip
    parts += list(_fixable(report))
    parts += [f"{', '.join(kept)}."] if kept else []
    if report.below:
        parts.append(f"{report.below} less certain: --min-certainty heuristic.")
    return " ".join(parts)


def _fixable(report: AnalysisReport) -> Iterator[str]:
    """Yield how many findings edits would mend, and with which options."""
    fixes = [one.fix for one in report.findings if one.fix is not None]
    safe = sum(fix.safe for fix in fixes)
    if safe:
        yield f"{safe} fixable with --fix."
    if len(fixes) > safe:
        yield f"{len(fixes) - safe}{' more' if safe else ''} fixable with --fix --unsafe-fixes."


def fix_words(fix: Fix) -> str:
    """Return what a fix does, and the options that apply it."""
    return f"{fix.title} ({'safe: --fix' if fix.safe else 'may change results: --fix --unsafe-fixes'})"


def sort_findings(report: AnalysisReport, order: str) -> AnalysisReport:
    """Return the report with its findings in another order: impact, line or rule."""
    rank = {"error": 0, "warning": 1, "note": 2}

    def key(one: Reported) -> tuple[object, ...]:
        place = _place(one.finding.span)
        match order:
            case "impact":
                return (rank[one.severity], -one.finding.impact, *place)
            case "rule":
                return (one.finding.rule, *place)
            case _:
                return place

    return replace(report, findings=tuple(sorted(report.findings, key=key)))


def _place(span: Span | None) -> tuple[str, int, int]:
    return ("", 0, 0) if span is None else (span.file.path, span.line, span.column)
