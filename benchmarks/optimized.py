"""What `port --optimize` gains when it is counted: default and best port in simulated runs, not by the model's word.

python -m benchmarks.optimized [--set SMALL] [PROGRAM...]

Each program of benchmarks/polybench that is named (without names: PROGRAMS) is ported as it is and by the search (of
30 s), for the sizes of a data set (without --set: SMALL and MEDIUM). Every different launch of both ports is run
by the SIMT machine; arrays hold random numbers. Sums over a run of the program, in thousands: 32-byte sectors of global
memory, instructions of warps, both once more for the multiprocessor that has the most blocks, passes of shared memory;
launches; kB copied. `worse` names what the best port has more of; a port that has no counter less is marked. The
referee judges each best port at MINI, made by the same steps.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from math import prod
from pathlib import Path
from typing import Final

from benchmarks.polybench import suite
from msgspec import Struct

from warpsmith.emit.host.cuda import emit_kernels
from warpsmith.flows.optimizing.optimize import OptimizeOptions
from warpsmith.flows.optimizing.ported import port_optimized
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.flows.porting.gain import estimate_port
from warpsmith.flows.porting.predicted import list_launches
from warpsmith.front.load import FrontOptions
from warpsmith.machine.devices import device
from warpsmith.offload.plan import GainOptions, OffloadOptions
from warpsmith.tree.program import Kernel
from warpsmith.tree.shared import restore_shared

PROGRAMS: Final = ("gemm", "2mm", "syrk", "atax", "mvt", "jacobi-2d", "lu")
BUDGET: Final = 30.0
UNITS: Final = device("h100").units
OFFLOAD: Final = OffloadOptions(gain=GainOptions())

Dim = tuple[int, int, int]


class Counted(Struct, frozen=True):
    """Sums over one run of a port."""

    sectors: float = 0.0
    instructions: float = 0.0
    busiest_sectors: float = 0.0
    busiest_instructions: float = 0.0
    passes: float = 0.0
    launches: float = 0.0
    copied: float = 0.0


def main(words: Sequence[str]) -> int:
    """Print a row a program and data set."""
    sets = (words[1],) if words[:1] == ["--set"] else ("SMALL", "MEDIUM")
    names = (words[2:] if words[:1] == ["--set"] else words) or PROGRAMS
    print(f"counted runs of default and best ports, {datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}")
    heads = ("sectors", "instructions", "busiest sec.", "busiest ins.", "passes", "launches", "copied")
    print(f"{'program':18}{'predicted, us':>18}" + "".join(f"{head:>20}" for head in heads))
    for name in names:
        for data_set in sets:
            print(_row(suite.FOLDER / f"{name}.c", data_set), flush=True)
    return 0


def _row(path: Path, data_set: str) -> str:
    options = PortOptions(
        front=FrontOptions(arguments=(f"-D{data_set}_DATASET",)), offload=OFFLOAD, verify=False,
    )  # fmt: skip
    best = port_optimized([str(path)], options, OptimizeOptions(budget=BUDGET, keep=False))
    assert best.search is not None
    head = f"{path.stem + ' ' + data_set:18}"
    if not best.search.steps:
        return f"{head}{1e6 * best.search.default:10.1f}  the default is the best{_ended(best)}"
    default = port([str(path)], options)
    one, other = _count(default), _count(best)
    worse = [name for name in Counted.__struct_fields__ if getattr(other, name) > getattr(one, name)]
    better = [name for name in Counted.__struct_fields__ if getattr(other, name) < getattr(one, name)]
    scaled = ((name, 1.0 if name == "launches" else 1e-3) for name in Counted.__struct_fields__)
    pairs = "".join(f"{scale * getattr(one, name):10.1f}{scale * getattr(other, name):10.1f}" for name, scale in scaled)
    row = f"{head}{1e6 * best.search.default:9.1f}{1e6 * best.search.best:9.1f}{pairs}"
    told = f"  worse: {', '.join(worse) or 'nothing'}{'' if better else '  NOTHING IS BETTER'}{_ended(best)}"
    steps = "\n".join(f"    {gain.about}: {' '.join(gain.steps)}" for gain in best.search.gains if gain.steps)
    return f"{row}{told}\n{steps}\n    referee at MINI: {_judge(path, best)}"


def _ended(made: PortResult) -> str:
    return "  (ended by the budget)" if made.search is not None and made.search.ended else ""


def _judge(path: Path, best: PortResult) -> str:
    """Return the referee's word on the best port of a program at its smallest sizes, made by the same steps."""
    steps = tuple(applied.step for applied in best.prepared.applied)
    judged = port([str(path)], PortOptions(offload=OFFLOAD, chosen=steps))
    return judged.verification.status if judged.verification is not None else "no kernels"


def _count(made: PortResult) -> Counted:
    """Return the counters of one run of a port; nothing is counted of one without kernels."""
    if made.ported is None or made.plan is None:
        return Counted()
    ported = made.ported
    estimate = estimate_port(made.prepared, ported, OFFLOAD)
    found: dict[str, float] = dict.fromkeys(Counted.__struct_fields__, 0.0)
    files = emit_kernels(made.prepared.original.program, restore_shared(made.program, ported.program))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernels.cu"
        file.write_text("\n".join(suite.in_32_bits(one.text) for one in files))
        for fragment in made.plan.fragments:
            kernel = fragment.kernel
            for (grid, sizes), times in list_launches(kernel, estimate.kernels[kernel.name]).items():
                runs, blocks = times * grid.slices, prod(grid.grid)
                fullest = -(-blocks // UNITS) / blocks
                for ran in _simulated_passes(file, kernel, (grid.grid, grid.block), dict(sizes)):
                    sectors, instructions = _sum(ran, "global", "sectors"), int(str(ran["warp_instructions"]))
                    found["sectors"] += runs * sectors
                    found["instructions"] += runs * instructions
                    found["busiest_sectors"] += runs * sectors * fullest
                    found["busiest_instructions"] += runs * instructions * fullest
                    found["passes"] += runs * (_sum(ran, "shared", "requests") + _sum(ran, "shared", "bank_conflicts"))
    return Counted(**found | {"launches": estimate.launches, "copied": estimate.bytes})


def _sum(ran: dict[str, object], space: str, key: str) -> int:
    memory = ran["memory"]
    assert isinstance(memory, list)
    return sum(one[key] for one in memory if one["space"] == space)


def _simulated_passes(
    file: Path, kernel: Kernel, shape: tuple[Dim, Dim], sizes: dict[str, int]
) -> Iterator[dict[str, object]]:
    """Yield what each launch of a kernel counts: one, or one for each pass over its time steps."""
    for turn in range(kernel.turns):
        yield _simulated(file, kernel, shape, sizes, () if kernel.turn is None else (f"{kernel.turn.name}={turn}",))


def _simulated(
    file: Path, kernel: Kernel, shape: tuple[Dim, Dim], sizes: dict[str, int], turn: Sequence[str]
) -> dict[str, object]:
    """Return what one launch counts."""
    command = [sys.executable, "-m", "warpsmith", "simulate", str(file), "--json", "--check", "none"]
    command += ["--kernel", f"{kernel.name}_kernel", "--block", _joined(shape[1]), "--grid", _joined(shape[0])]
    for argument in (*_arguments(kernel, sizes), *turn):
        command += ["--arg", argument]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{kernel.name}: {done.stderr or done.stdout}")
    found: dict[str, object] = json.loads(done.stdout)["simulation"]
    return found


def _arguments(kernel: Kernel, sizes: dict[str, int]) -> Iterator[str]:
    """Yield the arguments of a launch: arrays of two dimensions at most, with random numbers."""
    largest = max([*sizes.values(), 400])
    for parameter in kernel.parameters:
        name = parameter.symbol.name
        if parameter.kind == "value":
            yield f"{name}={sizes.get(name, 1.5)}"
        else:
            yield f"{name}=rand:f64[{2 * largest * largest}]"
    yield from (f"first_{axis}=0" for axis in kernel.sliced)


def _joined(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
