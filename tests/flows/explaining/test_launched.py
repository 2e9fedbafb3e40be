"""Kernels as they are launched: what no launch comes to is no finding, and what goes wrong names the launch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.flows.ptx import settings_of
from warpsmith.analysis.uniformity.facts import LaunchCall, LaunchShape
from warpsmith.flows.explaining.explain_file import FileResult, FileTask, explain_file
from warpsmith.flows.explaining.launched import as_launched
from warpsmith.kernels.shape import Launching
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.machine.devices import device

KERNEL = """
__global__ void measure(const float *in, float *out, int n, int check) {
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[i];
    if (check && threadIdx.x < 40) out[0] = sum;
}
void host(const float *in, float *out, int n, int any) { LAUNCHES }
"""
TILES = """
__global__ void mirror(const float *in, float *out, int n) {
    __shared__ float tile[32];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        tile[threadIdx.x] = in[i];
        __syncthreads();
        out[i] = tile[31 - threadIdx.x];
        __syncthreads();
    }
}
void host(const float *in, float *out, int grid, int n) { LAUNCHES }
"""
RACES = ("SYN002", "SYN004", "SYN008")


def explained(folder: Path, launches: str, said: Launching | None = None, text: str = KERNEL) -> FileResult:
    path = folder / "k.cu"
    path.write_text(text.replace("LAUNCHES", launches))
    task = FileTask(KernelFile(str(path)), (device("h100"),), said or Launching(), settings_of())
    return explain_file(task)


def call(third: str, fourth: str) -> str:
    return f"measure<<<4, 256>>>(in, out, {third}, {fourth});"


@pytest.mark.parametrize(
    ("launches", "races"),
    [
        (call("n", "0"), False),
        (call("n", "0") + call("64", "false"), False),
        ("const int check = 4 - 4; " + call("n", "check"), False),
        ("int check = 0; " + call("n", "check") + " check = 1;", False),
        (call("n", "1"), True),
        (call("n", "0") + call("n", "2"), True),
        (call("n", "any"), True),
        ("int check = 0; if (n > 4) check = 1; " + call("n", "check"), True),
        ("", True),
    ],
)
def test_what_no_launch_comes_to_is_no_race(launches: str, *, races: bool, tmp_path: Path) -> None:
    found = explained(tmp_path, launches)
    told = [one.finding for one in found.findings if one.finding.rule in RACES]
    assert bool(told) == races
    (kernel,) = found.kernels
    assert races or (kernel.freedom.kind == "none" and "check is 0" in " ".join(kernel.freedom.assumptions))


def test_a_race_names_the_launches(tmp_path: Path) -> None:
    found = explained(tmp_path, call("64", "1") + "\n" + call("128", "1") + "\n" + call("64", "1"))
    races = [
        one.finding for one in found.findings if one.finding.rule in RACES and one.finding.certainty != "heuristic"
    ]
    notes = {note.text: note.span.line for note in races[0].related}
    assert notes["launched here with n = 64, check = 1"] == 7 and notes["launched here with n = 128, check = 1"] == 8


def test_what_the_user_says_stands_alone(tmp_path: Path) -> None:
    found = explained(tmp_path, call("64", "0"), Launching(arguments={"check": 1}))
    assert [one for one in found.findings if one.finding.rule in RACES]


@pytest.mark.parametrize(
    ("n", "apart"), [("1024", False), ("1000", True), ("n", True), ("1024); mirror<<<grid, 32>>>(in, out, 1000", True)]
)
def test_all_threads_take_part_in_whole_tiles(n: str, *, apart: bool, tmp_path: Path) -> None:
    found = explained(tmp_path, f"mirror<<<grid, 32>>>(in, out, {n});", text=TILES)
    assert any(one.finding.rule == "SYN001" for one in found.findings) == apart
    assert apart or found.kernels[0].freedom.kind == "none"


def test_what_decided_is_known(tmp_path: Path) -> None:
    unit = read_unit(KernelFile("k.cu", text=KERNEL.replace("LAUNCHES", "")))
    assert isinstance(unit, KernelUnit)
    (kernel,) = unit.module.functions
    shape = LaunchShape(calls=(LaunchCall(None, {"n": (64,), "check": (0,)}),))
    module, made = as_launched(unit.module, kernel, shape)
    assert made.deciding == {"check"} and [f.name for f in module.functions] == [kernel.name]
    assert all(i.op != "store" for function in module.functions for _, i in function.instructions())
    same = as_launched(unit.module, kernel, LaunchShape(calls=(LaunchCall(None, {"n": (64,), "check": (3,)}),)))
    assert same[0] is unit.module and not same[1].deciding
