"""Whether tests notice small changes in the files that soundness hangs on: a mutation run, on demand.

    python benchmarks/mutation.py [--count N] [--seed N] [--group NAME] … [--jobs N] [--output FILE]

mutation.toml says which files, and which tests belong to each; mutation_operators.py says what is changed. Of each
group --count mutants are drawn by --seed: the first ones of a larger draw are a smaller one. A mutant is written into a
copy of the tree, never into the tree itself, and the tests of its group run there until one fails. A mutant that takes
longer than five times what the tests take without it, and a minute, counts as killed, and is listed apart.
A survivor is a change that no test of its group notices. mutation_judged.toml names those that someone has looked at
and that change no verdict to a wrong one (a message, less precision, time), each with the reason; they are no misses.

Writes a table and the survivors to benchmarks/results/mutation.txt. Exits with 1 where a survivor is not judged.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from queue import SimpleQueue
from typing import Literal

from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.mutation_operators import Mutant, mutants

ROOT = Path(__file__).resolve().parents[1]
Fate = Literal["killed", "time", "survived"]
MEMORY = 8 << 20
"""Address space of a test run, in KiB: a mutant may grow without end."""


class Group(Struct, frozen=True):
    """Files, below src/warpsmith, and what tests them, below tests."""

    name: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]


class Result(Struct, frozen=True):
    """What became of a mutant of `source`."""

    group: str
    source: str
    mutant: Mutant
    fate: Fate


def groups() -> tuple[Group, ...]:
    """Return what mutation.toml lists."""
    read = tomllib.loads((ROOT / "benchmarks" / "mutation.toml").read_text())
    return tuple(Group(g["name"], tuple(g["sources"]), tuple(g["tests"])) for g in read["group"])


Key = tuple[str, str, str]


def judged() -> dict[Key, str]:
    """Return the survivors that were looked at, each with its reason."""
    read = tomllib.loads((ROOT / "benchmarks" / "mutation_judged.toml").read_text())
    return {(one["source"], one["function"], one["change"]): one["reason"] for one in read.get("judged", [])}


def drawn(group: Group, count: int, seed: int) -> list[tuple[str, Mutant]]:
    """Return `count` mutants of a group, those that a smaller count gives first."""
    every = [(s, m) for s in group.sources for m in mutants((ROOT / "src/warpsmith" / s).read_text())]
    random.Random(f"{seed} {group.name}").shuffle(every)
    return every[:count]


class Copy:
    """A copy of the tree in which one file at a time is another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = int(time.time()) - (1 << 24)
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
        for name in filter(None, names):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, folder / name)

    def outcome(self, tests: Sequence[str], limit: float | None) -> int | None:
        """Run tests until one fails; return pytest's exit status, None where they take longer than `limit` seconds."""
        pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:xdist", *(f"tests/{test}" for test in tests)]
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "src"), "PYTHONHASHSEED": "0"}
        environment["PYTHONPYCACHEPREFIX"] = str(self.folder / ".pycache")
        command = ["sh", "-c", f'ulimit -v {MEMORY}; exec "$@"', "sh", *pytest]
        quiet = subprocess.DEVNULL
        with subprocess.Popen(
            command, cwd=self.folder, env=environment, stdout=quiet, stderr=quiet, start_new_session=True
        ) as process:
            try:
                return process.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return None

    def fate(self, source: str, mutant: Mutant, tests: Sequence[str], limit: float) -> Fate:
        """Test one mutant."""
        path = self.folder / "src/warpsmith" / source
        original = path.read_text()
        try:
            self._write(path, mutant.text)
            status = self.outcome(tests, limit)
        finally:
            self._write(path, original)
        return "time" if status is None else "survived" if status == 0 else "killed"

    def _write(self, path: Path, text: str) -> None:
        """Write a file with a time of its own: byte code is told by the second that its text was written in."""
        self.clock += 2
        path.write_text(text)
        os.utime(path, (self.clock, self.clock))


def tested(
    group: Group, chosen: Sequence[tuple[str, Mutant]], copies: SimpleQueue[Copy], jobs: int
) -> Iterator[Result]:
    """Yield what becomes of some mutants of a group, as it becomes known."""
    first = copies.get()
    start = time.monotonic()
    if (status := first.outcome(group.tests, None)) != 0:
        raise SystemExit(f"{group.name}: its tests fail as it is (pytest ends with {status})")
    limit = 60 + 5 * (time.monotonic() - start)
    copies.put(first)

    def run(one: tuple[str, Mutant]) -> Result:
        copy = copies.get()
        try:
            return Result(group.name, *one, copy.fate(*one, group.tests, limit))
        finally:
            copies.put(copy)

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(run, chosen)


def table(results: Sequence[Result], reasons: dict[Key, str]) -> Iterator[str]:
    """Yield the lines of the table, one a file, and what survived."""
    yield f"{'file':<44}{'mutants':>8}{'killed':>8}{'by time':>8}{'survived':>9}{'judged':>8}"
    sources = list(dict.fromkeys(result.source for result in results))
    for name in [*sources, "in all"]:
        mine = [r for r in results if name in (r.source, "in all")]
        fates = Counter(r.fate for r in mine)
        known = sum(r.fate == "survived" and key(r) in reasons for r in mine)
        dead = fates["killed"] + fates["time"]
        yield f"{name:<44}{len(mine):>8}{dead:>8}{fates['time']:>8}{fates['survived'] - known:>9}{known:>8}"
    for title, wanted in (("Killed by the time limit", "time"), ("Survived", "survived")):
        listed = [r for r in results if r.fate == wanted]
        if listed:
            yield f"\n{title}:"
        for r in listed:
            yield f"  {r.source}:{r.mutant.line} in {r.mutant.function}, {r.mutant.operator}:"
            yield f"      {r.mutant.change}"
            if wanted == "survived":
                yield f"      {reasons.get(key(r), 'not judged')}"


def key(result: Result) -> Key:
    """Return what a survivor is judged by."""
    return result.source, *result.mutant.key


def _head(arguments: argparse.Namespace) -> Iterator[str]:
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    chosen = "".join(f" --group {name}" for name in arguments.group)
    yield f"python benchmarks/mutation.py --count {arguments.count} --seed {arguments.seed}{chosen}"
    yield f"{date.today().isoformat()}, commit {commit}, Python {sys.version.split()[0]}"
    yield "`killed` has those by time in it; `judged`: survived, and looked at (mutation_judged.toml).\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40, help="mutants of each group")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--group", action="append", default=[], choices=[g.name for g in groups()])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks/results/mutation.txt")
    arguments = parser.parse_args()
    reasons, results = judged(), list[Result]()
    # the tree that is copied now
    head = list(_head(arguments))
    with tempfile.TemporaryDirectory(prefix="warpsmith-mutants-") as folder:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(arguments.jobs):
            copies.put(Copy(Path(folder, str(number))))
        for group in groups():
            if arguments.group and group.name not in arguments.group:
                continue
            chosen = drawn(group, arguments.count, arguments.seed)
            for result in tested(group, chosen, copies, arguments.jobs):
                results.append(result)
                print(result.fate, result.source, result.mutant.line, result.mutant.change, sep=" | ", flush=True)
    arguments.output.write_text("\n".join([*head, *table(results, reasons)]) + "\n")
    return int(any(r.fate == "survived" and key(r) not in reasons for r in results))


if __name__ == "__main__":
    sys.exit(main())
