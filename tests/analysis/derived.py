"""What is derived from the text of a kernel against what a run of it counted: sums over all requests of each access."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from warpsmith.analysis.memory.clamps import CUT_OFF
from warpsmith.analysis.uniformity.facts import AccessFact, KernelFacts
from warpsmith.analysis.uniformity.simulated import AccessSums
from warpsmith.simt.counters import BlockCount
from warpsmith.ssa.nodes import BasicBlock, Instruction

__all__ = ["contradictions"]


def contradictions(
    facts: KernelFacts,
    sums: Mapping[Instruction, AccessSums],
    blocks: Mapping[BasicBlock, BlockCount],
    numbers: Mapping[str, int],
    met: Counter[str],
) -> Iterator[str]:
    """Yield what is said of a kernel and a run that went to its end does not bear out; `numbers`: its arguments, which
    are small; arrays begin at multiples of 256 bytes. `met`: what was compared, by kind."""
    for fact in facts.accesses:
        row = sums.get(fact.instruction)
        if row is not None and fact.certainty != "heuristic" and _holds(facts, fact, numbers):
            yield from (f"{fact.span}: {fact.kind} {fact.variable} {text}" for text in _beyond(facts, fact, row, met))
    for branch in facts.branches:
        count = blocks.get(branch.place)
        if count is not None and branch.warp == "uniform":
            met["uniform branches"] += 1
            if count.divergences:
                yield f"{branch.span}: uniform, and parted {count.divergences} times"


def _holds(facts: KernelFacts, fact: AccessFact, numbers: Mapping[str, int]) -> bool:
    """Whether what is assumed is so, as far as numbers tell; they are too small to overflow."""
    for text in fact.assumptions:
        name, _, least = text.partition(" >= ")
        known = name in numbers and least.lstrip("-").isdigit() and numbers[name] >= int(least)
        of_launch = text in facts.block_assumed or text in facts.grid_assumed
        if text == CUT_OFF or not (known or of_launch or "overflow" in text or "one of global memory" in text):
            return False
    return True


def _beyond(facts: KernelFacts, fact: AccessFact, row: AccessSums, met: Counter[str]) -> Iterator[str]:
    threads = facts.block[0] * facts.block[1] * facts.block[2]
    width = min(facts.device.warp_width, threads)
    whole = row.lanes == row.requests * width and threads % width == 0
    ways = row.conflicts + row.requests
    shared = fact.space == "shared"
    counts = [("ways", fact.bank_ways, ways)] if shared else []
    counts += [] if fact.space not in ("global", "local") else [
        ("sectors", fact.sectors, row.sectors), ("aligned", fact.sectors_aligned, row.sectors),
        ("whole", fact.sectors_whole if whole else None, row.sectors),
    ]  # fmt: skip
    for name, count, measured in counts:
        if count is None:
            continue
        met[name] += 1
        met["exact"] += count.exact and whole
        if measured > count.most * row.requests or (
            (whole or fact.active == "known") and measured < count.least * row.requests
        ):
            yield f"{name} {count}, counted {measured} in {row.requests} requests of {row.lanes} lanes"
    if row.lanes > row.requests * fact.lanes:
        yield f"at most {fact.lanes} lanes, counted {row.lanes} in {row.requests} requests"
    one = fact.addresses is not None and fact.addresses.exact
    if fact.space == "global" and whole and one and fact.ideal_sectors * row.requests != row.ideal:
        met["ideal"] += 1
        yield f"ideal {fact.ideal_sectors}, counted {row.ideal} in {row.requests} requests"
