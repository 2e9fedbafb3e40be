"""Lost slots without a log: as the interpreter charges them, and whole also where a run stops in the middle."""

from __future__ import annotations

import pytest

from tests.simt.engine.agree import Case, agree
from tests.simt.engine.reading.test_levels import MADE, NOT_MADE
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.simt.engine.engine import Checks, Run, run
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.launch import Launch

ONLY = Checks(lost=True, requests=False, uninitialized=False, races=False)
NESTED = """
    if (t & 1) for (int i = 0; i < 1000 + t; i++) { if (r & 1) r += i; else for (int j = t; j < 9; j++) r *= 3; }
    out[t] = r;"""
WAITING = """
    for (int i = 0; i < 400; i++) { if (t & 4) r += i; __syncthreads(); r ^= out[t]; }
    for (int i = 0; i < t; i++) r *= 3;
    out[t] = r;"""


def case(body: str, threads: int = 45, *, blocks: int = 2, most: int = 1_000_000) -> Case:
    text = f'extern "C" __global__ void k(int *out) {{ int t = threadIdx.x, r = blockIdx.x; {body} }}'
    unit = read_unit(KernelFile("k.cu", "cuda", (), text))
    assert isinstance(unit, KernelUnit)
    launch = Launch((blocks, 1, 1), (threads, 1, 1), warp=16, max_steps=most)
    return Case(unit.module, "k", launch, {"out": (bytes(4 * threads), True)})


@pytest.mark.parametrize("what", [*MADE, *NOT_MADE])
def test_slots_are_charged_as_the_interpreter_charges_them(what: str) -> None:
    assert agree(case({**MADE, **NOT_MADE}[what], blocks=1), ONLY) == ""


@pytest.mark.slow
@pytest.mark.parametrize("body", [NESTED, WAITING], ids=["nested", "waiting"])
def test_slots_of_loops_and_barriers_are_charged(body: str) -> None:
    assert agree(case(body, blocks=1), ONLY) == ""


def made_of(body: str, most: int) -> Run:
    given = case(body, most=most)
    memory, launch = given.placed(checks=False)
    return run(given.module, "k", launch, memory, ONLY)


@pytest.mark.parametrize("body", [NESTED, WAITING], ids=["nested", "waiting"])
@pytest.mark.parametrize("most", [40, 150, 600, 2000, 5000, 11_000])
def test_no_slot_is_forgotten_where_a_run_stops(body: str, most: int) -> None:
    made = made_of(body, most)
    assert made.stop is Stop.BUDGET
    sums = made.counts.totals
    assert sum(sums.lost.values()) > 0 or most < 600
    assert sums.issued_slots == sums.lane_instructions + sum(sums.lost.values()) + sums.unfilled
