"""The tables of a launch."""

from __future__ import annotations

from itertools import pairwise

from tests.simt.engine.agree import ALL
from tests.simt.engine.kernels import random_case
from warpsmith.simt.engine.compile import compile_kernel
from warpsmith.simt.engine.tables import LaunchTables
from warpsmith.simt.engine.words import LaunchWords, RegionWords, new_state
from warpsmith.simt.memory import allocate_shared


def test_regions_lie_apart_and_are_those_of_memory() -> None:
    case = random_case(4)
    memory, launch = case.placed(checks=True)
    code = compile_kernel(case.module.functions[0], launch.warp, ALL)
    tables = LaunchTables(
        code, case.module, launch, memory, places=allocate_shared(case.module, memory), state=new_state()
    )
    spans = sorted((row[RegionWords.LOW], row[RegionWords.LOW] + row[RegionWords.LENGTH]) for row in tables.rows)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    assert {place.space for place in tables.places} >= {"global", "local"}
    assert [row[RegionWords.NUMBER] for row in tables.rows] == list(range(len(tables.rows)))
    assert tables.state[LaunchWords.WARPS] == -(-launch.threads // launch.warp)


def test_threads_are_numbered_along_x_first() -> None:
    case = random_case(4)
    memory, launch = case.placed(checks=True)
    code = compile_kernel(case.module.functions[0], launch.warp, ALL)
    tables = LaunchTables(
        code, case.module, launch, memory, places=allocate_shared(case.module, memory), state=new_state()
    )
    x, y, _ = launch.block
    index = tables.indices().reshape(3, -1)
    for thread in range(launch.threads):
        assert [int(n) for n in index[:, thread]] == [thread % x, thread // x % y, thread // (x * y)]
