"""Registers as they are estimated from the kernel IR, against what ptxas says of the same kernels.

python -m benchmarks.registers [ports] LABEL=PATH...      for example HeCBench=~/HeCBench/src

`ports` are the kernels of the ports of benchmarks/polybench and examples. For each label: how many kernels, how far the
estimate is off, and how often occupancy comes out another; at the end the same of the files on which the numbers of
the estimate were fitted, and of those that were held out. Kernels that NVRTC or ptxas refuses are left out, and
counted.
"""

from __future__ import annotations

import platform
import re
import statistics
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.polybench import suite
from msgspec import Struct

from warpsmith.analysis.resources.resources import CompilerFigures, resources
from warpsmith.analysis.uniformity.facts import ResourceFact
from warpsmith.base.errors import WarpsmithError
from warpsmith.base.findings import Finding
from warpsmith.base.time_limit import OutOfTimeError, time_limit
from warpsmith.emit.host.cuda import emit_kernels
from warpsmith.flows.explaining.registers import ask_ptxas
from warpsmith.flows.port import PortOptions, port
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.machine.devices import device
from warpsmith.offload.plan import GainOptions, OffloadOptions
from warpsmith.ssa.graph import Graph
from warpsmith.tree.shared import restore_shared

DEVICE = device("a100")
BLOCK = (256, 1, 1)
SECONDS_A_FILE = 60
_TEMPLATE = re.compile(r"^template <typename Index>\n__global__ void (\w+)\(", re.M)
MOST_FILES = 160
"""Of more files every second, third … is taken."""


class Compared(Struct, frozen=True):
    """One kernel: registers estimated and from ptxas, warps that a multiprocessor holds of each, bytes spilled."""

    estimate: int
    said: int
    warps: tuple[int, int]
    spilled: int
    fitted: bool


def main(words: Sequence[str]) -> int:
    """Print the comparison for each label."""
    print(f"registers, estimated against ptxas, {DEVICE.arch}, blocks of {BLOCK[0]}, {datetime.now(UTC):%Y-%m-%d}, "
          f"Python {platform.python_version()}")  # fmt: skip
    everything: list[Compared] = []
    with tempfile.TemporaryDirectory() as folder:
        for word in words:
            label, _, path = word.partition("=")
            files = sorted(Path(path).expanduser().rglob("*.cu")) if path else [*_write_ports(Path(folder))]
            found, refused = _all(files[:: max(1, -(-len(files) // MOST_FILES))])
            _report(label, found, refused)
            everything += found
    _report("all", everything, 0)
    _report("files of the fit", [one for one in everything if one.fitted], 0)
    _report("held out", [one for one in everything if not one.fitted], 0)
    return 0


def _write_ports(folder: Path) -> Iterator[Path]:
    """Write the kernels of ports, and yield their files."""
    options = PortOptions(offload=OffloadOptions(gain=GainOptions(everything=True)), verify=False)
    for path in (*suite.programs(), *sorted(Path("examples").glob("*.c"))):
        made = port([str(path)], options)
        if made.ported is None or not made.ported.plan.fragments:
            continue
        # NVRTC takes no host code
        for file in emit_kernels(made.program, restore_shared(made.program, made.ported.program)):
            place = folder / f"{path.stem}.cu"
            place.write_text(file.text, "latin-1")
            yield place


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
    instances = tuple(f"{name}<int>" for name in _TEMPLATE.findall(file.read_text("latin-1")))
    unit = read_unit(KernelFile(str(file), "cuda", (f"-I{file.parent}",), instances=instances))
    if isinstance(unit, Finding):
        return
    said, _ = ask_ptxas(unit, (f"-I{file.parent}",), (DEVICE,))
    for (_, symbol), figures in said.items():
        estimate, exact = (_held(unit, symbol, given) for given in (None, figures))
        if estimate.occupancy is not None and exact.occupancy is not None:
            yield Compared(estimate.registers, exact.registers, (estimate.occupancy.warps, exact.occupancy.warps),
                           exact.spill_bytes, zlib.crc32(file.name.encode()) % 2 == 0)  # fmt: skip


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
