"""A search for people: what was gained, the fastest candidates, and what limits the answer."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.report.search.found import FAST, FOUND, FUSED, KEPT, NONE, SLOW
from warpsmith.report.search.text import candidate_groups, is_taken, outcome_text, search_text, summary_lines
from warpsmith.report.searched import SearchCandidate, SearchGain


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")


def test_what_was_gained_and_the_fastest_of_each_part_are_shown() -> None:
    assert search_text(FOUND).splitlines() == [
        "searched  4 candidates, 1 of them refused; predicted for the H100 SXM, not measured",
        "          100 us as `port` makes it, 80.0 us with other steps: 1.25 times as fast",
        "  part  default  best     steps",
        "  f/i   40.0 us  20.0 us  map=f/i,axes=x,block=64",
        "tried, the fastest of each part",
        "  part  predicted  steps",
        "  all   9.00 ms    keep=f/i",
        "  f/i   20.0 us    map=f/i,axes=x,block=64: latency: 8 of 64 warps resident (taken)",
        "  f/i   70.0 us    map=f/i,axes=x,block=512: the launch, 3.2 times the sectors or instructions",
    ]


def test_where_nothing_is_faster_the_default_stays() -> None:
    first, second = summary_lines(NONE)
    assert first == "0 candidates; predicted for the H100 SXM, not measured"
    assert second == "100 us as `port` makes it: nothing tried is clearly faster"
    one = replace(NONE, candidates=(FUSED,))
    assert search_text(one).splitlines()[-1] == (
        "  all   -          fuse=f/i: refused: the flow dependence on a would be turned around"
    )


def test_what_limits_the_answer_is_said() -> None:
    limited = replace(
        FOUND, ended=True, earlier=3, assumed=(("n", 4096), ("m", 4096)), lacking=(("g/i", "it lacks time"),),
        rejected="C differs",
    )  # fmt: skip
    said = list(summary_lines(limited))[2:]
    assert said == [
        "the best is not ported: C differs; this is the default port",
        "it counted on n = 4096, m = 4096, which nothing tells: --arg n=NUMBER --arg m=NUMBER gives better ones",
        "g/i has no time and stays as it is: it lacks time",
        "3 outcomes were known from an earlier search",
        "the budget of 10 s ended it: the same command goes on from here, --budget SECONDS gives it more",
    ]


def test_candidates_stand_by_part_the_fastest_first_and_refused_ones_last() -> None:
    assert list(candidate_groups(FOUND)) == [("", [KEPT, FUSED]), ("f/i", [FAST, SLOW])]


def test_the_steps_of_the_best_are_marked() -> None:
    assert is_taken(FOUND, FAST) and not any(is_taken(FOUND, one) for one in (SLOW, FUSED, KEPT))
    loops = SearchGain("loops", 1e-4, 8e-5, ("fuse=f/i", "keep=g/i"))
    last = SearchCandidate("", ("fuse=f/i",), ("keep=g/i",), 8e-5)
    moved = replace(FOUND, gains=(loops,))
    assert is_taken(moved, last) and not is_taken(moved, replace(last, after=())) and not is_taken(moved, FAST)


def test_why_there_is_no_time() -> None:
    assert outcome_text(SearchCandidate("f/i", (), (), None, why="it lacks time")) == "it lacks time"
    assert outcome_text(FUSED).startswith("refused: the flow dependence")
    assert outcome_text(replace(SLOW, bound="")) == "3.2 times the sectors or instructions"
