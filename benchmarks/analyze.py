"""How long an analysis takes: PTX kernels of growing size, CUDA files as they are, and many files at once.

    python benchmarks/analyze.py [--write] [PTX FILES...]

Every row is a whole process, `warpsmith analyze FILE`, by the CPU seconds that it and all that it starts take; a busy
machine disturbs them, if less than wall time. The kernels are those of benchmarks/ptx_kernels.py; `own` is the process
less the same of a kernel of a few instructions, `a 1,000` that for 1,000 instructions (even: linear), and `x ptxas` the
ratio to the assembler on the same file, where there is one. PTX files that are named are measured as well.
CUDA files are those of examples/kernels: `cold` is a first run, without byte code, `warm` the median of three more.
With --write the table is kept in benchmarks/results/.
"""

from __future__ import annotations

import datetime
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from ptx_kernels import KINDS, counted, written

ROOT = Path(__file__).parent.parent
KERNELS = ROOT / "examples" / "kernels"
SIZES = (500, 1_000, 2_000, 5_000, 10_000, 20_000, 40_000)
MANY = 24


class Time(Struct, frozen=True):
    """Seconds on processors, with all that was started, and on the clock; what was said."""

    cpu: float
    wall: float
    said: bytes


def once(command: Sequence[str], bytecode: Path) -> Time:
    """Run a command and return what it took; a gate that speaks (1) or a part that could not be read (3) is fine."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(bytecode)
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        process = subprocess.Popen(list(command), stdout=out, stderr=subprocess.DEVNULL, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1, 3):
            raise SystemExit(f"exit code {process.returncode}: {' '.join(command)}")
        out.seek(0)
        return Time(usage.ru_utime + usage.ru_stime, wall, out.read())


def analyze(*words: str) -> list[str]:
    """Return the command that analyzes files."""
    return [
        sys.executable,
        "-m",
        "warpsmith",
        "analyze",
        "--isolated",
        "--timeout",
        "600",
        "--format",
        "concise",
        *words,
    ]


def sizes(folder: Path, bytecode: Path) -> Iterator[str]:
    """Yield a row for each kind and size of kernel."""
    smallest = folder / "smallest.ptx"
    smallest.write_text(written("straight", 1))
    once(analyze(str(smallest)), bytecode)
    start = statistics.median(once(analyze(str(smallest)), bytecode).cpu for _ in range(5))
    yield f"start of the program and a kernel of {counted(smallest.read_text())} instructions: {start:.2f} s"
    yield ""
    yield f"{'kernel':22}{'instructions':>13}{'cpu s':>8}{'own s':>8}{'a 1,000':>9}{'x ptxas':>9}"
    for kind in KINDS:
        for size in SIZES:
            path = folder / f"{kind}.ptx"
            path.write_text(written(kind, size))
            yield row(path, kind, start, bytecode)
        yield ""


def row(path: Path, name: str, start: float, bytecode: Path) -> str:
    """Return the row of one PTX file."""
    instructions = counted(path.read_text(errors="replace"))
    taken = once(analyze(str(path)), bytecode).cpu
    own = max(0.0, taken - start)
    text = f"{name:22}{instructions:13,}{taken:8.2f}{own:8.2f}{1000 * own / max(1, instructions):9.3f}"
    if shutil.which("ptxas") is None:
        return text
    assembled = once(["ptxas", "-arch=sm_80", str(path), "-o", os.devnull], bytecode).cpu
    return f"{text}{own / assembled:9.1f}"


def sources(bytecode: Path) -> Iterator[str]:
    """Yield a row for each source file of the examples."""
    yield f"{'file':22}{'lines':>7}{'cold cpu s':>12}{'warm cpu s':>12}{'warm wall s':>13}"
    taken = []
    for path in sorted((*KERNELS.glob("*.cu"), *KERNELS.glob("*.cl"))):
        with tempfile.TemporaryDirectory() as fresh:
            cold = once(analyze(str(path)), Path(fresh)).cpu
        runs = [once(analyze(str(path)), bytecode) for _ in range(3)]
        cpu, wall = statistics.median(r.cpu for r in runs), statistics.median(r.wall for r in runs)
        taken.append((cold, cpu, wall))
        yield f"{path.name:22}{len(path.read_text().splitlines()):7}{cold:12.2f}{cpu:12.2f}{wall:13.2f}"
    for words, chosen in (("median", statistics.median), ("maximum", max)):
        cold, cpu, wall = (chosen(column) for column in zip(*taken, strict=True))
        yield f"{words:29}{cold:12.2f}{cpu:12.2f}{wall:13.2f}"


def many(folder: Path, bytecode: Path) -> Iterator[str]:
    """Yield how long many files take in one process and in several, and whether they say the same."""
    files = []
    for number in range(MANY):
        files.append(folder / f"many{number:02}.ptx")
        files[-1].write_text(written(list(KINDS)[number % len(KINDS)], 2_000, seed=number))
    one, *more = (once(analyze(f"-j{jobs}", *map(str, files)), bytecode) for jobs in (1, 2))
    yield f"{MANY} PTX files of 2,000 instructions"
    yield f"-j1  {one.cpu:6.2f} s cpu {one.wall:6.2f} s wall"
    for two in more:
        same = "the same bytes" if two.said == one.said else "OTHER OUTPUT"
        yield f"-j2  {two.cpu:6.2f} s cpu {two.wall:6.2f} s wall   {one.wall / two.wall:.2f} times as fast, {same}"


def lines(named: Sequence[str]) -> Iterator[str]:
    """Yield the whole table."""
    yield f"date     {datetime.date.today()}"
    yield f"machine  {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    yield "command  python benchmarks/analyze.py   (whole processes)"
    yield f"load     {os.getloadavg()[0]:.1f} processes wanted to run at the start"
    yield ""
    with tempfile.TemporaryDirectory(prefix="warpsmith-benchmark-") as scratch:
        folder, bytecode = Path(scratch), Path(scratch) / "bytecode"
        yield from sizes(folder, bytecode)
        for name in named:
            yield row(Path(name), Path(name).name[:21], 0.0, bytecode) + "   with the start"
        yield from sources(bytecode)
        yield ""
        yield from many(folder, bytecode)
    yield f"load     {os.getloadavg()[0]:.1f} at the end"


def main() -> None:
    named = [word for word in sys.argv[1:] if word != "--write"]
    kept = []
    for line in lines(named):
        print(line, flush=True)
        kept.append(line)
    if "--write" in sys.argv:
        (ROOT / "benchmarks" / "results" / "analyze.txt").write_text("\n".join(kept) + "\n")


if __name__ == "__main__":
    main()
