"""Fails where a page of the built manual asks another machine for anything.

    python docs/_ext/offline.py docs/_build

Looked at are scripts, style sheets, fonts, icons, images, frames and media of every page, and `url(…)` and `@import` of
every style sheet. Plain links that a reader may follow are no requests.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

__all__ = ["requests_of_page", "requests_of_style", "violations"]

_REMOTE = re.compile(r"\s*(?:https?:)?//", re.IGNORECASE)
_STYLE = re.compile(r"(?:url\(\s*|@import\s+)[\"']?((?:https?:)?//[^\"')\s]+)", re.IGNORECASE)
# a link to a page of the same text elsewhere is read by search engines only
_QUIET_LINKS = {"canonical", "alternate", "next", "prev", "author", "license", "help"}
_SOURCES = {"src", "srcset", "data", "poster", "background"}


class _Requests(HTMLParser):
    """Collects what a browser fetches by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._in_style = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note the addresses of one element."""
        given = {name: value or "" for name, value in attributes}
        self._in_style = tag == "style"
        self.found += [value for name, value in given.items() if name in _SOURCES and _is_remote(name, value)]
        self.found += requests_of_style(given.get("style", ""))
        fetched = tag in ("image", "use", "feimage") or (
            tag == "link" and not set(given.get("rel", "").split()) & _QUIET_LINKS
        )
        if fetched:
            self.found += [given[name] for name in ("href", "xlink:href") if _REMOTE.match(given.get(name, ""))]

    def handle_endtag(self, tag: str) -> None:
        """Leave a style sheet."""
        self._in_style = self._in_style and tag != "style"

    def handle_data(self, data: str) -> None:
        """Look into a style sheet within the page."""
        if self._in_style:
            self.found += requests_of_style(data)


def _is_remote(name: str, value: str) -> bool:
    places = value.split(",") if name == "srcset" else [value]
    return any(_REMOTE.match(place) for place in places)


def requests_of_page(text: str) -> list[str]:
    """Return the addresses on other machines that a browser fetches when it shows the page."""
    parser = _Requests()
    parser.feed(text)
    parser.close()
    return parser.found


def requests_of_style(text: str) -> list[str]:
    """Return the addresses on other machines that a style sheet names."""
    return _STYLE.findall(text)


def violations(folder: Path) -> Iterator[str]:
    """Yield a line for every request of the pages and style sheets below `folder`."""
    for path in sorted([*folder.rglob("*.html"), *folder.rglob("*.css")]):
        text = path.read_text("utf-8")
        for found in requests_of_page(text) if path.suffix == ".html" else requests_of_style(text):
            yield f"{path.relative_to(folder)}: {found}"


def main(folder: Path) -> int:
    """Print the violations; the exit code is 1 where there is one, 2 where there is nothing to look at."""
    if not (folder / "index.html").is_file():
        print(f"no manual was built in {folder}", file=sys.stderr)
        return 2
    found = list(violations(folder))
    print("\n".join(found) or "no page asks another machine for anything")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
