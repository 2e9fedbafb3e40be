"""The result of `analyze`, as data that has no part of the IR in it: views and other processes can have it.

AnalysisReport = inputs status diagnostics kernels branches accesses findings hidden timing_s
AnalyzedKernel = one kernel on one device
Reported       = a finding with its severity, its fingerprint, and what keeps it from being shown
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from warpsmith.analysis.counts.predicted import BlockChoice, PredictedTime
from warpsmith.analysis.resources.diagrams import Diagram
from warpsmith.analysis.rules.finding import KernelFinding, why_of
from warpsmith.analysis.uniformity.facts import (
    AccessFact,
    BranchFact,
    Count,
    Dim,
    KernelFacts,
    RaceVerdict,
    ResourceFact,
)
from warpsmith.analysis.uniformity.simulated import SimulatedAccess
from warpsmith.base.findings import Certainty, Finding, Severity
from warpsmith.base.fixes import Fix
from warpsmith.base.source import Span
from warpsmith.report.accesses.model import SpaceEntry
from warpsmith.report.status import Status

__all__ = [
    "CERTAINTIES",
    "SEVERITIES",
    "AccessEntry",
    "AnalysisReport",
    "AnalyzedKernel",
    "BranchEntry",
    "Hidden",
    "Reported",
    "access_entry",
    "branch_entry",
    "kernel_entry",
]

SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")
CERTAINTIES: tuple[Certainty, ...] = ("heuristic", "conditional", "witnessed", "proven")

Hidden = Literal["", "suppressed", "baseline"]


class BranchEntry(Struct, frozen=True):
    """One branch of a kernel."""

    input: str
    kernel: str
    span: Span | None
    op: str
    warp: str
    block: str
    why: tuple[tuple[str, Span | None], ...]


class AccessEntry(Struct, frozen=True):
    """One access of a kernel; see AccessFact. `simulated`: what a run counted of it where its text leaves that open."""

    input: str
    kernel: str
    span: Span | None
    variable: str
    kind: str
    space: str
    bytes: int
    pattern: str
    stride_bytes: int | None
    index: str
    sectors: Count | None
    sectors_aligned: Count | None
    ideal_sectors: int
    bank_ways: Count | None
    certainty: Certainty
    assumptions: tuple[str, ...]
    blocked: str
    depth: int = 0
    simulated: SimulatedAccess | None = None


class AnalyzedKernel(Struct, frozen=True):
    """One kernel as launched on one device. `block_assumed`, `grid_assumed`: what was taken for the launch without
    being given; `freedom`: whether it is free of races; `diagrams`: where pictures were asked for;
    `patterns`: its access matrices, `predicted` and `other_blocks`: times, where these were."""

    input: str
    name: str
    symbol: str
    span: Span | None
    device: str
    block: Dim
    grid: Dim | None
    block_assumed: tuple[str, ...]
    grid_assumed: tuple[str, ...]
    resources: ResourceFact
    divergent_branches: int
    branches: int
    freedom: RaceVerdict
    diagrams: tuple[Diagram, ...] = ()
    patterns: tuple[SpaceEntry, ...] = ()
    predicted: PredictedTime | None = None
    other_blocks: BlockChoice | None = None


class Reported(Struct, frozen=True):
    """One finding as it is reported. `input` is the file that was read, `kernel` the name for people; `devices` those
    for which it holds; `hidden` and `reason`: why it is not shown."""

    finding: KernelFinding
    input: str
    kernel: str
    severity: Severity
    fingerprint: str
    devices: tuple[str, ...] = ()
    hidden: Hidden = ""
    reason: str = ""
    proposed: tuple[Fix, ...] = ()
    fix: Fix | None = None


class AnalysisReport(Struct, frozen=True):
    """All of it; `findings` are shown, `kept_back` are suppressed or in the baseline; `headers`: the user's
    files that they include; `crash`: the details of an error of ours."""

    inputs: tuple[str, ...]
    status: Status
    exit_code: int
    diagnostics: tuple[Finding, ...] = ()
    kernels: tuple[AnalyzedKernel, ...] = ()
    branches: tuple[BranchEntry, ...] = ()
    accesses: tuple[AccessEntry, ...] = ()
    findings: tuple[Reported, ...] = ()
    kept_back: tuple[Reported, ...] = ()
    below: int = 0
    headers: tuple[str, ...] = ()
    crash: str = ""
    timing_s: Mapping[str, float] = field(default_factory=dict)


def branch_entry(fact: BranchFact, input: str, kernel: str) -> BranchEntry:
    """Return a branch without its IR."""
    why = tuple((step.text, step.span) for step in why_of(fact.why, fact.lines))
    return BranchEntry(input, kernel, fact.span, fact.op, fact.warp, fact.block, why)


def access_entry(fact: AccessFact, input: str, kernel: str, simulated: SimulatedAccess | None = None) -> AccessEntry:
    """Return an access without its IR; `simulated`: what a run counted of it."""
    return AccessEntry(
        input=input,
        kernel=kernel,
        span=fact.span,
        variable=fact.variable,
        kind=fact.kind,
        space=fact.space,
        bytes=fact.bytes,
        pattern=fact.pattern,
        stride_bytes=fact.stride_bytes,
        index=fact.index,
        sectors=fact.sectors,
        sectors_aligned=fact.sectors_aligned,
        ideal_sectors=fact.ideal_sectors,
        bank_ways=fact.bank_ways,
        certainty=fact.certainty,
        assumptions=fact.assumptions,
        blocked=fact.blocked,
        depth=fact.depth,
        simulated=simulated,
    )


def kernel_entry(facts: KernelFacts, input: str, name: str) -> AnalyzedKernel:
    """Return a kernel without its IR."""
    return AnalyzedKernel(
        input, name, facts.kernel, facts.span, facts.device.name, facts.block, facts.shape.grid,
        facts.block_assumed, facts.grid_assumed, facts.resources,
        sum(branch.warp == "divergent" for branch in facts.branches), len(facts.branches), facts.freedom,
    )  # fmt: skip
