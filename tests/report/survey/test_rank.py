"""The order of a survey: what can be ported first, what stays behind, and what only stands around."""

from __future__ import annotations

from msgspec.structs import replace

from warpsmith.report.survey.model import Spot, SurveyLoop
from warpsmith.report.survey.rank import ranking


def _loop(lines: tuple[int, int], category: str, share: float, own: float, function: str = "f") -> SurveyLoop:
    first, last = lines
    return SurveyLoop(
        id=f"{function}/{first}", spot=Spot("a.c", first, 5, last, 6), head="for", function=function, variable="i",
        label="for i", depth=1, category=category, reasons=(), assumptions=(), units=("a.c",), share=share, own=own,
    )  # fmt: skip


def _ids(loops: tuple[SurveyLoop, ...]) -> list[str]:
    return [loop.id for loop in loops]


def test_a_time_loop_is_around_and_an_inner_loop_goes_with_its_outer_one() -> None:
    time = _loop((1, 9), "unanalyzable", 0.9, 0.001)
    outer, inner = _loop((2, 4), "parallel-after", 0.3, 0.0), _loop((3, 4), "parallel", 0.3, 0.3)
    sweep = _loop((5, 6), "sequential", 0.5, 0.5)
    other = _loop((20, 21), "reduction", 0.4, 0.4, "g")
    found = ranking([time, inner, outer, sweep, other])
    assert _ids(found.first) == ["g/20", "f/2"]
    assert _ids(found.behind) == ["f/5"]
    assert _ids(found.around) == ["f/1"]


def test_a_sequential_loop_inside_one_that_is_ported_does_not_stay_behind() -> None:
    found = ranking([_loop((1, 4), "parallel", 0.9, 0.1), _loop((2, 3), "sequential", 0.8, 0.8)])
    assert _ids(found.first) == ["f/1"]
    assert not found.behind and not found.around


def test_two_loops_of_one_macro_are_one_nest() -> None:
    outer, inner = _loop((1, 1), "parallel", 0.9, 0.1), _loop((1, 1), "sequential", 0.9, 0.8)
    assert _ids(ranking([outer, inner]).first) == ["f/1"]


def test_what_a_run_has_shown_to_gain_nothing_is_not_worth_porting_first() -> None:
    def run(number: int, category: str, entries: float, kept: float | None) -> SurveyLoop:
        loop = _loop((number, number), category, 0.1, 0.1)
        return replace(loop, measured=True, entries=entries, seconds=0.5 * bool(entries), gain_kept=kept)

    loops = [
        run(1, "parallel", 4, 0.4), run(2, "parallel", 4, -0.1), run(3, "parallel", 0, 0.0),
        run(4, "sequential", 0, None), run(5, "sequential", 2, None),
    ]  # fmt: skip
    not_counted = replace(_loop((6, 6), "parallel", 0.0, 0.0), measured=True)
    found = ranking([*loops, not_counted])
    assert _ids(found.first) == ["f/1", "f/6"]
    assert _ids(found.idle) == ["f/2", "f/3"]
    assert _ids(found.behind) == ["f/5"]
