"""All that is measured, in calls that each end in time: one goes on where the one before stopped.

answers in FOLDER/results/TASK.jsonl   a program that has one is not run again, unless it had no time
--seconds                              nothing is begun later than that
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

__all__ = ["LATE", "TASKS", "Task", "answered", "left_of"]

LATE = "no time"

Task = tuple[str, str, tuple[str, ...], int]
"""Its name, the command that it is, the kinds of programs (none: all but those of other tasks), and how many of each
kind (0: all)."""

_OWN = ("large", "mapping")

TASKS: tuple[Task, ...] = (
    ("device", "device", (), 0),
    ("time", "time", ("large",), 0),
    ("mapping", "mapping", ("mapping",), 0),
    ("check", "check", (), 0),
    ("sanitize", "sanitize", (), 8),
    ("count", "count", (), 0),
)
"""In the order in which they are done."""


def answered(results: Path) -> set[str]:
    """Return the programs that have an answer."""
    if not results.exists():
        return set()
    rows = (json.loads(line) for line in results.read_text().splitlines() if line.strip())
    return {row.get("name", row.get("file", "")) for row in rows if row.get("word", LATE) != LATE}


def left_of(task: Task, programs: Sequence[dict], results: Path) -> list[dict]:
    """Return the programs of a task that have no answer yet, in their order."""
    _, _, kinds, most = task
    wanted = [row for row in programs if (row["kind"] in kinds if kinds else row["kind"] not in _OWN)]
    numbers: dict[str, int] = {}
    kept = []
    for row in wanted:
        numbers[row["kind"]] = numbers.get(row["kind"], 0) + 1
        if not most or numbers[row["kind"]] <= most:
            kept.append(row)
    done = answered(results)
    return [row for row in kept if row["name"] not in done]
