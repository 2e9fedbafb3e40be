"""An experiment as data: one kernel, run once for each value of what is varied, and for each input."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.report.status import Status

__all__ = ["VARIED", "ExperimentReport", "ExperimentRun", "Varied"]

Varied = Literal["width", "policy", "block", "input"]
VARIED: tuple[Varied, ...] = ("width", "policy", "block", "input")


class ExperimentRun(Struct, frozen=True):
    """One run: the `value` of what is varied, and the input by its name ("" where there is one). Counts are those of a
    simulation; `hot`: where the block of the kernel begins that took most instructions of warps, with how often a warp
    came there and the lanes that were there, summed. `stopped`: why it did not end; "" where it did. `clocks`: of a
    machine that has them, else 0; `threads`: there, the clocks of the first threads by state (THREAD_STATES)."""

    value: str
    input: str = ""
    warp_instructions: int = 0
    lane_instructions: int = 0
    issued_slots: int = 0
    lost_lane_slots: int = 0
    hot: Span | None = None
    hot_visits: int = 0
    hot_lanes: int = 0
    stopped: str = ""
    clocks: int = 0
    threads: tuple[tuple[int, ...], ...] = ()

    @property
    def work(self) -> int:
        """What runs are compared by: clocks, or slots of lanes where there are no clocks."""
        return self.clocks or self.issued_slots

    @property
    def cost(self) -> float:
        """Slots of lanes that were issued for each instruction of a lane: 1 where no lane ever waits."""
        return self.issued_slots / self.lane_instructions if self.lane_instructions else 0.0


class ExperimentReport(Struct, frozen=True):
    """All runs, in the order in which they were asked for; the values of one input lie side by side."""

    inputs: tuple[str, ...]
    status: Status
    exit_code: int
    varied: Varied
    diagnostics: tuple[Finding, ...] = ()
    kernel: str = ""
    points: tuple[ExperimentRun, ...] = ()

    @property
    def least(self) -> int:
        """The fewest lane slots that one of the runs issued, or the fewest clocks that it took."""
        return min((point.work for point in self.points if not point.stopped), default=0)

    @property
    def timed(self) -> bool:
        """Whether a machine with clocks ran it."""
        return any(point.clocks for point in self.points)

    @property
    def values(self) -> tuple[str, ...]:
        """The values of what is varied, in order."""
        return tuple(dict.fromkeys(point.value for point in self.points))

    @property
    def series(self) -> tuple[str, ...]:
        """The names of the inputs, in order."""
        return tuple(dict.fromkeys(point.input for point in self.points))
