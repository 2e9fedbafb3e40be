"""The result of a kernel's run on the SIMT machine: the report as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.report.status import Status

__all__ = [
    "CHECKS",
    "BlockRow",
    "BranchRow",
    "CacheRow",
    "CacheRun",
    "Check",
    "Column",
    "LaunchRow",
    "MemoryRow",
    "Mistake",
    "OutputRow",
    "PolicyRow",
    "SimulationReport",
    "TimelineGroup",
    "WarpStep",
    "Work",
]

Check = Literal["race", "oob", "uninit", "barrier", "fault"]
CHECKS: tuple[Check, ...] = ("race", "oob", "uninit", "barrier")
"""What can be asked for; `fault` (a trap, an address out of step) is always reported."""


class LaunchRow(Struct, frozen=True):
    """The launch: `arguments` as the user wrote them. `counted_blocks`, `counted_warps` (of each block): their numbers,
    where not all are counted."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    arguments: tuple[str, ...]
    seed: int
    warps: int
    counted_blocks: tuple[int, ...] = ()
    counted_warps: tuple[int, ...] = ()


class BranchRow(Struct, frozen=True):
    """The branches of one construct on one line.

    `visits`: how often a warp came to it (once each, however many lanes); `divergences`: visits in which the lanes took
    different ways; `lost_lane_slots`: instruction slots in which lanes of the warp waited since they diverged there.
    """

    span: Span | None
    op: str
    visits: int
    divergences: int
    lost_lane_slots: int


class BlockRow(Struct, frozen=True):
    """A basic block, `instructions` long with what ends it: how often a warp came, the lanes that were there each time,
    summed, and the slots that lanes of the warp lost while it was executed. `span`: from the place where its first
    instruction begins to that of its last one."""

    span: Span | None
    instructions: int
    visits: int
    lanes: int
    lost_lane_slots: int

    @property
    def warp_instructions(self) -> int:
        """Instructions that warps executed there."""
        return self.instructions * self.visits


class MemoryRow(Struct, frozen=True):
    """The accesses of one kind on one line, to one array.

    `requests`: how often a warp asked, once for all lanes there; `lanes`: lane accesses; `sectors`: 32-byte pieces that
    the requests touch, `ideal` those that their lanes' bytes would fill; `bank_conflicts`: passes beyond the first.
    """

    span: Span | None
    kind: str
    space: str
    variable: str
    requests: int
    lanes: int
    sectors: int
    ideal: int
    bank_conflicts: int


class Mistake(Struct, frozen=True):
    """Something that the kernel did wrong; `times` it did so there."""

    check: Check
    finding: Finding
    block: int
    thread: int
    times: int = 1
    other: tuple[int, int] | None = None
    variable: str = ""


class OutputRow(Struct, frozen=True):
    """A buffer after the run: how many elements differ from before, the first ones, and where it was written."""

    name: str
    type: str
    elements: int
    changed: int
    first: tuple[str, ...]
    file: str = ""


class PolicyRow(Struct, frozen=True):
    """The launch once more under a policy (simt/policies): what its warps executed. `waiting`: sets of lanes of a warp
    that waited at most to go on at a place of their own. `differs`: arrays that are not as after the run without a
    policy; `stopped`: why it did not end, or was not begun; "" where it ended."""

    policy: str
    warp_instructions: int = 0
    lane_instructions: int = 0
    issued_slots: int = 0
    lost_lane_slots: int = 0
    waiting: int = 0
    differs: tuple[str, ...] = ()
    stopped: str = ""


class CacheRow(Struct, frozen=True):
    """The requests to one array, in sectors: loads, and those that the first cache had; loads and atomics that the
    second had, and that it read from memory; stores; what went back to memory; atomics."""

    name: str
    loads: int
    first_hits: int
    second_hits: int
    read: int
    stores: int
    written: int
    atomics: int

    @property
    def asked(self) -> int:
        """Sectors that the second cache was asked for, to be read."""
        return self.second_hits + self.read


class CacheRun(Struct, frozen=True):
    """What the caches of a GPU (`device`) make of the launch (simt/caches). `resident` blocks run on a multiprocessor;
    bytes of the first cache, which each has beside shared memory, and of the second. `why`: why there are none."""

    device: str
    resident: int = 0
    first_bytes: int = 0
    second_bytes: int = 0
    rows: tuple[CacheRow, ...] = ()
    why: str = ""


class WarpStep(Struct, frozen=True):
    """`count` instructions of one line that warps execute with the same lanes; `first`: the number of the first one."""

    first: int
    count: int
    line: int
    text: str


class Column(Struct, frozen=True):
    """Warps, as (block, warp), that do the same: the lanes that are active in each step."""

    warps: tuple[tuple[int, int], ...]
    masks: tuple[int, ...]


class TimelineGroup(Struct, frozen=True):
    """Warps that go through the same steps."""

    steps: tuple[WarpStep, ...]
    columns: tuple[Column, ...]


class Work(Struct, frozen=True):
    """What was executed, in instructions of the kernel IR; see simt/tally.py."""

    warp_instructions: int
    lane_instructions: int
    issued_slots: int
    unfilled_slots: int

    @property
    def efficiency(self) -> float:
        """Lanes that were active, of those that were issued."""
        return self.lane_instructions / self.issued_slots if self.issued_slots else 1.0


class SimulationReport(Struct, frozen=True):
    """One run. Where it could not be started, `work` is None. `blocks`: those that took most come first; `drawn`: the
    policy that the timeline shows, "" for the one that the counts are of."""

    inputs: tuple[str, ...]
    status: Status
    exit_code: int
    diagnostics: tuple[Finding, ...] = ()
    kernel: str = ""
    device: str = ""
    warp_width: int = 32
    launch: LaunchRow | None = None
    work: Work | None = None
    checks: tuple[Check, ...] = ()
    branches: tuple[BranchRow, ...] = ()
    memory: tuple[MemoryRow, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    outputs: tuple[OutputRow, ...] = ()
    timeline: tuple[TimelineGroup, ...] = ()
    policies: tuple[PolicyRow, ...] = ()
    caches: CacheRun | None = None
    drawn: str = ""
    blocks: tuple[BlockRow, ...] = ()
    timing_s: Mapping[str, float] = field(default_factory=dict)
