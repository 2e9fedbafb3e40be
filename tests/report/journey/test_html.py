"""The page has every stage and every text, asks for nothing outside, and marks verdicts."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from tests.report.journey.made import made_journey
from warpsmith.report.journey.html import journey_html


class _Page(HTMLParser):
    """Collects the classes of cells, the titles of texts, and addresses."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.addresses: list[str] = []
        self.sections = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.cells += [given.get("class") or ""] if tag == "td" else []
        self.addresses += [value for name, value in attrs if name in ("href", "src") and value]
        self.sections += tag == "section"


def test_every_stage_is_there_and_nothing_is_loaded() -> None:
    text = journey_html(made_journey())
    page = _Page(text)
    assert page.sections == 7
    assert page.addresses == [f"#stage{number}" for number in range(1, 8)]
    assert "default-src 'none'" in text and "http://" not in text and "https://" not in text


def test_verdicts_are_marked_and_texts_escaped() -> None:
    text = journey_html(made_journey())
    words = [word for one in _Page(text).cells for word in one.split()]
    assert {"equal", "differs", "stopped", "not-run", "refused"} <= set(words)
    assert "__global__ void k1() &lt;b&gt;" in text and "<b>" not in text
    assert re.search(r'class="closing wrong">2 of 4 outputs differ', text)
    assert 'class="closing">All 3' in journey_html(made_journey(stopped=False))
