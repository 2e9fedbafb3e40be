"""The report: what a command found, as data. Text and JSON are views of it.

Report = command, inputs, status, diagnostics, loops, kernels, transfers, outputs, verify, findings, timing_s
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.loops.remedies.model import Hint
from warpsmith.machine.devices import Device
from warpsmith.offload.plan import CostEstimate, LoopTiles, Transfer
from warpsmith.poly.facts import Category
from warpsmith.report.status import Status
from warpsmith.run.verification import Verification

__all__ = ["Hottest", "KernelEntry", "LoopEntry", "Moved", "Report", "Status", "StepEntry", "ToolEntry"]


class LoopEntry(Struct, frozen=True):
    """One loop of the input; `label` is its header in few words (`for k`), `assumptions` are (text, kind); `steps` make
    a `parallel-after` loop parallel, in their order; `hints`: what would help, where somebody asked; `holds_at`: sizes
    for which the guarded assumptions hold; `statements_ported`: all that its body does runs in kernels, also where the
    host counts."""

    id: str
    span: Span
    function: str
    variable: str
    label: str
    depth: int
    category: Category
    ported: bool
    kernel: str | None
    assumptions: tuple[tuple[str, str], ...]
    reasons: tuple[Reason, ...]
    steps: tuple[str, ...] = ()
    hints: tuple[Hint, ...] = ()
    holds_at: Mapping[str, int] = field(default_factory=dict)
    statements_ported: bool = False


class Hottest(Struct, frozen=True):
    """A loop by its address and span; `share` of the program's work, between 0 and 1, is done by its own body, inner
    loops and calls left out; `ported`: in a kernel."""

    id: str
    span: Span
    share: float
    ported: bool


class Moved(Struct, frozen=True):
    """`share` of the program's work, between 0 and 1, is done by loops with kernels; of those that stay, the hottest
    does `stays_share`. `basis`: what shares are estimated from. `ask`: the loop whose explanation helps that one."""

    share: float
    basis: str
    stays: LoopEntry | None = None
    stays_share: float = 0.0
    ask: LoopEntry | None = None


class KernelEntry(Struct, frozen=True):
    """One kernel: `span` is the region of the user's text that it was made from, `grid` expressions as text; `tiles`:
    what its threads read from shared memory."""

    name: str
    span: Span
    loops: tuple[str, ...]
    grid: tuple[str, str, str]
    block: tuple[int, int, int]
    mapping: Mapping[str, str]
    model: CostEstimate | None
    tiles: tuple[LoopTiles, ...] = ()


class ToolEntry(Struct, frozen=True):
    """One line of `doctor`: what was looked for, what was found, what its absence costs, and the remedy."""

    name: str
    state: Literal["ok", "missing", "optional"]
    found: str
    remedy: str


class StepEntry(Struct, frozen=True):
    """One step: `parameters` are (name, kind, default as text; empty where it must be given), `example` the arguments
    with which `before` becomes `after`."""

    name: str
    title: str
    doc: str
    parameters: tuple[tuple[str, str, str], ...]
    example: Mapping[str, str]
    before: str
    after: str


class Report(Struct, frozen=True):
    """What one command has to say."""

    command: str
    inputs: tuple[str, ...]
    status: Status
    diagnostics: tuple[Finding, ...] = ()
    loops: tuple[LoopEntry, ...] = ()
    kernels: tuple[KernelEntry, ...] = ()
    transfers: tuple[Transfer, ...] = ()
    outputs: tuple[str, ...] = ()
    verify: Verification | None = None
    findings: tuple[Finding, ...] = ()
    devices: tuple[Device, ...] = ()
    tools: tuple[ToolEntry, ...] = ()
    steps: tuple[StepEntry, ...] = ()
    hottest: Hottest | None = None
    moved: Moved | None = None
    timing_s: Mapping[str, float] = field(default_factory=dict)
