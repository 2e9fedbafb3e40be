"""Facts about a kernel for one launch shape: the data that rules and reports are made of.

KernelFacts = branches, accesses, barriers, races, exchanges, resources       of one kernel, one shape, one device
Count       = least, most                                                     a number of every warp request

A request is what the lanes of one warp that are active together ask for by one instruction. A count holds for every
request of the instruction: `least` ≤ it ≤ `most`; `exact` where both are the same.

Certainty of a fact:
    proven       it holds in every run of this shape, whatever the arguments
    conditional  it holds in every run in which `assumptions` hold; each is a sentence in the user's names
    heuristic    nothing is claimed: `blocked` names the blocker
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct, field

from warpsmith.analysis.uniformity.simulated import Simulated
from warpsmith.analysis.uniformity.uniformity import Uniformity
from warpsmith.analysis.vocabulary import CUDA, Vocabulary
from warpsmith.base.findings import Certainty
from warpsmith.base.source import Span
from warpsmith.machine.devices import Device
from warpsmith.machine.occupancy import Occupancy
from warpsmith.ssa.nodes import BasicBlock, Function, Instruction, Module, Space

__all__ = [
    "SEVERAL",
    "AccessFact",
    "AccessKind",
    "BarrierFact",
    "BranchFact",
    "Count",
    "Dim",
    "ExchangeFact",
    "KernelFacts",
    "LaunchCall",
    "LaunchShape",
    "LoopStride",
    "ParameterBound",
    "Pattern",
    "RaceFact",
    "RaceVerdict",
    "ResourceFact",
    "Side",
    "WitnessThread",
]  # fmt: skip

SEVERAL: Final = ", where host code also gives"
"""In what is assumed of a block: it is one of several."""

Dim = tuple[int, int, int]
Pattern = Literal["uniform", "coalesced", "strided", "indirect", "unknown"]
AccessKind = Literal["load", "store", "atomic"]


# --- what is asked


class ParameterBound(Struct, frozen=True):
    """What the user grants of one scalar parameter: least ≤ it ≤ most, and `multiple` divides it."""

    parameter: str
    least: int | None = None
    most: int | None = None
    multiple: int = 1

    @property
    def text(self) -> str:
        """It as the user would write it."""
        parts = [f"{self.parameter} >= {self.least}"] if self.least is not None else []
        parts += [f"{self.parameter} <= {self.most}"] if self.most is not None else []
        parts += [f"{self.parameter} % {self.multiple} == 0"] if self.multiple > 1 else []
        return " and ".join(parts)


class LaunchCall(Struct, frozen=True):
    """A launch in host code: what each scalar parameter may be, where that is a set of known whole numbers."""

    span: Span | None
    numbers: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What it gives, in words."""
        given = [f"{name} = {' or '.join(map(str, few))}" for name, few in self.numbers.items()]
        return ", ".join(given)


class LaunchShape(Struct, frozen=True):
    """How the kernel is launched, as far as it is known.

    `block` None: what the kernel promises (`reqd_work_group_size`; launch bounds promise no shape), else `likely`, else
    a row of whole warps is assumed, and said. `arguments`: scalar parameters with known numbers. `assumptions`: what is
    granted of others. `shared_bytes`: dynamic shared memory. `blocks`: those that host code gives, where they are
    several; `complete`: it gives no others. `calls`: the launches in host code, where the user says nothing of
    arguments; then `arguments` are those on which they agree, `assumptions` bound others, and `deciding` are those that
    decided branches of the function, which are gone. `flat`: axes along which the grid has one block, whatever else is
    known of it. `too_large`: a block that was given or is demanded, far larger than any GPU
    starts: another one is assumed.
    """

    block: Dim | None = None
    grid: Dim | None = None
    arguments: Mapping[str, int] = field(default_factory=dict)
    assumptions: tuple[ParameterBound, ...] = ()
    shared_bytes: int = 0
    likely: Dim | None = None
    blocks: tuple[Dim, ...] = ()
    complete: bool = False
    calls: tuple[LaunchCall, ...] = ()
    deciding: frozenset[str] = frozenset()
    flat: tuple[int, ...] = ()
    too_large: Dim | None = None

    @property
    def is_told(self) -> bool:
        """Whether the user gives arguments: they may be those of one block."""
        return bool(self.arguments) and not self.calls


# --- what is found


class Count(Struct, frozen=True):
    """A number of every warp request: at least, at most."""

    least: int
    most: int

    @property
    def exact(self) -> bool:
        """Whether every request has this very number."""
        return self.least == self.most

    def __str__(self) -> str:
        return str(self.most) if self.exact else f"{self.least} to {self.most}"


class BranchFact(Struct, frozen=True):
    """A branch: whether it may part the threads of a warp, of a block, and why: texts from the condition back to the
    source. `block` ends with it; `lines` are the places of `why`, as many as it has (None: no place)."""

    kernel: str
    span: Span | None
    op: str
    warp: Literal["uniform", "divergent"]
    block: Literal["uniform", "divergent"]
    why: tuple[str, ...]
    lines: tuple[Span | None, ...]
    place: BasicBlock
    depth: int


class LoopStride(Struct, frozen=True):
    """How far an access moves from one iteration of a loop around it to the next; None: it is not known, or varies.

    0 is the same address again: it could be kept in a register (or in a tile, where lanes move)."""

    header: str
    span: Span | None
    stride_bytes: int | None
    text: str = ""


class AccessFact(Struct, frozen=True):
    """A load, store or atomic, as the warps of the launch issue it.

    bytes          of one lane, all elements of a vector access; `elements` of them
    stride_y_bytes from one thread to the next along y, where it is a known number
    stride_bytes   from one lane to the next along x, where it is a known number; `stride` is the text in any case
    index          the byte address as a sum, for people: `a + 4·tid.x + 4·n·tid.y`; `shift` the number in it
    offsets        lane → byte offset from the lowest byte of the first full warp; empty where that is not known
    addresses      how many different addresses a full warp asks for (1: contended, where it is an atomic)
    sectors        32-byte sectors a request (global, local, generic, constant), wherever the base lies in a sector;
                   `sectors_whole`: of warps that have all their lanes, which the last one of a block may not have;
                   `sectors_aligned`: if the base, a pointer argument, is a multiple of 256 as allocations are;
                   `ideal_sectors`: those that the bytes of its lanes would fill
    bank_ways      passes that the banks of shared memory need for a request, 1 at best; for a 64- or 128-bit access
                   the most of its phases; for constant memory how many different words are asked for, one by one
    lanes          at most so many of a warp ask together
    active         `all`: whenever a warp is there, all its lanes are; `known`: exactly those lanes that the conditions
                   around let through, which the counts are for; `some`: lanes may be missing, then `least` may be
                   undercut where fewer lanes ask, and holds for requests of full warps only; `most` always holds
    loops          around it, the innermost first
    alignment      every address is a multiple of it, as far as that is known
    """

    kernel: str
    span: Span | None
    variable: str
    kind: AccessKind
    space: Space
    bytes: int
    elements: int
    pattern: Pattern
    certainty: Certainty
    assumptions: tuple[str, ...]
    blocked: str
    stride_bytes: int | None
    stride_y_bytes: int | None
    stride: str
    index: str
    shift: int
    offsets: tuple[int, ...]
    addresses: Count | None
    sectors: Count | None
    sectors_whole: Count | None
    sectors_aligned: Count | None
    ideal_sectors: int
    bank_ways: Count | None
    lanes: int
    active: Literal["all", "known", "some"]
    alignment: int
    depth: int
    loops: tuple[LoopStride, ...]
    block: str
    instruction: Instruction


class WitnessThread(Struct, frozen=True):
    """A thread of a witness: its index in the block, and that of its block where it matters."""

    index: Dim
    block: Dim | None = None

    def __str__(self) -> str:
        thread = f"thread ({', '.join(map(str, self.index))})"
        return thread if self.block is None else f"{thread} of block ({', '.join(map(str, self.block))})"


class BarrierFact(Struct, frozen=True):
    """A barrier of the block. `divergent`: threads of a block may get there apart from each other (`why`, from the
    branch that parts them; `exits`: because some have ended before). `redundant`: what stands before and behind it
    needs no order; certainty of that in `certainty`."""

    kernel: str
    span: Span | None
    divergent: bool
    exits: bool
    why: tuple[str, ...]
    lines: tuple[Span | None, ...]
    redundant: bool
    certainty: Certainty
    assumptions: tuple[str, ...]
    block: str
    instruction: Instruction


class Side(Struct, frozen=True):
    """One of the two accesses of a race: who makes it, and what it is."""

    thread: WitnessThread | None
    access: AccessFact


class RaceFact(Struct, frozen=True):
    """Two accesses of different threads to one place with nothing between them that orders them, one of them a write.

    `variable` and `offset` (bytes, where known) say which place; `reach`: threads of one block, or of several;
    `replay`: the command that shows it, where it was seen in a run; `barrier`: the one between them whose flags leave
    this memory out (OpenCL); `one_iteration`: it is one access, whose address tells the iterations of the loop around
    it apart; `one_warp`: threads of different warps never meet there."""

    kernel: str
    variable: str
    space: Space
    reach: Literal["block", "grid"]
    offset: int | None
    first: Side
    second: Side
    certainty: Certainty
    assumptions: tuple[str, ...]
    replay: str = ""
    barrier: Instruction | None = None
    one_iteration: bool = False
    one_warp: bool = False

    @property
    def places(self) -> frozenset[str]:
        """The two places in the text."""
        return frozenset(str(side.access.span) for side in (self.first, self.second))


class RaceVerdict(Struct, frozen=True):
    """Whether a kernel is free of races, in all memory and between all threads of a launch: `none` is proven for every
    launch with this block in which `assumptions` hold; `unknown`: `why` names the accesses that were not decided."""

    kind: Literal["none", "unknown"]
    assumptions: tuple[str, ...] = ()
    why: str = ""


class ExchangeFact(Struct, frozen=True):
    """A vote, shuffle, match, reduction or barrier of a warp. `absent`: its mask may name lanes that are not there,
    because of what `why` says (`exits`: because they have ended, for which nobody waits); `mask` where it is a known
    number."""

    kernel: str
    span: Span | None
    op: str
    mask: int | None
    absent: bool
    exits: bool
    why: tuple[str, ...]
    lines: tuple[Span | None, ...]
    certainty: Certainty
    assumptions: tuple[str, ...]
    block: str
    instruction: Instruction


class ResourceFact(Struct, frozen=True):
    """What a thread and a block of the kernel hold. `source`: `ptxas` said so, or an `estimate` by what is live at
    once; `occupancy` None: the block or the device's rules are not known."""

    registers: int
    source: Literal["ptxas", "estimate"]
    shared_bytes: int
    dynamic_shared_bytes: int
    local_bytes: int
    spill_bytes: int
    threads: int
    occupancy: Occupancy | None


class KernelFacts(Struct, frozen=True, eq=False):
    """All of it. `warp_level` and `block_level` are the answers of the uniformity analysis, for whoever asks for more;
    `block` is the shape that was used, `block_assumed` what was taken for it without being given, `grid_assumed` what
    for the grid, where that matters; `races_complete`: every pair of shared accesses was decided, so that no race in
    `races` means that there is none there (under `races_assumptions`), `freedom` is of all memory; `own_bytes`: every
    thread of a launch has its own bytes of the global memory that is written, unless arrays overlap or an index
    overflows; `words`: those of the kernel's language."""

    kernel: str
    span: Span | None
    shape: LaunchShape
    device: Device
    block: Dim
    block_assumed: tuple[str, ...]
    grid_assumed: tuple[str, ...]
    branches: tuple[BranchFact, ...]
    accesses: tuple[AccessFact, ...]
    barriers: tuple[BarrierFact, ...]
    races: tuple[RaceFact, ...]
    races_complete: bool
    races_assumptions: tuple[str, ...]
    freedom: RaceVerdict
    own_bytes: bool
    exchanges: tuple[ExchangeFact, ...]
    resources: ResourceFact
    module: Module
    function: Function
    warp_level: Uniformity
    block_level: Uniformity
    words: Vocabulary = field(default=CUDA)
    simulated: Simulated = field(default_factory=Simulated)
    """What runs on made up arguments show besides races."""
    as_written: KernelFacts | None = None
    """The same of the kernel with its reads whose values nobody uses; its races are those that only these make."""
