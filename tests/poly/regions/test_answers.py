"""Answers are remembered for all copies of a state, but only about atoms that mean the same to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.poly.programs import function, load, loop
from warpsmith.poly.dependences.dependences import references
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.isl.space import Set, make_set
from warpsmith.poly.regions import state as state_module
from warpsmith.poly.regions.answers import RegionAnswers
from warpsmith.poly.regions.model import build_region


def test_an_answer_is_found_by_all_that_share_its_atoms() -> None:
    first = RegionAnswers()
    one, other = RegionAnswers(first, frozenset("ij")), RegionAnswers(first, frozenset("ij"))
    assert one.find("q", frozenset("i")) is None
    assert one.add("q", frozenset("i"), (), yes=True) and not one.add("r", frozenset("j"), (), yes=False)
    assert [known.find("q", frozenset("i")) for known in (first, one, other)] == [True] * 3
    assert other.find("r", frozenset("j")) is False
    # k was made after they had parted: to each it is something else
    one.add("s", frozenset("ik"), (), yes=True)
    assert one.find("s", frozenset("ik")) is True and other.find("s", frozenset("ik")) is None
    below = RegionAnswers(one, frozenset("ijk"))
    assert below.find("s", frozenset("ik")) is True and below.find("q", frozenset("i")) is True
    assert RegionAnswers(one, frozenset("ij")).find("s", frozenset("ik")) is None


def test_isl_is_asked_once_for_all_questions_about_a_region(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "void f(int n, double a[9][9]) "
        "{ for (int i = 0; i < 9; i++) for (int j = 0; j < n; j++) if (3 * j < i) a[i][j] = a[j][i]; }"
    )
    program = load(text, tmp_path)
    origin = Origin.of(program, function(program, "f"), Summaries.of(program))
    asked: list[object] = []

    def make(*question: object) -> Set:
        asked.append(question)
        return make_set(*question)  # type: ignore[arg-type]

    monkeypatch.setattr(state_module, "make_set", make)
    counts: list[int] = []
    for _ in range(3):
        region, state = build_region(origin, (loop(program, "f/i"),), (), guards=False)
        asked.clear()
        found = references(state, region, frozenset())
        assert any(one.element is not None for group in found for one in group)
        counts.append(len(asked))
    assert counts[0] > 0 and counts[1:] == [0, 0]
