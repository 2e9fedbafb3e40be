"""Blocks and warps that wait for each other in loops have their turns."""

from __future__ import annotations

import pytest

from tests.simt.engine.agree import ALL, QUICKLY, agree
from tests.simt.engine.cooperative import random_grid_case
from tests.simt.engine.kernels import random_case
from tests.simt.engine.spinning import KERNELS, UNCHECKED, UNORDERED, agree_spinning, ran, spin_case
from warpsmith.simt.engine import engine, kernel
from warpsmith.simt.engine.drivers import sliced
from warpsmith.simt.engine.engine import Checks
from warpsmith.simt.engine.words import Stop
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Function, Instruction


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "PATIENCE", 200_000)


@pytest.mark.parametrize("body", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize(("warp", "blocks", "threads"), [(32, 3, 64), (32, 7, 96)])
def test_who_waits_goes_on_when_others_have_come(body: str, warp: int, blocks: int, threads: int) -> None:
    case = spin_case(body, blocks=blocks, threads=threads, warp=warp)
    assert agree_spinning(case) == ""
    assert ran(case, ALL)[0].together


@pytest.mark.parametrize("warp", [4, 8, 64])
@pytest.mark.parametrize("name", list(KERNELS)[:3])
def test_at_any_width(name: str, warp: int) -> None:
    assert agree_spinning(spin_case(KERNELS[name], blocks=4, threads=72, warp=warp)) == ""


@pytest.mark.parametrize("checks", [QUICKLY, Checks(False, False, False, False)], ids=["quickly", "nothing"])
def test_whatever_is_looked_for(checks: Checks) -> None:
    assert agree_spinning(spin_case(KERNELS["a barrier of the grid by hand"]), checks) == ""


@pytest.mark.parametrize("body", UNORDERED.values(), ids=UNORDERED)
def test_flags_order_nothing_for_who_looks_for_races(body: str) -> None:
    case = spin_case(body, blocks=5)
    assert agree_spinning(case, UNCHECKED) == ""
    assert agree_spinning(case) in ("", *(text for text in [ran(case, ALL)[0].why] if "race" in text))


def test_lanes_of_one_warp_that_wait_for_each_other_run_out_of_steps() -> None:
    body = "while (atomicCAS(&out[size], 0, 1) != 0) ; out[size + 1] += i; atomicExch(&out[size], 0); out[i] = n;"
    made, memory, _ = ran(spin_case(body), UNCHECKED, 2_000_000)
    assert made.stop is Stop.BUDGET and made.together
    assert not any(memory.buffers[0].data)


def test_who_waits_for_nobody_is_run_one_block_after_the_other() -> None:
    body = (
        "int x = a[i]; while (x > 0) { for (int at = 0; at < 20000; at++) x ^= at; x = a[x & 31] - 100; } out[i] = x;"
    )
    made, *_ = ran(spin_case(body), ALL, 10**9)
    assert not made.why and not made.together


def test_who_may_wait_and_takes_long_ends() -> None:
    # the loop may wait for all that is known: it does not
    body = "int k = 0; while (atomicAdd(&out[size + blockIdx.x], 1) < 40000) k++; out[i] = k > 0;"
    made, *_ = ran(spin_case(body), ALL, 10**9)
    assert not made.why and made.together


def test_without_room_for_all_one_runs_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    from warpsmith.simt.engine import resident

    monkeypatch.setattr(resident, "MOST_BYTES", 1000)
    made, *_ = ran(spin_case(KERNELS["a chain from the last block to the first"]), ALL, 5_000_000)
    assert made.stop is Stop.BUDGET and not made.together


def _all_loops(function: Function) -> dict[str, frozenset[Instruction]]:
    graph = Graph.of(function)
    return {cycle.header: frozenset() for name in graph.order for cycle in graph.cycles_around(name)}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_to_give_way_in_every_loop_changes_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "waits_for_grid", lambda function: True)
    monkeypatch.setattr(engine, "spinning_loops", lambda function: {"": ()})
    monkeypatch.setattr(kernel, "spinning_loops", _all_loops)
    monkeypatch.setattr(sliced, "SLICE", 1 + seed % 3)
    agree((random_grid_case if seed % 2 else random_case)(seed))
