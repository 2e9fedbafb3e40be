"""The pytest side of a mutation run, on a small tree: what is measured, and what becomes of mutants."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from benchmarks.mutants.operators import Mutant, mutants
from benchmarks.mutants.tested import Measured, changed_lines, executing
from benchmarks.mutation import ROOT, Copy, Fate, Group, Server, fate

SOURCE = """LIMIT = 7

def clip(a: int) -> int:
    while a > LIMIT:
        a -= 1
    return a

def half(a: int) -> int:
    return a // 2

def never(a: int) -> int:
    return a + 5
"""
TESTS = """import functools
import pytest
from warpsmith.sample import clip, half

@functools.cache
def halves():
    return [half(n) for n in (4, 6)]

@pytest.fixture(scope="module")
def ten():
    return clip(10)

def test_first(ten):
    assert ten == 7

def test_second(ten):
    assert ten < 8

@pytest.mark.parametrize("at", range(2))
def test_halves(at):
    assert halves()[at] == (2, 3)[at]
"""
GROUP = Group("sample", ("sample.py",), ("test_sample.py",))


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    folder = tmp_path_factory.mktemp("tree")
    copy = Copy(folder, [f"benchmarks/mutants/{p.name}" for p in (ROOT / "benchmarks/mutants").glob("*.py")])
    for name, text in (("src/warpsmith/sample.py", SOURCE), ("tests/test_sample.py", TESTS)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        (folder / name).with_name("__init__.py").touch()
    return copy


@pytest.fixture(scope="module")
def measured(copy: Copy) -> Measured:
    return copy.measured(GROUP)


@pytest.fixture(scope="module")
def server(copy: Copy) -> Iterator[Server]:
    with Server(copy, GROUP.tests) as server:
        yield server


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.mutation.AT_LEAST", 1)


def _mutant(before: str, after: str) -> Mutant:
    return next(m for m in mutants(SOURCE) if (m.before, m.after) == (before, after))


def test_each_test_has_the_lines_of_its_fixtures_and_of_what_others_remember(measured: Measured) -> None:
    assert {t.name.partition("::")[2]: set(t.lines["sample.py"]) for t in measured.tests} == {
        "test_first": {4, 5, 6},
        "test_second": {4, 5, 6},
        "test_halves[0]": {9},
        "test_halves[1]": {9},
    }
    assert {1, 3, 8} <= measured.outside["sample.py"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a > LIMIT", "(a >= LIMIT)", "killed"),
        ("a > LIMIT", "(a < LIMIT)", "killed"),
        ("a > LIMIT", "False", "killed"),
        ("2", "(3)", "killed"),
        ("a -= 1", "pass", "time"),
        # done while the file is loaded: in a process of its own
        ("7", "(8)", "killed"),
    ],
)
@pytest.mark.usefixtures("_impatient")
def test_mutants_end_as_they_must(server: Server, measured: Measured, before: str, after: str, expected: Fate) -> None:
    mutant = _mutant(before, after)
    lines = changed_lines(SOURCE, mutant)
    chosen, outside = executing(measured, "sample.py", lines), measured.is_outside("sample.py", lines)
    assert fate(server, "sample.py", mutant, chosen, outside=outside) == expected
    assert server.copy.source("sample.py").read_text() == SOURCE
    assert server.ask(chosen) == "survived"


def test_what_no_test_executes_is_run_with_none(measured: Measured) -> None:
    assert executing(measured, "sample.py", changed_lines(SOURCE, _mutant("5", "(6)"))) == []
