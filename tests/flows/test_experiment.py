"""Experiments: the counts of the documents, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from warpsmith.base.errors import UsageError
from warpsmith.base.progress import Activity
from warpsmith.flows.experiment import ExperimentOptions, experiment
from warpsmith.flows.simulate import SimulateOptions
from warpsmith.kernels.units import KernelFile
from warpsmith.report.experiment.model import ExperimentReport, ExperimentRun, Varied
from warpsmith.simt.policies.machine import POLICIES

MANUAL = Path(__file__).parents[2] / "examples" / "manual"
COUNTDOWN = {
    "increasing": ("v=each:i32[n]=n-1-i",),
    "constant": ("v=const:i32[n]=3200",),
    "alternating": ("v=each:i32[n]=i%2*n",),
    "random": ("v=libc:i32[n]:below=6400",),
    "half": ("v=each:i32[n]=(i>=n/2)*n",),
}


def run(
    varied: Varied,
    name: str,
    base: SimulateOptions,
    *,
    values: tuple[str, ...] = (),
    inputs: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> ExperimentReport:
    return experiment(KernelFile(str(MANUAL / name)), ExperimentOptions(varied, base, values, inputs))


def counted(*values: str) -> ExperimentReport:
    base = SimulateOptions(
        kernel="counted",
        block=(256, 1, 1),
        grid=(1, 1, 1),
        arguments=("out=zeros:i32[256]",),
        engine="compiled",
        checks=(),
    )
    inputs = {"random": ("count=rand:i32[256]:below=64",), "sorted": ("count=each:i32[256]=i/4",)}
    return run("width", "masks.cu", base, values=values, inputs=inputs)


def test_the_iterations_of_five_inputs() -> None:
    base = SimulateOptions(
        block=(256, 1, 1), grid=(25, 1, 1), arguments=("n=6400",), engine="compiled", checks=(), max_steps=10**9
    )
    found = {point.input: point for point in run("input", "countdown.cu", base, inputs=COUNTDOWN).points}
    assert {name: (point.hot_visits, point.hot_lanes) for name, point in found.items()} == {
        "increasing": (643_000, 20_476_800),
        "constant": (640_000, 20_480_000),
        "alternating": (1_280_000, 20_480_000),
        "random": (1_238_219, 20_294_984),
        "half": (640_000, 20_480_000),
    }


def test_wide_warps_cost_what_their_longest_lanes_do() -> None:
    report = counted()
    cost = {(point.value, point.input): point.cost for point in report.points}
    assert report.values == ("1", "2", "4", "8", "16", "32", "64")
    numbers = np.random.default_rng(1).integers(0, 64, 256, dtype=np.int32)
    for width in map(int, report.values):
        # iterations of the loop's body, by definition
        wanted = numbers.reshape(-1, width).max(axis=1).sum()
        point = next(p for p in report.points if (p.value, p.input) == (str(width), "random"))
        assert point.hot_visits == wanted + 256 // width
    # the loss is there at 8 already, sorted numbers are about twice as fast
    assert cost["8", "random"] > 1.6 and cost["64", "random"] / cost["8", "random"] < 1.2
    assert cost["32", "random"] / cost["32", "sorted"] > 1.6
    assert cost["1", "random"] == cost["1", "sorted"] == 1


@pytest.mark.slow
def test_k_ways_take_k_times_as_long() -> None:
    """T(k) = s * k, of 32 lanes 32 / k are active (arXiv 2607.23402): here s is counted, and so are the lanes."""
    base = SimulateOptions(block=(32, 1, 1), grid=(1, 1, 1), arguments=("out=zeros:u32[32]",), checks=())
    ways = (1, 2, 3, 4, 8, 16, 31, 32)
    found = run("input", "paths.cu", base, inputs={str(k): (f"k={k}",) for k in ways})
    time = {int(point.input): point.warp_instructions for point in found.points}
    each = time[2] - time[1]
    around = time[1] - each
    assert around < each / 16
    assert time == {k: around + each * k for k in ways}
    for point in found.points:
        k = int(point.input)
        # what stands around the switch is executed by all 32 lanes, each way by those that go there
        assert point.lane_instructions == 32 * (around + each)
        assert (point.lane_instructions - 32 * around) / (point.warp_instructions - around) == pytest.approx(32 / k)


def test_policies_and_blocks_are_varied() -> None:
    arguments = ("a=rand:i32[32]:below=2", "b=rand:i32[32]:seed=2:below=2", "out=empty:i32[32]")
    base = SimulateOptions(block=(32, 1, 1), grid=(1, 1, 1), arguments=arguments, checks=())
    assert run("policy", "both.cu", base).values == POLICIES
    assert run("policy", "both.cu", base, values=("ipdom", "maximal")).values == ("maximal", "ipdom")
    base = SimulateOptions(block=(64, 1, 1), grid=(2, 1, 1), arguments=("n=100", "v=const:i32[128]=3"), checks=())
    blocks = run("block", "countdown.cu", base, values=("32", "128", "16,2"))
    assert blocks.values == ("32", "128", "16,2")
    assert len({point.lane_instructions for point in blocks.points[:2]}) == 1


def test_a_run_that_does_not_end_says_so() -> None:
    base = SimulateOptions(block=(32, 1, 1), grid=(1, 1, 1), arguments=("n=32", "v=const:i32[32]=900"), max_steps=500)
    found = run("width", "countdown.cu", base, values=("8", "32"))
    assert found.status == "incomplete" and found.exit_code == 3
    assert all("500 steps" in point.stopped for point in found.points)
    assert isinstance(found.points[0], ExperimentRun)


def test_ctrl_c_ends_it_with_what_is_there() -> None:
    runs: list[str] = []

    def progress(work: Activity) -> None:
        if "instructions" in work.item:
            runs.append(work.item)
            if len(runs) > 40:
                raise KeyboardInterrupt

    base = SimulateOptions(
        block=(32, 1, 1), grid=(1, 1, 1), arguments=("n=32", "v=const:i32[32]=40"), progress=progress
    )
    found = run("width", "countdown.cu", base)
    assert (found.status, found.exit_code) == ("incomplete", 130)
    assert 1 <= len(found.points) < 7 and found.points[-1].lane_instructions > 0
    assert [finding.rule for finding in found.diagnostics] == ["INT001"]


@pytest.mark.parametrize(
    ("varied", "values", "said"),
    [
        ("width", ("0",), "from 1 to 64"),
        ("width", ("65",), "from 1 to 64"),
        ("policy", ("stack",), "no policy 'stack'"),
        ("input", (), "needs inputs"),
        ("block", ("0",), "--values"),
    ],
)
def test_what_makes_no_sense_is_refused(varied: Varied, values: tuple[str, ...], said: str) -> None:
    base = SimulateOptions(block=(32, 1, 1), grid=(1, 1, 1), arguments=("n=3", "v=iota:i32[32]"))
    with pytest.raises(UsageError) as raised:
        run(varied, "countdown.cu", base, values=values)
    assert said in raised.value.findings[0].message
    if varied == "block":
        with pytest.raises(UsageError) as raised:
            run("block", "countdown.cu", SimulateOptions(arguments=("n=3", "v=iota:i32[32]")))
        assert "--block and --grid" in raised.value.findings[0].message
