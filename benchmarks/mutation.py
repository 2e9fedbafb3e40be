"""Whether tests notice small changes in the files that soundness hangs on: a mutation run, on demand.

    python benchmarks/mutation.py [--count N] [--seed N] [--group NAME] … [--jobs N] [--results FILE] [--output FILE]

mutation.toml says which files, and which tests belong to each; mutants/operators.py says what is changed. Of each
group --count mutants are drawn by --seed: the first ones of a larger draw are a smaller one. A mutant is put into a
copy of the tree, never into the tree itself, and the tests of its group that execute the changed lines run there, the
fastest first, until one fails (mutants/tested.py); a mutant that no test executes survives at once. One process
collects the tests of a group; for each mutant it forks, and the fork puts the mutant in place (mutants/plugin.py). A
mutant of what runs while files are loaded gets a process of its own. A mutant with which a test takes longer than five
times what it takes without it, and ten seconds, counts as killed, and is listed apart; all of this is processor time.
A survivor is a change that no test of its group notices. mutation_judged.toml names those that someone has looked at
and that change no verdict to a wrong one (a message, less precision, time), each with the reason; they are no misses.

Each result is a line in --results as soon as it is known, and what stands there of the same commit is not done again,
nor what is kept beside it of the tests of a group; with --keep-killed neither is what was killed at another commit,
where tests are only added; --known runs nothing. Writes a table and the survivors to benchmarks/results/mutation.txt.
Exits with 1 where a survivor is not judged.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import Literal

import msgspec
from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.mutants.operators import Mutant, mutants
from benchmarks.mutants.tested import Measured, Test, changed_lines, executing

ROOT = Path(__file__).resolve().parents[1]
Fate = Literal["killed", "time", "survived"]
MEMORY = 8 << 20
"""Address space of a test run, in KiB: a mutant may grow without end."""
AT_LEAST = 10
"""Seconds of the processor that a test has besides five times what it takes without the mutant."""
WAITING = 1800
"""Seconds by the clock in which tests are collected, or run: they may wait for something for ever."""


class Group(Struct, frozen=True):
    """Files, below src/warpsmith, and what tests them, below tests."""

    name: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]


class Result(Struct, frozen=True):
    """What became of a mutant of `source`; how many tests execute what it changes."""

    group: str
    source: str
    mutant: Mutant
    fate: Fate
    tests: int = 0


class Line(Struct, frozen=True):
    """A line of a file of results: `mutant` is the hash of the whole text."""

    commit: str
    source: str
    mutant: str
    fate: Fate
    tests: int
    function: str
    line: int
    change: str


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


class Known:
    """The results of earlier runs and of this one, in a file of lines, or in none; `only`: nothing is added."""

    def __init__(self, path: Path | None, commit: str, keep_killed: bool, only: bool = False) -> None:
        self.path, self.commit, self.only, self.lock = path, commit, only, Lock()
        self.lines: dict[tuple[str, str], Line] = {}
        texts = path.read_text().splitlines() if path is not None and path.exists() else []
        for line in (msgspec.json.decode(text, type=Line) for text in texts):
            if line.commit == commit or (keep_killed and line.fate != "survived"):
                self.lines[line.source, line.mutant] = line

    def measured(self, group: Group, copy: Copy) -> Measured:
        """Return which tests of a group execute what: as it was kept beside the results, or else by a run."""
        kept = self.path and self.path.with_name(f"{self.path.name}-{self.commit}-{group.name}.json")
        if kept is not None and kept.exists():
            return msgspec.json.decode(kept.read_bytes(), type=Measured)
        measured = copy.measured(group)
        if kept is not None:
            kept.write_bytes(msgspec.json.encode(measured))
        return measured

    def result(self, group: str, source: str, mutant: Mutant) -> Result | None:
        """Return what is known of a mutant."""
        line = self.lines.get((source, _digest(mutant)))
        return None if line is None else Result(group, source, mutant, line.fate, line.tests)

    def add(self, result: Result) -> None:
        """Note a result."""
        m = result.mutant
        told = (result.fate, result.tests, m.function, m.line, m.change)
        line = Line(self.commit, result.source, _digest(m), *told)
        with self.lock:
            self.lines[line.source, line.mutant] = line
            if self.path is not None:
                with self.path.open("ab") as file:
                    file.write(msgspec.json.encode(line) + b"\n")


def _digest(mutant: Mutant) -> str:
    return hashlib.sha256(mutant.text.encode()).hexdigest()[:24]


class Copy:
    """A copy of the tree in which one file at a time is another."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder = folder
        self.clock = int(time.time()) - (1 << 24)
        for name in names:
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, folder / name)

    def source(self, name: str) -> Path:
        """Return the place of a file of src/warpsmith."""
        return self.folder / "src/warpsmith" / name

    def write(self, name: str, text: str) -> None:
        """Write a file with a time of its own: byte code is told by the second that its text was written in."""
        self.clock += 2
        self.source(name).write_text(text)
        os.utime(self.source(name), (self.clock, self.clock))

    def pytest(
        self, tests: Sequence[str], told: Mapping[str, str], pass_fds: Sequence[int] = ()
    ) -> subprocess.Popen[bytes]:
        """Start pytest on some tests, with the plugin of mutants/plugin.py and what it is told."""
        # nobody reads why a test fails, and to say it may take longer than the test
        options = ["-q", "--assert=plain", "--tb=no", "-p", "no:xdist", "-p", "benchmarks.mutants.plugin"]
        pytest = [sys.executable, "-m", "pytest", *options]
        paths = f"{self.folder / 'src'}{os.pathsep}{self.folder}"
        environment = {**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "0", **told}
        environment.setdefault("PYTHONPYCACHEPREFIX", str(self.folder / ".pycache"))
        command = ["sh", "-c", f'ulimit -v {MEMORY}; exec "$@"', "sh", *pytest, *(f"tests/{test}" for test in tests)]
        quiet = subprocess.DEVNULL
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdout=quiet,
            stderr=quiet,
            start_new_session=True,
            pass_fds=pass_fds,
        )

    def measured(self, group: Group) -> Measured:
        """Run the tests of a group as they are."""
        sources = {str(self.source(name)): name for name in group.sources}
        with tempfile.NamedTemporaryFile(dir=self.folder) as answer:
            told = {"WARPSMITH_MUTANTS_MEASURE": answer.name, "WARPSMITH_MUTANTS_SOURCES": os.pathsep.join(sources)}
            with self.pytest(group.tests, told) as process:
                status = process.wait()
            if status != 0:
                raise SystemExit(f"{group.name}: its tests fail as it is (pytest ends with {status})")
            text = Path(answer.name).read_text()
        for path, name in sources.items():
            text = text.replace(json.dumps(path), json.dumps(name))
        return msgspec.json.decode(text, type=Measured)


class Server:
    """A process that has collected the tests of a group, and tries mutants in forks of itself."""

    def __init__(self, copy: Copy, tests: Sequence[str]) -> None:
        self.copy = copy
        reads, self.requests = os.pipe()
        self.answers, writes = os.pipe()
        told = {"WARPSMITH_MUTANTS_SERVE": f"{reads} {writes}"}
        self.process = copy.pytest(tests, told, (reads, writes))
        os.close(reads)
        os.close(writes)
        self.ready = self._answer(WAITING) == "ready"

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.requests)
        os.close(self.answers)
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def ask(self, tests: Sequence[Test], change: tuple[Path, str] | None = None) -> str:
        """Return what becomes of a file's new text, or of the tests without a change."""
        with tempfile.TemporaryDirectory(dir=self.copy.folder, ignore_cleanup_errors=True) as scratch:
            limits = {test.name: AT_LEAST + 5 * test.seconds for test in tests}
            request: dict[str, object] = {"tests": limits, "limit": WAITING, "scratch": scratch}
            if change is not None:
                path, text = change
                request |= {"path": str(path), "original": path.read_text(), "mutant": text}
            with os.fdopen(os.dup(self.requests), "wb") as file:
                file.write(msgspec.json.encode(request) + b"\n")
            return self._answer(2 * WAITING)

    def _answer(self, limit: float) -> str:
        """Return the next answer, "" where none comes."""
        if not select.select([self.answers], [], [], limit)[0]:
            return ""
        # an answer is a word: it comes whole
        answer = os.read(self.answers, 100)
        return str(msgspec.json.decode(answer)) if answer else ""


def fate(server: Server, source: str, mutant: Mutant, chosen: Sequence[Test], *, outside: bool) -> Fate:
    """Return what becomes of a mutant; `outside`: it changes what runs while files are loaded."""
    copy = server.copy
    answer = "apart" if outside else server.ask(chosen, (copy.source(source), mutant.text))
    if answer == "apart":
        original = copy.source(source).read_text()
        try:
            copy.write(source, mutant.text)
            files = list(dict.fromkeys(test.name.partition("::")[0].removeprefix("tests/") for test in chosen))
            with Server(copy, files) as other:
                # a process that ends before it answers is killed as well
                answer = (other.ask(chosen) if other.ready else "") or "killed"
        finally:
            copy.write(source, original)
    return msgspec.convert(answer, type=Fate)  # type: ignore[no-any-return]


Chosen = tuple[str, Mutant]


def tested(group: Group, chosen: Sequence[Chosen], copies: Sequence[Copy], known: Known) -> Iterator[Result]:
    """Yield what becomes of some mutants of a group, as it becomes known."""
    if known.only or all(known.result(group.name, *one) for one in chosen):
        yield from (result for one in chosen if (result := known.result(group.name, *one)))
        return
    measured = known.measured(group, copies[0])
    with ExitStack() as stack, ThreadPoolExecutor(len(copies)) as pool:
        servers: SimpleQueue[Server] = SimpleQueue()
        for copy in copies:
            servers.put(stack.enter_context(Server(copy, group.tests)))
        yield from pool.map(lambda one: _tried(group, one, measured, servers, known), chosen)


def _tried(group: Group, one: Chosen, measured: Measured, servers: SimpleQueue[Server], known: Known) -> Result:
    if (before := known.result(group.name, *one)) is not None:
        return before
    source, mutant = one
    server = servers.get()
    try:
        lines = changed_lines(server.copy.source(source).read_text(), mutant)
        tests, outside = executing(measured, source, lines), measured.is_outside(source, lines)
        ended = fate(server, source, mutant, tests, outside=outside) if tests else "survived"
    finally:
        servers.put(server)
    result = Result(group.name, source, mutant, ended, len(tests))
    known.add(result)
    return result


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


def _files() -> list[str]:
    """Return the files of the tree."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    return [name for name in names.split("\0") if name]


def _commit() -> str:
    described = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(described, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def _head(arguments: argparse.Namespace, commit: str) -> Iterator[str]:
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
    parser.add_argument("--results", type=Path, help="a file of lines, to go on from and to add to")
    parser.add_argument("--keep-killed", action="store_true", help="what another commit killed stays so")
    parser.add_argument("--known", action="store_true", help="run nothing: the table of --results")
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks/results/mutation.txt")
    arguments = parser.parse_args()
    results = list[Result]()
    # the tree that is copied now
    commit = _commit()
    known = Known(arguments.results, commit, arguments.keep_killed, arguments.known)
    wanted = [group for group in groups() if not arguments.group or group.name in arguments.group]
    with tempfile.TemporaryDirectory(prefix="warpsmith-mutants-") as folder:
        chosen = [(group, drawn(group, arguments.count, arguments.seed)) for group in wanted]
        copies = [Copy(Path(folder, str(number)), _files()) for number in range(arguments.jobs)]
        for group, mine in chosen:
            for result in tested(group, mine, copies, known):
                results.append(result)
                told = (result.fate, result.source, result.mutant.line, f"{result.tests} tests", result.mutant.change)
                print(*told, sep=" | ", flush=True)
    reasons = judged()
    arguments.output.write_text("\n".join([*_head(arguments, commit), *table(results, reasons)]) + "\n")
    return int(any(r.fate == "survived" and key(r) not in reasons for r in results))


if __name__ == "__main__":
    sys.exit(main())
