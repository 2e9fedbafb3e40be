"""The time of a launch: the longest of what each part of a GPU needs for its share. A model, never a measurement.

    issue       instructions / (multiprocessors · instructions a clock · clock)
    pipe        instructions of one kind · width / (multiprocessors · lanes of that kind · clock), the slowest kind
    L1          max(lines, bytes of sectors / bytes a clock) of all requests / (multiprocessors · clock)
    shared      passes of the banks · 128 / (bytes a clock · multiprocessors · clock)
    L2          bytes that the first cache does not have / bandwidth of the second
    memory      bytes that the second does not have / (0.9 · bandwidth)
    latency     (waits for memory · its latency + instructions · theirs) / warps that take turns     (Little's law)
                of copies that are on the way meanwhile: their latency where that is longer than the rest

    time = launch + longest · what the fullest multiprocessor has more than the mean (its own parts only)

Source: Volkov, "Understanding Latency Hiding on GPUs" (2016) for the last term; Williams, Waterman, Patterson,
"Roofline" (2009) for the place between peaks. Every constant is in devices.toml and architectures.toml, where those
that are not confirmed are marked; `unconfirmed` names those that a prediction rests on. Not fitted to a device.
Limits: no clocks below the boost clock, no conflicts between kernels, no tensor units, no atomics that wait for each
other.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from warpsmith.machine.architectures import Architecture, architecture
from warpsmith.machine.devices import Device
from warpsmith.machine.time.traffic import Traffic, traffic
from warpsmith.machine.time.work import SECTOR_BYTES, LaunchWork

__all__ = ["Prediction", "Roofline", "Terms", "predict"]

REACHED: Final = 0.9
"""Of the bandwidth that a data sheet names, what streams reach at most (memory-and-cost, D; not fitted)."""
_PASS: Final = 128
"""Bytes that all banks of shared memory give together."""
_KIB: Final = 1024
_LANES: Final = 32

_WORDS: Final = {
    "issue": "the schedulers, which issue instructions",
    "pipe": "a pipe of the multiprocessors",
    "l1": "the first cache, which takes requests apart into lines",
    "shared": "the banks of shared memory",
    "l2": "the bandwidth of the second cache",
    "memory": "the bandwidth of memory",
    "latency": "waiting: too few warps for what each waits for",
    "launch": "the launch itself",
}


class Terms(Struct, frozen=True):
    """Seconds that each part needs; None: its speed is not known."""

    issue: float
    pipe: float
    l1: float
    shared: float
    l2: float | None
    memory: float
    latency: float
    launch: float


class Roofline(Struct, frozen=True):
    """`intensity`: operations a byte of memory; `ridge`: where the device's peak meets its bandwidth; `attainable`
    and `predicted` are operations a second, `peak` the device's."""

    intensity: float
    ridge: float
    peak: float
    attainable: float
    predicted: float


class Prediction(Struct, frozen=True):
    """`seconds` of a launch; `binding`: the term that decides, `why` in words; `imbalance`: how much longer the
    fullest multiprocessor takes than the mean; `pipe`: the kind of instruction that the term `pipe` is of;
    `unconfirmed`: numbers that it rests on and that nobody has confirmed."""

    seconds: float
    binding: str
    why: str
    terms: Terms
    imbalance: float
    pipe: str
    traffic: Traffic
    roofline: Roofline | None
    unconfirmed: tuple[str, ...]

    @property
    def steady(self) -> tuple[str, float]:
        """The term that decides where launches follow each other, and its seconds."""
        return max(_own(self.terms), key=lambda term: term[1])


def predict(device: Device, work: LaunchWork) -> Prediction | None:
    """Return the predicted time of a launch; None for an architecture that has no numbers, or where a block does not
    fit on a multiprocessor."""
    known = architecture(device.arch)
    if known is None or not work.resident_blocks or not work.blocks:
        return None
    moved = traffic(work, max(0, known.l1_kib * _KIB - work.shared_bytes * work.resident_blocks),
                    device.l2_mib * _KIB * _KIB)  # fmt: skip
    uneven = _imbalance(device, work)
    pipe, pipe_seconds = _pipe(device, known, work)
    clocks = 1.0 / (min(device.units, work.blocks) * device.clock_mhz * 1e6)
    even = 1.0 / (device.units * device.clock_mhz * 1e6)
    terms = Terms(
        issue=work.instructions.issued / known.issue * even * uneven,
        pipe=pipe_seconds * uneven,
        l1=max(work.lines, (work.load_sectors + work.store_sectors) * SECTOR_BYTES / known.l1_bytes) * even * uneven,
        shared=(work.passes * _PASS / known.l1_bytes + work.words) * even * uneven,
        l2=moved.l2_bytes / (device.l2_gb_s * 1e9) if device.l2_gb_s else None,
        memory=moved.memory_bytes / (REACHED * device.bandwidth_gb_s * 1e9),
        latency=_waiting(device, known, work, moved) * clocks,
        launch=device.launch_ns * 1e-9,
    )
    binding, longest = max(_own(terms), key=lambda term: term[1])
    seconds = terms.launch + longest
    if longest < terms.launch:
        binding = "launch"
    why = f"{_WORDS[binding]} ({pipe})" if binding == "pipe" else _WORDS[binding]
    return Prediction(
        seconds, binding, why, terms, uneven, pipe, moved, _roofline(device, known, work, moved, seconds),
        _unconfirmed(device, known, binding, pipe),
    )  # fmt: skip


def _own(terms: Terms) -> list[tuple[str, float]]:
    named = ("issue", "pipe", "l1", "shared", "l2", "memory", "latency")
    return [(name, getattr(terms, name)) for name in named if getattr(terms, name) is not None]


def _imbalance(device: Device, work: LaunchWork) -> float:
    """Return how much more the fullest multiprocessor has than the mean over all."""
    return -(-work.blocks // device.units) * device.units / work.blocks


def _pipe(device: Device, known: Architecture, work: LaunchWork) -> tuple[str, float]:
    """Return the kind of instruction whose lanes take longest, and how long; what has no lanes is not counted."""
    found = ("integer", 0.0)
    rate = device.units * device.clock_mhz * 1e6
    for kind in ("integer", "multiply", "single", "double", "special", "convert", "memory", "control"):
        lanes = getattr(known.lanes, kind)
        seconds = getattr(work.instructions, kind) * _LANES / (lanes * rate) if lanes else 0.0
        found = max(found, (kind, seconds), key=lambda pair: pair[1])
    return found


def _waiting(device: Device, known: Architecture, work: LaunchWork, moved: Traffic) -> float:
    """Return the clocks of all warps one after the other, over the warps that a multiprocessor has at a time."""
    here = min(work.resident_blocks, -(-work.blocks // device.units)) * work.block_warps
    asked = (work.load_sectors + work.store_sectors) * SECTOR_BYTES
    beyond_first = min(1.0, moved.l2_bytes / asked) if asked and moved.l2_bytes else 1.0
    beyond_second = min(1.0, moved.memory_bytes / asked) if asked else 0.0
    slow = known.latency
    latency = (
        (1 - beyond_first) * slow.l1 + max(0.0, beyond_first - beyond_second) * slow.l2 + beyond_second * slow.memory
    )
    # a warp waits for the first pass of what it asks for at once; the others follow, one a clock
    inside = work.shared_batches * slow.shared + work.passes
    # the clocks in which a warp waits for its own results, of which about two are on the way at a time
    results = work.instructions.issued * slow.arithmetic / 2
    computes = work.batches * latency + inside + results
    # copies are on the way while a warp computes: of both, what takes longer
    return max(computes, work.beside * latency) / max(1, here)


def _roofline(device: Device, known: Architecture, work: LaunchWork, moved: Traffic, seconds: float) -> Roofline | None:
    """Return where a kernel that computes stands."""
    lanes = known.lanes.double if work.wide > 0.5 else known.lanes.single
    if not work.flops or not moved.memory_bytes or not lanes:
        return None
    peak = 2.0 * lanes * device.units * device.clock_mhz * 1e6
    bandwidth = device.bandwidth_gb_s * 1e9
    intensity = work.flops / moved.memory_bytes
    return Roofline(intensity, peak / bandwidth, peak, min(peak, intensity * bandwidth), work.flops / seconds)


def _unconfirmed(device: Device, known: Architecture, binding: str, pipe: str) -> tuple[str, ...]:
    """Return the constants behind the binding term that have no source."""
    of_device = {"memory": ("bandwidth_gb_s",), "l2": ("l2_gb_s",), "launch": ("launch_ns",)}
    fields = of_device.get(binding, ("units", "clock_mhz"))
    found = [name for name in fields if device.sources.get(name) == "memory"]
    if binding == "latency" and known.source.get("memory_clocks") is None:
        found.append("the latency of memory")
    if binding == "pipe" and pipe not in known.source:
        found.append(f"the lanes of {known.name} for {pipe}")
    return tuple(found)
