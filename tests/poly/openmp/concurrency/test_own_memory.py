"""Memory that the threads of a team allocate: the programs of block_programs.py, and bugs that let wrong ones by."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.poly.openmp.block_programs import MANY
from tests.poly.openmp.concurrency.test_one_thread import reasons
from warpsmith.poly.openmp.concurrency import one_thread, own_memory

# what is forgotten: a rule, what it says instead, and a program that is let through
BUGS: dict[str, tuple[object, str, object, str]] = {
    "who reads a block": (one_thread, "check_own_memory", lambda *_: None, "block read by every thread"),
    "what an iteration reads": (
        one_thread._Check, "starts_afresh", lambda *_: True, "block that goes on from iteration to iteration",
    ),
    "what else leads to it": (own_memory, "_has_one_name", lambda *_: True, "block that is known elsewhere"),
    "what all write": (own_memory, "_writes", lambda *_: False, "block read by one thread"),
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_a_seeded_bug_lets_a_wrong_region_through(bug: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    owner, name, instead, title = BUGS[bug]
    text, said = MANY[title]
    assert all(said in found for found in reasons(text, tmp_path))
    monkeypatch.setattr(owner, name, instead)
    assert not all(said in found for found in reasons(text, tmp_path))
