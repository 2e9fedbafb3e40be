"""What is said of accesses holds in every request of a run: random kernels, and seeded bugs that must be seen."""

from __future__ import annotations

import re
import struct
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

import pytest

from tests.analysis.accesses import memory_module, phased_module
from warpsmith.analysis.facts import AccessFact, KernelFacts, LaunchShape
from warpsmith.analysis.kernel import examine
from warpsmith.machine.devices import Device, device
from warpsmith.simt.counters import Counters, Request
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Dim, Launch, Outcome
from warpsmith.simt.memory import SHARED_WINDOW, Access, Buffer, Memory
from warpsmith.simt.observer import Lane
from warpsmith.ssa.nodes import Instruction, Module

SHAPES: tuple[tuple[Dim, int], ...] = (
    ((8, 1, 1), 8),
    ((4, 4, 1), 8),
    ((16, 2, 1), 8),
    ((12, 1, 1), 8),
    ((2, 3, 2), 4),
    ((32, 1, 1), 32),
    ((8, 4, 1), 16),
)
BASE = 0x10000000


@dataclass
class Anywhere(Memory):
    """Global memory that is everywhere: a piece of it is made where it is touched. Nothing that is written changes it,
    so that threads that race for it read the same."""

    made: dict[int, Buffer] = field(default_factory=dict)
    touched: list[tuple[int, int, Access]] = field(default_factory=list)

    def __init__(self) -> None:
        super().__init__(checks=False)
        self.made, self.touched = {}, []

    def read(self, buffer: Buffer, offset: int, size: int, access: Access) -> int:
        if buffer.space == "shared":
            self.touched.append((offset, size, access))
        return super().read(buffer, offset, size, access)

    def find(self, address: int, size: int, pieces: tuple[Buffer, ...]) -> tuple[Buffer, int]:
        if address >= SHARED_WINDOW:
            return super().find(address, size, pieces)
        start = address // 64 * 64
        if start not in self.made:
            data = bytes((start // 64 * 7 + n * 13) % 251 for n in range(80))
            self.made[start] = Buffer("p", "global", start, bytearray(data), bytearray(b"\1" * 80))
        return self.made[start], address - start

    def write(self, buffer: Buffer, offset: int, size: int, number: int, access: Access) -> None:
        if buffer.space == "shared":
            self.touched.append((offset, size, access))
        old = int.from_bytes(buffer.data[offset : offset + size], "little")
        super().write(buffer, offset, size, old, access)


@dataclass
class Watch(Counters):
    """Counts, and keeps which threads come to a barrier together."""

    waits: dict[tuple[int, Instruction, object], int] = field(default_factory=lambda: defaultdict(int))

    def value(self, lane: Lane, place: Instruction, moment: object, numbers: tuple[int, ...]) -> None:
        if place.op == "barrier":
            self.waits[lane.block, place, moment] += 1


@dataclass
class Launched:
    """What a run did: requests of each access, how many threads came to each barrier together, bytes touched."""

    module: Module
    outcome: Outcome
    memory: Anywhere
    requests: dict[Instruction, list[Request]]
    arrivals: dict[Instruction, list[int]]
    n: int
    m: int
    base: int
    warp: int


@dataclass
class Run:
    """A run, and what is said of the kernel without running it."""

    facts: KernelFacts
    did: Launched

    @property
    def threads(self) -> int:
        x, y, z = self.facts.block
        return x * y * z

    def present(self, request: Request) -> bool:
        """Whether all lanes of the warp asked."""
        return len(request.addresses) == min(self.did.warp, self.threads - request.warp * self.did.warp)


def gpu(warp: int) -> Device:
    return replace(device("h100"), warp_width=warp)


def launched(seed: int, module: Module) -> Launched:
    block, warp = SHAPES[seed % len(SHAPES)]
    n, m, base = (1, 4, 7, 16, 40)[seed % 5], (2, 3, 8)[seed % 3], BASE + (0, 0, 4, 20)[seed % 4]
    arguments = {"n": struct.pack("<i", n), "m": struct.pack("<i", m), "p": struct.pack("<q", base)}
    watch, memory = Watch(), Anywhere()
    launch = Launch((2, 1, 1), block, arguments, warp=warp, max_steps=60_000, seed=seed)
    outcome = interpret(module, "k", launch, memory, watch)
    requests: dict[Instruction, list[Request]] = defaultdict(list)
    for request in watch.requests():
        requests[request.place].append(request)
    arrivals: dict[Instruction, list[int]] = defaultdict(list)
    for (_, place, _), count in watch.waits.items():
        arrivals[place].append(count)
    return Launched(module, outcome, memory, requests, arrivals, n, m, base, warp)


@lru_cache(maxsize=512)
def _of_seed(seed: int, barriers: bool) -> Launched:
    phased = barriers and seed % 2 == 1
    return launched(seed, phased_module(seed) if phased else memory_module(seed, barriers=barriers))


def run(seed: int, *, barriers: bool = False, module: Module | None = None) -> Run:
    did = _of_seed(seed, barriers) if module is None else launched(seed, module)
    block, warp = SHAPES[seed % len(SHAPES)]
    facts = examine(did.module, "k", LaunchShape(block, (2, 1, 1) if seed % 2 else None), gpu(warp))
    return Run(facts, did)


def holds(made: Run, fact: AccessFact) -> bool:
    """Whether what a fact assumes is so in this run, as far as that can be seen."""
    for text in fact.assumptions:
        if found := re.fullmatch(r"(n|m) >= (-?\d+)", text):
            if (made.did.n if found[1] == "n" else made.did.m) < int(found[2]):
                return False
        elif "overflow" in text:
            asked = [a for r in made.did.requests[fact.instruction] for a in r.addresses.values()]
            if fact.space != "shared" and any(abs(a - made.did.base) > 1 << 24 for a in asked):
                return False
        else:
            return False
    return True


def wrong(made: Run) -> Iterator[str]:
    """Yield what a fact says and a request does not bear out."""
    for fact in made.facts.accesses:
        if fact.certainty == "heuristic" or not holds(made, fact):
            continue
        for request in made.did.requests[fact.instruction]:
            yield from _wrong(made, fact, request)


def _wrong(made: Run, fact: AccessFact, request: Request) -> Iterator[str]:
    full = made.present(request)
    lanes = sorted(request.addresses)
    where = f"{fact.kind} {fact.index} lanes {lanes} {sorted(request.addresses.values())[:3]}"
    if fact.active == "all" and not full and made.did.outcome.complete:
        yield f"all lanes: {where}"
    exact = made.did.outcome.complete and (full or fact.active == "known")
    counts = [("sectors", fact.sectors, request.sectors), ("ways", fact.bank_ways, request.ways)]
    counts += [("addresses", fact.addresses, len(set(request.addresses.values())))]
    if made.did.base % 256 == 0:
        counts.append(("aligned", fact.sectors_aligned, request.sectors))
    for name, count, measured in counts:
        if count is not None and (measured > count.most or (exact and measured < count.least)):
            yield f"{name} {count}, measured {measured}: {where}"
    if full and fact.pattern == "uniform" and len(set(request.addresses.values())) > 1:
        yield f"uniform: {where}"
    if full and fact.offsets and request.warp == 0:
        low = min(request.addresses.values())
        if tuple(request.addresses[lane] - low for lane in lanes) != fact.offsets:
            yield f"offsets {fact.offsets}: {where}"
    if full and fact.stride_bytes is not None and made.facts.block[0] > 1:
        step = request.addresses[1] - request.addresses[0]
        if (step - fact.stride_bytes) % (1 << 32) and request.warp == 0:
            yield f"stride {fact.stride_bytes}: {where}"


def all_wrong(count: int, start: int = 0) -> dict[int, list[str]]:
    found = {seed: list(wrong(run(seed))) for seed in range(start, start + count)}
    return {seed: texts for seed, texts in found.items() if texts}


@pytest.mark.slow
def test_every_count_holds_in_many() -> None:
    assert not all_wrong(1500, start=45)


def test_every_count_holds_in_every_request() -> None:
    mix: Counter[str] = Counter()
    for seed in range(45):
        made = run(seed)
        assert not (bad := list(wrong(made))), f"{seed}: {bad[:3]}"
        for fact in made.facts.accesses:
            if made.did.requests[fact.instruction]:
                mix[fact.certainty] += 1
                mix[fact.active] += 1
                mix[fact.space] += 1
                mix["exact"] += fact.sectors is not None and fact.sectors.exact
    assert mix["proven"] > mix["heuristic"] > 10, mix
    assert min(mix["conditional"], mix["known"], mix["all"], mix["some"], mix["shared"], mix["exact"]) > 8, mix
