"""Threads a second of kernels: files go in, a report comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.errors import UsageError
from warpsmith.base.nvidia import find_tool
from warpsmith.flows.explaining import throughput
from warpsmith.flows.explaining.throughput import measure_throughput, modern_devices
from warpsmith.kernels.shape import Launching
from warpsmith.kernels.units import KernelFile
from warpsmith.machine.devices import device
from warpsmith.report.throughput.model import ThroughputRow
from warpsmith.settings.model import Settings

BROOK = Path(__file__).parents[3] / "examples" / "brook"
IL = Path(__file__).parents[3] / "examples" / "il"
TEXT = """
__global__ void twice(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
__global__ void powers(float *x, int n) {
    float s = x[threadIdx.x];
    for (int i = 0; i < n; i++) s *= s;
    x[threadIdx.x] = s;
}
"""


SETTINGS = Settings({"assume": ()}, {}, "/p")


def rows(path: Path, launching: Launching | None = None, *kernels: str, gpu: str = "h100") -> tuple[ThroughputRow, ...]:
    found = measure_throughput([KernelFile(str(path))], [device(gpu)], launching or Launching(), SETTINGS, kernels)
    return found.rows


@pytest.fixture(autouse=True)
def no_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are those of a machine without NVIDIA's tools."""
    monkeypatch.setattr(throughput, "find_tool", lambda _: None)


@pytest.fixture
def cuda(tmp_path: Path) -> Path:
    (tmp_path / "k.cu").write_text(TEXT)
    return tmp_path / "k.cu"


def test_a_kernel_that_streams_goes_as_fast_as_memory(cuda: Path) -> None:
    (row,) = rows(cuda, Launching((256, 1, 1), (1 << 16, 1, 1), {"n": 1 << 24}), "twice")
    found = row.gpus[0].throughput
    assert found is not None and found.decides == "memory" and not row.guessed and not row.gpus[0].predicted.forks
    assert found.mega_threads == pytest.approx(0.9 * 3350e9 / 8 / 1e6, rel=0.01)


def test_what_is_not_said_is_guessed_or_lacking(cuda: Path) -> None:
    first, second = rows(cuda)
    assert (first.block, first.grid, first.guessed) == ((256, 1, 1), (4096, 1, 1), ("--block", "--grid"))
    assert first.gpus[0].predicted.forks == ("the argument n",) and first.gpus[0].throughput is not None
    assert second.gpus[0].throughput is None and second.gpus[0].predicted.lacks[0].startswith("the argument n")
    assert first.gpus[0].unread == "ptxas is not installed (warpsmith[cuda] brings it)"


def test_a_kernel_over_streams_has_its_domain() -> None:
    (network,) = rows(BROOK / "bitonic.br", Launching(arguments={"width": 4, "distance": 2, "period": 4}))
    assert (network.block, network.grid, network.guessed) == ((64, 1, 1), (16384, 1, 1), ("--grid",))
    assert network.gpus[0].throughput is not None
    (plate,) = rows(BROOK / "heat.br")
    assert plate.grid == (16, 1024, 1) and plate.gpus[0].throughput is not None
    (sized,) = rows(BROOK / "heat.br", Launching(arguments={"width": 200, "height": 30}))
    assert sized.grid == (4, 30, 1) and not sized.guessed
    (program,) = rows(IL / "network_pass_rows.il")
    assert program.grid == (16, 1024, 1) and program.gpus[0].predicted.lacks[0].startswith("what is loaded")


def test_reductions_lack_how_much_they_reduce() -> None:
    (row,) = rows(BROOK / "sum.br", None, "add")
    assert "the argument a_height" in row.gpus[0].predicted.lacks[0]


def test_files_and_names_that_there_are_not(tmp_path: Path, cuda: Path) -> None:
    (row,) = rows(tmp_path / "none.cu")
    assert not row.gpus and row.findings[0].severity == "error"
    with pytest.raises(UsageError, match="no kernel has a parameter called 'm'"):
        rows(cuda, Launching(arguments={"m": 1}))


def test_every_gpu_of_the_list_has_a_text() -> None:
    names = {one.name for one in modern_devices()}
    assert {"a100", "h100", "h200", "b200", "rtx4090"} <= names and not names & {"hd3870", "gts250", "mi300x"}


@pytest.mark.skipif(find_tool("ptxas") is None, reason="ptxas is not installed")
def test_registers_and_instructions_are_those_of_the_tools(cuda: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throughput, "find_tool", find_tool)
    (row,) = rows(cuda, None, "twice")
    sass = row.gpus[0].sass
    assert sass is not None and sass.loads == 1 and 8 < sass.instructions < 40 and row.gpus[0].registers < 32
    (old,) = rows(cuda, None, "twice", gpu="gts250")
    assert old.gpus[0].sass is None and old.gpus[0].unread == "there is no text for sm_11"
