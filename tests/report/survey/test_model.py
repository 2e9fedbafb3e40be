"""The result of a survey of a project: what it is worth to move a loop, and how much there is."""

from __future__ import annotations

from msgspec.structs import replace

from tests.report.survey.samples import report


def test_a_loop_that_calls_what_the_device_lacks_stays_on_the_host() -> None:
    loop = report().loops[0]
    assert loop.portable and loop.standing == "parallel"
    stays = replace(loop, construct="call of puts()")
    assert not stays.portable and stays.standing == "parallel, on host"
    assert report().loops[1].standing == "sequential" and not report().loops[1].portable


def test_what_moving_a_loop_is_worth() -> None:
    loop = replace(report().loops[0], share=0.4, seconds=2.0, gain_kept=1.5)
    assert loop.worth == 0.4
    ran = replace(loop, measured=True)
    assert ran.worth == 1.5 and replace(ran, gain_kept=-1.0).worth == 0.0
    assert replace(ran, gain_kept=None).worth == 2.0 and replace(ran, seconds=None).worth == 0.4


def test_how_much_was_surveyed() -> None:
    made = report()
    assert made.extent == "1 file, 1,234 lines, 59 loops" and not made.measured
    assert replace(made, units=2, loops=made.loops[:1]).extent == "1 file (2 compilations), 1,234 lines, 1 loop"
    assert dict(made.categories) == {"parallel": 1, "sequential": 1, "unanalyzable": 57}
    assert list(made.categories) == ["parallel", "sequential", "unanalyzable"]
    assert replace(made, loops=(replace(made.loops[0], measured=True),)).measured
