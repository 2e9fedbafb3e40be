"""The difference between two reports, and whether it is for the worse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warpsmith.base.errors import UsageError
from warpsmith.report.difference import ValueChange, compare_reports, difference_json, difference_text, read_report
from warpsmith.report.json_parts import SCHEMA, Json


def finding(rule: str = "MEM001", file: str = "k.cu", severity: str = "warning", **more: object) -> Json:
    return {"rule": rule, "kernel": "k", "fingerprint": "f", "severity": severity, "message": "words",
            "span": {"file": file, "line": 3}} | more  # fmt: skip


def report(*findings: Json, **more: object) -> Json:
    return {"schema": SCHEMA, "findings": list(findings)} | more


def test_a_finding_is_the_same_whatever_its_line() -> None:
    moved = finding(span={"file": "k.cu", "line": 9})
    found = compare_reports(report(finding()), report(moved, finding("MEM002")))
    assert (found.same, [one["rule"] for one in found.new], found.gone) == (1, ["MEM002"], ())


def test_findings_that_are_alike_are_counted() -> None:
    found = compare_reports(report(finding(), finding()), report(finding()))
    assert (found.same, len(found.gone), found.new) == (1, 1, ())


def test_files_count_unless_two_sources_are_compared() -> None:
    old, new = report(finding()), report(finding(file="new.cu"))
    assert len(compare_reports(old, new).new) == 1
    assert compare_reports(old, new, files_count=False).same == 1


def test_numbers_of_kernels_and_categories_of_loops() -> None:
    old = report(kernels=[{"name": "k", "device": "h100", "resources": {"registers": 32, "spill_bytes": 0}}],
                 loops=[{"id": "f/i", "category": "parallel"}])  # fmt: skip
    more: Json = {"name": "l", "branches": {"total": 2}}
    new = report(kernels=[{"name": "k", "device": "h100", "resources": {"registers": 40, "spill_bytes": 0}}, more],
                 loops=[{"id": "f/i", "category": "sequential"}])  # fmt: skip
    assert compare_reports(old, new).changes == (
        ValueChange("k (h100)", "resources registers", 32, 40), ValueChange("l", "branches total", None, 2),
        ValueChange("f/i", "category", "parallel", "sequential"),
    )  # fmt: skip


def category(old: str, new: str) -> bool:
    return compare_reports(
        report(loops=[{"id": "i", "category": old}]), report(loops=[{"id": "i", "category": new}])
    ).is_worse


def test_what_is_worse() -> None:
    assert compare_reports(report(), report(finding())).is_worse
    assert not compare_reports(report(), report(finding(severity="note"))).is_worse
    assert not compare_reports(report(finding()), report()).is_worse
    assert category("parallel", "sequential") and category("reduction", "unanalyzable")
    assert not category("sequential", "unanalyzable") and not category("sequential", "parallel")


def test_reports_with_odd_parts_are_compared_as_far_as_they_go() -> None:
    odd = report(kernels="none", loops=[3], findings=[{"rule": "X", "span": 7}])
    assert len(compare_reports(odd, report()).gone) == 1


def test_text_and_json() -> None:
    old = report(kernels=[{"name": "k", "occupancy": {"warps": 1.5}}])
    new = report(finding(), kernels=[{"name": "k", "occupancy": {"warps": 2.5}}])
    found = compare_reports(old, new)
    assert difference_text(found).split("\n") == [
        "+ k.cu:3: warning[MEM001] words", "  k: occupancy warps 1.5 -> 2.5  (+1)",
        "findings: 1 new, 0 gone, 0 unchanged; 1 other changes",
    ]  # fmt: skip
    assert difference_text(compare_reports(report({"rule": "R"}), report())).startswith("- None[R] None")
    assert difference_json(found)["changes"] == [{"subject": "k", "what": "occupancy warps", "old": 1.5, "new": 2.5}]
    assert "category - -> parallel" in difference_text(
        compare_reports(report(), report(loops=[{"id": "i", "category": "parallel"}]))
    )


def test_files_that_are_no_report(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    with pytest.raises(UsageError, match="cannot be read"):
        read_report(str(path))
    for text, said in (("{", "is no JSON"), ("[]", "is no report of the schema"), ('{"schema": "x"}', "is no report")):
        path.write_text(text)
        with pytest.raises(UsageError, match=said):
            read_report(str(path))
    path.write_text(json.dumps(report()))
    assert read_report(str(path)) == report()
