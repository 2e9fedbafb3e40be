"""SIMULATE: a kernel runs with its arguments, and what it did, and did wrong, is reported."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.flows.ptx import file, kernel, settings_of
from warpsmith.base.errors import InputError, UsageError
from warpsmith.base.progress import Activity, Progress
from warpsmith.flows.simulate import SimulateOptions, simulate
from warpsmith.kernels.units import KernelFile
from warpsmith.report.simulation.model import SimulationReport
from warpsmith.settings.model import KernelSettings
from warpsmith.simt.choose import Engine
from warpsmith.simt.policies.machine import PolicyName

OWN = "ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"
STORE = f"{OWN}st.global.u32 [%rd3], %r1;\n"
SAME = f"{OWN}st.global.u32 [%rd1], %r1;\n"
ENDLESS = "L: bra L;\n"


def run(body: str = STORE, **how: object) -> SimulationReport:
    given: dict[str, object] = {"block": (8, 1, 1), "grid": (1, 1, 1), "arguments": ("a=zeros:i32[8]", "n=3")}
    return simulate(file(kernel(body=body)), SimulateOptions(**(given | how)))  # type: ignore[arg-type]


def test_what_a_run_did() -> None:
    found = run()
    assert (found.status, found.exit_code, found.kernel, found.warp_width) == ("ok", 0, "k", 32)
    assert found.launch is not None and (found.launch.warps, found.launch.arguments) == (1, ("a=zeros:i32[8]", "n=3"))
    (row,) = found.outputs
    assert (row.name, row.elements, row.changed, row.first[:3]) == ("a", 8, 7, ("0", "1", "2"))
    assert found.work is not None and found.work.lane_instructions == 8 * found.work.warp_instructions
    assert [one.kind for one in found.memory] == ["store"] and found.timeline == ()
    assert len(run(timeline=True).timeline) == 1 and run(warp=4).launch.warps == 2  # type: ignore[union-attr]


def test_mistakes_are_a_negative_answer_if_they_are_looked_for() -> None:
    found = run(SAME)
    assert (found.status, found.exit_code, {one.check for one in found.mistakes}) == ("negative", 1, {"race"})
    assert run(SAME, checks=("oob",)).status == "ok"
    outside = run(arguments=("a=zeros:i32[4]", "n=3"))
    assert [one.check for one in outside.mistakes] == ["oob"] and outside.diagnostics == ()


def test_a_run_that_is_stopped_is_incomplete_and_says_why() -> None:
    found = run(ENDLESS, max_steps=50)
    assert (found.status, found.exit_code) == ("incomplete", 3)
    (stopped,) = found.diagnostics
    assert stopped.rule == "SIM006" and "--max-steps" in stopped.help[0]
    # what nobody asked to be told stops it all the same
    outside = run(arguments=("a=zeros:i32[4]", "n=3"), checks=())
    assert (outside.status, [one.rule for one in outside.diagnostics]) == ("incomplete", ["SIM006"])


def test_arrays_are_written_where_they_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    (row,) = run(out={"a": str(path)}).outputs
    assert row.file == str(path) and np.load(path).tolist() == list(range(8))
    # one that did not change is told if it is asked for
    assert run("", out={"a": str(path)}).outputs[0].changed == 0 and run("").outputs == ()
    with pytest.raises(UsageError, match="no argument of this name is an array"):
        run(out={"n": str(path)})
    with pytest.raises(UsageError, match="cannot be written"):
        run(out={"a": str(tmp_path / "no" / "a.npy")})


def test_what_the_configuration_says_of_a_kernel_unless_the_command_line_does() -> None:
    said = settings_of(KernelSettings("k", (4, 1, 1), (2, 1, 1), args={"n": 7, "other": 3}))
    found = run(block=None, grid=None, arguments=("a=zeros:i32[8]",), settings=said)
    assert found.launch is not None
    assert (found.launch.block, found.launch.grid, found.launch.arguments) == (
        (4, 1, 1),
        (2, 1, 1),
        ("n=7", "a=zeros:i32[8]"),
    )
    given = run(settings=said)
    assert (
        given.launch is not None
        and given.launch.arguments == ("a=zeros:i32[8]", "n=3")
        and given.launch.block == (8, 1, 1)
    )


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Collect no garbage: what a signal raises in a callback of the collector (hypothesis has one) is lost."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
def test_a_run_that_takes_too_long() -> None:
    found = run(ENDLESS, settings=settings_of(timeout=0.05), max_steps=10**9)
    assert (found.status, found.exit_code) == ("incomplete", 124)
    assert [finding.message for finding in found.diagnostics] == ["k ran longer than 0.05 s: it was stopped"]
    # what was counted until then is kept
    assert found.work is not None and found.work.lane_instructions > 0


def interrupt(*, at: str) -> Progress:
    """Return a progress that is interrupted when it is told of what `at` names."""

    def progress(work: Activity) -> None:
        if work.item.startswith(at):
            raise KeyboardInterrupt

    return progress


def test_ctrl_c_under_a_policy_leaves_what_is_done(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    names: tuple[PolicyName, ...] = ("ipdom", "per-lane")
    found = run(policies=names, progress=interrupt(at="policy per-lane"), out={"a": str(path)})
    assert (found.status, found.exit_code) == ("incomplete", 130)
    assert [finding.rule for finding in found.diagnostics] == ["INT001"]
    assert [row.policy for row in found.policies] == ["ipdom"]
    # the run itself had ended
    assert found.work is not None and found.work.lane_instructions > 0
    assert np.load(path).tolist() == list(range(8))


def test_a_file_that_cannot_be_read() -> None:
    with pytest.raises(InputError):
        simulate(KernelFile("none.ptx"), SimulateOptions())


def test_a_profile_has_every_block_with_its_visits(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(int *v)\n{\n    while (v[threadIdx.x] > 0)\n        v[threadIdx.x]--;\n}\n")
    np.save(tmp_path / "v.npy", np.array([3, 1, 0, 5, 2, 2, 2, 2], np.int32))
    for engine in ("compiled", "interpreter"):
        options = SimulateOptions(
            block=(8, 1, 1), arguments=(f"v=@{tmp_path / 'v.npy'}",), warp=4, profile=True, engine=engine
        )
        found = simulate(KernelFile(str(path)), options)
        assert found.work is not None
        assert sum(row.warp_instructions for row in found.blocks) == found.work.warp_instructions
        assert [row.warp_instructions for row in found.blocks] == sorted(
            (row.warp_instructions for row in found.blocks), reverse=True
        )
        # 5 iterations of the first warp and 2 of the second; 9 and 8 of their lanes
        body = next(row for row in found.blocks if row.span is not None and row.span.line == 4)
        assert (body.visits, body.lanes, body.lost_lane_slots) == (7, 17, (4 * 7 - 17) * body.instructions)
    assert simulate(KernelFile(str(path)), SimulateOptions(block=(8, 1, 1), arguments=("v=zeros:i32[8]",))).blocks == ()


FETCH = """
__global__ void k(float *out, cudaTextureObject_t t) { out[threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, 1.0f); }
"""


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
def test_a_texture_is_fetched_from_as_its_argument_says(engine: Engine, tmp_path: Path) -> None:
    given = ("out=zeros:f32[4]", "t=texture[3,2,linear]:iota:f32[6]")
    options = SimulateOptions(block=(4, 1, 1), arguments=given, engine=engine)
    report = simulate(KernelFile("k.cu", text=FETCH), options)
    assert report.status == "ok" and not report.mistakes
    assert [row.first for row in report.outputs] == [("1.5", "2.5", "3.5", "3.5")]
