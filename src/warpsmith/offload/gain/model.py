"""What an estimate of a program's time rests on, and what it says."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from warpsmith.machine.devices import Device, HostProcessor
from warpsmith.offload.gain.sizes import Size, Sizes
from warpsmith.offload.plan import Fragment
from warpsmith.poly.facts import LoopFacts, ReferenceFact
from warpsmith.tree.nodes import Launch, Loop
from warpsmith.tree.types import Symbol

__all__ = ["GainEstimate", "KernelTime", "LaunchPlace", "LoopTime", "RunKnowledge"]


class LaunchPlace(Struct, frozen=True):
    """A launch that the program comes to so many `times` (`guessed`: nothing tells how often): what variables are worth
    there, and the loops of its function around it, with their iterations."""

    launch: Launch
    times: float
    guessed: bool
    sizes: Sizes
    around: tuple[tuple[Loop, float], ...]


class KernelTime(Struct):
    """All launches of one kernel, and from where."""

    seconds: float = 0.0
    launches: float = 0.0
    threads: float = 0.0
    certain: bool = True
    places: list[LaunchPlace] = field(default_factory=list)


class LoopTime(Struct):
    """All runs of one loop on the host, `own` without the loops in it; `certain`: so are the counts of the loops in it,
    and its own. `threads` of the host run it at once."""

    seconds: float = 0.0
    own: float = 0.0
    entries: float = 0.0
    certain: bool = True
    threads: float = 1.0


class CopyWindow(Struct):
    """Copies of `bytes` each that begin at one place, `times` in all, and go on beside the launches of
    `GainEstimate.log` from `start` to `end`."""

    to_device: bool
    bytes: float
    times: float
    start: int
    end: int


class GainEstimate(Struct):
    """Seconds of a program's one run: `host` of what the processor does, `device` of launches and copies, `start` until
    the device is ready; `bytes` are copied in `copies`, `unsized`: some of these are a guess. `kernels` by name,
    `moving` (seconds of copies) by buffer, `loops` by their nodes. `complete`: all of the program's text was read.
    `log`: launches in the order of the walk (kernel, how many, their seconds), `windows`: the copies that go on beside
    them; of `hidden` seconds of these `device` is free."""

    host: float = 0.0
    device: float = 0.0
    start: float = 0.0
    launches: float = 0.0
    copies: float = 0.0
    bytes: float = 0.0
    unsized: bool = False
    kernels: dict[str, KernelTime] = field(default_factory=dict)
    moving: dict[Symbol, float] = field(default_factory=dict)
    loops: dict[Loop, LoopTime] = field(default_factory=dict)
    complete: bool = True
    log: list[tuple[str, float, float]] = field(default_factory=list)
    windows: list[CopyWindow] = field(default_factory=list)
    hidden: float = 0.0

    @property
    def seconds(self) -> float:
        """The whole run."""
        return self.host + self.device + self.start


class RunKnowledge(Struct, frozen=True):
    """What an estimate rests on: the machines, what the user gave or a run has shown (`sizes`), the facts of the
    program's loops, and the fragments whose kernels it launches, each with its nest's facts. `inferred`: the variables
    whose values the counts of loops tell."""

    device: Device
    host: HostProcessor
    sizes: Sizes
    loops: Mapping[Loop, LoopFacts]
    references: Mapping[int, ReferenceFact]
    fragments: Mapping[str, tuple[Fragment, LoopFacts | None]] = field(default_factory=dict)
    inferred: Mapping[Symbol, Size] = field(default_factory=dict)
