"""How few bundles there can be: against all schedules of small graphs."""

from __future__ import annotations

import random
from itertools import product

import pytest

from warpsmith.targets.r600.bounds import distances_of, lower_bound, needs_of, slots_for
from warpsmith.targets.r600.groups import RegisterGroups, gather
from warpsmith.targets.r600.operations import Export, Operation, PlaceWord, Value, Values, operations_below
from warpsmith.targets.r600.schedule import schedule


def random_groups(seed: int) -> RegisterGroups:
    r = random.Random(seed)
    v = Values()
    made: list[Value] = [PlaceWord("x"), PlaceWord("y")]
    for number in range(r.randrange(3, 7)):
        name = r.choice(["ADD_INT", "MULLO_INT", "INT_TO_FLT"])
        made.append(v.operation(name, tuple(r.choice(made) for _ in range(1 + (name != "INT_TO_FLT")))))
        assert number < 9
    ends = [one for one in made if isinstance(one, Operation)][-2:]
    x, y = ends[0], ends[-1]
    return gather(operations_below([Export(0, (x, y if y is not x else None, None, None))]), v)


def fewest(groups: RegisterGroups) -> int:
    """Return the fewest bundles of any schedule, by trying them all."""
    operations = groups.operations
    for count in range(1, len(operations) + 1):
        for at in product(range(count), repeat=len(operations)):
            place = dict(zip(operations, at, strict=True))
            if any(isinstance(n, Operation) and place[n] >= place[o] for o in operations for n in needs_of(o, groups)):
                continue
            bundles = [[o for o in operations if place[o] == number] for number in range(count)]
            if all(_fits(bundle, groups) for bundle in bundles):
                return count
    return 0


def _fits(bundle: list[Operation], groups: RegisterGroups) -> bool:
    choices = [slots_for(one, groups, "r600") for one in bundle]
    return any(len(set(chosen)) == len(chosen) for chosen in product(*choices))


@pytest.mark.parametrize("seed", range(60))
def test_no_schedule_is_shorter_than_the_bound_and_ours_is_the_shortest(seed: int) -> None:
    groups = random_groups(seed)
    bound, best = lower_bound(groups, "r600", distances_of(groups)), fewest(groups)
    assert bound <= best == len(schedule(groups, "r600").bundles)


def test_distances_count_bundles_and_no_fetches() -> None:
    v = Values()
    one = v.operation("INT_TO_FLT", (PlaceWord("x"),))
    fetch = v.fetch(0, 0, (one,), whole=False)
    two = v.operation("ADD", (v.fetched(fetch, "x"), one))
    found = distances_of(gather(operations_below([Export(0, (two, None, None, None))]), v))
    assert [found.head[node] for node in (one, fetch, two)] == [0, 1, 1]
    assert [found.tail[node] for node in (one, fetch, two)] == [1, 1, 0]
