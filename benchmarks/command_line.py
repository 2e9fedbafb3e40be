"""How long a user waits: whole processes, as ratios to the C compiler on the same file, or to another checkout.

    python benchmarks/command_line.py [--against PYTHON TREE] [--write]

`cpu` is user and system time of a command with all that it starts, which a busy machine disturbs less than `wall`; the
table shows the medians of five runs. `peak` is the largest resident set of a process.

With --against the same commands, and a port of each program of benchmarks/polybench, run in turn as this checkout has
them and as TREE does, with PYTHON, which has its libraries. The least CPU seconds of both are compared, since what
disturbs a run makes it longer. Byte code is kept, and so is what a first run keeps for later ones.
With --write the table is kept in benchmarks/results/ with date and machine.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from port_time import ENVIRONMENT, PROGRAMS, ROOT, Time, once

EXAMPLES = ROOT / "examples"
RESULTS = ROOT / "benchmarks" / "results"
RUNS = 5
TURNS = 7
TURNS_A_PROGRAM = 3
TARGETS = {
    "--help": 1.0,
    "port saxpy.c": 0.35,
    "analyze transpose.cu": 0.7,
    "median of the programs": 0.5,
    "the slowest of each side": 0.4,
}
"""The ratios to the checkout of November 2026 that were wanted, by command."""


class Side(Struct, frozen=True):
    """A checkout and what runs it; what it keeps for later runs lies in a folder of its own."""

    python: str
    tree: Path
    kept: Path

    def once(self, words: Sequence[str]) -> Time:
        """Run a command of warpsmith."""
        own = {"PYTHONPATH": str(self.tree / "src"), "WARPSMITH_CACHE_DIR": str(self.kept)}
        return once([self.python, "-m", "warpsmith", *words], ENVIRONMENT | own)


def median(runs: Sequence[Time]) -> Time:
    """Return the medians of several runs, and the greatest peak."""
    cpu, wall = statistics.median(r.cpu for r in runs), statistics.median(r.wall for r in runs)
    return Time(cpu, wall, max(r.peak for r in runs))


def rows() -> Iterator[tuple[str, Time, float]]:
    """Yield (what, its time, the ratio of its wall time to that of gcc -O2 -c lu.c)."""
    with tempfile.TemporaryDirectory() as scratch:
        here = Side(sys.executable, ROOT, Path(scratch))
        compiled = ["gcc", "-O2", "-c", str(EXAMPLES / "lu.c"), "-o", str(Path(scratch) / "lu.o")]
        unit = median([once(compiled) for _ in range(RUNS)])
        yield "gcc -O2 -c lu.c", unit, 1.0
        commands: dict[str, list[str]] = {"--help": ["--help"]}
        for path in sorted(EXAMPLES.glob("*.c")):
            commands[f"port {path.name} --verify off"] = ["port", str(path), "--verify", "off"]
        commands["port lu.c (built, run, verified)"] = ["port", str(EXAMPLES / "lu.c")]
        for what, words in commands.items():
            time = median([here.once(words) for _ in range(RUNS)])
            yield what, time, time.wall / unit.wall


def alone() -> list[str]:
    """Return the table of this checkout."""
    return [
        f"command  python benchmarks/command_line.py   (median of {RUNS} whole processes)",
        "",
        f"{'what':36}{'cpu s':>8}{'wall s':>8}{'x gcc':>8}{'peak MiB':>10}",
        *(f"{what:36}{t.cpu:8.2f}{t.wall:8.2f}{ratio:8.1f}{t.peak:10.0f}" for what, t, ratio in rows()),
    ]


def compared(
    commands: Mapping[str, Sequence[str]], sides: tuple[Side, Side], turns: int
) -> Iterator[tuple[str, float, float]]:
    """Yield (what, least CPU seconds of the one side, of the other); they run in turn."""
    for what, words in commands.items():
        for side in sides:
            side.once(words)
        runs = [tuple(side.once(words).cpu for side in sides) for _ in range(turns)]
        yield what, min(cpu for cpu, _ in runs), min(cpu for _, cpu in runs)


def against(python: str, tree: Path) -> list[str]:
    """Return the table that compares this checkout with another."""
    commit = subprocess.run(
        ["git", "-C", str(tree), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    lines = [
        f"command  python benchmarks/command_line.py --against PYTHON TREE   (TREE at {commit})",
        f"figures  CPU seconds, user and system, of all that a command starts: the least of {TURNS} runs",
        f"         ({TURNS_A_PROGRAM} of each program of benchmarks/polybench)",
        "",
        f"{'what':28}{'then':>8}{'now':>8}{'ratio':>8}{'wanted':>8}",
    ]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        sides = Side(python, tree, folder / "then"), Side(sys.executable, ROOT, folder / "now")
        commands = {
            "--help": ["--help"],
            "port saxpy.c": [
                *("port", str(EXAMPLES / "saxpy.c"), "--verify", "off"),
                *("-o", str(folder / "out"), "--force"),
            ],
            "port gemm.c": ["port", str(EXAMPLES / "gemm.c"), "--verify", "off"],
            "analyze transpose.cu": ["analyze", str(EXAMPLES / "kernels" / "transpose.cu")],
        }
        lines += [_row(*row) for row in compared(commands, sides, TURNS)]
        ports = {path.stem: ["port", str(path), "--verify", "off"] for path in PROGRAMS}
        found = list(compared(ports, sides, TURNS_A_PROGRAM))
    lines += ["", *(_row(*row) for row in found)]
    ratios = [now / then for _, then, now in found]
    what = "median of the programs"
    slowest = (max(then for _, then, _ in found), max(now for _, _, now in found))
    return [
        *lines,
        f"{what:44}{statistics.median(ratios):8.2f}{TARGETS[what]:8.2f}",
        _row("the slowest of each side", *slowest),
    ]


def _row(what: str, then: float, now: float) -> str:
    wanted = f"{TARGETS[what]:8.2f}" if what in TARGETS else ""
    return f"{what:28}{then:8.2f}{now:8.2f}{now / then:8.2f}{wanted}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", nargs=2, metavar=("PYTHON", "TREE"))
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    lines = [
        f"date     {datetime.date.today()}",
        f"machine  {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
    ]
    lines += alone() if given.against is None else against(given.against[0], Path(given.against[1]).resolve())
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if given.write:
        name = "command_line.txt" if given.against is None else "command_line_against.txt"
        (RESULTS / name).write_text(text)


if __name__ == "__main__":
    main()
