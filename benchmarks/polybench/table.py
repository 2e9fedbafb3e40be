"""The results of the 33 programs: port time, peak memory, kernels, launches, threads, copies, verified or not.

    python benchmarks/polybench/table.py [--write] [PROGRAM...]

Port time and memory are whole processes of `warpsmith port PROGRAM.c --verify off`, one after the other. Launches and
copies are those of the region at LARGE, counted by running the host part (see launches.py). `PPCG` has the launches of
PPCG 0.09 at LARGE, on PolyBench/C's own programs. Each program is verified at MINI and at odd sizes.
With --write the table is kept in benchmarks/results/ with date and machine.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.polybench.launches import Counts, build, count
from benchmarks.polybench.suite import odd, programs, region

RESULT = Path(__file__).parents[1] / "results" / "polybench.txt"
WARPSMITH = [sys.executable, "-m", "warpsmith"]
# Seconds that the host part of a program may take at LARGE.
LIMIT = 300.0
# Launches of PPCG 0.09 at LARGE; all others launch at most seven kernels.
PPCG = {
    "floyd-warshall": 15_677_200,
    "doitgen": 42_000,
    "durbin": 13_993,
    "seidel-2d": 7_988,
    "gramschmidt": 7_201,
    "cholesky": 6_000,
    "lu": 5_997,
    "trisolv": 4_001,
    "ludcmp": 4_000,
    "nussinov": 2_499,
    "adi": 2_000,
    "fdtd-2d": 1_500,
    "heat-3d": 1_000,
    "jacobi-1d": 1_000,
    "jacobi-2d": 1_000,
}
# Not among PolyBench/C 4.2.1's programs.
OLDER = ("dynprog", "reg_detect", "fdtd-apml")


class Row(Struct, frozen=True):
    """`loops`: on the device, all (of the region); `counts`: None where nothing was ported or the limit was hit."""

    name: str
    seconds: float
    mebibytes: float
    loops: tuple[int, int]
    counts: Counts | None
    note: str
    verified: tuple[str, str]


def ported(path: Path, target: Path) -> tuple[float, float]:
    """Port the program `path` into `target`; return the seconds and the peak MiB of the whole process."""
    command = [*WARPSMITH, "port", str(path), "--verify", "off", "-o", str(target), "--force"]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def verified(path: Path, sizes: dict[str, int]) -> tuple[str, tuple[int, int]]:
    """Return the referee's verdict at `sizes` (none: MINI), and how many loops of the region are ported, of all."""
    macros = [word for name, size in sizes.items() for word in ("-D", f"{name}={size}")]
    done = subprocess.run([*WARPSMITH, "port", str(path), "--json", *macros], capture_output=True, text=True)
    document = json.loads(done.stdout)
    if "loops" not in document:
        return "error", (0, 0)
    loops = [loop["ported"] for loop in document["loops"] if loop["span"]["line"] in region(path)]
    verdict = document["verify"]["status"] if "verify" in document else "-"
    return verdict, (sum(loops), len(loops))


def row(path: Path) -> Row:
    with tempfile.TemporaryDirectory() as scratch:
        seconds, mebibytes = ported(path, Path(scratch))
        counts, note = None, ""
        if not list(Path(scratch).glob("*.cu")):
            note = "nothing ported"
        else:
            counts = count(build(Path(scratch), ("-DLARGE_DATASET",)), LIMIT)
            note = "" if counts else f"host part over {LIMIT:.0f} s"
    mini, loops = verified(path, {})
    return Row(path.stem, seconds, mebibytes, loops, counts, note, (mini, verified(path, odd(path))[0]))


def line(row: Row) -> str:
    head = f"{row.name:15}{row.seconds:6.2f}{row.mebibytes:6.0f}{row.loops[0]:6}/{row.loops[1]:<3}"
    tail = f"{ppcg(row):>12}  {row.verified[0]:>5}{row.verified[1]:>6}"
    if row.counts is None:
        return f"{head}{row.note:>63}{tail}"
    counts = row.counts
    middle = f"{counts.kernels:4}{counts.launches:12,}{counts.spread:>24}{counts.copies:11,}{size(counts.bytes):>12}"
    return f"{head}{middle}{tail}"


def size(number: int) -> str:
    value = float(number)
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} TB"


def ppcg(row: Row) -> str:
    if row.name in OLDER:
        return "-"
    launches = PPCG.get(row.name)
    if launches is None:
        return "<= 7"
    ours = row.counts.launches if row.counts else 0
    return f"{launches:,}{' ' if not ours else '>' if launches > ours else '<' if launches < ours else '='}"


def table(rows: list[Row]) -> str:
    head = (
        f"{'program':15}{'port s':>6}{'MiB':>6}{'loops':>8}  {'k':>4}{'launches':>12}{'threads min/med/max':>24}"
        f"{'copies':>11}{'bytes':>12}{'PPCG':>11}{'MINI':>8}{'odd':>6}"
    )
    seconds = [row.seconds for row in rows]
    lines = [
        f"date     {datetime.date.today()}",
        f"machine  {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "command  python benchmarks/polybench/table.py --write",
        "",
        head,
        *map(line, rows),
        "",
        f"port: median {statistics.median(seconds):.2f} s, worst {max(seconds):.2f} s; "
        f"peak {max(row.mebibytes for row in rows):.0f} MiB",
        f"verified at both sizes: {sum(row.verified == ('pass', 'pass') for row in rows)} of {len(rows)}",
        "loops: on the device / in the region; k: kernels. Launches, threads (grid times block), copies, bytes: LARGE.",
        "> PPCG launches more than we do, < fewer, = the same.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="The table of the 33 programs.")
    parser.add_argument("--write", action="store_true", help="keep the table in benchmarks/results")
    parser.add_argument("names", nargs="*", metavar="PROGRAM", help="only these (default: all)")
    given = parser.parse_args()
    rows = []
    for path in programs():
        if not given.names or path.stem in given.names:
            rows.append(row(path))
            print(line(rows[-1]), file=sys.stderr, flush=True)
    text = table(rows)
    print(text, end="")
    if given.write:
        RESULT.write_text(text)


if __name__ == "__main__":
    main()
