"""The page of a search has every candidate, and no markup of the user's."""

from __future__ import annotations

from html.parser import HTMLParser

from msgspec.structs import replace

from tests.report.search.found import FAST, FOUND, NONE
from warpsmith.report.search.html import search_html


class Cells(HTMLParser):
    """The text of the cells of all tables, row by row."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append("")
        self.inside = tag in ("td", "code", "meter") and bool(self.rows)

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "td"

    def handle_data(self, data: str) -> None:
        if self.inside and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def rows(page: str) -> list[list[str]]:
    cells = Cells()
    cells.feed(page)
    return [row for row in cells.rows if row]


def test_every_candidate_has_a_row_with_its_time_or_why_not() -> None:
    page = search_html(FOUND, ("a.c",))
    gain, *candidates = rows(page)
    assert gain == ["f/i", "40.0 us", "20.0 us", "map=f/i,axes=x,block=64"]
    assert [(row[0], row[1], row[-1]) for row in candidates] == [
        ("keep=f/i", "9.00 ms", ""),
        ("fuse=f/i", "-", "refused: the flow dependence on a would be turned around"),
        ("map=f/i,axes=x,block=64", "20.0 us", "latency: 8 of 64 warps resident (taken)"),
        ("map=f/i,axes=x,block=512", "70.0 us", "the launch, 3.2 times the sectors or instructions"),
    ]
    assert 'value="28.6"' in page and "Nothing was measured" in page


def test_names_are_text() -> None:
    odd = replace(FOUND, candidates=(replace(FAST, steps=("map=<b>",)),))
    page = search_html(odd, ("<i>.c",))
    assert "<b>" not in page and "<i>" not in page and "map=&lt;b&gt;" in page
    assert rows(search_html(NONE, ("a.c",))) == []
