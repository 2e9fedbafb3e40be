"""How many of the lanes that were issued were active."""

from __future__ import annotations

from warpsmith.report.simulation.model import Work


def test_efficiency() -> None:
    assert Work(10, 100, 400, 0).efficiency == 0.25
    # nothing was run, so that nothing was lost
    assert Work(0, 0, 0, 0).efficiency == 1.0
