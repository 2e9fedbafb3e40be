"""Figures that the text does not decide, and what runs that count them show: which are open, and findings of them.

    1 to 32 sectors, or nothing known      open: a run may show that it is 17.3 on average
    32 sectors                             decided: no run is asked, and none is believed instead

A figure of a run is an average over the requests that were made there. Limit: what memory decides is open for good.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.analysis.rules.finding import EvidenceTable, KernelFinding
from warpsmith.analysis.rules.place import DEVICE
from warpsmith.analysis.uniformity.facts import AccessFact, KernelFacts
from warpsmith.analysis.uniformity.simulated import SimulatedBranch
from warpsmith.ssa.nodes import BasicBlock

__all__ = ["SIMULATED", "OpenFigures", "is_open", "open_figures", "replay_of", "simulated_parting"]

SIMULATED: Final = "simulated"
"""The word that a figure of a run has beside it."""


_OFTEN: Final = 4
"""Of so many visits one has to part a warp, at least: what parts fewer is the edge of something."""


class OpenFigures(Struct, frozen=True):
    """What a run would have to count: accesses, and blocks that end with a branch."""

    accesses: tuple[AccessFact, ...] = ()
    branches: tuple[BasicBlock, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.accesses or self.branches)


def open_figures(facts: KernelFacts, findings: Sequence[KernelFinding]) -> OpenFigures:
    """Return the figures that the text leaves open; `findings`: those of its branches."""
    told = {one.span for one in findings if one.rule in _PARTING and one.certainty != "proven"}
    branches = tuple(one.place for one in facts.branches if one.warp == "divergent" and one.span in told)
    return OpenFigures(tuple(access for access in facts.accesses if is_open(access)), branches)


_PARTING: Final = ("DIV001", "DIV003", "DIV005", "DIV006")


def is_open(access: AccessFact) -> bool:
    """Whether the text decides neither that an access costs twice what would do, nor that it does not."""
    if access.space in DEVICE:
        count, least = access.sectors_whole, 2 * max(1, access.ideal_sectors)
    elif access.space == "shared":
        count, least = access.bank_ways, 2
    else:
        return False
    return count is None or count.least < least <= count.most


def replay_of(command: str) -> str:
    """Return a command that shows a figure again, as help."""
    return f"to see it: {command}"


# --- branches


def simulated_parting(facts: KernelFacts, found: Sequence[KernelFinding]) -> Iterator[KernelFinding]:
    """Yield findings of branches with what runs show of them: less certain where hardly a warp parted."""
    named: dict[object, list[SimulatedBranch]] = {}
    for branch in facts.branches:
        seen = facts.simulated.branches.get(branch.place.name)
        if seen is not None:
            named.setdefault(branch.span, []).append(seen)
    for one in found:
        here = named.get(one.span, []) if one.rule in _PARTING and one.certainty != "proven" else []
        yield _with_run(facts, one, here[0]) if len(here) == 1 else one


def _with_run(facts: KernelFacts, one: KernelFinding, seen: SimulatedBranch) -> KernelFinding:
    rows = tuple((str(n), *map(str, run), f"{run[2] / run[0]:.1f}") for n, run in enumerate(seen.runs, 1))
    table = EvidenceTable(SIMULATED, ("run", "visits", "parted", "lanes", "lanes a visit"), rows)
    if all(parted * _OFTEN >= visits for visits, parted, _ in seen.runs):
        visits, parted, lanes = seen.runs[0]
        told = (
            f"{one.message}; {SIMULATED}: warps come {visits:,} times, with {lanes / visits:.1f} lanes on average, "
            f"and part {parted:,} times"
        )
        return replace(
            one, message=told, certainty=seen.certainty, assumptions=seen.assumptions, replay=seen.replay,
            evidence=(*one.evidence, table), help=(*one.help, replay_of(seen.replay)),
        )  # fmt: skip
    if any(parted * _OFTEN >= visits for visits, parted, _ in seen.runs):
        return replace(one, evidence=(*one.evidence, table))
    return replace(one, certainty="heuristic", evidence=(*one.evidence, table))
