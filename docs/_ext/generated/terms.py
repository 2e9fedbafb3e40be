"""The words that findings about kernels use, as `warpsmith explain WORD` prints them."""

from __future__ import annotations

from collections.abc import Mapping

from generated.markdown import code, prose
from warpsmith.report.rules import load_rules, load_terms

__all__ = ["pages"]


def pages() -> Mapping[str, str]:
    """Return the page of the terms."""
    rules = load_rules()
    lines = ["# Words of findings", "", "`warpsmith explain WORD` prints each of them.", ""]
    for name, term in load_terms().items():
        lines += [f"## {prose(name)}", "", prose(term.what), "", *([prose(term.how), ""] if term.how else [])]
        seen = (f"[{word}](rules/{word})" if word in rules else code(word) for word in term.see)
        lines += [f"See also {', '.join(seen)}.", ""] if term.see else []
    return {"terms.md": "\n".join(lines)}
