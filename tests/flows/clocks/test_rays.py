"""Rays through a tree of spheres: what is found is what asking all spheres finds, however waves are formed."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

import numpy as np
import pytest

from tests.simt.mask.programs import EXAMPLES
from warpsmith.base.source import SourceFile
from warpsmith.flows.clocks.simulate import ClockOptions, simulate_clocks

SCENE = run_path(str(EXAMPLES.parent / "manual" / "sphere_tree.py"))
MAJORITY = "scheduler=majority"


def rays(folder: Path, order: str, machine: str) -> int:
    """Return the clocks of the rays in an order, whose result is checked."""
    orders = {"grouped": np.arange(1024), "shuffled": np.random.default_rng(3).permutation(1024)}
    np.save(folder / "nodes.npy", SCENE["words"](SCENE["tree"](np.arange(96))))
    np.save(folder / "order.npy", orders[order].astype(np.uint32))
    given = (f"t0=@{folder / 'nodes.npy'}", f"t1=@{folder / 'order.npy'}", "u0=zeros:u32[1024]")
    program = SourceFile.read(str(EXAMPLES / "rays.mask"))
    report = simulate_clocks(program, ClockOptions(machine, 1024, arguments=given))
    assert report.exit_code == 0 and not report.findings
    assert np.array_equal(report.history.run.views["u", 0].words, SCENE["found"]())
    return report.history.clocks


def test_a_third_of_the_rays_meet_spheres_and_not_always_the_same() -> None:
    found = SCENE["found"]()
    assert 250 < np.count_nonzero(found) < 500 and len(set(found.tolist())) > 30


_FORMED = "example,width=4,lanes_per_alu=2,formation=crossbar"


@pytest.mark.parametrize("machine", ["guppy", "example", "cdna", pytest.param(_FORMED, marks=pytest.mark.slow)])
def test_rays_meet_what_they_meet_on_every_machine(machine: str, tmp_path: Path) -> None:
    assert rays(tmp_path, "shuffled", machine) > 0


@pytest.mark.slow
def test_shuffled_rays_gain_by_waves_that_are_formed_anew(tmp_path: Path) -> None:
    base = "example,waves=16"
    clocks = {
        (order, formation): rays(tmp_path, order, f"{base},formation={formation},{MAJORITY}")
        for order in ("grouped", "shuffled")
        for formation in ("homes", "crossbar")
    }
    plain = {order: rays(tmp_path, order, base) for order in ("grouped", "shuffled")}
    assert plain["shuffled"] > 1.4 * plain["grouped"]
    assert clocks["shuffled", "crossbar"] < clocks["shuffled", "homes"] < 0.8 * plain["shuffled"]
    assert clocks["grouped", "crossbar"] < plain["grouped"] < clocks["grouped", "homes"]
