"""Runs of a kernel, held against what was said of it without running it.

An observer compares the threads of a warp, and of a block, at each moment: values that are called uniform, and every
branch. A value needs to be compared only until it has differed once.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Self

from msgspec import field

from warpsmith.analysis.uniformity.facts import AccessFact, KernelFacts
from warpsmith.simt.counters import Counters, WarpRequest
from warpsmith.simt.observer import Lane
from warpsmith.ssa.nodes import BasicBlock, Instruction

__all__ = ["LEVELS", "Together", "wrong_accesses", "wrong_values"]

LEVELS = ("warp", "block")


class Together(Counters):
    """`same[level]`: values that are claimed the same, compared until one differs (`differs`); `diverged[level]`:
    blocks whose branch was seen to part threads; `passed`: those that were seen at all, `met[level]`: with two threads
    at a time. `blocks`: those that are watched, not those of functions that are called. `counted`: requests are kept
    too."""

    same: dict[str, set[Instruction]] = field(default_factory=dict)
    blocks: frozenset[BasicBlock] = frozenset()
    counted: bool = True
    differs: dict[str, dict[Instruction, str]] = field(default_factory=lambda: {level: {} for level in LEVELS})
    diverged: dict[str, set[str]] = field(default_factory=lambda: {level: set() for level in LEVELS})
    met: dict[str, set[str]] = field(default_factory=lambda: {level: set() for level in LEVELS})
    passed: set[str] = field(default_factory=set)
    _numbers: dict[object, tuple[int, ...]] = field(default_factory=dict)
    _taken: dict[object, str] = field(default_factory=dict)

    @classmethod
    def of(cls, facts: KernelFacts, *, counted: bool = True, values: bool = True) -> Self:
        """Return an observer of what `facts` claim; `values`: not only of branches."""
        answers = {"warp": facts.warp_level, "block": facts.block_level}
        body = [i for _, i in facts.function.instructions() if i.results and values]
        same = {
            level: {i for i in body if not any(value in answer.divergent for value in i.results)}
            for level, answer in answers.items()
        }
        return cls(same=same, blocks=frozenset(facts.function.blocks), counted=counted)

    def again(self) -> None:
        """Forget the moments of the last run."""
        self._numbers.clear()
        self._taken.clear()
        self._asked.clear()

    def add(self, other: Together) -> None:
        """Add what another run has shown."""
        self.passed |= other.passed
        for level in LEVELS:
            self.same[level] &= other.same[level]
            self.differs[level] |= other.differs[level]
            self.diverged[level] |= other.diverged[level]
            self.met[level] |= other.met[level]

    def value(self, lane: Lane, place: Instruction, moment: object, numbers: tuple[int, ...]) -> None:
        """Compare the results of an instruction."""
        for level, group in (("warp", (lane.block, lane.warp)), ("block", (lane.block,))):
            if place not in self.same[level]:
                continue
            first = self._numbers.setdefault((group, place, moment), numbers)
            if first != numbers:
                self.same[level].discard(place)
                self.differs[level][place] = f"{first} and {numbers} at {moment}"

    def branch(self, lane: Lane, block: BasicBlock, moment: object, taken: str) -> None:
        """Compare the ways taken."""
        if block not in self.blocks:
            return
        name = block.name
        self.passed.add(name)
        for level, group in (("warp", (lane.block, lane.warp)), ("block", (lane.block,))):
            if name in self.diverged[level]:
                continue
            key = (group, name, moment)
            first = self._taken.get(key)
            if first is None:
                self._taken[key] = taken
            else:
                self.met[level].add(name)
                if first != taken:
                    self.diverged[level].add(name)

    def access(self, lane: Lane, place: Instruction, moment: object, where: tuple[str, int, int]) -> None:
        """Keep the address of one lane."""
        if self.counted:
            Counters.access(self, lane, place, moment, where)  # type: ignore[arg-type]


def wrong_values(facts: KernelFacts, seen: Together) -> Iterator[str]:
    """Yield what was called uniform and differs."""
    branches = {"warp": facts.warp_level.branches, "block": facts.block_level.branches}
    for level in LEVELS:
        for place, text in seen.differs[level].items():
            yield f"{facts.kernel}, {level}: {place.op} at {place.span} is {text}"
        for name in seen.diverged[level] - set(branches[level]):
            yield f"{facts.kernel}, {level}: the branch of {name} parts threads"


def wrong_accesses(facts: KernelFacts, seen: Together, warp: int, numbers: dict[str, int]) -> Iterator[str]:
    """Yield what a fact says of an access and a request does not bear out."""
    requests: dict[Instruction, list[WarpRequest]] = defaultdict(list)
    for request in seen.requests():
        requests[request.place].append(request)
    x, y, z = facts.block
    for fact in facts.accesses:
        if fact.certainty != "heuristic" and _holds(fact, numbers):
            for request in requests[fact.instruction]:
                full = len(request.addresses) == min(warp, x * y * z - request.warp * warp)
                yield from _wrong(fact, request, full=full, whole_row=x > 1)


def _holds(fact: AccessFact, numbers: dict[str, int]) -> bool:
    """Whether what a fact assumes is so in this run; nothing overflows in these."""
    for text in fact.assumptions:
        if found := re.fullmatch(r"(\w+) >= (-?\d+)", text):
            if numbers.get(found[1], 0) < int(found[2]):
                return False
        elif "overflow" not in text:
            return False
    return True


def _wrong(fact: AccessFact, request: WarpRequest, *, full: bool, whole_row: bool) -> Iterator[str]:
    lanes = sorted(request.addresses)
    where = f"{fact.kernel}: {fact.kind} of {fact.index} at {fact.span}, lanes {lanes[:3]}"
    if fact.active == "all" and not full:
        yield f"{where}: not all lanes"
    exact = full or fact.active == "known"
    counts = [
        ("sectors", fact.sectors, request.sectors),
        ("aligned sectors", fact.sectors_aligned, request.sectors),
        ("ways", fact.bank_ways, request.ways),
        ("addresses", fact.addresses, len(set(request.addresses.values()))),
    ]
    for name, count, measured in counts:
        if count is not None and (measured > count.most or (exact and measured < count.least)):
            yield f"{where}: {name} {count}, measured {measured}"
    if not full:
        return
    if fact.pattern == "uniform" and len(set(request.addresses.values())) > 1:
        yield f"{where}: several addresses"
    if fact.stride_bytes is not None and whole_row and request.warp == 0 and len(lanes) > 1:
        step = request.addresses[1] - request.addresses[0]
        if (step - fact.stride_bytes) % (1 << 32):
            yield f"{where}: stride {fact.stride_bytes}, measured {step}"
