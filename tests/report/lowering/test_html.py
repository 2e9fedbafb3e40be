"""Text of machines side by side."""

from __future__ import annotations

import re

from tests.report.lowering.samples import GCN, REFUSED, sample
from warpsmith.report.lowering.html import lowering_html


def test_lines_are_linked_to_those_that_they_are_of() -> None:
    made = lowering_html(sample(GCN))
    places = re.findall(r'data-at="([^"]*)"', made)
    assert places == ["0:1", "0:2", "0:3", "0:4", "0:5", "0:3", "0:4"]
    assert '<span class="row"><span class="number"></span>k:</span>' in made


def test_names_of_the_users_are_text() -> None:
    made = lowering_html(sample(GCN))
    assert "<b>" not in made
    assert "a &lt; b;" in made


def test_a_target_that_refuses_says_why() -> None:
    made = lowering_html(sample(REFUSED, GCN))
    assert "k&lt;b&gt;.cu:3:5: no shared memory" in made
    assert "use none" in made
    assert made.count("<section") == 3
