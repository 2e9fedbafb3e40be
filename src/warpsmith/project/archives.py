"""Archives of object files: `ar rcs libk.a a.o b.o`, read as a link step."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from warpsmith.project.command_line import expand_responses
from warpsmith.project.model import LinkCommand

__all__ = ["read_archive"]


def read_archive(words: Sequence[str], directory: str) -> LinkCommand | None:
    """Return what an archiver call of these words makes; None where it adds nothing to an archive."""
    rest, _ = expand_responses(words[1:], directory)
    rest = [word for word in rest if not word.startswith("--")]
    if len(rest) < 2:
        return None
    operation, *names = rest
    if not set("rq") & set(operation.lstrip("-")) or "t" in operation:
        return None
    # `a`, `b` and `i` are followed by the name of a member
    if set("abi") & set(operation):
        names = names[1:]
    output, *members = (os.path.normpath(Path(directory, name)) for name in names)
    return LinkCommand(output, tuple(members), directory, words[0])
