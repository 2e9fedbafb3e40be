"""The line about races of a kernel, and what JSON has of it."""

from __future__ import annotations

from msgspec.structs import replace

from tests.report.analysis.samples import kernel, report, reported
from warpsmith.analysis.uniformity.facts import RaceVerdict
from warpsmith.report.analysis.races import race_json, race_line, race_lines

FREE = RaceVerdict("none")
GIVEN = RaceVerdict("none", ("n >= 3", "no index leaves its array"))
OPEN = RaceVerdict("unknown", why="threads of one block may meet in the write of a")


def test_what_is_proven_names_the_block_and_what_it_rests_on() -> None:
    made = report(kernels=(kernel(block=(16, 4, 1), freedom=FREE),), findings=())
    assert list(race_lines(made)) == ["races: none, proven for blocks of 16x4"]
    made = report(kernels=(kernel(block=(64, 1, 1), freedom=GIVEN),), findings=())
    assert list(race_lines(made)) == ["races: none, proven for blocks of 64, if n >= 3; and no index leaves its array"]
    (one,) = made.kernels
    assert race_json(made, one) == {
        "verdict": "none", "certainty": "conditional", "assumptions": ["n >= 3", "no index leaves its array"],
    }  # fmt: skip


def test_what_is_open_names_the_accesses() -> None:
    made = report(kernels=(kernel(freedom=OPEN),), findings=())
    assert list(race_lines(made)) == [f"races: not decided: {OPEN.why}"]
    assert race_json(made, made.kernels[0]) == {"verdict": "unknown", "why": OPEN.why}


def test_a_race_that_is_told_is_found_and_one_that_is_kept_back_is_as_well() -> None:
    one = reported()
    race = replace(one, finding=replace(one.finding, rule="SYN002"))
    for told in ({"findings": (race,)}, {"findings": (), "kept_back": (race,)}):
        made = report(kernels=(kernel(freedom=FREE),), **told)
        assert race_line(made, made.kernels[0]).verdict == "found"
        assert list(race_lines(made)) == ["races: found: SYN002"]
        assert race_json(made, made.kernels[0]) == {"verdict": "found", "rules": ["SYN002"]}


def test_kernels_of_one_verdict_share_a_line() -> None:
    names = ("p", "q", "r")
    kernels = tuple(kernel(name=name, block=(64, 1, 1), freedom=OPEN if name == "q" else FREE) for name in names)
    made = report(kernels=kernels, findings=())
    assert list(race_lines(made)) == [
        "races in p, r: none, proven for blocks of 64", f"races in q: not decided: {OPEN.why}",
    ]  # fmt: skip
