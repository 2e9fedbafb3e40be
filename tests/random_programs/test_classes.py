"""Functions with small classes print the same where every statement is written from the tree; bugs that are put into
what finds the members of objects show in them.

More of them on demand, from another seed on:
`WARPSMITH_PROGRAMS=400 WARPSMITH_SEED=1000 pytest -m slow tests/random_programs/test_classes.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.random_programs.class_programs import differences
from warpsmith.front.cxx import calls
from warpsmith.front.cxx.classes import bodies, changes

SEEDS = 24
MORE = int(os.environ.get("WARPSMITH_PROGRAMS", "120"))
SEED = int(os.environ.get("WARPSMITH_SEED", "1000"))

Patch = pytest.MonkeyPatch


@pytest.mark.slow
def test_objects_are_what_the_tree_says(tmp_path: Path) -> None:
    wrong, made = differences(range(SEEDS), tmp_path)
    assert wrong == []
    assert made.changes > 2 * SEEDS
    assert made.made > SEEDS // 6


@pytest.mark.slow
def test_more_objects_are_what_the_tree_says(tmp_path: Path) -> None:
    wrong, _ = differences(range(SEED, SEED + MORE), tmp_path)
    assert wrong == []


def _names_apart(patch: Patch) -> None:
    patch.setattr(changes.ObjectChanges, "_are_apart", lambda *_: True)


def _reads_late(patch: Patch) -> None:
    patch.setattr(bodies.Watch, "allows_all", lambda self, fields, values: not self.written.extend(fields))


def _only_reads(patch: Patch) -> None:
    patch.setattr(calls, "keeps_objects", lambda *_: True)


def _arguments_kept(patch: Patch) -> None:
    patch.setattr(bodies.ObjectBody, "_names", lambda *_: False)


def _places_kept(patch: Patch) -> None:
    patch.setattr(changes.ObjectChanges, "_moves", lambda *_: False)


def _values_as_places(patch: Patch) -> None:
    patch.setattr(calls.CxxCalls, "_is_place", lambda *_: True)


def _members_stale(patch: Patch) -> None:
    patch.setattr(bodies.ObjectBody, "_show_object", lambda _: True)


def _stores_forgotten(patch: Patch) -> None:
    patch.setattr(bodies.ObjectBody, "_store_member", lambda *_: True)


BUGS: dict[str, tuple[Callable[[Patch], None], tuple[int, ...]]] = {
    "two names of one object taken as different": (_names_apart, (0, 1, 2)),
    "members read after they were written": (_reads_late, (0, 13)),
    "a method that changes its object taken to only read": (_only_reads, (9, 10)),
    "an argument that changes on the way": (_arguments_kept, (13,)),
    "the place of the object changes on the way": (_places_kept, (9,)),
    "a reference bound to where a value came from": (_values_as_places, (0, 2)),
    "members read as they were at first": (_members_stale, (2, 6)),
    "a store to a member forgotten": (_stores_forgotten, (14,)),
}
"""Each with seeds that show it."""


@pytest.mark.slow
@pytest.mark.parametrize("name", BUGS)
def test_seeded_bugs_show(name: str, tmp_path: Path, monkeypatch: Patch) -> None:
    bug, seeds = BUGS[name]
    assert set(seeds) < set(range(SEEDS))
    bug(monkeypatch)
    wrong, _ = differences(seeds, tmp_path)
    assert sorted(wrong) == sorted(f"f{seed}" for seed in seeds)
