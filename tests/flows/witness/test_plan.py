"""The launch that is run: its grid, what of it was made up, and which kernels are not run."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.flows.witness.kernels import facts_of, unit_of
from warpsmith.flows.witness import plan
from warpsmith.flows.witness.attempt import FIGURES, RACES
from warpsmith.flows.witness.made import Made
from warpsmith.flows.witness.plan import LaunchPlan, index_of, launch_plan, why_not
from warpsmith.kernels.shape import Launching
from warpsmith.kernels.units import KernelFile

TEXT = "__global__ void k(float *a, int n) { a[blockIdx.x * 64 + threadIdx.x + n + gridDim.x] = 1; }"
MADE = Made({"n": "7", "m": "9"}, frozenset({"m"}), {"a": ("f32", 256)})


def planned(folder: Path, launching: Launching | None = None) -> LaunchPlan:
    unit = unit_of(folder, TEXT)
    return launch_plan(unit, KernelFile("k.cu", arguments=("-DX", "-std=c++17")), facts_of(unit, launching), FIGURES)


def test_the_grid_that_is_run(tmp_path: Path) -> None:
    assert planned(tmp_path).grid == (2, 1, 1), "blocks are told apart along x alone"
    given = planned(tmp_path, Launching((64, 1, 1), (100, 3, 1)))
    assert given.grid == (4, 3, 1) and given.threads == 256
    assert planned(tmp_path, Launching((64, 1, 1), arguments={"n": 5})).grid == (1, 1, 1)
    assert planned(tmp_path).planned.checks is FIGURES is not RACES


def test_what_was_made_up_is_said(tmp_path: Path) -> None:
    one = planned(tmp_path, Launching((64, 1, 1), (2, 1, 1)))
    assert one.assumptions(MADE, {"n", "m", "memory"}, grid=True) == ("n is 7", "memory holds random numbers")
    free = planned(tmp_path)
    assert free.assumptions(MADE, {"grid"}, grid=False) == ("the grid has 2x1x1 blocks",)
    assert free.assumptions(MADE, set(), grid=True) == ("the grid has 2x1x1 blocks",)
    no_arrays = replace(MADE, arrays={})
    assert free.assumptions(no_arrays, {"memory"}, grid=False) == ("variables of the file are as they begin",)


def test_the_command(tmp_path: Path) -> None:
    words = shlex.split(planned(tmp_path).command_for(MADE, 128))
    assert words[:5] == ["warpsmith", "simulate", "k.cu", "-DX", "--std=c++17"]
    assert words[words.index("--shared") + 1] == "128" and words[-1] == "a=rand:f32[256]"
    assert "--shared" not in planned(tmp_path).command_for(MADE, 0)


def test_who_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = unit_of(tmp_path, TEXT)
    facts = facts_of(unit)
    assert why_not(unit, facts) == ""
    assert "types" in why_not(replace(unit, parameters={}), facts)
    monkeypatch.setattr(plan, "LARGEST", 2)
    assert why_not(unit, facts) == "it has more than 2 instructions"


def test_indices() -> None:
    assert [index_of(n, (2, 3, 4)) for n in (0, 1, 2, 6, 23)] == [
        (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 2, 3)
    ]  # fmt: skip
