"""A baseline: findings that were there before, one a line, sorted, so that two branches merge line by line.

    {"schema": "warpsmith-baseline/1", "findings": [
      {"fingerprint": "0123…", "rule": "MEM001", "file": "src/k.cu", "kernel": "transpose", "message": "…"},
      …
    ]}

`file` is relative to the baseline's folder. An entry stands for one finding of one file: a copy of a kernel in another
file is new. A file that has gone may have been moved: its entries are good for the same findings anywhere. Rule, kernel
and message are for people who read the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import force_setattr

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.report.analysis.model import Reported

__all__ = ["SCHEMA", "Baseline", "BaselineEntry", "baseline_text", "entry_of", "name_in", "read_baseline"]

SCHEMA = "warpsmith-baseline/1"


class BaselineEntry(Struct, frozen=True, order=True):
    """One finding that is known."""

    file: str
    rule: str
    kernel: str
    fingerprint: str
    message: str


class Baseline(Struct, frozen=True):
    """The findings of a baseline file; `moved`: the fingerprints of those whose files have gone."""

    path: str
    entries: tuple[BaselineEntry, ...]
    moved: frozenset[str] = frozenset()
    _known: frozenset[tuple[str, str]] = frozenset()

    def __post_init__(self) -> None:
        force_setattr(self, "_known", frozenset((entry.file, entry.fingerprint) for entry in self.entries))

    def knows(self, reported: Reported) -> bool:
        """Whether a finding is listed."""
        entry = entry_of(reported, self.path)
        return (entry.file, entry.fingerprint) in self._known or entry.fingerprint in self.moved

    def stale(self, found: Iterable[Reported], read: Iterable[str]) -> tuple[BaselineEntry, ...]:
        """Return the entries of files that were `read` and do not have them, and of files that have gone for good."""
        all_found = [entry_of(one, self.path) for one in found]
        now = {(entry.file, entry.fingerprint) for entry in all_found}
        elsewhere = {entry.fingerprint for entry in all_found}
        names = {name_in(self.path, path) for path in read} | {entry.file for entry in all_found}
        return tuple(
            entry
            for entry in self.entries
            if (entry.file, entry.fingerprint) not in now
            and (entry.file in names or (entry.fingerprint in self.moved and entry.fingerprint not in elsewhere))
        )


def name_in(baseline: str, path: str) -> str:
    """Return how the baseline at the path `baseline` names the file at `path`."""
    return Path(os.path.relpath(path, Path(baseline).parent)).as_posix()


def entry_of(reported: Reported, baseline: str) -> BaselineEntry:
    """Return a finding as the baseline at the path `baseline` lists it."""
    finding = reported.finding
    file = reported.input if finding.span is None else finding.span.file.path
    return BaselineEntry(name_in(baseline, file), finding.rule, reported.kernel, reported.fingerprint, finding.message)


def baseline_text(entries: Iterable[BaselineEntry]) -> str:
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
        entries = [BaselineEntry(row["file"], row["rule"], row["kernel"], row["fingerprint"], row["message"])
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
    folder = Path(path).parent
    moved = frozenset(entry.fingerprint for entry in entries if not (folder / entry.file).exists())
    return Baseline(path, tuple(entries), moved)
