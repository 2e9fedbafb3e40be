"""The pytest side of a mutation run: `-p benchmarks.mutants.plugin`, told by environment variables what to do.

    WARPSMITH_MUTANTS_MEASURE   a JSON file to write: which test executes which lines of WARPSMITH_MUTANTS_SOURCES
                                (paths, by os.pathsep), and how long it takes
    WARPSMITH_MUTANTS_SERVE     two file numbers: requests are read from one, answers written to the other

A server collects tests once. Each request is a JSON line: `tests`, in order, each with the seconds of the processor
that it may take, `limit` in seconds by the clock for all, `scratch`, a folder for temporary files, and maybe `path`,
`original` and `mutant`, a file's text before and after. A fork of the server puts the mutant in place and runs the
tests until one fails. The answer is a JSON line: "killed", "time", "survived", or "apart", where the mutant cannot be
put in place. The first answer, after tests were collected, is "ready" or "broken".
"""

from __future__ import annotations

import ctypes
import functools
import json
import math
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest
from _pytest.main import pytest_runtestloop as run_the_tests
from benchmarks.mutants.in_place import Replacement, put_in_place, replacements
from hypothesis import Phase, settings

_POLL_S = 0.02
_PARENT_DEATH = 1
_MEASURE, _SOURCES, _SERVE = (f"WARPSMITH_MUTANTS_{word}" for word in ("MEASURE", "SOURCES", "SERVE"))
_REMEMBER = ("tests.", "warpsmith.loops.", "warpsmith.analysis.")
"""Modules that remember what analyses have found, not only what texts and trees are."""


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    _end_with_parent()
    # an example that fails is enough: nobody reads the smallest one
    settings.register_profile("mutants", phases=(Phase.explicit, Phase.generate), database=None)
    settings.load_profile("mutants")
    if output := os.environ.pop(_MEASURE, ""):
        sources = os.environ.pop(_SOURCES).split(os.pathsep)
        early_config.pluginmanager.register(Measuring(sources, Path(output)), "warpsmith-measuring")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    if (numbers := os.environ.pop(_SERVE, "")) == "":
        return None
    _serve(session, *map(int, numbers.split()))
    return True


class Measuring:
    """Notes which lines each test executes: what fixtures of more than a test do is done by all tests that name them,
    and what tests remember for each other is forgotten."""

    def __init__(self, sources: list[str], output: Path) -> None:
        import coverage

        self.sources, self.output = sources, output
        self.coverage = coverage.Coverage(data_file=None, config_file=False, include=sources)
        self.seconds: dict[str, float] = {}
        self.fixtures: dict[str, tuple[str, ...]] = {}
        self.making: dict[str, float] = {}
        self.contexts = [""]
        self.coverage.start()

    @contextmanager
    def within(self, context: str) -> Iterator[None]:
        """Note lines as those of a context."""
        self.contexts.append(context)
        self.coverage.switch_context(context)
        try:
            yield
        finally:
            self.contexts.pop()
            self.coverage.switch_context(self.contexts[-1])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        _forget()
        self.fixtures[item.nodeid] = tuple(getattr(item, "fixturenames", ()))
        start = _processor_time()
        before = dict(self.making)
        with self.within(item.nodeid):
            result = yield
        made = sum(seconds - before.get(name, 0) for name, seconds in self.making.items())
        self.seconds[item.nodeid] = _processor_time() - start - made
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        inside, start = sum(self.making.values()), _processor_time()
        try:
            with self.within(f"@{fixturedef.argname}"):
                return (yield)
        finally:
            inside = sum(self.making.values()) - inside
            spent = _processor_time() - start - inside
            self.making[fixturedef.argname] = self.making.get(fixturedef.argname, 0) + spent

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()
        executed: dict[str, dict[str, list[int]]] = {}
        data = self.coverage.get_data()
        for source in self.sources:
            for line, contexts in data.contexts_by_lineno(source).items():
                for context in contexts:
                    executed.setdefault(context, {}).setdefault(source, []).append(line)
        tests = [
            {"name": name, "seconds": seconds + self._making(name), "lines": self._joined(executed, name)}
            for name, seconds in self.seconds.items()
        ]
        self.output.write_text(json.dumps({"tests": tests, "outside": executed.get("", {})}))

    def _making(self, name: str) -> float:
        """Return what making the fixtures of a test takes, whichever test came first."""
        return sum(self.making.get(fixture, 0) for fixture in self.fixtures[name])

    def _joined(self, executed: dict[str, dict[str, list[int]]], name: str) -> dict[str, list[int]]:
        """Return the lines of a test and its fixtures."""
        parts = [executed.get(one, {}) for one in (name, *(f"@{fixture}" for fixture in self.fixtures[name]))]
        return {s: sorted({line for part in parts for line in part.get(s, [])}) for s in self.sources}


class Limiting:
    """Ends the process where a test takes longer than it may."""

    def __init__(self, limits: dict[str, float]) -> None:
        self.limits = limits

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        last = math.ceil(used.ru_utime + used.ru_stime + self.limits[item.nodeid])
        resource.setrlimit(resource.RLIMIT_CPU, (last, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _processor_time() -> float:
    """Return the seconds that this process and its children have taken."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PARENT_DEATH, signal.SIGKILL)


def _forget() -> None:
    """Empty what functions of tests and of ours remember."""
    for name, module in list(sys.modules.items()):
        if not name.startswith(_REMEMBER):
            continue
        for value in list(vars(module).values()):
            if isinstance(value, functools._lru_cache_wrapper):
                value.cache_clear()


def _serve(session: pytest.Session, reads: int, writes: int) -> None:
    items = {item.nodeid: item for item in session.items}
    with os.fdopen(reads) as requests, os.fdopen(writes, "w") as answers:

        def answer(word: str) -> None:
            answers.write(json.dumps(word) + "\n")
            answers.flush()

        answer("broken" if session.testsfailed else "ready")
        for line in requests:
            request = json.loads(line)
            changes: list[Replacement] | None = []
            if "mutant" in request:
                changes = replacements(request["original"], request["mutant"], request["path"])
            if changes is None:
                answer("apart")
                continue
            session.items = [items[name] for name in request["tests"] if name in items]
            worker = os.fork()
            if worker == 0:
                os.setsid()
                _end_with_parent()
                os.close(reads)
                os.close(writes)
                session.config.pluginmanager.register(Limiting(request["tests"]), "warpsmith-limiting")
                _run(session, changes, request["scratch"])
            answer(_awaited(worker, request["limit"]))


def _run(session: pytest.Session, changes: list[Replacement], scratch: str) -> NoReturn:
    """Run the tests of a session until one fails; leave the process with 0 where none does."""
    status = 1
    try:
        os.environ["TMPDIR"] = tempfile.tempdir = scratch
        session.config.option.maxfail = 1
        put_in_place(changes)
        run_the_tests(session)
        status = int(session.testsfailed > 0)
    finally:
        os._exit(status)


def _awaited(worker: int, limit: float) -> str:
    """Return what became of the tests of a worker."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        ended, status = os.waitpid(worker, os.WNOHANG)
        if ended:
            _end_all(worker)
            return {0: "survived", -signal.SIGXCPU: "time"}.get(os.waitstatus_to_exitcode(status), "killed")
        time.sleep(_POLL_S)
    _end_all(worker)
    os.waitpid(worker, 0)
    return "time"


def _end_all(group: int) -> None:
    """End the processes that a worker has left."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
