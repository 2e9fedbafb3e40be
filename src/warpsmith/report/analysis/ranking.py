"""Kernels of several files by what a warp of them loses, the costliest first: where to begin in a folder.

    lost = Σ over accesses  TRIPS^depth · (sectors beyond those that its bytes fill, or passes of the banks beyond one)
         + Σ over branches  of what a warp that parts takes beyond the longer side, as a part of it

An access in a loop counts as TRIPS iterations of it, since mostly nobody knows how many there are: an order, no time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from warpsmith.report.analysis.model import AccessEntry, AnalysisReport, AnalyzedKernel

__all__ = ["KernelLoss", "rank_kernels", "ranking_lines"]

_TRIPS: Final = 16
_DEEPEST: Final = 3
_SHOWN: Final = 10
_PARTS: Final = ("DIV001", "DIV002", "DIV006")


class KernelLoss(Struct, frozen=True):
    """A kernel and what a warp of it loses: `sectors` of memory, `passes` of the banks, `slots` of instructions."""

    kernel: AnalyzedKernel
    sectors: float
    passes: float
    slots: float

    @property
    def total(self) -> float:
        """What orders kernels: each of them takes about a turn of some unit."""
        return self.sectors + self.passes + self.slots


def rank_kernels(report: AnalysisReport) -> list[KernelLoss]:
    """Return the kernels that lose something, those that lose most first; each on the first device only."""
    first = {(kernel.input, kernel.name): kernel for kernel in reversed(report.kernels)}
    accesses: dict[tuple[str, str], list[AccessEntry]] = {key: [] for key in first}
    slots = dict.fromkeys(first, 0.0)
    for access in report.accesses:
        accesses.setdefault((access.input, access.kernel), []).append(access)
    for one in report.findings:
        if one.finding.rule in _PARTS and one.finding.estimate is not None and (one.input, one.kernel) in slots:
            slots[one.input, one.kernel] += max(0.0, one.finding.estimate.value - 1.0)
    losses = [
        KernelLoss(kernel, _sum_sectors(accesses[key]), _sum_passes(accesses[key]), slots[key])
        for key, kernel in first.items()
    ]
    # a kernel of a file that another one includes is there twice
    once = {(loss.kernel.name, str(loss.kernel.span)): loss for loss in reversed(losses) if loss.total > 0}
    return sorted(once.values(), key=lambda loss: -loss.total)


def _sum_sectors(accesses: Sequence[AccessEntry]) -> float:
    total = 0.0
    for access in accesses:
        count = access.sectors_aligned or access.sectors
        if count is not None and access.space in ("global", "generic", "local"):
            lost = max(0.0, (count.least + count.most) / 2 - access.ideal_sectors)
            total += _trips(access) * lost
    return total


def _sum_passes(accesses: Sequence[AccessEntry]) -> float:
    return sum(
        _trips(access) * (access.bank_ways.least - 1)
        for access in accesses
        if access.bank_ways is not None and access.bank_ways.least > 1
    )


def _trips(access: AccessEntry) -> int:
    trips: int = _TRIPS ** min(access.depth, _DEEPEST)
    return trips


def ranking_lines(report: AnalysisReport) -> list[str]:
    """Return the ranking as text where several files were read; nothing where one kernel has it all."""
    ranked = rank_kernels(report)
    if len({kernel.input for kernel in report.kernels}) < 2 or len(ranked) < 2:
        return []
    lines = ["Where most is lost (an estimate for one warp; a loop counts as 16 iterations)"]
    for number, loss in enumerate(ranked[:_SHOWN], 1):
        kinds = (
            (loss.sectors, "sectors beyond need"),
            (loss.passes, "bank passes"),
            (loss.slots, "sides of branches beyond one"),
        )
        said = ", ".join(f"{value:,.0f} {word}" for value, word in kinds if value >= 0.5)
        lines.append(f"{number:3}. {loss.kernel.name} ({loss.kernel.input}): {said or 'little'}")
    return [*lines, f"     … {len(ranked) - _SHOWN} more"] if len(ranked) > _SHOWN else lines
