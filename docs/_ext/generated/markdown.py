"""Plain text of the package as Markdown: what is no markup there must not become markup here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["cell", "code", "fence", "literal", "prose", "table", "tree"]

_MARKUP = re.compile(r"([\\*_<>\[\]{}#|$~^@])")


def prose(text: str) -> str:
    """Return a paragraph; parts between back quotes stay code, every other sign stands for itself."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return _MARKUP.sub(r"\\\1", text).replace("`", r"\`")
    return "".join(code(part) if odd else _MARKUP.sub(r"\\\1", part) for odd, part in _alternate(parts))


def _alternate(parts: Sequence[str]) -> Iterable[tuple[bool, str]]:
    return ((index % 2 == 1, part) for index, part in enumerate(parts))


def code(text: str) -> str:
    """Return `text` as code within a line."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def cell(text: str) -> str:
    """Return code for a cell of a table, where a bar would end the cell; nothing for no text."""
    return code(text).replace("|", r"\|") if text else ""


def fence(text: str, language: str) -> str:
    """Return a block of code."""
    return f"```{language}\n{text.strip(chr(10))}\n```"


def literal(text: str) -> str:
    """Return the paragraphs of a help text; those that are laid out by hand stay so."""
    paragraphs = [part.strip("\n") for part in text.split("\n\n") if part.strip()]
    return "\n\n".join(_paragraph(part) for part in paragraphs)


def _paragraph(text: str) -> str:
    if text.startswith("\b"):
        return fence(text.removeprefix("\b"), "text")
    if any(line.startswith(" ") for line in text.splitlines()):
        return fence(text, "text")
    return prose(" ".join(text.split()))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; the cells are Markdown already."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def tree(names: Iterable[str]) -> str:
    """Return the list of the pages below a page, which the side bar shows."""
    return fence(":maxdepth: 1\n\n" + "\n".join(names), "{toctree}")
