"""Loops that a construct was read as: what was granted stands in their verdicts, and a race takes them all away."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.teams.as_text import read_text
from tests.front.teams.constructs import READ, program
from warpsmith.base.verdict import Proved, Unknown
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import LoopFacts, PolyOptions
from warpsmith.poly.openmp.apply_claims import apply_claims

TURNED = READ["turned in a team"]
RACES = {
    "no barrier": TURNED.replace("#pragma omp barrier", ""),
    "a neighbor's element": TURNED.replace("part[t] = b[i];", "part[t] = b[i]; part[(t + 1) % B] = 0;"),
    "teams write one place": TURNED.replace("a[i] = ", "a[t] = "),
    "a branch too wide": READ["halves"].replace("if (t < h)", "if (t <= h)"),
    "a place that all write": READ["a place in memory"].replace("if (t == 0)\n", ""),
}


def facts(body: str, tmp_path: Path) -> tuple[LoopFacts, ...]:
    _, found = read_text(program(body), tmp_path)
    assert found.read == 1
    (function,) = analyze(found.program, PolyOptions(), apply_claims).functions
    return function.loops


@pytest.mark.parametrize("title", ["no barrier", "turned in a team", "halves", "two regions"])
def test_what_was_granted_is_in_the_verdict(title: str, tmp_path: Path) -> None:
    team = facts(READ[title], tmp_path)[0]
    assert isinstance(team.verdict, Proved)
    assert ("full_teams(work)", "granted") in [(a.text, a.kind) for a in team.verdict.assumptions]


@pytest.mark.parametrize("title", RACES)
def test_a_race_is_refuted_and_nothing_is_ported(title: str, tmp_path: Path) -> None:
    found = facts(RACES[title], tmp_path)
    team = found[0]
    assert team.category != "parallel" and not isinstance(team.verdict, Proved) and team.combined is None
    assert all(isinstance(one.verdict, Unknown) for one in found)
    assert {r.rule for one in found for r in one.reasons} == {"CLM001"}
    assert any("iteration" in r.text for r in team.reasons)


def test_a_number_that_is_certain_needs_no_word(tmp_path: Path) -> None:
    team = facts(READ["a number of threads that is asked for"], tmp_path)[0]
    assert isinstance(team.verdict, Proved)
    assert not [a for a in team.verdict.assumptions if "full_teams" in a.text]
