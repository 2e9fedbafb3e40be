"""The estimated gain of a loop on a GPU, from a profiled run; for ranking alone.

    bytes   touched by all of its iterations           at the memory bandwidth of the device; an element that a loop
                                                       inside does not move is touched once for all of that loop
    copies  of every array that it names               over the bus
    gain    seconds measured - bytes - copies - launches

A loop that is moved alone is copied for each time that it is entered; where the loops around it let its data stay on
the device, as a time loop does whose other loops are moved as well, once. The ranking goes by the latter, which is what
a port of all of them comes to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from warpsmith.loops.search.effort import FunctionEffort
from warpsmith.loops.search.traffic import ArrayTraffic
from warpsmith.machine.devices import Device
from warpsmith.project.profile.model import LoopProfile

__all__ = ["BUS_BYTES_S", "GAIN_DEVICE", "LAUNCH_S", "Gain", "gain_of"]

GAIN_DEVICE = "sm_80"
"""The device that a ranking thinks of; a port asks for its own."""
BUS_BYTES_S = 25e9
"""What PCI Express 4.0 with 16 lanes moves in practice, of 31.5e9."""
LAUNCH_S = 10e-6
"""One kernel launch with its synchronization."""

Measured = Callable[[int], LoopProfile | None]


class Gain(Struct, frozen=True):
    """`bytes` that the iterations touch; `copied` to the device and back, and seconds saved, if it is moved `alone`;
    seconds saved where its data are `kept` on the device."""

    bytes: float
    copied: float
    alone: float
    kept: float


def gain_of(effort: FunctionEffort, number: int, measured: Measured, device: Device) -> Gain | None:
    """Return what loop `number` of a function would gain; None where it was not counted."""
    own = measured(number)
    if own is None:
        return None
    inside = [n for n in range(len(effort.loops)) if number in _around(effort, n)]
    trips = {n: _trips(measured(n)) for n in inside}
    touched = [(n, t) for n in inside for t in effort.loops[n].touched]
    traffic = sum(_times(effort, number, t, measured) * t.bytes * (t.read + t.written) for _, t in touched)
    once = _sections(touched, trips, written=False) + _sections(touched, trips, written=True)
    saved = own.seconds - traffic / (device.bandwidth_gb_s * 1e9) - own.entries * LAUNCH_S
    copied = own.entries * once
    return Gain(traffic, copied, saved - copied / BUS_BYTES_S, saved - min(once, copied) / BUS_BYTES_S)


def _around(effort: FunctionEffort, number: int) -> list[int]:
    """Return a loop and those around it."""
    found = []
    while number >= 0:
        found.append(number)
        number = effort.loops[number].around
    return found


def _trips(loop: LoopProfile | None) -> float:
    return loop.iterations / loop.entries if loop is not None and loop.entries else 1.0


def _times(effort: FunctionEffort, number: int, touched: ArrayTraffic, measured: Measured) -> float:
    """Return how often a reference inside loop `number` came to another element."""
    own = measured(number)
    inner = [n for n in touched.moved if number in _around(effort, n)]
    return _iterations(effort, max(inner), measured) if inner else float(own.entries if own is not None else 0)


def _iterations(effort: FunctionEffort, number: int, measured: Measured) -> float:
    """Return how often a loop's body ran; one that was not counted ran at least as often as the one around it."""
    for each in _around(effort, number):
        known = measured(each)
        if known is not None:
            return float(known.iterations)
    return 0.0


def _sections(touched: list[tuple[int, ArrayTraffic]], trips: Mapping[int, float], *, written: bool) -> float:
    """Return the bytes of all arrays that are read (or written), each as large as what moves over it."""
    largest: dict[str, float] = {}
    for _, each in touched:
        if each.written if written else each.read:
            size = float(each.bytes)
            for loop in each.moved:
                size *= trips.get(loop, 1.0)
            largest[each.array] = max(largest.get(each.array, 0.0), size)
    return sum(largest.values())
