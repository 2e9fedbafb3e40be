"""Schedules: what must hold of each."""

from __future__ import annotations

import pytest

from tests.front.il.running import parse
from tests.targets.r600.seeded import case_of
from warpsmith.machine.vliw.slots import GENERATIONS, Generation, slots_of, width_of
from warpsmith.targets.r600.arithmetic import R600
from warpsmith.targets.r600.bounds import needs_of
from warpsmith.targets.r600.expand import expand
from warpsmith.targets.r600.groups import gather
from warpsmith.targets.r600.operations import NumberWord, Operation, PlaceWord, Values
from warpsmith.targets.r600.schedule import INLINE, LITERALS, schedule


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("seed", range(12))
def test_what_a_schedule_must_hold(seed: int, generation: Generation) -> None:
    v = Values()
    groups = gather(expand(parse(case_of(seed).text), R600(v, generation, "two-sided")), v)
    made = schedule(groups, generation)
    place = {one: number for number, bundle in enumerate(made.bundles) for one in bundle.slots.values()}
    assert sorted(one.number for one in place) == sorted(one.number for one in groups.operations)
    for number, bundle in enumerate(made.bundles):
        taken = sum(width_of(one.name, generation) for one in bundle.slots.values())
        assert taken <= (4 if generation == "cayman" else 5)
        for slot, one in bundle.slots.items():
            assert slot in slots_of(one.name, generation)
            for need in needs_of(one, groups):
                before = place[need] if isinstance(need, Operation) else made.fetched[need] - 1
                assert before < number
        words = {o.value.bits for one in bundle.slots.values() for o in one.operands if isinstance(o.value, NumberWord)}
        assert len(words - INLINE.keys()) <= LITERALS
    for fetch, before in made.fetched.items():
        needs = [place[need] for need in needs_of(fetch, groups) if isinstance(need, Operation)]
        assert before == max((place + 1 for place in needs), default=before)


def test_a_bundle_has_four_literals_at_most() -> None:
    from warpsmith.targets.r600.operations import Export, operations_below

    v = Values()
    several = [v.operation("ADD", (PlaceWord("x"), NumberWord(100 + number))) for number in range(5)]
    last = v.operation("ADD", (several[4], PlaceWord("x")))
    x, y, z, w = (*several[:3], v.operation("ADD", (several[3], last)))
    groups = gather(operations_below([Export(0, (x, y, z, w))]), v)
    assert all(len(bundle.slots) <= 4 for bundle in schedule(groups, "r600").bundles)
