"""A survey, written by hand: what its formats are tried on."""

from __future__ import annotations

from warpsmith.base.findings import Finding
from warpsmith.report.survey.constructs import blockers, construct
from warpsmith.report.survey.model import Spot, SurveyDependence, SurveyLoop, SurveyReason, SurveyReport

__all__ = ["FILE", "report"]

FILE = "src/a file.c"


def _loop(number: int, category: str, reason: SurveyReason) -> SurveyLoop:
    label = "for i" if category != "unanalyzable" else "while"
    return SurveyLoop(
        id=f"f{number}/i",
        spot=Spot(FILE, number, 5, number + 2, 6),
        head='for (int i = 0; i < n && "<b>"; i++)',
        function=f"f{number}",
        variable="i",
        label=label,
        depth=1,
        category=category,
        reasons=(reason,),
        assumptions=(("n >= 1", "guarded"),),
        units=(FILE,),
        construct=construct(category, label, (reason,)),
        share=1 / number,
        own=0.01,
        work=3.0,
    )


def report() -> SurveyReport:
    """Return a survey with loops of all kinds, most of which nobody can count."""
    here, there = Spot(FILE, 9, 9, 9, 12), Spot("/usr/include/k.h", 8, 1, 8, 2)
    witness = "n = 3: S(1) writes a[1] & S(2) reads it"
    pair = SurveyDependence("flow", "a", here, there, (1, None), ("<", "*"), "i", witness)
    carried = SurveyReason("POR003", "carries a flow dependence on a", None, ("<none>",), pair)
    unknown = SurveyReason("POR006", "calls solve, which is not defined here", Spot("b.c", 3, 1, 3, 9))
    uncounted = SurveyReason("POR008", "not a counted loop: only running it", None)
    loops = [
        _loop(1, "parallel", SurveyReason("POR001", "no carried dependence (proven)", None)),
        _loop(2, "sequential", carried),
        _loop(3, "unanalyzable", unknown),
        *(_loop(number, "unanalyzable", uncounted) for number in range(4, 60)),
    ]
    finding = Finding("PRJ006", "error", "the build failed: <make> & more", None, ("repair it",))
    return SurveyReport(
        inputs=(FILE,),
        status="incomplete",
        root="/home/me/p",
        units=1,
        read=1,
        lines=1234,
        loops=tuple(loops),
        blockers=blockers(loops),
        findings=(finding,),
        timing_s={"read": 0.1},
    )
