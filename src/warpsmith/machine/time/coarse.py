"""How long work takes, on a GPU and on the processor that a program runs on today: arithmetic on numbers, in seconds.

    kernel    the longest of   requests · cycles a request / (multiprocessors · clock)      as fast as all can ask
                               bytes / bandwidth                                             as fast as memory answers
                               (requests · latency + operations · cycles) of one thread      few threads wait for each
                               a launch                                                      the host can start no more
    copies    bytes / rate + so much a copy
    host      operations, divisions, calls, strided references and steps of a chain, each its time

A warp's request is as many sectors as its threads touch: where that is more than a coalesced request has, it takes as
much longer. Little's law is in the third term: threads beyond what multiprocessors hold at a time take turns.

Limits: nothing is known of caches but that a reference with a small stride hits them. An estimate may be wrong by a
factor of ERROR: benchmarks/results/gain.txt compares it with times on a GPU.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from warpsmith.machine.devices import Device, HostProcessor

__all__ = ["ERROR", "HostWork", "KernelWork", "copy_seconds", "host_seconds", "kernel_seconds"]

ERROR: Final = 3.0
"""By which factor an estimate may be wrong; benchmarks/results/gain.txt says of how many programs it is not."""
_COALESCED: Final = 8.0
"""Sectors of 32 bytes that a warp asks for where each thread reads the double next to its neighbor's."""
_OPERATION_CYCLES: Final = 4.0
_ISSUE: Final = 4.0
"""Instructions that a multiprocessor issues in a cycle, each for one warp."""
_PICO: Final = 1e-12
_NANO: Final = 1e-9


class KernelWork(Struct, frozen=True):
    """One launch: `threads`; `operations` and memory `requests` of one thread; 32-byte `sectors` a request of a warp;
    `bytes` of memory that all threads touch at least once."""

    threads: float
    operations: float
    requests: float
    sectors: float
    bytes: float


class HostWork(Struct, frozen=True):
    """What one run of a text does on one core: `operations`, those of them in loops that a compiler vectorizes
    (`vector`), steps of chains, divisions, calls of library functions, those of them that read or write
    (`io`), references with a large stride, and `bytes` of large arrays; `teams` of
    OpenMP threads are started for it."""

    operations: float = 0.0
    vector: float = 0.0
    chain: float = 0.0
    divisions: float = 0.0
    calls: float = 0.0
    io: float = 0.0
    strided: float = 0.0
    bytes: float = 0.0
    teams: float = 0.0

    def times(self, factor: float) -> HostWork:
        """Return so many runs of it."""
        return HostWork(
            self.operations * factor, self.vector * factor, self.chain * factor, self.divisions * factor,
            self.calls * factor, self.io * factor, self.strided * factor, self.bytes * factor,
            self.teams * factor,
        )  # fmt: skip


def kernel_seconds(device: Device, work: KernelWork) -> float:
    """Return how long one launch takes, its own start included."""
    if work.threads < 1:
        return device.launch_ns * _NANO
    cycle = 1.0 / (device.clock_mhz * 1e6)
    warps = -(-work.threads // device.warp_width)
    wider = max(1.0, work.sectors / _COALESCED)
    asking = warps * work.requests * device.request_cycles * wider * cycle / device.units
    issuing = warps * work.operations * cycle / (device.units * _ISSUE)
    answering = work.bytes / (device.bandwidth_gb_s * 1e9)
    turns = max(1.0, warps / (device.units * device.warps_per_unit))
    # what is not coalesced comes from further away
    latency = device.latency_cycles * min(1.6, wider)
    waiting = turns * (work.requests * latency + work.operations * _OPERATION_CYCLES) * cycle
    return max(device.launch_ns * _NANO, asking, issuing, answering, waiting)


def copy_seconds(device: Device, bytes: float, copies: float, *, pinned: bool = False) -> float:
    """Return how long `copies` take that move `bytes` together, to the device or back; `pinned`: from and to
    page-locked memory."""
    rate = device.pinned_gb_s if pinned else device.copy_gb_s
    return bytes / (rate * 1e9) + copies * device.copy_ns * _NANO


def host_seconds(host: HostProcessor, work: HostWork, threads: float = 1.0) -> float:
    """Return how long work takes on the host, on so many of its cores."""
    computing = (
        (work.operations - work.vector) * host.operation_ps
        + work.vector * host.vector_operation_ps
        + work.chain * host.chain_ps
        + work.divisions * host.division_ps
        + (work.calls - work.io) * host.call_ps
        + work.io * host.io_ps
        + work.strided * host.strided_ps
        + work.bytes * host.byte_ps
    )
    return computing * _PICO / max(1.0, min(threads, host.cores)) + work.teams * host.team_ps * _PICO
