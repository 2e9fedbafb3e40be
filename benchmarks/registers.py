"""Registers as they are estimated from the kernel IR, against what ptxas says of the same kernels.

python -m benchmarks.registers LABEL=PATH...      for example HeCBench=~/HeCBench/src

For each label: how many kernels, how far the estimate is off, and how often occupancy comes out another. Kernels that
NVRTC or ptxas refuses are left out, and counted.
"""

from __future__ import annotations

import platform
import statistics
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from warpsmith.analysis.resources.resources import CompilerFigures, resources
from warpsmith.analysis.uniformity.facts import ResourceFact
from warpsmith.base.errors import WarpsmithError
from warpsmith.base.findings import Finding
from warpsmith.base.time_limit import OutOfTimeError, time_limit
from warpsmith.flows.explaining.registers import ask_ptxas
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.machine.devices import device
from warpsmith.ssa.graph import Graph

DEVICE = device("a100")
BLOCK = (256, 1, 1)
SECONDS_A_FILE = 60
MOST_FILES = 160
"""Of more files every second, third … is taken."""


class Compared(Struct, frozen=True):
    """One kernel: registers estimated and from ptxas, warps that a multiprocessor holds of each, bytes spilled."""

    estimate: int
    said: int
    warps: tuple[int, int]
    spilled: int


def main(words: Sequence[str]) -> int:
    """Print the comparison for each label."""
    print(f"registers, estimated against ptxas, {DEVICE.arch}, blocks of {BLOCK[0]}, {datetime.now(UTC):%Y-%m-%d}, "
          f"Python {platform.python_version()}")  # fmt: skip
    everything: list[Compared] = []
    for word in words:
        label, _, path = word.partition("=")
        files = sorted(Path(path).expanduser().rglob("*.cu"))
        found, refused = _all(files[:: -(-len(files) // MOST_FILES)])
        _report(label, found, refused)
        everything += found
    _report("all", everything, 0)
    return 0


def _all(files: Sequence[Path]) -> tuple[list[Compared], int]:
    found: list[Compared] = []
    refused = 0
    for file in files:
        try:
            with time_limit(SECONDS_A_FILE):
                made = list(_compare(file))
        except (OutOfTimeError, WarpsmithError, RecursionError):
            made = []
        refused += not made
        found += made
    return found, refused


def _compare(file: Path) -> Iterator[Compared]:
    unit = read_unit(KernelFile(str(file), "cuda", (f"-I{file.parent}",)))
    if isinstance(unit, Finding):
        return
    said, _ = ask_ptxas(unit, (f"-I{file.parent}",), (DEVICE,))
    for (_, symbol), figures in said.items():
        estimate, exact = (_held(unit, symbol, given) for given in (None, figures))
        if estimate.occupancy is not None and exact.occupancy is not None:
            yield Compared(estimate.registers, exact.registers, (estimate.occupancy.warps, exact.occupancy.warps),
                           exact.spill_bytes)  # fmt: skip


def _held(unit: KernelUnit, symbol: str, figures: CompilerFigures | None) -> ResourceFact:
    function = unit.module.function(symbol)
    assert function is not None
    return resources((unit.module, function, Graph.of(function)), DEVICE, BLOCK, 0, figures)


def _report(label: str, found: Sequence[Compared], refused: int) -> None:
    if not found:
        print(f"{label}: no kernel ({refused} files without one that both take)")
        return
    errors = sorted(one.estimate - one.said for one in found)
    relative = sorted(abs(one.estimate - one.said) / one.said for one in found)
    other = sum(one.warps[0] != one.warps[1] for one in found)
    print(f"{label}: {len(found)} kernels, {refused} files without one that both take")
    print(f"    estimate - ptxas: median {statistics.median(errors):+.0f}, from {errors[0]:+d} to {errors[-1]:+d}, "
          f"middle half {errors[len(errors) // 4]:+d} to {errors[3 * len(errors) // 4]:+d}")  # fmt: skip
    print(f"    relative error: median {100 * statistics.median(relative):.0f}%, "
          f"9 of 10 within {100 * relative[int(0.9 * len(relative))]:.0f}%")  # fmt: skip
    print(f"    registers: median {statistics.median(one.estimate for one in found):.0f} estimated, "
          f"{statistics.median(one.said for one in found):.0f} of ptxas; occupancy differs in {other}, "
          f"{sum(one.spilled > 0 for one in found)} spill")  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
