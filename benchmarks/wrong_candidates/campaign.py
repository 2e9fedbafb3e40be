"""A campaign: mutants of all programs' ports, each judged by the judge, then by the referee.

The first mutant of every program comes first, then the second of each, and so on: a campaign that is stopped early is a
smaller one. Results are lines of JSON; what stands there already is not done again.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
from benchmarks.wrong_candidates.changes import draw
from benchmarks.wrong_candidates.judge import Judge
from benchmarks.wrong_candidates.ports import Port, make_port
from benchmarks.wrong_candidates.programs import Program, read_programs
from benchmarks.wrong_candidates.referee import Referee
from msgspec import Struct

__all__ = ["CORRECT", "Result", "Settings", "run_campaign", "written"]

CORRECT = "correct"
"""The kind of a port as it is."""


class Settings(Struct, frozen=True):
    """What a campaign runs: `kept` is the folder for ports, `limit` the seconds for one verdict of the referee."""

    programs: Path
    kept: Path
    results: Path
    count: int = 7
    seed: int = 1
    jobs: int = 2
    limit: float = 120.0
    only: tuple[str, ...] = ()


class Result(Struct, frozen=True):
    """One line: what the judge and the referee (`word`, and its first `reason`) say of a mutant."""

    program: str
    kind: str
    key: str
    fate: str
    where: str
    shows: bool
    word: str = ""
    reason: str = ""
    seconds: float = 0.0


class _Item(Struct, frozen=True):
    program: Program
    kind: str
    key: str
    files: Port


def run_campaign(settings: Settings) -> Iterator[Result]:
    """Do what is left to do; yield results as they come."""
    done = {(result.program, result.key) for result in written(settings.results)}
    chosen = [p for p in read_programs(settings.programs) if not settings.only or p.name in settings.only]
    with tempfile.TemporaryDirectory(prefix="judge-shim-") as name, ThreadPoolExecutor(settings.jobs) as pool:
        judges = _Judges(Path(name), settings.limit)
        ports = dict(
            zip([p.name for p in chosen], pool.map(lambda p: make_port(p, settings.kept), chosen), strict=True)
        )
        items = [i for i in _in_turn(chosen, ports, settings) if (i.program.name, i.key) not in done]
        lock = threading.Lock()

        def work(item: _Item) -> Result:
            result = _judged(judges.of(item.program, ports[item.program.name] or {}), item)
            with lock, settings.results.open("a") as file:
                file.write(msgspec.json.encode(result).decode() + "\n")
            return result

        yield from pool.map(work, items)


class _Judges:
    """A judge and a referee for each program, made when they are first needed."""

    def __init__(self, folder: Path, limit: float) -> None:
        self._folder = folder
        self._limit = limit
        self._shim = Judge.build_shim(folder)
        self._lock = threading.Lock()
        self._known: dict[str, tuple[threading.Lock, Judge, Referee]] = {}

    def of(self, program: Program, port: Port) -> tuple[Judge, Referee] | str:
        """Return the two for a program, or why there are none."""
        with self._lock:
            if program.name not in self._known:
                referee = Referee(program, self._folder / f"{program.name}.referee", self._limit)
                self._known[program.name] = threading.Lock(), Judge(program, self._shim, port), referee
            own, judge, referee = self._known[program.name]
        with own:
            try:
                _ = judge.original, judge.dead
            except ValueError as error:
                return str(error)
        return judge, referee


def _in_turn(programs: list[Program], ports: dict[str, Port | None], settings: Settings) -> Iterator[_Item]:
    rows: list[list[_Item]] = []
    for program in programs:
        port = ports[program.name]
        if port is None:
            continue
        drawn = draw(port, settings.count, f"{settings.seed} {program.name}")
        rows.append([_Item(program, CORRECT, CORRECT, port), *(_Item(program, m.kind, m.key, m.files) for m in drawn)])
    for number in range(settings.count + 1):
        yield from (row[number] for row in rows if number < len(row))


def _judged(judges: tuple[Judge, Referee] | str, item: _Item) -> Result:
    if isinstance(judges, str):
        return Result(item.program.name, item.kind, item.key, "unjudged", judges, False)
    judge, referee = judges
    found = judge.judge(item.files)
    result = Result(item.program.name, item.kind, item.key, found.fate, found.where, found.shows)
    if found.fate == "unbuildable":
        return result
    start = time.monotonic()
    word, reason = referee.ask(item.files)
    seconds = round(time.monotonic() - start, 1)
    return msgspec.structs.replace(result, word=word, reason=reason, seconds=seconds)


def written(path: Path) -> tuple[Result, ...]:
    """Return the results in a file; of two for one mutant the later."""
    if not path.exists():
        return ()
    found = [msgspec.json.decode(line, type=Result) for line in path.read_text().splitlines() if line]
    return tuple({(result.program, result.key): result for result in found}.values())
