"""The chart of an experiment: bars as high as they should be, and names that are no markup."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

from tests.report.experiment.samples import by_clocks, by_input, by_width
from warpsmith.report.experiment.chart import draw_chart, experiment_svg


def test_a_bar_is_as_high_as_its_number() -> None:
    chart = draw_chart(by_width())
    assert [bar.number for bar in chart.bars] == ["1.60", "1.28", "2.56"]
    assert [tick[1] for tick in chart.ticks] == ["0", "0.75", "1.5", "2.25", "3"]
    whole = chart.ticks[0][0] - chart.ticks[-1][0]
    for bar in chart.bars:
        assert abs(bar.high - whole * float(bar.number) / 3) < 1 and bar.y + bar.high == chart.base
    assert [bar.kind for bar in chart.bars] == [0, 1, 0] and [name for _, _, name in chart.legend] == [
        "random",
        "sorted",
    ]


def test_nothing_overlaps() -> None:
    for report in (by_width(), by_input()):
        chart = draw_chart(report)
        edges = [(bar.x, bar.x + chart.bar) for bar in chart.bars]
        assert all(left[1] <= right[0] for left, right in pairwise(edges))
        middles = [x for x, _ in chart.labels]
        longest = max(len(label) for _, label in chart.labels)
        assert all(b - a >= 7 * longest for a, b in pairwise(middles))
        assert max(edge[1] for edge in edges) <= chart.wide


def test_the_picture_is_xml_with_the_names_as_text() -> None:
    root = ElementTree.fromstring(experiment_svg(by_input()))
    texts = [element.text for element in root.iter() if element.text]
    assert "one & <all>" in texts and "2.00" in texts


def test_clocks_are_compared_where_there_are_some() -> None:
    chart = draw_chart(by_clocks())
    assert [bar.number for bar in chart.bars] == ["1.00", "1.50"] and "clocks against the fewest" in chart.title
