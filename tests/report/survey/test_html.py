"""A survey as one HTML page: every loop, no requests, and what the user wrote is text."""

from __future__ import annotations

from html.parser import HTMLParser

import msgspec.structs

from tests.report.survey.samples import report
from warpsmith.report.survey.html import _share, survey_html


class _Page(HTMLParser):
    """Notes what a page asks for, its open tags, and its rows."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.asked: list[str] = []
        self.rows = 0
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.asked += [f"{tag} {name}" for name, _ in attrs if name in ("src", "href", "action", "data", "srcset")]
        self.asked += [tag] if tag in ("link", "img", "iframe", "object") else []
        self.rows += tag == "tr"
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_page_has_what_a_run_has_shown() -> None:
    loop = msgspec.structs.replace(
        report().loops[0], measured=True, entries=1.0, iterations=9.0, seconds=0.5, bytes=72.0, copied=144.0,
        gain_alone=0.25, gain_kept=0.375,
    )  # fmt: skip
    page = survey_html(msgspec.structs.replace(report(), loops=(loop,)))
    assert "measured: entered once, 9 iterations, 0.5 s, 72 bytes touched, 144 bytes to copy" in page
    assert "saves 0.25 s alone, 0.38 s where its data are kept" in page and "of the time" in page


def test_work_is_shared_out_by_category() -> None:
    loops = [msgspec.structs.replace(loop, own=0.25 * (n + 1)) for n, loop in enumerate(report().loops[:2])]
    made = msgspec.structs.replace(report(), loops=tuple(loops))
    assert [_share(made, name) for name in ("parallel", "sequential", "scan")] == [0.25, 0.5, 0]


def test_html_is_one_whole_page_without_requests_and_with_every_loop() -> None:
    page = _Page()
    page.feed(survey_html(report()))
    page.close()
    assert not page.open
    assert not page.asked
    heads, categories, constructs = 3, 3, 3
    assert page.rows == heads + categories + constructs + 59 + 2, "the one worth porting, and its head"
    text = "".join(page.text)
    # what the user wrote is text, never markup
    assert "the build failed: <make> & more" in text
    assert "would help: <none>" in text
    assert "@import" not in text
    assert "url(" not in text
