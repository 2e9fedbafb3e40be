"""Parallel regions: one thread stands for all only where every number of threads leaves the same behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.poly.openmp import block_programs, sum_programs, team_programs
from tests.poly.openmp.team_programs import SHOW
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import regions_of
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.openmp import numbered_parts as parts
from warpsmith.poly.openmp import thread_numbers as numbers
from warpsmith.poly.openmp.concurrency import one_thread

ONE = team_programs.ONE | sum_programs.ONE | block_programs.ONE
MANY = team_programs.MANY | sum_programs.MANY | block_programs.MANY


def reasons(text: str, folder: Path) -> list[str]:
    """Return the blocker of one thread, region by region ("" for nothing)."""
    file = folder / "p.c"
    file.write_text(text + SHOW if "kept" in text else text)
    program = load_program([str(file)], FrontOptions()).program
    facts = Facts.about(program, PolyOptions())
    found = [
        one_thread.in_the_way(facts, function, region)
        for _, function in program.functions()
        for region in regions_of(function)
        if region.directive.words == ("parallel",)
    ]
    assert found
    return ["" if reason is None else reason.text for reason in found]


@pytest.mark.parametrize("title", ONE)
def test_one_thread_does_what_all_do(title: str, tmp_path: Path) -> None:
    assert reasons(ONE[title], tmp_path) == [""]


@pytest.mark.parametrize("title", MANY)
def test_what_differs_between_threads_is_refused(title: str, tmp_path: Path) -> None:
    text, said = MANY[title]
    assert all(said in found for found in reasons(text, tmp_path))


SEEDED: dict[str, tuple[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "single run by all": (
        "printed by all",
        lambda patch: patch.setattr(one_thread._Check, "repeats_nothing", lambda self: None),
    ),
    "a private value that leaks out": (
        "private value read after the region",
        lambda patch: patch.setattr(one_thread._Check, "keeps_own_variables_inside", lambda self: None),
    ),
    "a part taken for the whole": (
        "partial value read by all",
        lambda patch: patch.setattr(one_thread._Check, "shares", lambda self, *rest: None),
    ),
    "a critical that counts threads": (
        "critical counts the threads",
        lambda patch: patch.setattr(one_thread._Check, "combines", lambda self, part: None),
    ),
    "one thread's value read by all": (
        "single writes a private variable",
        lambda patch: patch.setattr(one_thread._Check, "runs_once", lambda self, *rest: None),
    ),
    "who the first thread is": (
        "the second thread does it",
        lambda patch: patch.setattr(numbers, "_is_zero", lambda expr: True),
    ),
    "who prints": (
        "the count is part of what is printed",
        lambda patch: patch.setattr(numbers, "_asks", lambda expr, name: True),
    ),
    "sums over some of the parts": (
        "the first part is left out",
        lambda patch: patch.setattr(parts._Check, "goes_over_all", lambda self, *rest: True),
    ),
    "sums of what is too small": (
        "parts too small for the whole",
        lambda patch: patch.setattr(parts, "is_sum_of", lambda part, total: True),
    ),
    "totals that are places of their own": (
        "parts in an order",
        lambda patch: patch.setattr(parts._Check, "is_fixed", lambda self, *rest: True),
    ),
    "thread numbers": (
        "thread number in a function",
        lambda patch: patch.setattr(one_thread._Check, "asks_for_no_thread", lambda self: None),
    ),
}


@pytest.mark.parametrize("bug", SEEDED)
def test_a_seeded_bug_lets_a_wrong_region_through(bug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    title, seed = SEEDED[bug]
    seed(monkeypatch)
    assert reasons(MANY[title][0], tmp_path) == [""], "no other rule hides the bug: the case would find it"
