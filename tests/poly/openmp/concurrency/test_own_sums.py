"""Own arrays of a team that are added up: the programs of sum_programs.py, and bugs that let wrong ones through."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.poly.openmp.concurrency.test_one_thread import reasons
from tests.poly.openmp.sum_programs import MANY
from warpsmith.poly.openmp.concurrency import own_sums

# what is forgotten: a rule, what it says instead, and a program that is let through
BUGS: dict[str, tuple[object, str, object, str]] = {
    "where elements start": (
        own_sums._Check, "starts_as_zero", lambda *_: None, "own array of which half is set to zero",
    ),
    "what comes first": (own_sums._Check, "is_first", lambda *_: True, "own array, set to zero too late"),
    "how much a number holds": (own_sums, "is_sum_of", lambda *_: True, "own array, small numbers"),
    "who still adds": (
        own_sums, "find_unordered", lambda *_, **_k: None, "own array, its total read without a barrier",
    ),
    "which elements": (
        own_sums._Check, "is_fixed", lambda *_: True, "own array, added where another sum says",
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_a_seeded_bug_lets_a_wrong_region_through(bug: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    owner, name, instead, title = BUGS[bug]
    text, said = MANY[title]
    assert all(said in found for found in reasons(text, tmp_path))
    monkeypatch.setattr(owner, name, instead)
    assert not all(said in found for found in reasons(text, tmp_path))
