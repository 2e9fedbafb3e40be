"""How long a port takes, and a legality check: the programs of benchmarks/polybench, as ratios to the front end alone.

    python benchmarks/port_time.py [--write]

A port is a whole process, `warpsmith port FILE --verify off`, and so is the front end, which only reads and parses the
same file; both run three times, and the table shows the medians. `cpu` is user and system time with all that a process
started, which a busy machine disturbs less than `wall`. A check is `check` of a step that the search found, asked of
a program about which nothing is known yet. With --write the table is kept in benchmarks/results/.
"""

from __future__ import annotations

import datetime
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).parent.parent
PROGRAMS = sorted((ROOT / "benchmarks" / "polybench").glob("*.c"))
RUNS = 3
FRONT = "import sys; from warpsmith.front.load import *; load_program(sys.argv[1:], FrontOptions())"
# compiled modules are kept, as in every installation
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


class Time(Struct, frozen=True):
    """What one process took, in seconds and MiB."""

    cpu: float
    wall: float
    peak: float


def once(command: list[str], environment: Mapping[str, str] = ENVIRONMENT) -> Time:
    """Run a command and return what it took, all processes below it counted."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"exit code {process.returncode}: {' '.join(command)}")
    return Time(usage.ru_utime + usage.ru_stime, time.perf_counter() - start, usage.ru_maxrss / 1024)


def measured(command: list[str]) -> Time:
    """Return the medians of several runs, and the greatest peak."""
    runs = [once(command) for _ in range(RUNS)]
    cpu, wall = statistics.median(r.cpu for r in runs), statistics.median(r.wall for r in runs)
    return Time(cpu, wall, max(r.peak for r in runs))


def checks(path: Path) -> list[tuple[str, float]]:
    """Return each step that the search finds for a program, and the seconds of its check."""
    # loaded late: the peak of a process that we start begins at ours
    from warpsmith.front.load import FrontOptions, load_program
    from warpsmith.loops.prepared import Prepared
    from warpsmith.offload.automatic import automatic
    from warpsmith.poly.analyze import Facts, analyze
    from warpsmith.poly.facts import PolyOptions

    program = load_program([str(path)], FrontOptions()).program
    facts = analyze(program, PolyOptions())
    taken: list[tuple[str, float]] = []
    for applied in automatic(Prepared(facts, facts), None).applied:
        start = time.process_time()
        applied.step.check(program, Facts.about(program, PolyOptions()))
        taken.append((f"{path.stem}: {applied.text}", time.process_time() - start))
        program = applied.step.apply(program)
    return taken


def port_rows() -> list[str]:
    """Return the table of all ports, with median and maximum below."""
    once([sys.executable, "-m", "warpsmith", "port", str(PROGRAMS[0]), "--verify", "off"])
    rows, ports, ratios = [f"{'port':18}{'cpu s':>8}{'x front':>9}{'wall s':>8}{'peak MiB':>10}"], [], []
    for path in PROGRAMS:
        front = measured([sys.executable, "-c", FRONT, str(path)])
        port = measured([sys.executable, "-m", "warpsmith", "port", str(path), "--verify", "off"])
        ports.append(port)
        ratios.append(port.cpu / front.cpu)
        rows.append(f"{path.stem:18}{port.cpu:8.2f}{ratios[-1]:9.1f}{port.wall:8.2f}{port.peak:10.0f}")
    for words, chosen in (("median", statistics.median), ("maximum", max)):
        columns = [chosen(column) for column in zip(*((p.cpu, p.wall, p.peak) for p in ports), strict=True)]
        rows.append(f"{words:18}{columns[0]:8.2f}{chosen(ratios):9.1f}{columns[1]:8.2f}{columns[2]:10.0f}")
    return rows


def check_rows() -> list[str]:
    """Return the number of checks, the median and the slowest one."""
    taken = [entry for path in PROGRAMS for entry in checks(path)]
    seconds = [entry[1] for entry in taken]
    slowest = max(taken, key=lambda entry: entry[1])
    return [
        f"{len(taken)} checks of steps, cpu s: median {statistics.median(seconds):.3f}, maximum {slowest[1]:.3f}",
        f"the slowest: {slowest[0]}",
    ]


def main() -> None:
    lines = [
        f"date     {datetime.date.today()}",
        f"machine  {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        f"command  python benchmarks/port_time.py   (median of {RUNS} whole processes)",
        f"load     {os.getloadavg()[0]:.1f} other processes wanted to run",
        "",
        *port_rows(),
        "",
        *check_rows(),
    ]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if "--write" in sys.argv:
        (ROOT / "benchmarks" / "results" / "port_time.txt").write_text(text)


if __name__ == "__main__":
    main()
