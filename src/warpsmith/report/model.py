"""The report: what a command found, as data. Text and JSON are views of it.

Report = command, inputs, status, diagnostics, loops, kernels, transfers, outputs, verify, findings, timing_s
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from warpsmith.analysis.counts.predicted import PredictedTime
from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.loops.remedies.model import Hint
from warpsmith.machine.devices import Device
from warpsmith.offload.plan import ConstantArray, CostEstimate, HaloTiles, LoopTiles, Transfer
from warpsmith.poly.facts import Category
from warpsmith.report.placed import PolicyReport
from warpsmith.report.searched import PortSearch
from warpsmith.report.status import Status
from warpsmith.run.verification import Verification

__all__ = [
    "CopyPrediction",
    "Hottest",
    "KernelEntry",
    "KernelMappings",
    "KernelPrediction",
    "LoopEntry",
    "MappingPrediction",
    "Moved",
    "PortPrediction",
    "Report",
    "Status",
    "StepEntry",
    "ToolEntry",
]


class LoopEntry(Struct, frozen=True):
    """One loop of the input; `label` is its header in few words (`for k`), `assumptions` are (text, kind); `steps` make
    it so, in their order, where it is not as written; `hints`: what would help, where somebody asked; `holds_at`: sizes
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
    what its threads read from shared memory; `elements`: how many iterations along x, y and z one of them has; `few`:
    launches of fewer threads have blocks of one warp; `shared`: loops that threads
    share, `shared_by` a warp or a block."""

    name: str
    span: Span
    loops: tuple[str, ...]
    grid: tuple[str, str, str]
    block: tuple[int, int, int]
    mapping: Mapping[str, str]
    model: CostEstimate | None
    tiles: tuple[LoopTiles, ...] = ()
    halos: tuple[HaloTiles, ...] = ()
    iterations: int = 0
    constants: tuple[ConstantArray, ...] = ()
    elements: tuple[int, int, int] = (1, 1, 1)
    few: int = 0
    shared: tuple[str, ...] = ()
    shared_by: str = "warp"


class KernelPrediction(Struct, frozen=True):
    """All launches of a kernel in one run: how many (`guessed`: nothing tells that), the registers of a thread and who
    says so, the `seconds` of all of them, the `time` of the longest and the `sizes` that it was given. Without seconds
    `unknown` are the sizes that nobody gave, or `lacks` is what else there is no time for."""

    name: str
    launches: float = 0.0
    guessed: bool = False
    registers: int = 0
    source: Literal["ptxas", "estimate"] = "estimate"
    seconds: float | None = None
    time: PredictedTime | None = None
    sizes: tuple[tuple[str, int], ...] = ()
    unknown: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


CopiedMemory = Literal["pageable", "page-locked", "shared"]


class CopyPrediction(Struct, frozen=True):
    """All copies of one run; `bytes` and `seconds` None: some sizes are not known. `memory`: what they are from and to;
    `hidden`: of so many of the seconds kernels run."""

    copies: float
    bytes: float | None = None
    seconds: float | None = None
    memory: CopiedMemory = "pageable"
    hidden: float = 0.0


class MappingPrediction(Struct, frozen=True):
    """What a kernel is predicted to take with its loops (by their counters, outermost first) on these axes, in blocks
    of this shape."""

    axes: tuple[tuple[str, str], ...]
    block: tuple[int, int, int]
    prediction: KernelPrediction


class KernelMappings(Struct, frozen=True):
    """Other mappings of a kernel, the fastest first; the first `ties` are too close to tell apart. `axes` and `block`
    are those of the port. `complete`: all were tried; `lacks`: what there is no time for the lack of."""

    name: str
    axes: tuple[tuple[str, str], ...]
    block: tuple[int, int, int]
    choices: tuple[MappingPrediction, ...]
    ties: int
    complete: bool
    lacks: str = ""


class PortPrediction(Struct, frozen=True):
    """The predicted times of a port on a device; `problems`: what kept ptxas from its answer; `mappings`: what other
    ones would take, where somebody asked."""

    device: Device
    kernels: tuple[KernelPrediction, ...]
    copies: CopyPrediction | None
    problems: tuple[Finding, ...] = ()
    mappings: tuple[KernelMappings, ...] = ()


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
    predicted: PortPrediction | None = None
    search: PortSearch | None = None
    placement: PolicyReport | None = None
    timing_s: Mapping[str, float] = field(default_factory=dict)
