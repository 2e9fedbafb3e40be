"""Access patterns as a page."""

from __future__ import annotations

from html.parser import HTMLParser

from tests.flows.nests import PRODUCT, access_report
from warpsmith.report.accesses.html import accesses_html


class _Counted(HTMLParser):
    """Counts elements, and keeps what stands in table cells."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: dict[str, int] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] = self.tags.get(tag, 0) + 1


def test_every_reference_has_its_matrix_and_its_picture() -> None:
    text = accesses_html(access_report(PRODUCT, "mm/i"))
    counted = _Counted()
    counted.feed(text)
    assert counted.tags["svg"] == counted.tags["table"] == counted.tags["article"] == 3
    # six by six elements in each picture
    assert counted.tags["rect"] == 3 * 36
    assert "no single nest removes all three" in text and "for (int k = 0; k &lt; n; k++)" in text


def test_names_are_never_markup() -> None:
    text = "void f(int n, int *a) { for (int i = 0; i < n; i++) a[i < 3 ? i : 2] = 1; }"
    page = accesses_html(access_report(text, "f/i"))
    assert "a[i &lt; 3 ? i : 2]" in page and "i < 3" not in page
