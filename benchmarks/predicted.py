"""Predicted times of the kernels of PolyBench's ports, against what a GPU took for them (results/gpu_times.txt).

python -m benchmarks.predicted

Each program is ported, its kernels are counted at LARGE, without a run, and their predicted times are added up.
Programs that launch kernels in loops, or with numbers that only a run has, are left out and named. The time on the
device is of an earlier port of the same program, built by nvcc. Registers are estimates, for
NVRTC does not take the files of ports.
"""

from __future__ import annotations

import math
import re
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.polybench import suite
from msgspec import Struct

from warpsmith.analysis.counts.prediction import PredictedTime, predict_time
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.uniformity.facts import Dim, LaunchShape
from warpsmith.base.findings import Finding
from warpsmith.flows.explaining.registers import ask_ptxas
from warpsmith.kernels.units import KernelFile, read_unit
from warpsmith.machine.devices import device
from warpsmith.machine.time.predict import predict
from warpsmith.machine.time.work import LaunchWork, Sweep, TouchedSectors, WarpInstructions

RESULTS: Final = Path(__file__).parent / "results" / "gpu_times.txt"
GPU: Final = device("h200")
_ROW: Final = re.compile(r"^(\S+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +(\d+) ", re.M)
_WRAPPER: Final = re.compile(r'^extern "C" void \w+\((?:[^)]*)\)\n\{\n(?P<body>.*?)^\}', re.M | re.S)
_LAUNCH: Final = re.compile(r"(?P<kernel>\w+)<<<grid, block>>>\((?P<arguments>[^;]*)\);")
_VALUE: Final = re.compile(r"const long long (\w+) = ([^;]+);")
_LEAST: Final = re.compile(r"\((\w+) < (\d+) \? \1 : \2\)")


class Launch(Struct, frozen=True):
    """One kernel as the host part launches it."""

    kernel: str
    grid: Dim
    block: Dim
    arguments: tuple[str, ...]


def main() -> int:
    """Print a row a program, and how far off all are."""
    measured = {m[1]: (float(m[7]), int(m[8])) for m in _ROW.finditer(RESULTS.read_text())}
    print(f"{'program':16} {'predicted':>10} {'device':>10} {'ratio':>7}  decided by")
    ratios: dict[str, tuple[float, float]] = {}
    for path in suite.programs():
        seconds, launches = measured.get(path.stem, (0.0, 0))
        started = time.perf_counter()
        found = list(_predicted(path)) if launches <= 12 else [f"{launches} launches: in a loop"]
        made = [one for one in found if isinstance(one, PredictedTime) and one.prediction is not None]
        if len(made) < len(found) or not seconds or len(made) != launches:
            why = next((one for one in found if isinstance(one, str)), f"{len(found)} kernels, {launches} launches")
            print(f"{path.stem:16} {'':10} {seconds * 1e3:8.2f}ms {'':7}  left out: {why}")
            continue
        total = sum(one.prediction.seconds for one in made if one.prediction is not None)
        longest = max(made, key=lambda one: one.prediction.seconds if one.prediction is not None else 0.0)
        assert longest.prediction is not None
        ratios[path.stem] = total, seconds
        print(f"{path.stem:16} {total * 1e3:8.2f}ms {seconds * 1e3:8.2f}ms {total / seconds:7.2f}  "
              f"{longest.prediction.why} ({time.perf_counter() - started:.1f} s)")  # fmt: skip
    _report(list(ratios.values()))
    _time_model()
    return 0


def _time_model() -> None:
    """Print how long one evaluation of the model takes: counts given, all terms of a launch."""
    work = stream()
    took = timeit.timeit(lambda: predict(GPU, work), number=2_000) / 2_000
    print(f"one evaluation of the model: {took * 1e6:.0f} us")


def stream() -> LaunchWork:
    """Return a launch that has all kinds of work."""
    touched = TouchedSectors(64, 64_000, 64_100, 700_000)
    kinds = WarpInstructions(1e6, 1e6, 1e6, 1e6, 1e5, 1e5, 1e6, 1e6, 10)
    sweeps = tuple(Sweep((4.0, 400.0, 400.0), (100.0, 10.0)) for _ in range(8))
    return LaunchWork(
        6400, 8, 8, 1056, kinds, 1e6, 4e6, 1e6, 2e6, 1e5, 0.0, 0.0, 1e6, touched, touched, sweeps, 4096, 1e8, 0.5
    )


def _report(pairs: Sequence[tuple[float, float]]) -> None:
    factors = [max(a / b, b / a) for a, b in pairs]
    order = [sorted(range(len(pairs)), key=lambda at: pairs[at][side]) for side in (0, 1)]
    ranks = [{at: rank for rank, at in enumerate(one)} for one in order]
    agree = sum(
        (ranks[0][a] - ranks[0][b]) * (ranks[1][a] - ranks[1][b]) > 0 for a in range(len(pairs)) for b in range(a)
    )
    every = len(pairs) * (len(pairs) - 1) // 2
    mean = math.exp(statistics.fmean(math.log(a / b) for a, b in pairs))
    print(f"\n{len(pairs)} programs: off by a factor of {statistics.median(factors):.2f} in the median, "
          f"{max(factors):.2f} at most; predicted / device {mean:.2f} on (geometric) average; "
          f"Kendall's tau {2 * agree / every - 1:.2f}")  # fmt: skip


def _predicted(path: Path) -> Iterator[PredictedTime | str]:
    """Yield the predicted time of each kernel of a port, or why there is none."""
    sizes = {name.lower(): number for name, number in suite.sizes(path, "LARGE").items()}
    # at these sizes the first slice of a grid is all of it
    sizes |= {f"first_{axis}": 0 for axis in "xyz"}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "warpsmith", "port", str(path), "-o", folder, "--force", "--verify", "off",
                   "--isolated"]  # fmt: skip
        subprocess.run(command, capture_output=True, check=False, timeout=300)
        for file in sorted(Path(folder).glob("*_kernels.cu")):
            yield from _of_file(file, sizes)


def _of_file(file: Path, sizes: Mapping[str, int]) -> Iterator[PredictedTime | str]:
    unit = read_unit(KernelFile(str(file), "cuda"))
    if isinstance(unit, Finding):
        yield unit.message
        return
    said, _ = ask_ptxas(unit, (), (GPU,))
    for launch in _launches(file.read_text(), sizes):
        if isinstance(launch, str):
            yield launch
            continue
        function = unit.module.function(launch.kernel)
        assert function is not None
        given = zip(function.parameters, launch.arguments, strict=True)
        known = {parameter.name: sizes[name] for parameter, name in given if name in sizes}
        shape = LaunchShape(launch.block, launch.grid, known)
        found = predict_time(examine(unit.module, launch.kernel, shape, GPU, said.get((GPU.name, launch.kernel))))
        yield found if found.prediction is not None else f"{launch.kernel} lacks {'; '.join(found.lacks)}"


def _launches(text: str, sizes: Mapping[str, int]) -> Iterator[Launch | str]:
    for wrapper in _WRAPPER.finditer(text):
        body = wrapper["body"]
        launch = _LAUNCH.search(body)
        if launch is None:
            continue
        names: dict[str, int] = dict(sizes)
        try:
            for name, value in _VALUE.findall(body):
                names[name] = _worth(value, names)
            grid, block = (_dims(body, what, names) for what in ("grid", "block"))
        except (NameError, SyntaxError, TypeError) as error:
            yield f"{launch['kernel']}: {error}"
            continue
        arguments = (a.strip().removeprefix("(unsigned)") for a in launch["arguments"].split(","))
        yield Launch(launch["kernel"], grid, block, tuple(arguments))


def _dims(body: str, what: str, names: Mapping[str, int]) -> Dim:
    found = re.search(rf"const dim3 {what}\((.*)\);", body)
    if found is None:
        raise NameError(f"no {what}")
    numbers = [_worth(part, names) for part in found[1].split(", ")]
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def _worth(text: str, names: Mapping[str, int]) -> int:
    """Return what an expression of the host part is worth."""
    text = _LEAST.sub(r"min(\1, \2)", text.replace("(unsigned)", "").replace("(long long)", "").replace("/", "//"))
    return int(eval(text, {"__builtins__": {"min": min}}, dict(names)))


if __name__ == "__main__":
    sys.exit(main())
