"""How long a user waits: whole processes, as ratios to the C compiler on the same file in the same run.

    python benchmarks/command_line.py [--write]

Each command runs five times; the table shows the median. `peak` is the largest resident set of a process below it.
With --write the table is kept in benchmarks/results/ with date and machine.
"""

from __future__ import annotations

import datetime
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
RUNS = 5
WARPSMITH = [sys.executable, "-m", "warpsmith"]


def measure(command: list[str]) -> tuple[float, float]:
    """Return (median seconds, peak MiB) of `command`, a whole process each time."""
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), peak(command)


def peak(command: list[str]) -> float:
    """Return the peak resident set of `command` in MiB, measured in a process of its own."""
    probe = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    done = subprocess.run([sys.executable, "-c", probe, *command], capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024


def rows() -> list[tuple[str, float, float, float]]:
    """Return (what, seconds, ratio to gcc -O2 -c lu.c, peak MiB)."""
    with tempfile.TemporaryDirectory() as scratch:
        unit, memory = measure(["gcc", "-O2", "-c", str(EXAMPLES / "lu.c"), "-o", str(Path(scratch) / "lu.o")])
    commands = {"--help": ["--help"]}
    names = sorted(path.stem for path in EXAMPLES.glob("*.c"))
    commands |= {
        f"port {name}.c --verify off": ["port", str(EXAMPLES / f"{name}.c"), "--verify", "off"] for name in names
    }
    commands["port lu.c (built, run, verified)"] = ["port", str(EXAMPLES / "lu.c")]
    table = [("gcc -O2 -c lu.c", unit, 1.0, memory)]
    for what, words in commands.items():
        seconds, mebibytes = measure([*WARPSMITH, *words])
        table.append((what, seconds, seconds / unit, mebibytes))
    return table


def main() -> None:
    lines = [
        f"date     {datetime.date.today()}",
        f"machine  {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        f"command  python benchmarks/command_line.py   (median of {RUNS} whole processes)",
        "",
        f"{'what':36}{'seconds':>9}{'x gcc':>8}{'peak MiB':>10}",
    ]
    lines += [f"{what:36}{seconds:9.2f}{ratio:8.1f}{memory:10.0f}" for what, seconds, ratio, memory in rows()]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if "--write" in sys.argv:
        (ROOT / "benchmarks" / "results" / "command_line.txt").write_text(text)


if __name__ == "__main__":
    main()
