"""Random kernels are run, and all that the interpreter shows of them is kept beside what was said of them unrun."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.analysis.kernel import examine
from warpsmith.analysis.uniformity.facts import KernelFacts, LaunchShape
from warpsmith.base.source import Span
from warpsmith.machine.devices import Device, device
from warpsmith.simt import memory as simt
from warpsmith.simt.counters import Counters, WarpRequest
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Dim, Launch, Outcome
from warpsmith.simt.observer import Lane
from warpsmith.ssa.nodes import BasicBlock, Instruction, Memory, Module, Space

__all__ = [
    "BASE", "GRID", "SHAPES", "Launched", "Recorder", "Run", "Watch", "clashes", "gpu", "launched", "ran", "unordered",
]  # fmt: skip

SHAPES: tuple[tuple[Dim, int], ...] = (
    ((8, 1, 1), 8),
    ((4, 4, 1), 8),
    ((16, 2, 1), 8),
    ((12, 1, 1), 8),
    ((2, 3, 2), 4),
    ((32, 1, 1), 32),
    ((8, 4, 1), 16),
)
GRID: Dim = (2, 1, 1)
BASE = 0x40000000

Presence = tuple[int, int, object]
"""Block, warp and moment."""


class Recorder(simt.LaunchMemory):
    """Memory that keeps every access to what threads share: address, bytes, who."""

    touched: list[tuple[int, int, simt.RecordedAccess]] = field(default_factory=list)

    def __init__(self) -> None:
        super().__init__(checks=False)
        self.touched = []

    def read(self, buffer: simt.Buffer, offset: int, size: int, access: simt.RecordedAccess) -> int:
        if buffer.space != "local":
            self.touched.append((buffer.address + offset, size, access))
        if not all(buffer.known[offset : offset + size]):
            self.unwritten.append(((buffer.name, offset, size), access))
        return super().read(buffer, offset, size, access)

    def write(self, buffer: simt.Buffer, offset: int, size: int, number: int, access: simt.RecordedAccess) -> None:
        if buffer.space != "local":
            self.touched.append((buffer.address + offset, size, access))
        super().write(buffer, offset, size, number, access)


class Anywhere(Recorder):
    """Memory that is everywhere: a piece of it is made where it is touched. Nothing that is written changes it, so that
    threads that race for it read the same, and a barrier that is taken out changes no index."""

    made: dict[int, simt.Buffer] = field(default_factory=dict)

    def __init__(self) -> None:
        super().__init__()
        self.made = {}

    def find(self, address: int, size: int, pieces: tuple[simt.Buffer, ...]) -> tuple[simt.Buffer, int]:
        if address >= simt.SHARED_WINDOW:
            try:
                return super().find(address, size, pieces)
            except simt.Fault:
                # beyond its end: that is what a rule has to say, and no reason to stop
                return simt.Buffer("outside", "shared", address, bytearray(size), bytearray(size)), 0
        start = address // 64 * 64
        if start not in self.made:
            data = bytes((start // 64 * 7 + n * 13) % 251 for n in range(80))
            self.made[start] = simt.Buffer("p", "global", start, bytearray(data), bytearray(b"\1" * 80))
        return self.made[start], address - start

    def write(self, buffer: simt.Buffer, offset: int, size: int, number: int, access: simt.RecordedAccess) -> None:
        super().write(buffer, offset, size, int.from_bytes(buffer.data[offset : offset + size], "little"), access)


class Watch(Counters):
    """Counts, and keeps which lanes are in a block of code together, and what each thread touched."""

    there: dict[str, dict[Presence, set[int]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(set)))
    log: dict[Instruction, dict[tuple[int, int, object], int]] = field(default_factory=lambda: defaultdict(dict))

    def enter(self, lane: Lane, block: BasicBlock, moment: object, start: int) -> None:
        self.there[block.name][lane.block, lane.warp, moment].add(lane.lane)

    def access(self, lane: Lane, place: Instruction, moment: object, where: tuple[Space, int, int]) -> None:
        self.log[place][lane.block, lane.thread, moment] = where[1]
        super().access(lane, place, moment, where)


class Launched(Struct):
    """What a run did: requests of each access, the address of each thread there, who was where, bytes touched."""

    module: Module
    outcome: Outcome
    memory: Recorder
    requests: dict[Instruction, list[WarpRequest]]
    log: dict[Instruction, dict[tuple[int, int, object], int]]
    there: dict[str, dict[Presence, set[int]]]
    n: int
    m: int
    base: int
    warp: int

    @classmethod
    def of(cls, module: Module, outcome: Outcome, seen: tuple[Recorder, Watch], **given: int) -> Launched:
        """Put together what was seen of a run."""
        memory, watch = seen
        requests: dict[Instruction, list[WarpRequest]] = defaultdict(list)
        for request in watch.requests():
            requests[request.place].append(request)
        return cls(module, outcome, memory, requests, watch.log, watch.there, **given)


class Run(Struct, dict=True):
    """A run, and what is said of the kernel without running it."""

    facts: KernelFacts
    did: Launched

    @property
    def threads(self) -> int:
        x, y, z = self.facts.block
        return x * y * z

    @cached_property
    def homes(self) -> dict[object, str]:
        """The array that each access is one of, as far as it is known."""
        return {fact.instruction: fact.variable for fact in self.facts.accesses}

    def at(self, span: Span) -> list[Instruction]:
        """Return the instructions of a place in the text."""
        return [i for _, i in self.facts.function.instructions() if i.span == span]

    @cached_property
    def memory(self) -> list[Instruction]:
        """The accesses, in the order of the code."""
        return [i for _, i in self.facts.function.instructions() if isinstance(i.detail, Memory)]

    @cached_property
    def reached(self) -> set[Instruction]:
        """What some thread came to, if only to the block of code that it is in."""
        return {i for block, i in self.facts.function.instructions() if self.did.there.get(block.name)}

    def present(self, request: WarpRequest) -> bool:
        """Whether all lanes of the warp asked."""
        return len(request.addresses) == self.lanes(request.warp)

    def lanes(self, warp: int) -> int:
        """Return how many threads a warp has."""
        return min(self.did.warp, self.threads - warp * self.did.warp)

    def arrivals(self, block: str) -> Iterator[int]:
        """Yield how many threads of a block of threads came to a block of code together."""
        counts: dict[tuple[int, object], int] = defaultdict(int)
        for (number, _, moment), lanes in self.did.there[block].items():
            counts[number, moment] += len(lanes)
        yield from counts.values()


def gpu(warp: int) -> Device:
    return replace(device("h100"), warp_width=warp)


def launched(seed: int, module: Module) -> Launched:
    """Run a kernel `k(p, n, m)` in the shape and with the arguments that go with a seed."""
    block, warp = SHAPES[seed % len(SHAPES)]
    n, m, base = (1, 4, 7, 16, 40)[seed % 5], (2, 3, 8)[seed % 3], BASE + (0, 0, 4, 20)[seed % 4]
    arguments = {"n": struct.pack("<i", n), "m": struct.pack("<i", m), "p": struct.pack("<q", base)}
    watch, memory = Watch(), Anywhere()
    launch = Launch(GRID, block, arguments, warp=warp, max_steps=60_000, seed=seed)
    outcome = interpret(module, "k", launch, memory, watch)
    return Launched.of(module, outcome, (memory, watch), n=n, m=m, base=base, warp=warp)


def ran(seed: int, did: Launched) -> Run:
    """Return a run with the facts of its kernel, for the grid or for any."""
    block, warp = SHAPES[seed % len(SHAPES)]
    return Run(examine(did.module, "k", LaunchShape(block, GRID if seed % 2 else None), gpu(warp)), did)


# --- races that a run shows


def clashes(made: Run) -> set[frozenset[object]]:
    """Return the pairs of instructions with which two threads of a block touch one byte of shared memory, one of them
    writing, with nothing between that orders them."""
    bytes_: dict[object, set[simt.RecordedAccess]] = defaultdict(set)
    for address, size, access in made.did.memory.touched:
        if address >= simt.SHARED_WINDOW:
            # beyond the end of its array it may meet another, of which nothing is said
            home = made.homes.get(access.instruction)
            for byte in range(address, address + size):
                bytes_[access.origin.block, access.origin.epoch, home, byte].add(access)
    groups = (accesses for accesses in bytes_.values() if len(accesses) > 1)
    return {frozenset((a.instruction, b.instruction)) for group in groups for a in group for b in group
            if unordered(a, b)}  # fmt: skip


def unordered(a: simt.RecordedAccess, b: simt.RecordedAccess) -> bool:
    """Whether two accesses to a byte between the same two barriers conflict, with no barrier of a warp between."""
    one, two = a.origin, b.origin
    apart = one.warp != two.warp or one.warp_epoch == two.warp_epoch
    return one.thread != two.thread and apart and (a.kind != b.kind or a.kind == "store")
