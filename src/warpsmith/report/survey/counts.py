"""How often loops ran, read back from the JSON report of a survey with a counted run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from warpsmith.base.errors import InputError, UsageError
from warpsmith.base.findings import Finding
from warpsmith.offload.plan import LoopCount

__all__ = ["read_counts"]


def read_counts(path: str) -> Mapping[tuple[str, int, int], LoopCount]:
    """Return the counts of every loop that counts itself, by its file (whole path), line and column.

    Raises InputError where the file cannot be read, and UsageError where it is no report of a counted run.
    """
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(Finding("INP001", "error", f"--counts: {path}: {error.strerror}")) from error
    except ValueError:
        document = None
    found = dict(_counted(document)) if isinstance(document, dict) else {}
    if not any(count.entries for count in found.values()):
        message = f"--counts: {path} is no report of a counted run"
        helps = ("warpsmith survey --run './program' --json FILE... -- make > counts.json",)
        raise UsageError(Finding("INP000", "error", message, help=helps))
    return found


def _counted(document: Mapping[str, object]) -> Iterator[tuple[tuple[str, int, int], LoopCount]]:
    survey, loops = document.get("survey"), document.get("loops")
    root = str(survey.get("root", "")) if isinstance(survey, dict) else ""
    for loop in loops if isinstance(loops, list) else []:
        measured = loop.get("weight", {}).get("measured", {})
        if measured.get("entries") is not None:
            span = loop["span"]
            file = os.path.realpath(Path(root, span["file"]))
            yield (file, span["line"], span["column"]), LoopCount(measured["entries"], measured["iterations"])
