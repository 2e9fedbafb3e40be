"""How a journey ends: what differs decides, and nothing that was not compared is right."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.report.journey.made import made_journey
from warpsmith.report.journey.model import MachineRow, MachineStage, RewriteStage, Verdict


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        (("equal", "equal"), 0),
        (("equal", "not run"), 0),
        (("equal", "differs"), 1),
        (("equal", "stopped"), 1),
        (("equal", "undecided"), 0),
        (("undecided", "not run"), 3),
        (("not run", "not run"), 3),
        ((), 3),
    ],
)
def test_the_exit_code_follows_from_the_verdicts(verdicts: tuple[Verdict, ...], code: int) -> None:
    rows = tuple(MachineRow("port", "m", "", one) for one in verdicts)
    made = replace(made_journey(), ran=MachineStage(rows=rows), rewritten=RewriteStage(), streams=None)
    assert made.exit_code == code and made.differs == (code == 1)


def test_what_was_rewritten_counts_as_well() -> None:
    made = made_journey(stopped=False)
    assert made.exit_code == 0 and made.verdicts.count("equal") == 3
    (row, *_) = made.rewritten.rows
    wrong = replace(made, rewritten=RewriteStage(rows=(replace(row, verdict="differs"),)))
    assert wrong.exit_code == 1


def test_a_journey_without_brook_has_six_stages() -> None:
    assert len(made_journey().stages) == 7
    assert len(replace(made_journey(), streams=None).stages) == 6
