"""Generated files that somebody has edited by hand: a new port is merged into them, or the conflict is named.

    base (what the last port wrote)   ──►  new (what this port writes)
      └──► current (the user's edits) ──►  merged

The base is in the project's git, or in a small file beside what was generated. Nothing that was written by hand is
lost: where both sides changed the same lines, nothing is written and the lines are named.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from warpsmith.project.buildfiles.makefile import Runner

__all__ = ["MergeConflict", "merge_texts"]


class MergeConflict(Struct, frozen=True):
    """Lines of the current text that the new one changes as well; `line` is 1 where no base is known."""

    path: str
    line: int
    text: str


def merge_texts(path: str, base: str | None, current: str, new: str, run: Runner) -> str | tuple[MergeConflict, ...]:
    """Return `new` with the changes that turned `base` into `current`, or what conflicts."""
    if current in (base, new):
        return new
    if base is None:
        return (MergeConflict(path, 1, "nothing is known of what the last port wrote here (was it committed?)"),)
    if base == new:
        return current
    with tempfile.TemporaryDirectory(prefix="warpsmith-merge-") as folder:
        for name, text in (("current", current), ("base", base), ("new", new)):
            Path(folder, name).write_bytes(text.encode("latin-1"))
        command = ["git", "merge-file", "-L", "yours", "-L", "last port", "-L", "this port", "current", "base", "new"]
        code, _ = run(command, Path(folder))
        text = Path(folder, "current").read_bytes().decode("latin-1")
    if code == 0:
        return text
    found = tuple(_conflicts(path, current, text))
    return found or (MergeConflict(path, 1, "it cannot be merged (is git there?)"),)


def _conflicts(path: str, current: str, merged_text: str) -> Iterator[MergeConflict]:
    position = 0
    for block in re.finditer(r"^<<<<<<< yours\r?\n(.*?)^=======\r?\n", merged_text, re.MULTILINE | re.DOTALL):
        found = current.find(block[1], position) if block[1] else -1
        start = max(position, found)
        # the same lines may stand in conflict again further down
        position = start + len(block[1])
        text = block[1].split("\n")[0].strip()
        yield MergeConflict(path, current.count("\n", 0, start) + 1, text or "lines were taken out here")
