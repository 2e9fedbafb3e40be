"""Barriers and races of random kernels: what is said against what runs do, also without barriers called redundant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.analysis.memory.test_accesses import run
from tests.analysis.runs import Run, clashes
from tests.lower.harness import lowered
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.sync import barriers, races
from warpsmith.analysis.uniformity.facts import LaunchShape, RaceFact
from warpsmith.machine.devices import device
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


NEEDED = [
    "s[t] = 1; WAIT a[t] = s[t ^ 1];",
    # on one of two ways
    "s[t] = 1; if (n > 3) WAIT a[t] = s[t ^ 1];",
    "s[t] = 1; __threadfence(); WAIT a[t] = s[t];",
    "long long c = clock64(); WAIT a[t] = clock64() - c;",
    "for (int i = 0; i < n; i++) { s[t ^ i] = i; WAIT }",
    "atomicAdd(&a[0], t); WAIT atomicMax(&a[0], 1);",
]
IDLE = ["s[t] = 1; WAIT a[t] = s[t];", "WAIT s[t] = 1; a[t] = s[t];", "for (int i = 0; i < n; i++) { s[t] = i; WAIT }"]


def _is_redundant(body: str, folder: Path) -> bool:
    text = f"__global__ void k(int *a, int n) {{ __shared__ int s[64]; int t = threadIdx.x; {body} }}\n"
    module = lowered(text.replace("WAIT", "__syncthreads();"), folder, "k.cu").module
    (fact,) = examine(module, module.functions[0].name, LaunchShape((64, 1, 1), (1, 1, 1)), device("h100")).barriers
    return fact.redundant


@pytest.mark.parametrize(("bodies", "redundant"), [(NEEDED, False), (IDLE, True)])
def test_a_barrier_is_redundant_where_nothing_rests_on_it(bodies: list[str], redundant: bool, tmp_path: Path) -> None:
    assert [body for body in bodies if _is_redundant(body, tmp_path) != redundant] == []


# --- bugs


def _sees_wrong_facts(folder: Path) -> bool:
    made = ((run(seed, barriers=True), seed) for seed in range(40))
    return any([*wrong(one), *still_ordered(one, seed)] for one, seed in made)


def _sees_wrong_redundancy(folder: Path) -> bool:
    return any(_is_redundant(body, folder) for body in NEEDED) or not all(_is_redundant(body, folder) for body in IDLE)


BUGS = [
    (barriers, "come_together", lambda presences, block: True, _sees_wrong_facts),
    (barriers._Ordered, "holds_without", lambda self, barrier: (True, ()), _sees_wrong_facts),
    (races, "overlap", lambda *given: None, _sees_wrong_facts),
    (races, "_conflicting", lambda a, b: a.kind == b.kind == "store", _sees_wrong_facts),
    (barriers, "around", lambda *given: (set(), set()), _sees_wrong_redundancy),
    (barriers, "_opaque", lambda i: False, _sees_wrong_redundancy),
    (barriers, "_opaque", lambda i: i.op == "fence", _sees_wrong_redundancy),
    (barriers, "full_barrier", lambda i: False, _sees_wrong_redundancy),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("patch", "sees"), [(bug[:3], bug[3]) for bug in BUGS])
def test_a_bug_is_seen(
    patch: tuple[object, str, object], sees: Callable[[Path], bool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(*patch)
    assert sees(tmp_path)
