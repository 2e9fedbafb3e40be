"""The outcome of a seed is kept, counted, and not asked for again."""

from __future__ import annotations

from pathlib import Path

from tests.random_programs.outcomes import Outcomes
from tests.random_programs.whole_programs import Outcome


def test_a_run_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    asked: list[int] = []

    def judged(seed: int) -> Outcome:
        asked.append(seed)
        return Outcome("wrong", 2, "7 for 8", 3.0, "pass") if seed == 5 else Outcome("kept", seconds=1.0)

    path = str(tmp_path / "results")
    assert Outcomes.of(path).collect("tricky", range(4), judged) == []
    again = Outcomes.of(path)
    (bad,) = again.collect("tricky", range(7), judged)
    assert asked == [0, 1, 2, 3, 4, 5, 6]
    assert bad.startswith("tricky 5:") and "7 for 8" in bad
    assert Outcomes.of(path).collect("csmith", [5], lambda seed: Outcome("same")) == []
    expected = "tricky: 7 programs {'kept': 6, 'wrong': 1}, referee {'pass': 1}, median 1.0 s, longest 3.0 s"
    assert Outcomes.of(path).summary("tricky") == again.summary("tricky") == expected
