"""Each seeded bug is caught by the random programs: wrong verdicts by the oracle, wrong ports by the referee."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.random_programs.nests import Nest
from tests.random_programs.ports import Ports, port_nests
from tests.random_programs.seeded import DYNAMIC, STATIC
from tests.random_programs.strategies import gather
from tests.random_programs.survey import Mix, judge, load
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions


@pytest.fixture(scope="module")
def batch() -> list[Nest]:
    return next(gather(75, 75))


def surveyed(batch: list[Nest], directory: Path) -> Mix:
    mix = Mix()
    program, _ = load(batch, directory)
    judge(batch, analyze(program, PolyOptions()), directory, mix)
    return mix


def test_verdicts_without_a_bug(batch: list[Nest], tmp_path: Path) -> None:
    assert not surveyed(batch, tmp_path).wrong


@pytest.mark.parametrize("name", STATIC)
def test_wrong_verdicts_are_seen(name: str, batch: list[Nest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    STATIC[name](monkeypatch)
    assert surveyed(batch, tmp_path).wrong


def small(batch: list[Nest]) -> list[Nest]:
    """Return a few nests of one or two loops: quick to port, and of every kind."""
    flat = [nest for nest in batch if len(nest.loops) < 3]
    live = [nest for nest in batch if nest.scalar == "last temporary" and len(nest.loops) == 1]
    return [*flat[:14], *(nest for nest in live[:2] if nest not in flat[:14])]


def status(batch: list[Nest], directory: Path) -> str:
    verification = port_nests(small(batch), directory).verification
    assert verification is not None
    return verification.status


def test_ports_without_a_bug(batch: list[Nest], tmp_path: Path) -> None:
    assert status(batch, tmp_path) == "pass"


@pytest.mark.parametrize("name", DYNAMIC)
def test_wrong_ports_are_seen(name: str, batch: list[Nest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    DYNAMIC[name](monkeypatch)
    assert status(batch, tmp_path) == "fail"
