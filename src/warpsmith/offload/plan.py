"""The plan of a port: which fragments run on the device, where their data live, what moves when.

Plan = fragments (each with its kernel), buffers, transfers, refusals, findings
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.loops.prepared import RunChange
from warpsmith.tree.in_place.versioned import Versioned
from warpsmith.tree.nodes import Expr, For, Function, Loop, Stmt, While
from warpsmith.tree.program import Assumption, Axis, Kernel, Program
from warpsmith.tree.types import Symbol

__all__ = [
    "ConstantArray",
    "CostEstimate",
    "DataRegion",
    "DataRegions",
    "DataScheme",
    "DeviceBuffer",
    "Fragment",
    "GainOptions",
    "HaloTiles",
    "InsertedStatements",
    "LoopTiles",
    "MappingModel",
    "OffloadOptions",
    "Plan",
    "Port",
    "PrintedMistake",
    "Refusal",
    "RefusedDataRegion",
    "Transfer",
    "TransferScheme",
]

TransferScheme = Literal["fragment", "host", "mixed", "optimized"]
DataScheme = Literal["resident", "per-call", "managed"]
"""How long data stay on the device: across fragments and calls, as far as proved; for one fragment alone; or in memory
that the host shares, where the program's own allocations give it."""
MappingModel = Literal["lines", "tables", "time"]
"""What says on which axes loops lie, and in which blocks: sectors and lines counted by a formula; the printed tables of
machine/tables.py; or predicted times, on what `lines` begins with."""


class OffloadOptions(Struct, frozen=True):
    """`selected`: only these loops (and what is inside them) may become kernels; None: every function is searched.
    `demanded`: each of them was asked for by name; else they are a marked region, of which something must be ported.
    `sizes`: values for parameters (`--arg n=4096`) that the model uses; `block_volume`: threads a block; `model`: what
    chooses axes and blocks; `decided_only`: no loop becomes a kernel unless a decision of the program says so;
    `precise_fp`: a reduction whose result depends on the order of its iterations stays where that order is kept;
    `one_build`: a build with other macros than the one at hand stops, and what this one leaves out is in none;
    `gain`: loops stay that would certainly lose (None: whatever may go goes). `data`: how long data stay on the device;
    where that is for one fragment alone, `transfers` has no say; `pinned`: what is copied is page-locked; `overlap`:
    copies go on beside kernels and host code, where that is proved."""

    selected: tuple[Loop, ...] | None = None
    device: str = "sm_80"
    transfers: TransferScheme = "optimized"
    data: DataScheme = "resident"
    pinned: bool = False
    overlap: bool = False
    sizes: Mapping[str, int] | None = None
    block_volume: int = 256
    model: MappingModel = "lines"
    guards: bool = True
    demanded: bool = True
    decided_only: bool = False
    precise_fp: bool = False
    one_build: bool = False
    gain: GainOptions | None = None


class LoopCount(Struct, frozen=True):
    """How often a counted run has entered a loop, and how many iterations all of these entries made together."""

    entries: float
    iterations: float

    @property
    def trips(self) -> float:
        """Return the iterations of one entry."""
        return self.iterations / self.entries if self.entries else 0.0


class GainOptions(Struct, frozen=True):
    """What an estimate of time rests on: the `device` that the port shall run on, and what a counted run has shown of
    loops, by file, line and column. `everything`: nothing stays since it would lose."""

    device: str = "h100"
    counts: Mapping[tuple[str, int, int], LoopCount] = field(default_factory=dict)
    everything: bool = False


class PrintedMistake(Struct, frozen=True):
    """A reference for which an entry of the printed tables is wrong: so many lines a thread as printed, and right."""

    reference: str
    entry: str
    lines: float
    right: float


class CostEstimate(Struct, frozen=True):
    """What the line-counting model says of a mapping: sectors a warp request (32-byte sectors, mean over the weighted
    references), lines a thread at block level, and the sizes that were defaulted because they are not known. `printed`:
    lines a thread by the printed tables, where these have chosen it, and their `mistakes` in it."""

    sectors_per_request: float
    lines_per_thread: float
    assumed: tuple[str, ...]
    printed: float | None = None
    mistakes: tuple[PrintedMistake, ...] = ()


class LoopTiles(Struct, frozen=True):
    """A loop of a kernel's threads, by its address, that reads `arrays` from tiles in shared memory, each `width`
    iterations wide; `doubled`: there are two of each, of which one is filled while the other is used; `wide`: how many
    neighbors a thread loads at once of those arrays that let it; `padding`: how many elements more a step wants rows to
    have (-1: none does)."""

    loop: str
    width: int
    arrays: tuple[str, ...]
    doubled: bool = False
    wide: int = 1
    padding: int = -1


class HaloTiles(Struct, frozen=True):
    """An array of which a block loads what its threads read around their own elements: `extents` of its tile."""

    array: str
    extents: tuple[int, ...]


class ConstantArray(Struct, frozen=True):
    """An array of so many `bytes` that a kernel has in constant memory; `uniform`: the lanes of a warp certainly read
    the same element of it at once."""

    array: str
    bytes: int
    uniform: bool


class Fragment(Struct, frozen=True):
    """One region that becomes one kernel. `nest`: loops become threads; `single`: one thread runs what there is.
    `holds_at`: sizes for which the guarded assumptions hold, and the loops that share its data run long. `tiles`: what
    its threads read together in a loop, and `halos` all at once; `iterations`:
    how many of a loop over nests a launch does in these; `constants`: what it has in constant memory; `shared`: loops,
    by their addresses, that threads share, and in what way results depend on that (`notes`)."""

    region: str
    kind: Literal["nest", "single"]
    function: Function
    statements: tuple[Stmt, ...]
    kernel: Kernel
    mapping: Mapping[str, Axis]
    loops: tuple[str, ...]
    assumptions: tuple[Assumption, ...]
    model: CostEstimate | None
    holds_at: Mapping[str, int] = field(default_factory=dict)
    tiles: tuple[LoopTiles, ...] = ()
    halos: tuple[HaloTiles, ...] = ()
    iterations: int = 0
    constants: tuple[ConstantArray, ...] = ()
    shared: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class DeviceBuffer(Struct, frozen=True):
    """The device copy of `host`: it stands for elements [lower, upper) and lives in `scope` (a statement run).
    `allocation`: they are all of the allocation that the pointer `host` points into. `starts`: `host` leads to rows,
    whose allocations are all meant, and this variable has where they start; where it is `host` itself, the buffer is
    the table of where they start on the device (rows.py)."""

    symbol: Symbol
    host: Symbol
    lower: Expr
    upper: Expr
    scope: tuple[Stmt, ...]
    cell: bool
    allocation: bool = False
    starts: Symbol | None = None


class Transfer(Struct, frozen=True):
    """One copy that remains; `in_loop` is the innermost host loop around it, `cause` what needs it.

    `held`: it happens only where the data are not on the device already: inside a data region, once for all of its
    calls. `few`: so many bytes at most, whatever the sizes are (None: it moves a section). `unless_shared`: it
    does not happen where the host shares the memory. `beside`: what it goes on beside, in words; `waits`: why
    it goes on beside nothing, where that was asked for."""

    variable: str
    to_device: bool
    section: str
    bytes: str
    in_loop: str | None
    cause: Span
    held: bool = False
    few: int | None = None
    unless_shared: bool = False
    beside: tuple[str, ...] = ()
    waits: str = ""


class Refusal(Struct, frozen=True):
    """A loop that is parallel but stays on the host, and why (its data cannot be sized, its body calls malloc …)."""

    loop: str
    reason: Reason


class Plan(Struct, frozen=True):
    """The whole decision."""

    fragments: tuple[Fragment, ...]
    buffers: tuple[DeviceBuffer, ...]
    transfers: tuple[Transfer, ...]
    refusals: tuple[Refusal, ...]
    findings: tuple[Finding, ...]


class DataRegion(Struct, frozen=True, eq=False):
    """Statements of `function` during which data stay on the device: one loop, or a run of stages in one block. `own`:
    no call in it leads to a kernel, but offload regions of the function's own are entered again and again. `lasting`:
    objects on the stack that outlive it and may be kept, of which the run time must be notified; `callers`: so may what
    the function's callers own."""

    function: Function
    run: tuple[Stmt, ...]
    own: bool = False
    lasting: tuple[Symbol, ...] = ()
    callers: bool = False

    @property
    def loop(self) -> Loop | None:
        """The loop that the data region is, None for a run of stages."""
        return self.run[0] if len(self.run) == 1 and isinstance(self.run[0], For | While) else None


class RefusedDataRegion(Struct, frozen=True):
    """A data region that cannot be, with the reason; `cuts`: the loop, or the statements of the run that block it."""

    data_region: DataRegion
    cuts: tuple[Stmt, ...]
    reason: Reason


class InsertedStatements(Struct, frozen=True):
    """`statements` stand `where` ("before", "after", "within" an empty block, "else") `node`, a statement of the
    function as it was before the port. They only make sense where the device is in use, and change nothing else.
    `made`: they stand in what steps made of the user's text, and are part of an offload region's version; `user`: the
    statement of the user's that `node` was before the steps, where it is another one."""

    function: Function
    where: Literal["before", "after", "within", "else"]
    node: Stmt
    statements: tuple[Stmt, ...]
    made: bool = False
    user: Stmt | None = None


class DataRegions(Struct, frozen=True):
    """The data regions, the functions that are called in one, what is added to the host's text, and the loops that
    cannot be one."""

    data_regions: tuple[DataRegion, ...] = ()
    whole: frozenset[Function] = frozenset()
    inserted: tuple[InsertedStatements, ...] = ()
    refused: tuple[RefusedDataRegion, ...] = ()


class Port(Struct, frozen=True):
    """The rewritten program and its plan. `reference` and `candidate` are the original and the port with captures.
    `uncovered`: runs that steps changed under a guard which no part of the plan tests; `versions`: the offload regions,
    each with the user's statements in whose place it runs; `inserted`: what data regions add around them; `groups`: the
    fragments that share data on the device, and gain or lose together; `written`: the program as the user wrote it."""

    program: Program
    plan: Plan
    reference: Program
    candidate: Program
    written: Program
    uncovered: tuple[RunChange, ...] = ()
    versions: tuple[Versioned, ...] = ()
    inserted: tuple[InsertedStatements, ...] = ()
    groups: tuple[tuple[Fragment, ...], ...] = ()
