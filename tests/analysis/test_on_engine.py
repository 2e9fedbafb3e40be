"""What is said of random kernels holds in runs as machine code; bugs that are put into what is said are seen.

As many kernels as you like on demand, from another seed on:
`WARPSMITH_PROGRAMS=10000 WARPSMITH_SEED=1000 pytest -m slow tests/analysis/test_on_engine.py`. Each is launched four
times, with 4,000 threads or more: a hundred times those of the suites that the interpreter runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

import pytest

from tests.analysis.on_engine import Met, wrong_accesses, wrong_branches, wrong_races
from tests.analysis.uniformity.test_uniformity import _anything_is_equal, _lanes_are_uniform
from warpsmith.analysis.sync import races

PROGRAMS = int(os.environ.get("WARPSMITH_PROGRAMS", "60"))
SEED = int(os.environ.get("WARPSMITH_SEED", "100"))
Suite = Callable[[int, Met], Iterator[str]]
SUITES: tuple[Suite, ...] = (wrong_branches, wrong_accesses, wrong_races)
COMPARED: Mapping[Suite, tuple[str, float]] = {
    wrong_branches: ("uniform branches", 2),
    wrong_accesses: ("sectors", 2),
    wrong_races: ("free", 1 / 8),
}
"""What has to be compared so that a suite says something, and how often for each kernel. Most random kernels race: of
240 launches of 60 kernels 67 end, and of those 23 are said to be free of races."""


def _wrong(suite: Suite, seeds: range) -> tuple[list[str], Met]:
    met = Met()
    return [text for seed in seeds for text in suite(seed, met)], met


@pytest.mark.parametrize("suite", SUITES)
def test_what_is_said_holds(suite: Suite) -> None:
    found, met = _wrong(suite, range(1, 4))
    assert not found, found[:3]
    assert met.counts["launches"] > 3 and met.counts["lane instructions"] > 100_000, met


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_what_is_said_holds_in_many(suite: Suite) -> None:
    found, met = _wrong(suite, range(SEED, SEED + PROGRAMS))
    assert not found, found[:3]
    compared, times = COMPARED[suite]
    assert met.counts[compared] > PROGRAMS * times, met
    print(f"{suite.__name__}: {dict(met.counts)}")


@pytest.mark.slow
@pytest.mark.parametrize("bug", [_anything_is_equal, _lanes_are_uniform])
def test_a_bug_in_what_is_uniform_is_seen(
    bug: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    bug(monkeypatch)
    assert _wrong(wrong_branches, range(60))[0]


@pytest.mark.slow
def test_a_bug_in_what_races_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    conflicting = races._conflicting
    monkeypatch.setattr(races, "_conflicting", lambda a, b: conflicting(a, b) and a.kind == b.kind)
    assert _wrong(wrong_races, range(60))[0]
