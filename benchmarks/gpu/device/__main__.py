"""What runs beside the GPU: python3 FOLDER/device COMMAND --results FILE [--kind KIND …] [--only NAME …]

Each line of FILE is one answer, in JSON. Nothing here needs more than the standard library, gcc, nvcc and CUDA's tools.
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
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from building import Builder
from check import check_program, work_folder
from counters import count_all
from sanitize import sanitize_program
from timing import time_programs

HERE = Path(__file__).resolve().parents[1]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["check", "sanitize", "time", "count"])
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--kind", action="append", default=[])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--match", default="", help="programs with this in their names")
    parser.add_argument("--most", type=int, default=0, help="so many programs of each kind")
    parser.add_argument("--jobs", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=500.0, help="begin nothing later than that")
    given = parser.parse_args()
    write_machine(given.results.with_name("machine.txt"))
    if given.command == "count":
        rows = count_all(HERE, architecture(), given.results)
        print("count", dict(Counter(row["word"] for row in rows)))
        return 0
    manifest = json.loads((HERE / "manifest.json").read_text())
    rows = [row for row in manifest["programs"] if "builds" in row and _wanted(row, given)]
    rows = [row for n, row in enumerate(rows) if not given.most or _number(rows, n) < given.most]
    folder = work_folder()
    builder = Builder(HERE, folder, architecture())
    work: dict[str, Callable[[dict], dict]] = {
        "check": lambda row: check_program(row, builder, manifest["environments"]),
        "sanitize": lambda row: sanitize_program(row, builder),
    }
    timed = given.command == "time"
    answers = time_programs(rows, builder, folder, given.results) if timed else do_all(rows, work[given.command], given)
    with given.results.open("a") as file:
        for path, said in sorted(builder.warnings.items()):
            file.write(json.dumps({"warning": path, "said": said}) + "\n")
    print(given.command, dict(Counter(answer.get("word", "?") for answer in answers)))
    return 0


def _wanted(row: dict, given: argparse.Namespace) -> bool:
    return (
        (not given.kind or row["kind"] in given.kind)
        and (not given.only or row["name"] in given.only)
        and given.match in row["name"]
    )


def _number(rows: list[dict], at: int) -> int:
    """Return how many programs of the same kind stand before one."""
    return sum(row["kind"] == rows[at]["kind"] for row in rows[:at])


def do_all(rows: list[dict], work: Callable[[dict], dict], given: argparse.Namespace) -> list[dict]:
    """Do the work on all programs, so many at a time; write each answer as it comes."""
    started, lock, answers = time.monotonic(), threading.Lock(), list[dict]()

    def one(row: dict) -> None:
        if time.monotonic() - started > given.seconds:
            answer = {"name": row["name"], "kind": row["kind"], "word": "no time", "where": ""}
        else:
            try:
                answer = work(row)
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                answer = {"name": row["name"], "kind": row["kind"], "word": "broken", "where": repr(error)[:500]}
        with lock:
            answers.append(answer)
            with given.results.open("a") as file:
                file.write(json.dumps(answer) + "\n")
            if answer.get("word") not in ("same", "tolerance", "clean"):
                print(answer["name"], answer["word"], answer.get("where", "")[:300], flush=True)

    with ThreadPoolExecutor(given.jobs) as pool:
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
