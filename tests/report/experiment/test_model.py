"""What an experiment says of its runs."""

from __future__ import annotations

from tests.report.experiment.samples import by_input, by_width


def test_costs_and_the_least_of_them() -> None:
    report = by_width()
    assert [point.cost for point in report.points] == [1.6, 1.28, 2.56, 0.0]
    assert report.least == 64 and report.values == ("8", "64") and report.series == ("random", "sorted")
    assert by_input().least == 80
