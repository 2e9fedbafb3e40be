"""What ports leave on the host, and how good the estimates are that decide it.

    python -m benchmarks.gain [--write] [--project DIR[=RUN]]... [PROGRAM...]

Choices: each program is ported with `--all` and as the estimate decides; neither is run. SMALL and examples have the
counts of a run (gcc -O1, counted as `survey --run` does), LARGE those that its sizes make. Launches, copies and seconds
are estimates, on an H100. --project adds a program that `make` builds in a folder, with the counts of RUN, which is a
command, or a file of `survey --run … --json`; names and figures only are kept of it.
Times: the estimates of the 33 programs at LARGE, for an H200, beside what they took on one (gpu_times.txt).
With --write the tables are kept in benchmarks/results/ with date and machine.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import re
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.polybench import suite
from msgspec import Struct

from warpsmith.base.errors import InputError
from warpsmith.flows.in_place import port_project
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.flows.porting.gain import estimate_port
from warpsmith.front.load import FrontOptions
from warpsmith.machine.time.coarse import ERROR
from warpsmith.offload.gain.model import GainEstimate
from warpsmith.offload.plan import GainOptions, LoopCount, OffloadOptions
from warpsmith.project.capture import capture_build
from warpsmith.project.model import Project
from warpsmith.project.profile.model import Profile
from warpsmith.project.profile.run import RunRequest, profile_run
from warpsmith.report.survey.counts import read_counts

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
MAKE = ("make",)

Counts = Mapping[tuple[str, int, int], LoopCount]
"""What a run has counted of every loop, by its file, line and column."""


class Program(Struct, frozen=True):
    """A program, or what a build compiles, with the macros that choose its size; `sizes`: of its parameters, `counts`:
    of a run of it."""

    name: str
    path: Path
    macros: tuple[str, ...] = ()
    sizes: Mapping[str, int] = {}
    counts: Counts = {}
    project: Project | None = None


class Choice(Struct, frozen=True):
    """One program: kernels, and the estimates of nothing, of `--all` and of what was chosen."""

    name: str
    kernels: tuple[int, int]
    nothing: GainEstimate
    everything: GainEstimate
    chosen: GainEstimate

    @property
    def holds(self) -> bool:
        """Whether the choice is no worse than nothing, nor worse than all by more than the error."""
        seconds = self.chosen.seconds
        return seconds <= self.nothing.seconds * 1.001 and seconds <= self.everything.seconds * ERROR


def counted(path: Path, macros: tuple[str, ...]) -> Counts:
    """Return what a run of a program of one file has counted."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "project")
        source.mkdir()
        for each in (path, *path.parent.glob("*.h")):
            (source / each.name).write_bytes(each.read_bytes())
        build = ("gcc", "-O1", "-w", *macros, path.name, "-o", "program", "-lm")
        profile = profile_run(RunRequest(source, source, build, "./program > /dev/null", 120.0))
    own = str(path.resolve())
    return {(own, line, column): count for (_, line, column), count in counts_of(profile).items()}


def counts_of(profile: Profile) -> Counts:
    """Return what a run has counted, by loops."""
    return {
        (os.path.realpath(file), line, column): LoopCount(loop.entries, loop.iterations)
        for (file, line, column), loop in profile.exact.items()
    }


def read_project(given: str) -> Program:
    """Return the program that `make` builds in a folder: DIR, or DIR=RUN with counts of a run, or those of a file."""
    folder, _, run = given.partition("=")
    path = Path(folder).resolve()
    here = Path.cwd()
    os.chdir(path)
    try:
        project = capture_build(MAKE)
    finally:
        os.chdir(here)
    if run.endswith(".json"):
        counts = read_counts(str(path / run))
    else:
        counts = counts_of(profile_run(RunRequest(path, path, MAKE, f"{run} > /dev/null", 600.0))) if run else {}
    return Program(path.name, path, counts=counts, project=project)


def ported(program: Program, device: str, *, everything: bool = False) -> tuple[PortResult, OffloadOptions]:
    """Return the port of a program, as `--all` makes it or as the estimate decides, and the options that estimate."""
    estimating = OffloadOptions(sizes=program.sizes or None, gain=GainOptions(device, program.counts))
    offload = OffloadOptions(sizes=program.sizes or None) if everything else estimating
    asked = PortOptions(front=FrontOptions(arguments=program.macros), offload=offload, verify=False)
    if program.project is not None:
        return port_project(program.project, None, asked).result, estimating
    return port([str(program.path)], asked), estimating


def choice_of(program: Program) -> tuple[Choice, PortResult]:
    """Return what is chosen of a program, and its port with `--all`."""
    everything, options = ported(program, "h100", everything=True)
    chosen, _ = ported(program, "h100")
    kernels = tuple(len(r.plan.fragments) if r.plan is not None else 0 for r in (everything, chosen))
    choice = Choice(
        program.name,
        (kernels[0], kernels[1]),
        estimate_port(everything.prepared, None, options),
        estimate_port(everything.prepared, everything.ported, options),
        estimate_port(chosen.prepared, chosen.ported, options),
    )
    return choice, everything


def list_programs(names: Sequence[str], projects: Sequence[str]) -> Iterator[Program]:
    """Yield the 33 programs at LARGE and SMALL, the examples, and the projects that were given."""
    for path in suite.programs():
        if not names or path.stem in names:
            sizes = {name.lower(): size for name, size in suite.sizes(path, "LARGE").items()}
            yield Program(f"{path.stem}", path, ("-DLARGE_DATASET",), sizes)
            small = ("-DSMALL_DATASET",)
            yield Program(f"{path.stem}, small", path, small, counts=counted(path, small))
    for path in sorted((ROOT / "examples").glob("*.c")):
        if "int main" in path.read_text() and (not names or path.stem in names):
            yield Program(f"examples/{path.stem}", path, counts=counted(path, ()))
    yield from map(read_project, projects)


def choices_table(choices: Sequence[Choice]) -> list[str]:
    """Return the table of choices, and what holds of all."""
    lines = [
        f"{'program':24}{'kernels':>9}{'launches':>21}{'copies, MB':>21}{'seconds: nothing':>18}"
        f"{'all':>10}{'chosen':>10}"
    ]
    for c in choices:
        launches = f"{c.everything.launches:,.0f} > {c.chosen.launches:,.0f}"
        moved = f"{c.everything.bytes / 1e6:,.1f} > {c.chosen.bytes / 1e6:,.1f}"
        kernels = f"{c.kernels[0]} > {c.kernels[1]}"
        times = f"{c.nothing.seconds:18.4g}{c.everything.seconds:10.4g}{c.chosen.seconds:10.4g}"
        lines.append(f"{c.name:24}{kernels:>9}{launches:>21}{moved:>21}{times}{'' if c.holds else '  WORSE'}")
    left = sum(c.kernels[1] < c.kernels[0] for c in choices)
    saved = sum(c.everything.seconds > c.chosen.seconds * 1.001 for c in choices)
    return [
        *lines,
        "",
        f"never slower than nothing, nor than all by more than a factor of {ERROR:g}: "
        f"{sum(c.holds for c in choices)} of {len(choices)}",
        f"loops were left in {left}, of which {saved} are faster than with --all",
    ]


def measured() -> dict[str, list[float]]:
    """Return the figures of gpu_times.txt by program."""
    found: dict[str, list[float]] = {}
    for line in (RESULTS / "gpu_times.txt").read_text().splitlines():
        words = line.split()
        if len(words) == 11 and re.fullmatch(r"[\d.]+", words[1]):
            found[words[0]] = [float(word) for word in words[1:10]]
    return found


class Times(Struct, frozen=True):
    """One program at LARGE: what a GPU has shown (gpu_times.txt), and the estimates of the original and of the port."""

    name: str
    shown: Sequence[float]
    before: GainEstimate
    after: GainEstimate

    @property
    def ratios(self) -> tuple[float, float]:
        """Return the estimate over what was measured, of the original and of the port."""
        return self.before.seconds / max(self.shown[0], 5e-4), self.after.seconds / self.shown[1]


def times_of(program: Program, result: PortResult, shown: Mapping[str, Sequence[float]]) -> list[Times]:
    """Return the times of a program at LARGE whose port with `--all` ran on an H200."""
    if program.name not in shown:
        return []
    options = OffloadOptions(sizes=program.sizes, gain=GainOptions("h200"))
    before, after = (estimate_port(result.prepared, port, options) for port in (None, result.ported))
    return [Times(program.name, shown[program.name], before, after)]


def times_table(times: Sequence[Times]) -> list[str]:
    """Return the estimates beside what a GPU has shown, and how many are right within which factor."""
    lines = [
        f"{'program':16}{'original':>10}{'estimate':>10}{'ratio':>7}{'port':>10}{'estimate':>10}{'ratio':>7}"
        f"{'launches':>19}{'copies':>13}{'gain':>9}{'estimate':>10}"
    ]
    loses: tuple[list[str], list[str]] = ([], [])
    for t in times:
        original, real, _, _, _, _, launches, _, copies = t.shown
        gain = t.before.seconds / t.after.seconds
        loses[0].extend([t.name] if original < real else [])
        loses[1].extend([t.name] if gain < 1 else [])
        lines.append(
            f"{t.name:16}{original:10.3f}{t.before.seconds:10.3f}{t.ratios[0]:7.2f}{real:10.3f}{t.after.seconds:10.3f}"
            f"{t.ratios[1]:7.2f}{f'{launches:.0f} {t.after.launches:.0f}':>19}"
            f"{f'{copies:.0f} {t.after.copies:.0f}':>13}"
            f"{original / real:9.2f}{gain:10.2f}"
        )
    ratios = [t.ratios[0] for t in times], [t.ratios[1] for t in times]
    return [*lines, "", *_right(ratios), f"lose: {', '.join(loses[0])}", f"by the estimate: {', '.join(loses[1])}"]


def _right(ratios: tuple[list[float], list[float]]) -> Iterator[str]:
    for what, found in zip(("originals", "ports"), ratios, strict=True):
        if not found:
            continue
        inside = [sum(1 / factor <= r <= factor for r in found) for factor in (1.5, 2, ERROR)]
        yield (
            f"{what}: median ratio {statistics.median(found):.2f}; of {len(found)} within a factor of 1.5: "
            f"{inside[0]}, of 2: {inside[1]}, of {ERROR:g}: {inside[2]}"
        )


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--project", action="append", default=[], metavar="DIR[=RUN]")
    parser.add_argument("programs", nargs="*")
    given = parser.parse_args()
    choices, seconds, unplanned = list[Choice](), list[Times](), list[str]()
    shown = measured()
    for program in list_programs(given.programs, given.project):
        try:
            choice, everything = choice_of(program)
        except InputError:
            unplanned.append(f"{program.name}: not planned in time")
            continue
        choices.append(choice)
        seconds += times_of(program, everything, shown)
        print(choices_table(choices)[len(choices)], flush=True)
    times = times_table(seconds)
    head = [
        f"date     {datetime.date.today()}",
        f"machine  {platform.machine()}, Python {platform.python_version()}",
        f"command  python -m benchmarks.gain {' '.join((['--write'] if given.write else []) + given.programs)}",
        "",
        "Choices: kernels, launches and megabytes copied with --all > as chosen; estimated seconds of the program on",
        "an H100, without CUDA's own start. SMALL and examples: counts of a run; others: LARGE, by their sizes.",
        "",
    ]
    table = [
        *head,
        *choices_table(choices),
        *unplanned,
        "",
        "Times: measured on an H200 (gpu_times.txt) and estimated",
        "",
        *times,
    ]
    print("\n".join(table[len(head) :]))
    if given.write:
        (RESULTS / "gain.txt").write_text("\n".join(table) + "\n")


if __name__ == "__main__":
    main()
