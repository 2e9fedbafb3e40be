"""A baseline: findings that were there before, one a line, sorted, so that two branches merge line by line.

    {"schema": "warpsmith-baseline/1", "findings": [
      {"fingerprint": "0123…", "rule": "MEM001", "file": "src/k.cu", "kernel": "transpose", "message": "…"},
      …
    ]}

Only the fingerprint counts; the rest is for people who read the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.report.analysis import Reported

__all__ = ["SCHEMA", "Baseline", "Entry", "baseline_text", "entry_of", "read_baseline"]

SCHEMA = "warpsmith-baseline/1"


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """One finding that is known."""

    file: str
    rule: str
    kernel: str
    fingerprint: str
    message: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """The findings of a baseline file, by fingerprint."""

    path: str
    entries: Mapping[str, Entry]


def entry_of(reported: Reported) -> Entry:
    """Return a finding as a baseline lists it."""
    finding = reported.finding
    file = "" if finding.span is None else finding.span.file.path
    return Entry(file, finding.rule, reported.kernel, reported.fingerprint, finding.message)


def baseline_text(entries: Iterable[Entry]) -> str:
    """Return a baseline file."""
    rows = [
        json.dumps(
            {"fingerprint": e.fingerprint, "rule": e.rule, "file": e.file, "kernel": e.kernel, "message": e.message},
            ensure_ascii=False,
        )
        for e in sorted(set(entries))
    ]
    body = "".join(f"  {row},\n" for row in rows[:-1]) + "".join(f"  {row}\n" for row in rows[-1:])
    return f'{{"schema": "{SCHEMA}", "findings": [\n{body}]}}\n'


def read_baseline(path: str) -> Baseline:
    """Return the baseline at `path`; raises UsageError where it is none."""
    try:
        data = json.loads(Path(path).read_text("utf-8"))
        if data["schema"] != SCHEMA:
            raise ValueError(f"its schema is {data['schema']!r}, not {SCHEMA!r}")
        entries = [Entry(row["file"], row["rule"], row["kernel"], row["fingerprint"], row["message"])
                   for row in data["findings"]]  # fmt: skip
    except OSError as error:
        message = f"the baseline {path} cannot be read: {(error.strerror or str(error)).lower()}"
        ways = ("`warpsmith baseline write` makes one", "--no-baseline goes without")
        raise UsageError(Finding("BAS002", "error", message, help=ways)) from error
    except (ValueError, KeyError, TypeError) as error:
        what = f"{type(error).__name__} {error}" if isinstance(error, KeyError) else str(error)
        message = f"{path} is not a baseline: {what}"
        helps = ("`warpsmith baseline write` makes a new one",)
        raise UsageError(Finding("BAS002", "error", message, help=helps)) from error
    return Baseline(path, {entry.fingerprint: entry for entry in entries})
