"""What runs beside the GPU:

    python3 FOLDER/device all                                                 everything, into FOLDER/results
    python3 FOLDER/device COMMAND --results FILE [--kind KIND …] [--only NAME …]

`all` ends within `--seconds` or a little later, says how much is left, and goes on there when it is called again; its
exit code is 0 when nothing is left, else 3. Each line of a file of results is one answer, in JSON. Nothing here needs
more than the standard library, gcc, nvcc and CUDA's tools, and no network.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from functools import cached_property
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from building import Builder
from check import check_program, work_folder
from counters import count_all
from everything import LATE, TASKS, answered, left_of
from measure import measure_device
from sanitize import sanitize_program
from timing import time_kernels, time_programs

HERE = Path(__file__).resolve().parents[1]
COMMANDS = ("all", "check", "sanitize", "time", "mapping", "count", "device")
SINGLE = ("count", "device")
"""Those that are not about the programs of the manifest."""


class Setting:
    """What commands work with: the manifest, what builds, and until when something may begin."""

    def __init__(self, jobs: int, seconds: float) -> None:
        self.jobs, self.deadline = jobs, time.monotonic() + seconds
        self.folder, self.arch = work_folder(), architecture()

    @cached_property
    def manifest(self) -> dict:
        return json.loads((HERE / "manifest.json").read_text())

    @cached_property
    def builder(self) -> Builder:
        return Builder(HERE, self.folder, self.arch)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("--results", type=Path)
    parser.add_argument("--kind", action="append", default=[])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--match", default="", help="programs with this in their names")
    parser.add_argument("--most", type=int, default=0, help="so many programs of each kind")
    parser.add_argument("--jobs", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=400.0, help="begin nothing later than that")
    given = parser.parse_args()
    if given.command != "all" and given.results is None:
        parser.error("--results FILE")
    setting = Setting(given.jobs, given.seconds)
    if given.command == "all":
        return do_everything(setting, given.results or HERE / "results")
    write_machine(given.results.with_name("machine.txt"))
    programs = [] if given.command in SINGLE else setting.manifest["programs"]
    rows = [row for row in programs if "builds" in row and _wanted(row, given)]
    rows = [row for n, row in enumerate(rows) if not given.most or _number(rows, n) < given.most]
    answers = do_command(given.command, rows, setting, given.results)
    print(given.command, dict(Counter(answer.get("word", "?") for answer in answers)))
    return 0


def do_everything(setting: Setting, target: Path) -> int:
    """Do what is left of every task; return 3 where something still is."""
    target.mkdir(exist_ok=True)
    write_machine(target / "machine.txt")
    programs = [row for row in setting.manifest["programs"] if "builds" in row]
    left = 0
    for task in TASKS:
        name, command, *_ = task
        results = target / f"{name}.jsonl"
        single = command in SINGLE
        rows = [] if single else left_of(task, programs, results)
        open_ = not answered(results) if single else bool(rows)
        if command == "count" and not (HERE / "counts.json").exists():
            continue
        if open_ and time.monotonic() < setting.deadline:
            do_command(command, rows, setting, results)
            rows = [] if single else left_of(task, programs, results)
            open_ = not answered(results) if single else bool(rows)
        left += len(rows) or int(open_)
        print(f"{name}: {len(rows) or int(open_)} left", flush=True)
    return 3 if left else 0


def do_command(command: str, rows: list[dict], setting: Setting, results: Path) -> list[dict]:
    """Do one command on some programs; the answers are written as they come."""
    if command == "device":
        return measure_device(setting.arch, setting.folder, results)
    if command == "count":
        return count_all(HERE, setting.arch, results)
    builder = setting.builder
    if command == "time":
        answers = time_programs(rows, builder, setting.folder, results, setting.deadline)
    elif command == "mapping":
        answers = time_kernels(rows, builder, setting.folder, results, setting.deadline)
    else:
        work: dict[str, Callable[[dict], dict]] = {
            "check": lambda row: check_program(row, builder, setting.manifest["environments"]),
            "sanitize": lambda row: sanitize_program(row, builder),
        }
        answers = do_all(rows, work[command], setting, results)
    with results.open("a") as file:
        for path, said in sorted(builder.warnings.items()):
            file.write(json.dumps({"warning": path, "said": said}) + "\n")
    return answers


def _wanted(row: dict, given: argparse.Namespace) -> bool:
    return (
        (not given.kind or row["kind"] in given.kind)
        and (not given.only or row["name"] in given.only)
        and given.match in row["name"]
    )


def _number(rows: list[dict], at: int) -> int:
    """Return how many programs of the same kind stand before one."""
    return sum(row["kind"] == rows[at]["kind"] for row in rows[:at])


def do_all(rows: list[dict], work: Callable[[dict], dict], setting: Setting, results: Path) -> list[dict]:
    """Do the work on all programs, so many at a time; write each answer as it comes."""
    lock, answers = threading.Lock(), list[dict]()

    def one(row: dict) -> None:
        if time.monotonic() > setting.deadline:
            answer = {"name": row["name"], "kind": row["kind"], "word": LATE, "where": ""}
        else:
            try:
                answer = work(row)
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                answer = {"name": row["name"], "kind": row["kind"], "word": "broken", "where": repr(error)[:500]}
        with lock:
            answers.append(answer)
            with results.open("a") as file:
                file.write(json.dumps(answer) + "\n")
            if answer.get("word") not in ("same", "tolerance", "clean", LATE):
                print(answer["name"], answer["word"], answer.get("where", "")[:300], flush=True)

    with ThreadPoolExecutor(setting.jobs) as pool:
        list(pool.map(one, rows))
    return answers


def write_machine(path: Path) -> None:
    """Write down what ran all this, for the head of the tables."""

    def said(*command: str) -> str:
        found = shutil.which(command[0])
        return subprocess.run(command, capture_output=True, text=True).stdout.strip() if found else "none"

    asked = "--query-gpu=name,driver_version,compute_cap"
    gpu = said("nvidia-smi", asked, "--format=csv,noheader").splitlines()[0].split(", ")
    name, driver, capability = gpu if len(gpu) == 3 else ("no GPU", "none", "none")
    nvcc = said("nvcc", "--version").rpartition("V")[2].split("\n")[0]
    lines = (
        f"date     {date.today()}",
        f"machine  {name}, driver {driver}, compute capability {capability}; "
        f"{platform.machine()}, {os.cpu_count()} cores",
        f"tools    nvcc {nvcc}, gcc {said('gcc', '-dumpfullversion')}",
    )
    path.write_text("\n".join(lines) + "\n")


def architecture() -> str:
    """Return the architecture of the first GPU, as nvcc is told it; sm_90 where none is seen."""
    tool = shutil.which("nvidia-smi")
    command = [tool or "nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    ran = subprocess.run(command, capture_output=True, text=True) if tool else None
    return f"sm_{ran.stdout.split()[0].replace('.', '')}" if ran is not None and ran.stdout.split() else "sm_90"


if __name__ == "__main__":
    sys.exit(main())
