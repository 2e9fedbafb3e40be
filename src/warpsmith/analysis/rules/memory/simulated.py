"""Findings of accesses whose cost the text leaves open and a run counts: averages over the requests that were made."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from warpsmith.analysis.rules.figures import SIMULATED, is_open, replay_of
from warpsmith.analysis.rules.finding import Estimate, EvidenceTable, KernelFinding
from warpsmith.analysis.rules.memory.layouts import against_scatter
from warpsmith.analysis.rules.place import describe_access, place_of
from warpsmith.analysis.uniformity.facts import AccessFact, KernelFacts
from warpsmith.analysis.uniformity.simulated import AccessSums, SimulatedAccess
from warpsmith.machine.requests import SECTOR

__all__ = ["simulated_conflict", "simulated_scatter"]

_DENSE: Final = 4
"""A request of fewer than a fourth of a warp's lanes has little to gain."""


def simulated_scatter(facts: KernelFacts, access: AccessFact) -> KernelFinding | None:
    """Return MEM001 of an access whose lanes a run saw far apart; `access.ideal_sectors`: what a full warp needs, its
    neighbors considered."""
    seen = facts.simulated.accesses.get(access.instruction)
    if seen is None or not is_open(access) or not all(_is_scattered(facts, access, one) for one in seen.runs):
        return None
    first = seen.runs[0]
    asked, needed = first.sectors / first.requests, _needed(facts, access, first)
    message = (
        f"uncoalesced {describe_access(access)}: {asked:.1f} sectors per warp request on average ({SIMULATED}), "
        f"{needed:.1f} would do"
    )
    factor = asked / needed
    return replace(
        _seen(facts, access, seen, "MEM001", message),
        label="lanes of a warp are far apart",
        estimate=Estimate(
            f"{access.kind} traffic", round(factor, 2), "times the minimum",
            f"{SIMULATED}: {SECTOR}-byte sectors of {_requests(first)}",
        ),
        help=(*against_scatter(facts.words, None), replay_of(seen.replay)),
        impact=factor,
    )  # fmt: skip


def _is_scattered(facts: KernelFacts, access: AccessFact, sums: AccessSums) -> bool:
    many = sums.lanes * _DENSE >= sums.requests * min(facts.device.warp_width, _threads(facts))
    needed = _needed(facts, access, sums)
    # lanes that lie side by side touch one sector more where they do not begin with one
    return many and sums.sectors >= 2 * needed * sums.requests and sums.sectors > (needed + 1) * sums.requests


def _threads(facts: KernelFacts) -> int:
    x, y, z = facts.block
    return x * y * z


def _needed(facts: KernelFacts, access: AccessFact, sums: AccessSums) -> float:
    """Return how many sectors a request would need on average."""
    share = sums.lanes / sums.requests / min(facts.device.warp_width, _threads(facts))
    return max(1.0, sums.ideal / sums.requests, access.ideal_sectors * share)


def simulated_conflict(facts: KernelFacts, access: AccessFact) -> KernelFinding | None:
    """Return MEM010 of an access whose requests a run saw collide in the banks."""
    seen = facts.simulated.accesses.get(access.instruction)
    if seen is None or not is_open(access) or not all(one.ways >= 2 for one in seen.runs):
        return None
    first = seen.runs[0]
    message = (
        f"{facts.words.shared}-memory bank conflict, {first.ways:.1f}-way on average ({SIMULATED}): "
        f"{describe_access(access)}"
    )
    return replace(
        _seen(facts, access, seen, "MEM010", message),
        label="lanes of a warp ask a bank for different words",
        estimate=Estimate(
            "time of the request", round(first.ways, 2), "times that without conflicts",
            f"{SIMULATED}: passes of {_requests(first)}",
        ),
        help=("let neighboring lanes access neighboring words, or pad rows by one element", replay_of(seen.replay)),
        impact=first.ways,
    )  # fmt: skip


def _seen(facts: KernelFacts, access: AccessFact, seen: SimulatedAccess, rule: str, message: str) -> KernelFinding:
    table = EvidenceTable(
        SIMULATED,
        ("run", "requests", "lanes", "sectors", "ideal", "conflicts"),
        tuple(
            (str(n), *map(str, (one.requests, one.lanes, one.sectors, one.ideal, one.conflicts)))
            for n, one in enumerate(seen.runs, 1)
        ),
    )
    return replace(
        place_of(facts, access, rule, message),
        certainty=seen.certainty,
        assumptions=seen.assumptions,
        evidence=(table,),
        replay=seen.replay,
    )


def _requests(sums: AccessSums) -> str:
    return f"{sums.requests:,} request{'' if sums.requests == 1 else 's'}"
