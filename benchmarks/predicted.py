"""Predicted times of the kernels of PolyBench's ports, against what a GPU took for them (results/gpu_times.txt).

python -m benchmarks.predicted

Each program is ported at LARGE, and what `port` predicts of its kernels is added up: all launches, those in loops of
the host by three of their iterations. Programs with a kernel that has no time are left out and named. The time on the
device is of an earlier port of the same program, built by nvcc: it says nothing of those whose kernels have changed
since then. Registers are estimates.
"""

from __future__ import annotations

import math
import re
import statistics
import sys
import time
import timeit
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.polybench import suite

from warpsmith.flows.port import PortOptions, port
from warpsmith.flows.porting.predicted import predict_port
from warpsmith.front.load import FrontOptions
from warpsmith.machine.devices import device
from warpsmith.machine.time.predict import predict
from warpsmith.machine.time.work import LaunchWork, Sweep, TouchedSectors, WarpInstructions
from warpsmith.offload.plan import GainOptions, OffloadOptions
from warpsmith.report.model import PortPrediction
from warpsmith.report.port.predicted import bound_text

RESULTS: Final = Path(__file__).parent / "results" / "gpu_times.txt"
GPU: Final = device("h200")
OFFLOAD: Final = OffloadOptions(gain=GainOptions(device=GPU.name, everything=True))
MOST_ONCE: Final = 12
"""Launches of a program that launches no kernel in a loop of the host, at most."""
_ROW: Final = re.compile(r"^(\S+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +(\d+) ", re.M)


def main() -> int:
    """Print a row a program, and how far off all are."""
    measured = {m[1]: (float(m[7]), int(m[8])) for m in _ROW.finditer(RESULTS.read_text())}
    print(f"{'program':16} {'launches':>8} {'predicted':>10} {'device':>10} {'ratio':>7}  longest kernel bound by")
    pairs: dict[str, tuple[float, float]] = {}
    once: dict[str, tuple[float, float]] = {}
    for path in suite.programs():
        seconds, launches = measured.get(path.stem, (0.0, 0))
        started = time.perf_counter()
        found = _predict(path)
        why = _lacks(found) if found is not None else "no kernel"
        if why or found is None or not seconds:
            print(f"{path.stem:16} {launches:8,} {'':10} {seconds * 1e3:8.2f}ms {'':7}  left out: {why}", flush=True)
            continue
        total = sum(kernel.seconds or 0.0 for kernel in found.kernels)
        longest = max(found.kernels, key=lambda kernel: kernel.seconds or 0.0)
        assert longest.time is not None
        pairs[path.stem] = total, seconds
        if launches <= MOST_ONCE:
            once[path.stem] = total, seconds
        print(f"{path.stem:16} {launches:8,} {total * 1e3:8.2f}ms {seconds * 1e3:8.2f}ms {total / seconds:7.2f}  "
              f"{bound_text(longest.time)} ({time.perf_counter() - started:.1f} s)", flush=True)  # fmt: skip
    _report(f"at most {MOST_ONCE} launches", list(once.values()))
    _report("all", list(pairs.values()))
    _time_model()
    return 0


def _predict(path: Path) -> PortPrediction | None:
    """Return what a port of a program predicts of itself."""
    front = FrontOptions(arguments=("-DLARGE_DATASET",))
    made = port([str(path)], PortOptions(front=front, offload=OFFLOAD, verify=False))
    return predict_port(made.prepared, made.ported, OFFLOAD)


def _lacks(found: PortPrediction) -> str:
    """Return why a port has no time; "" where it has one."""
    named = [(one.name, one.lacks or one.unknown or ("how often it is launched",)) for one in found.kernels
             if one.seconds is None or one.guessed]  # fmt: skip
    return "; ".join(f"{name} lacks {', '.join(what)}" for name, what in named[:1])


def _time_model() -> None:
    """Print how long one evaluation of the model takes: counts given, all terms of a launch."""
    work = stream()
    took = timeit.timeit(lambda: predict(GPU, work), number=2_000) / 2_000
    print(f"one evaluation of the model: {took * 1e6:.0f} us")


def stream() -> LaunchWork:
    """Return a launch that has all kinds of work."""
    touched = TouchedSectors(64, 64_000, 64_100, 700_000)
    kinds = WarpInstructions(1e6, 1e6, 1e6, 1e6, 1e5, 1e5, 1e6, 1e6, 10)
    sweeps = tuple(Sweep((4.0, 400.0, 400.0), (1.0, 100.0, 100.0), (100.0, 10.0)) for _ in range(8))
    return LaunchWork(
        6400, 8, 8, 1056, kinds, 1e6, 4e6, 1e6, 2e6, 1e5, 0.0, 0.0, 1e6, touched, touched, sweeps, 4096, 1e8, 0.5
    )


def _report(label: str, pairs: Sequence[tuple[float, float]]) -> None:
    factors = [max(a / b, b / a) for a, b in pairs]
    order = [sorted(range(len(pairs)), key=lambda at: pairs[at][side]) for side in (0, 1)]
    ranks = [{at: rank for rank, at in enumerate(one)} for one in order]
    agree = sum(
        (ranks[0][a] - ranks[0][b]) * (ranks[1][a] - ranks[1][b]) > 0 for a in range(len(pairs)) for b in range(a)
    )
    every = len(pairs) * (len(pairs) - 1) // 2
    mean = math.exp(statistics.fmean(math.log(a / b) for a, b in pairs))
    print(f"\n{label}: {len(pairs)} programs, off by a factor of {statistics.median(factors):.2f} in the median, "
          f"{max(factors):.2f} at most; predicted / device {mean:.2f} on (geometric) average; "
          f"Kendall's tau {2 * agree / every - 1:.2f}")  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
