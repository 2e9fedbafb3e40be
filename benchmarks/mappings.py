"""How long kernels are predicted to take with the mapping that each model chooses: lines counted, printed tables, time.

python -m benchmarks.mappings [--set LARGE] [PROGRAM...]

Each program of benchmarks/polybench (without names: all) is ported for the sizes of a data set. Of every kernel whose
threads lie on two or three axes, and that has no tiles, all assignments and power-of-two blocks of as many threads are
predicted (`port --what-if blocks`); a row has the seconds of what is chosen by lines, which is the port's, by the
tables, which is that of a port with `--model tables`, and of the fastest. Kernels without a time are named.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.polybench import suite
from msgspec.structs import replace

from warpsmith.analysis.counts.prediction import TIE
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.flows.porting.what_if import predict_mappings
from warpsmith.front.load import FrontOptions
from warpsmith.offload.plan import Fragment, GainOptions, OffloadOptions
from warpsmith.report.model import KernelMappings

OFFLOAD = OffloadOptions(gain=GainOptions(everything=True))


def main(words: Sequence[str]) -> int:
    """Print a row a kernel, and how often a choice is as fast as any."""
    data_set = words[1] if words[:1] == ["--set"] else "LARGE"
    names = words[2:] if words[:1] == ["--set"] else words
    print(f"predicted for the H100 SXM, {data_set}, {datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}")
    print(f"{'kernel':30}{'fastest, us':>14}{'lines':>8}{'tables':>8}")
    ratios: list[tuple[float, float]] = []
    for path in suite.programs():
        if not names or path.stem in names:
            for row in _rows(path, data_set):
                print(row if isinstance(row, str) else f"{row[0]:30}{1e6 * row[1]:14.1f}{row[2]:8.2f}{row[3]:8.2f}")
                ratios += [] if isinstance(row, str) else [row[2:]]
    for place, model in enumerate(("lines", "tables")):
        good = sum(ratio[place] <= TIE for ratio in ratios)
        print(f"{model}: as fast as any, to a factor of {TIE}, in {good} of {len(ratios)} kernels")
    return 0


def _rows(path: Path, data_set: str) -> Iterator[tuple[str, float, float, float] | str]:
    """Yield the name of each kernel, the fastest seconds, and how many times as long the choices take."""
    options = PortOptions(
        front=FrontOptions(arguments=(f"-D{data_set}_DATASET",)), offload=OFFLOAD, verify=False,
    )  # fmt: skip
    made = port([str(path)], options)
    by_tables = port([str(path)], replace(options, offload=replace(OFFLOAD, model="tables")))
    if made.ported is None:
        return
    for kernel in predict_mappings(made.prepared, made.ported, OFFLOAD):
        name = kernel.name.removeprefix("ws_")
        if len(kernel.axes) == 1:
            continue
        if not kernel.choices or not kernel.complete:
            yield f"{name:30}no time: {kernel.lacks or 'not all were tried'}"
            continue
        least = min(one.prediction.seconds or 0.0 for one in kernel.choices)
        other = _find(by_tables, _find(made, kernel.name).region, by_region=True).kernel
        tables = tuple((one.loop.variable.name, one.axis) for one in other.mapped), other.block
        yield name, least, _seconds(kernel, (kernel.axes, kernel.block)) / least, _seconds(kernel, tables) / least


def _find(made: PortResult, name: str, *, by_region: bool = False) -> Fragment:
    assert made.plan is not None
    return next(f for f in made.plan.fragments if (f.region if by_region else f.kernel.name) == name)


def _seconds(kernel: KernelMappings, place: object) -> float:
    return next(one.prediction.seconds or 0.0 for one in kernel.choices if (one.axes, one.block) == place)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
