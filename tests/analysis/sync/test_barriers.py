"""Barriers and races of random kernels: what is said against what runs do, also without barriers called redundant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from tests.analysis.memory.test_accesses import run
from tests.analysis.runs import Run, clashes
from warpsmith.analysis.uniformity.facts import RaceFact
from warpsmith.ssa.nodes import Instruction, Module


def wrong(made: Run) -> Iterator[str]:
    """Yield what a fact about barriers or races says and the run does not bear out."""
    facts, seen = made.facts, clashes(made)
    said = {frozenset((r.first.access.instruction, r.second.access.instruction)): r for r in facts.races}
    if facts.races_complete:
        for pair in seen - set(said):
            yield f"a race is not among them: {[i.op for i in pair]}"  # type: ignore[attr-defined]
    for pair, race in said.items():
        if race.certainty == "proven" and race.space == "shared" and made.did.outcome.complete and pair not in seen:
            yield from _missing(made, race)
    stuck = any("wait for ever" in problem.message for problem in made.did.outcome.problems)
    open_ = any(fact.divergent for fact in facts.barriers) or any(fact.absent for fact in facts.exchanges)
    if stuck and not open_:
        yield "threads wait for ever, and no barrier is called divergent"
    for fact in facts.barriers:
        if not fact.divergent and made.did.outcome.complete:
            for arrived in made.arrivals(fact.block):
                if arrived != made.threads:
                    yield f"{arrived} of {made.threads} threads come to a barrier"


def _missing(made: Run, race: RaceFact) -> Iterator[str]:
    for side in (race.first, race.second):
        thread = side.thread
        assert thread is not None
        x, y, z = thread.index
        number = x + made.facts.block[0] * (y + made.facts.block[1] * z)
        asked = made.did.requests[side.access.instruction]
        if not any(r.warp == number // made.did.warp and number % made.did.warp in r.addresses for r in asked):
            return
    yield f"no such race: {race.first.access.index} of {race.first.thread}, {race.second.access.index}"


def without(module: Module, barrier: Instruction) -> Module:
    (function,) = module.functions
    blocks = tuple(
        replace(b, instructions=tuple(i for i in b.instructions if i is not barrier)) for b in function.blocks
    )
    return replace(module, functions=(replace(function, blocks=blocks),))


def still_ordered(made: Run, seed: int) -> Iterator[str]:
    """Yield what goes wrong without a barrier that is said to order nothing."""
    for fact in made.facts.barriers:
        if fact.redundant and fact.certainty == "proven" and made.did.outcome.complete:
            again = run(seed, module=without(made.did.module, fact.instruction))
            if clashes(again) - clashes(made):
                yield "a barrier that orders something is called redundant"


def test_barriers_and_races_are_what_runs_show() -> None:
    mix: Counter[str] = Counter()
    for seed in range(40):
        made = run(seed, barriers=True)
        bad = [*wrong(made), *still_ordered(made, seed)]
        assert not bad, f"{seed}: {bad[:3]}"
        mix["complete"] += made.facts.races_complete
        mix["free"] += made.facts.races_complete and not made.facts.races and bool(made.facts.barriers)
        mix.update(f"race {race.certainty}" for race in made.facts.races)
        for fact in made.facts.barriers:
            mix["divergent" if fact.divergent else "redundant" if fact.redundant else "needed"] += 1
            mix["exits"] += fact.exits
    assert min(mix["complete"], mix["race proven"], mix["divergent"], mix["needed"]) > 6, mix


@pytest.mark.slow
def test_barriers_and_races_are_what_many_runs_show() -> None:
    for seed in range(40, 1000):
        made = run(seed, barriers=True)
        bad = [*wrong(made), *still_ordered(made, seed)]
        assert not bad, f"{seed}: {bad[:3]}"
