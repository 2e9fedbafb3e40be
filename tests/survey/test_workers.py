"""The processes of a survey: a file stays where it was read unless another one is idle; the answers are the same."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any, cast

import pytest

from warpsmith.front.inputs import Source
from warpsmith.front.load import FrontOptions
from warpsmith.survey import workers
from warpsmith.survey.limits import SurveyLimits
from warpsmith.survey.workers import Crew, FileJob
from warpsmith.tree.plain import Plain

LIMITS = SurveyLimits(front=FrontOptions())
COUNT = 10


class Stand:
    """A desk that says what it was asked, in which process; file 3 ends its process, file 4 fails."""

    def __init__(self, limits: SurveyLimits, sources: object) -> None:
        self.asked: list[tuple[int, ...]] = []

    def read(self, numbers: tuple[int, ...]) -> list[Plain]:
        if 3 in numbers:
            os.kill(os.getpid(), signal.SIGKILL)
        return [[number, os.getpid()] for number in numbers]

    def summarize(self, number: int, outside: Plain) -> Plain:
        if number == 4:
            raise RuntimeError("it fails")
        return [number, outside, os.getpid()]

    def analyze(self, number: int, outside: Plain, told: Plain) -> Plain:
        if told == "slow":
            time.sleep(0.5)
        return [number, outside, os.getpid() if outside == "where" else told]


@pytest.fixture(autouse=True)
def stand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_desk", Stand)


def crew(jobs: int) -> Crew:
    return Crew(LIMITS, [Source(f"{n}.c") for n in range(COUNT)], jobs)


def test_one_process_answers_in_order() -> None:
    with crew(1) as alone:
        jobs = [FileJob("analyze", (n,), (n * 10, "told")) for n in (5, 1)]
        assert [answer for _, answer in alone.run(jobs)] == [[5, 50, "told"], [1, 10, "told"]]
        assert dict(alone.read([0, 1])) == {n: [n, os.getpid()] for n in (0, 1)}


def test_several_processes_give_the_same_answers_and_keep_their_files() -> None:
    numbers = [n for n in range(COUNT) if n != 3]
    with crew(2) as two:
        read = {n: cast("list[Any]", answer) for n, answer in two.read(numbers)}
        assert {n: answer[0] for n, answer in read.items()} == {n: n for n in numbers}
        homes = {n: answer[1] for n, answer in read.items()}
        assert len(set(homes.values())) == 2 and os.getpid() not in homes.values()
        jobs = [FileJob("summarize", (n,), ("x",)) for n in numbers if n != 4]
        for job, answer in two.run(jobs):
            assert answer == [job.numbers[0], "x", homes[job.numbers[0]]]


def test_a_process_without_work_takes_over_files_of_another() -> None:
    with crew(2) as two:
        read = {n: cast("list[Any]", answer) for n, answer in two.read([n for n in range(COUNT) if n != 3])}
        first = [n for n, answer in read.items() if answer[1] == read[0][1]]
        jobs = [FileJob("analyze", (n,), ("where", "slow" if n == 0 else "")) for n in read]
        found = {job.numbers[0]: cast("list[Any]", answer) for job, answer in two.run(jobs)}
    assert {n: answer[0] for n, answer in found.items()} == {n: n for n in read}
    assert len({found[n][2] for n in first}) == 2


def test_a_process_that_dies_takes_one_file_with_it() -> None:
    with crew(2) as two:
        read = dict(two.read(range(COUNT)))
        assert read[3] is None and set(read) == set(range(COUNT))
        assert all(cast("list[Any]", read[n])[0] == n for n in range(COUNT) if n != 3)


def test_a_failure_is_told_with_its_details(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with crew(1) as alone:
        jobs = [FileJob("summarize", (n,), ("x",)) for n in (4, 5)]
        (_, failed), (_, good) = alone.run(jobs)
    assert good == [5, "x", os.getpid()]
    details = Path(cast("dict[str, str]", failed)["crashed"])
    assert "survey: summarize (4,)" in details.read_text() and "it fails" in details.read_text()


def test_a_file_that_is_read_ahead_is_read_once() -> None:
    with crew(2) as two:
        two.hurry(0)
        two.hurry(1)
        found = [n for n, _ in two.read([0, 1, 2])]
    assert sorted(found) == [0, 1, 2]
    with crew(1) as alone:
        alone.hurry(0)
        assert [n for n, _ in alone.read([0, 1])] == [0, 1]
