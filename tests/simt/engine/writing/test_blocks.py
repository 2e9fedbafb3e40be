"""What all writers share: phis that swap, switches, undefined registers, ends in the middle; under every policy."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.simt.engine.agree import Case, agree
from tests.simt.engine.agree_policy import agree_under
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.simt.engine.engine import Checks, run
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.launch import Launch
from warpsmith.simt.policies.machine import POLICIES

KERNELS = {
    # two variables change their values as often as the lane says: phis are read before any is written
    "swap": "int a = t, b = 100 + t; for (int k = 0; k < t % 5; k++) { int c = a; a = b; b = c; } out[t] = 3 * a + b;",
    # cases that share a place, one that is met twice by no lane, and what is left
    "spread": "int r = 0; switch (t % 7) { case 1: case 4: r = 5; break; case 2: r = t; case 3: r += 7; break; "
    "default: r = -1; } out[t] = r;",
    # lanes that end while others go on
    "ends": "if (t % 3 == 0) return; int r = 0; for (int k = 0; k < t; k++) { if (k == 9) { out[t] = r; return; } "
    "r += k; } out[t] = r;",
}


@pytest.fixture(scope="module")
def unit(tmp_path_factory: pytest.TempPathFactory) -> KernelUnit:
    path: Path = tmp_path_factory.mktemp("blocks") / "given.cu"
    text = (f'extern "C" __global__ void {name}(int *out) {{ int t = threadIdx.x; {body} }}'
            for name, body in KERNELS.items())  # fmt: skip
    path.write_text("\n".join(text))
    found = read_unit(KernelFile(str(path)))
    assert isinstance(found, KernelUnit)
    return found


def case(unit: KernelUnit, name: str, threads: int = 45, max_steps: int = 1_000_000) -> Case:
    launch = Launch((1, 1, 1), (threads, 1, 1), {}, warp=32, max_steps=max_steps)
    return Case(unit.module, name, launch, {"out": (bytes(4 * threads), True)})


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_does_the_same_in_every_order(unit: KernelUnit, name: str) -> None:
    assert agree(case(unit, name)) == ""
    for policy in POLICIES:
        assert agree_under(policy, case(unit, name)) == "", policy


def test_what_phis_and_switches_make(unit: KernelUnit) -> None:
    wanted = {
        "swap": [3 * a + b for t in range(45) for a, b in [(t, 100 + t) if t % 5 % 2 == 0 else (100 + t, t)]],
        "spread": [{1: 5, 4: 5, 2: t + 7, 3: 7}.get(t % 7, -1) for t in range(45)],
        "ends": [0 if t % 3 == 0 else sum(range(min(t, 9))) for t in range(45)],
    }
    for name, numbers in wanted.items():
        one = case(unit, name)
        memory, launch = one.placed(checks=False)
        assert run(unit.module, name, launch, memory, Checks()).stop is Stop.NONE
        assert list(struct.unpack("<45i", bytes(memory.buffers[0].data))) == numbers, name


def test_divergences_are_those_of_the_text(unit: KernelUnit) -> None:
    one = case(unit, "ends", threads=32)
    memory, launch = one.placed(checks=False)
    counts = run(unit.module, "ends", launch, memory, Checks()).counts
    # at the first test once; each loop test where some of the lanes left leave: t = 1, 2, 4, 5, 7, 8; then k == 9
    # takes all that are left
    assert sum(block.divergences for block in counts.blocks.values()) == 1 + 6


def test_a_budget_is_the_lanes_together(unit: KernelUnit) -> None:
    one = case(unit, "ends", threads=32, max_steps=100)
    memory, launch = one.placed(checks=False)
    assert run(unit.module, "ends", launch, memory, Checks()).stop is Stop.BUDGET
