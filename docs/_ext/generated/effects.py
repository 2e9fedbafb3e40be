"""The table of what library functions do: the families of `tree/effects.toml`, under the headings of that file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from importlib import resources

from generated.markdown import code, fence, prose, table

__all__ = ["pages"]

_HEADING = "# --- "
_SKIPPED = ("names", "arguments")


def pages() -> Mapping[str, str]:
    """Return the page of the table."""
    text = resources.files("warpsmith.tree").joinpath("effects.toml").read_text("utf-8")
    head, *parts = text.split(f"\n{_HEADING}")
    explained = "\n".join(line.removeprefix("#").removeprefix(" ") for line in head.splitlines())
    lines = ["# What library functions do", "", fence(explained, "text"), ""]
    for part in parts:
        title, _, rest = part.partition("\n")
        lines += [f"## {prose(title[:1].upper() + title[1:])}", "", *_families(tomllib.loads(rest)), ""]
    return {"effects.md": "\n".join(lines)}


def _families(part: Mapping[str, list[Mapping[str, object]]]) -> Iterator[str]:
    families = [dict(family) for family in part.get("functions", [])]
    if not families:
        return
    rows = [
        (_names(str(family["names"])), code(str(family.get("arguments", "")) or "()"), _facts(family))
        for family in families
    ]
    yield table(("functions", "arguments", "what is known"), rows)


def _names(text: str) -> str:
    return " ".join(code(word) for word in text.split())


def _facts(family: Mapping[str, object]) -> str:
    facts = (f"{key}: {code(_value(value))}" for key, value in family.items() if key not in _SKIPPED)
    return "; ".join(facts) or "touches no memory"


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value).replace("|", "/")
