"""The table of configuration keys."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from importlib import resources

from generated.markdown import cell, code, prose

__all__ = ["pages"]


def pages() -> Mapping[str, str]:
    """Return the page of the keys."""
    keys = tomllib.loads(resources.files("warpsmith.settings").joinpath("keys.toml").read_text("utf-8"))
    lines = ["# Configuration keys", "", "In `warpsmith.toml`, or below `[tool.warpsmith]` in `pyproject.toml`.", ""]
    for name, entry in keys.items():
        lines += [f"## {code(name)}", "", prose(str(entry["help"])), "", *_facts(entry), ""]
    return {"configuration.md": "\n".join(lines)}


def _facts(entry: Mapping[str, object]) -> list[str]:
    words = entry.get("words")
    kind = ", ".join(code(str(word)) for word in words) if isinstance(words, list) else code(str(entry["type"]))
    facts = [f"- value: {kind}"]
    if "default" in entry:
        facts.append(f"- default: {cell(json.dumps(entry['default'], ensure_ascii=False))}")
    return [*facts, *([f"- environment: {code(str(entry['variable']))}"] if "variable" in entry else [])]
