"""Which kernels of a file are run on arguments that are made up, for how long, and what of that becomes a fact.

proven        what the text says, whatever the arguments are
witnessed     seen in a run, on nothing that had to be made up
conditional   seen in a run, which hangs on numbers that were made up: they are named

What runs need is imported when there is one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.analysis.rules.divergence import divergence
from warpsmith.analysis.rules.figures import open_figures
from warpsmith.analysis.uniformity.facts import KernelFacts, RaceFact
from warpsmith.base.findings import Certainty
from warpsmith.base.time_limit import NO_TIME
from warpsmith.flows.witness.seen import SeenInRuns
from warpsmith.kernels.units import KernelFile, KernelUnit

__all__ = ["RunBudget", "suspicion", "with_figures", "with_witnesses"]

_CERTAIN: Final[tuple[Certainty, ...]] = ("heuristic", "conditional", "witnessed", "proven")
_COMPILER: Final = "llvmlite"
"""What makes machine code of kernels."""
_USED: Final = ("warpsmith.simt.engine.compile", "warpsmith.simt.engine.launch")


class RunBudget(Struct):
    """The runs of a file: how many `seconds` of processor time are left for them; whether any are `asked` for; and by
    reason, kernels for which nothing came of them."""

    seconds: float
    without: dict[str, list[str]] = field(default_factory=dict)
    asked: bool = field(default=False)

    def __post_init__(self) -> None:
        self.asked = self.asked or self.seconds > 0


def with_witnesses(unit: KernelUnit, file: KernelFile, facts: KernelFacts, runs: RunBudget) -> KernelFacts:
    """Return the facts of a kernel with the races that runs on made up arguments show; PTX has no types that arguments
    could be made up for."""
    if not runs.asked or unit.language == "ptx" or not _may_race(facts):
        return facts
    began = time.process_time()
    seen = _search(unit, file, facts, runs.seconds)
    runs.seconds = 0 if seen.why == NO_TIME else runs.seconds - (time.process_time() - began)
    if seen.why and all(one.certainty == "heuristic" for one in seen.escapes):
        runs.without.setdefault(seen.why, []).append(facts.function.name)
    if seen.escapes:
        facts = replace(facts, simulated=replace(facts.simulated, escapes=tuple(seen.escapes)))
    return replace(facts, races=_merge(facts, seen.races)) if seen.races else facts


def with_figures(unit: KernelUnit, file: KernelFile, facts: KernelFacts, runs: RunBudget) -> KernelFacts:
    """Return the facts of a kernel with the figures that its text leaves open, where runs show them in the time that is
    left: races come first."""
    if runs.seconds <= 0 or unit.language == "ptx" or find_spec(_COMPILER) is None:
        return facts
    wanted = open_figures(facts, tuple(divergence(facts)))
    if not wanted:
        return facts
    _import_all()
    from warpsmith.flows.witness.figures import count_figures

    began = time.process_time()
    found = count_figures(unit, file, facts, wanted, runs.seconds)
    runs.seconds -= time.process_time() - began
    known = {one.instruction for one in facts.simulated.escapes}
    escapes = (*facts.simulated.escapes, *(one for one in found.escapes if one.instruction not in known))
    return replace(facts, simulated=replace(found, escapes=escapes))


def _merge(facts: KernelFacts, seen: Sequence[RaceFact]) -> tuple[RaceFact, ...]:
    """Return what the text tells and what runs show; of two facts of the same places the one that is more certain, the
    text's where they are alike."""
    told = facts.races
    best = {race.places: _CERTAIN.index(race.certainty) for race in seen}
    kept = [race for race in told if _CERTAIN.index(race.certainty) >= best.get(race.places, 0)]
    known = {race.places for race in kept}
    within = {race.places for race in told if race.one_warp} - {race.places for race in told if not race.one_warp}
    shown = (replace(race, one_warp=race.places in within and _is_of_one_warp(facts, race)) for race in seen)
    return (*kept, *(race for race in shown if race.places not in known))


def _is_of_one_warp(facts: KernelFacts, race: RaceFact) -> bool:
    """Whether the threads that a run saw are of one warp."""
    width, height, _ = facts.block
    threads = [side.thread for side in (race.first, race.second)]
    indices = [None if thread is None else thread.index for thread in threads]
    warps = {i and (i[0] + width * (i[1] + height * i[2])) // facts.device.warp_width for i in indices}
    return race.reach == "block" and len(warps) == 1 and None not in warps


def _may_race(facts: KernelFacts) -> bool:
    """Whether a kernel writes where others may come, and its text does not tell of all that may happen there."""
    if facts.freedom.kind == "none":
        return False
    written = {access.space for access in facts.accesses if access.kind != "load"} - {"local"}
    open_ = any(race.certainty != "proven" and race.reach == "block" for race in facts.races)
    between = bool(written - {"shared"}) and not facts.own_bytes
    return open_ or between or ("shared" in written and not _is_decided(facts))


def _is_decided(facts: KernelFacts) -> bool:
    """Whether the text tells of all races in shared memory."""
    return facts.races_complete and not facts.races_assumptions and not facts.block_assumed


def suspicion(facts: KernelFacts) -> int:
    """Return how much is to be expected of runs of a kernel: most of what has open questions within a block, least of
    what is known to race."""
    if any(race.certainty in ("proven", "witnessed") for race in facts.races):
        return 0
    shared = any(access.space == "shared" and access.kind != "load" for access in facts.accesses)
    return 3 if shared and not facts.races_complete else 2 if facts.races else 1


def _search(unit: KernelUnit, file: KernelFile, facts: KernelFacts, seconds: float) -> SeenInRuns:
    """Return what runs show within some time, and why there are no runs, or fewer."""
    if seconds <= 0:
        return SeenInRuns(why=NO_TIME)
    if find_spec(_COMPILER) is None:
        return SeenInRuns(why=f"{_COMPILER} is not installed")
    _import_all()
    from warpsmith.flows.witness.tell import search

    return search(unit, file, facts, seconds)


def _import_all() -> None:
    """Import what runs need, not meanwhile: what is half imported when the time is up could not be imported again."""
    for name in _USED:
        import_module(name)
