"""The report as JSON: which keys are there, and values that JSON has no word for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.base.verdict import Dependence, Reason
from warpsmith.report.model import LoopEntry, Report
from warpsmith.report.port.json import SCHEMA, report_json
from warpsmith.run.verification import LiveOut, Verification

FILE = SourceFile("a.c", "for (i)\n    a[i] = a[i - 1];\n")
HEAD, WRITE, READ = Span(FILE, 0, 7), Span(FILE, 12, 16), Span(FILE, 19, 27)
LOOP = LoopEntry("f/i", HEAD, "f", "i", "for i", 2, "sequential", False, None, (("n > 0", "guarded"),), ())
REPORT = Report("port", ("a.c",), "ok")


def document(report: Report) -> dict[str, Any]:
    found = json.loads(report_json(report))
    assert isinstance(found, dict)
    return found


def test_keys_without_a_value_are_absent_but_for_those_of_every_report() -> None:
    assert set(document(REPORT)) == {"schema", "command", "version", "inputs", "status", "diagnostics"}
    assert document(REPORT)["schema"] == SCHEMA == "warpsmith-report/1" and document(REPORT)["diagnostics"] == []
    told = document(replace(REPORT, findings=(Finding("POR001", "error", "no"),), timing_s={"parse": 0.123456}))
    assert told["timing_s"] == {"parse": 0.1235} and len(told["findings"]) == 1


def test_a_loop_and_its_dependence() -> None:
    pair = Dependence("flow", "a", WRITE, READ, (1,), ("<",), "i", "n = 3")
    reasons = (Reason("POR003", "carries", READ, pair, legal_if=("do it",)), Reason("POR006", "calls", None))
    (loop,) = document(replace(REPORT, loops=(replace(LOOP, reasons=reasons),)))["loops"]
    assert (loop["id"], loop["depth"], loop["ported"], loop["kernel"]) == ("f/i", 2, False, None)
    assert loop["assumptions"] == [{"text": "n > 0", "kind": "guarded"}]
    first, second = loop["reasons"]
    assert first["dependence"]["distance"] == [1] and first["legal_if"] == ["do it"] and "span" in first
    assert set(second) == {"rule", "text"}
    assert not {"steps", "holds_at", "hints"} & set(loop)
    more = replace(LOOP, steps=("a=f/i",), holds_at={"n": 3})
    (loop,) = document(replace(REPORT, loops=(more,)))["loops"]
    assert (loop["steps"], loop["holds_at"]) == (["a=f/i"], {"n": 3})


def test_a_distance_that_varies_is_none() -> None:
    pair = Dependence("flow", "a", WRITE, READ, (1, None), ("<", "*"), None, "")
    (loop,) = document(replace(REPORT, loops=(replace(LOOP, reasons=(Reason("POR003", "x", None, pair),)),)))["loops"]
    assert loop["reasons"][0]["dependence"]["distance"] is None


@pytest.mark.parametrize(("value", "said"), [(0.5, 0.5), (float("inf"), "inf"), (float("nan"), "nan")])
def test_a_difference_that_is_no_number_is_a_text(value: float, said: object) -> None:
    item = LiveOut("f/i", 0, "a", 3, "type", max_abs=value, max_rel=0.0, max_ulp=0, first_difference=None)
    verify = document(replace(REPORT, verify=Verification("fail", live_out=(item,))))["verify"]
    assert verify["status"] == "fail" and verify["live_out"][0]["max_abs"] == said
    assert not {"launches", "copies"} & set(verify)
    assert document(replace(REPORT, verify=Verification("pass", launches={"k": 2})))["verify"]["launches"] == {"k": 2}
