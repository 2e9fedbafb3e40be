"""What is known of an error of ours, in a file that the user can send."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from warpsmith.base.scratch import lasting_folder

__all__ = ["crash_file"]


def crash_file(arguments: Sequence[str], details: str) -> str:
    """Write what is known of an error of ours where it can be sent from; return the path."""
    with tempfile.NamedTemporaryFile(
        "w",
        prefix="warpsmith-crash-",
        suffix=".txt",
        dir=lasting_folder(),
        delete=False,
        encoding="utf-8",
        errors="backslashreplace",
    ) as file:
        file.write(f"warpsmith {' '.join(arguments)}\nin {Path.cwd()}\n\n{details}")
    return file.name
