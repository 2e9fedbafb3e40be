"""The generated part of the reference: what the package says of itself, as Markdown pages, written at each build.

    click's commands ──┐
    report/*.toml ─────┤
    catalogue.STEPS ───┼──► pages(): path → text ──► docs/reference/generated/ ──► Sphinx
    tree/effects.toml ─┤
    settings/keys.toml ┘

Invariant: no page holds a sentence of its own about a command, a rule, a step or a key; it cannot lag behind them.
Sphinx is not needed to make the pages: the tests make them without it. Read `pages` first.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from generated import commands, configuration, devices, effects, rules, steps, terms

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["pages", "setup", "write"]

FOLDER = "reference/generated"


def pages() -> Mapping[str, str]:
    """Return the text of every generated page by its path below `reference/generated`."""
    parts = (commands, rules, steps, effects, configuration, terms, devices)
    return {path: text for part in parts for path, text in part.pages().items()}


def write(folder: Path) -> None:
    """Make `folder` hold exactly the generated pages; a page that has not changed keeps its time."""
    wanted = pages()
    for old in sorted(folder.rglob("*.md")):
        if str(old.relative_to(folder)) not in wanted:
            old.unlink()
    for path, text in wanted.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text("utf-8") != text:
            target.write_text(text, "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx looks for its sources."""
    write(Path(app.srcdir) / FOLDER)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
