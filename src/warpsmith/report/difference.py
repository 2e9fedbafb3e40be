"""The difference between two reports: findings that came and went, numbers of kernels, categories of loops.

A finding is the same if rule, kernel, file and fingerprint are, whatever its line; where two sources are compared the
file does not count. Both reports are JSON documents of `warpsmith-report/1`, so that those of last month can be used.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.report.json_parts import SCHEMA, Json

__all__ = ["ReportDifference", "ValueChange", "compare_reports", "difference_json", "difference_text", "read_report"]


class ValueChange(Struct, frozen=True):
    """One number or word of a kernel or a loop: `old` or `new` is None where only one report has it."""

    subject: str
    what: str
    old: str | float | None
    new: str | float | None


class ReportDifference(Struct, frozen=True):
    """The findings of the second report only (`new`), of the first one only (`gone`), and those of both; what else
    changed."""

    new: tuple[Json, ...]
    gone: tuple[Json, ...]
    same: int
    changes: tuple[ValueChange, ...]

    @property
    def is_worse(self) -> bool:
        """Whether there are new findings other than notes, or a loop that was portable is no longer."""
        lost = any(one.what == "category" and one.new in _STAYS and one.old not in _STAYS for one in self.changes)
        return lost or any(one.get("severity") != "note" for one in self.new)


_STAYS: Final = ("sequential", "unanalyzable")


def read_report(path: str) -> Json:
    """Return the report at `path`; raises UsageError where it is none."""
    try:
        loaded = json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        message = f"{path} cannot be read: {(error.strerror or str(error)).lower()}"
        raise UsageError(Finding("INP001", "error", message, help=("check the path",))) from error
    except ValueError as error:
        raise UsageError(Finding("INP001", "error", f"{path} is no JSON: {error}")) from error
    if not isinstance(loaded, dict) or loaded.get("schema") != SCHEMA:
        helps = ("`warpsmith analyze PATHS --json > report.json` makes one",)
        raise UsageError(Finding("INP001", "error", f"{path} is no report of the schema {SCHEMA}", help=helps))
    return loaded


def compare_reports(old: Json, new: Json, *, files_count: bool = True) -> ReportDifference:
    """Return what changed from `old` to `new`; `files_count`: a finding in another file is another one."""
    before, after = (_findings(report, files_count=files_count) for report in (old, new))
    common = Counter({key: min(len(found), len(after.get(key, ()))) for key, found in before.items()})
    return ReportDifference(
        tuple(one for key, found in after.items() for one in found[common[key] :]),
        tuple(one for key, found in before.items() for one in found[common[key] :]),
        common.total(),
        (*_find_changed(_kernels(old), _kernels(new)), *_find_changed(_loops(old), _loops(new))),
    )


def _rows(report: Json, key: str) -> list[Json]:
    rows = report.get(key)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _part(row: Json, key: str) -> Json:
    part = row.get(key)
    return part if isinstance(part, dict) else {}


def _findings(report: Json, *, files_count: bool) -> dict[tuple[object, ...], list[Json]]:
    found: dict[tuple[object, ...], list[Json]] = {}
    for row in _rows(report, "findings"):
        file = _part(row, "span").get("file") if files_count else None
        found.setdefault((row.get("rule"), row.get("kernel"), file, row.get("fingerprint")), []).append(row)
    return found


Facts = Mapping[tuple[str, str], "str | float"]


def _kernels(report: Json) -> Facts:
    """Return the numbers of each kernel on each device."""
    found: dict[tuple[str, str], str | float] = {}
    for row in _rows(report, "kernels"):
        subject = f"{row.get('name')} ({row['device']})" if "device" in row else str(row.get("name"))
        for part, keys in _NUMBERS.items():
            for key in keys:
                number = _part(row, part).get(key)
                if isinstance(number, int | float):
                    found[subject, f"{part} {key}".replace("_", " ")] = number
    return found


_NUMBERS: Final[Mapping[str, Sequence[str]]] = {
    "branches": ("total", "divergent"),
    "resources": ("registers", "shared_bytes", "local_bytes", "spill_bytes"),
    "occupancy": ("warps",),
}


def _loops(report: Json) -> Facts:
    return {(str(row.get("id")), "category"): str(row.get("category")) for row in _rows(report, "loops")}


def _find_changed(old: Facts, new: Facts) -> Iterator[ValueChange]:
    for key in dict.fromkeys([*old, *new]):
        if old.get(key) != new.get(key):
            yield ValueChange(*key, old.get(key), new.get(key))


def difference_json(difference: ReportDifference) -> Json:
    """Return it as the schema's `diff` has it."""
    return {
        "new": list(difference.new),
        "gone": list(difference.gone),
        "same": difference.same,
        "changes": [
            {"subject": one.subject, "what": one.what, "old": one.old, "new": one.new} for one in difference.changes
        ],
    }


def difference_text(difference: ReportDifference) -> str:
    """Return it for people."""
    lines = [f"+ {_line(one)}" for one in difference.new] + [f"- {_line(one)}" for one in difference.gone]
    lines += [_text(one) for one in difference.changes]
    counts = f"{len(difference.new)} new, {len(difference.gone)} gone, {difference.same} unchanged"
    return "\n".join([*lines, f"findings: {counts}; {len(difference.changes)} other changes"])


def _line(row: Json) -> str:
    span = _part(row, "span")
    place = f"{span.get('file')}:{span.get('line')}: " if span else ""
    return f"{place}{row.get('severity')}[{row.get('rule')}] {row.get('message')}"


def _text(change: ValueChange) -> str:
    old, new = ("-" if value is None else f"{value:g}" if isinstance(value, float) else value for value in
                (change.old, change.new))  # fmt: skip
    delta = ""
    if isinstance(change.old, int | float) and isinstance(change.new, int | float):
        delta = f"  ({change.new - change.old:+g})"
    return f"  {change.subject}: {change.what} {old} -> {new}{delta}"
