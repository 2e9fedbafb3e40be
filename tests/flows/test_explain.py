"""EXPLAIN: what it reports of files, and how it ends."""

from __future__ import annotations

import pytest

from tests.flows.ptx import file, kernel, options
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.flows import explain as flow
from warpsmith.flows.explain import explain
from warpsmith.flows.explaining.explain_file import FileResult
from warpsmith.kernels.units import KernelFile
from warpsmith.report.analysis.model import AnalysisReport

BROKEN = KernelFile("b.ptx", text=".version 8.0\n.target sm_80\nthis is no PTX\n")


def ended(*files: KernelFile, **flags: str) -> tuple[str, int]:
    found = explain(files or (file(),), options(**flags))
    return found.status, found.exit_code


def test_a_report_has_the_kernels_findings_and_times_of_all_files() -> None:
    found = explain([file(), file(kernel("l"), path="l.ptx")], options())
    assert found.inputs == ("k.ptx", "l.ptx") and [one.name for one in found.kernels] == ["k", "l"]
    assert {(one.finding.rule, one.input) for one in found.findings} >= {("MEM001", "k.ptx"), ("MEM001", "l.ptx")}
    assert set(found.timing_s) == {"analyze", "select"} and len(found.accesses) == 2


def test_a_finding_at_the_gate_is_a_negative_answer() -> None:
    assert ended(fail_on="never") == ("ok", 0)
    assert ended(fail_on="warning") == ("negative", 1)
    assert ended(fail_on="error") == ("ok", 0)
    assert ended(file(kernel(body="")), fail_on="note") == ("ok", 0)


def test_what_could_not_be_read_makes_it_incomplete_or_all_of_it_an_error() -> None:
    assert ended(file(), BROKEN, fail_on="never") == ("incomplete", 3)
    assert ended(BROKEN) == ("error", 2)
    assert ended(file(), BROKEN, fail_on="warning") == ("negative", 1)


def results(monkeypatch: pytest.MonkeyPatch, *found: FileResult) -> AnalysisReport:
    monkeypatch.setattr(flow, "explain_files", lambda tasks, jobs: list(found))
    return explain([file()], options())


def test_errors_of_ours_and_late_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    late = Finding("INP009", "error", "too long")
    crash = results(monkeypatch, FileResult("k.ptx", crashed="Traceback"), FileResult("l.ptx", diagnostics=[late]))
    assert (crash.status, crash.exit_code, crash.crash) == ("error", 70, "Traceback")
    some = results(monkeypatch, FileResult("k.ptx", diagnostics=[late]), FileResult("l.ptx"))
    assert (some.status, some.exit_code) == ("incomplete", 124)
    none = results(monkeypatch, FileResult("k.ptx", diagnostics=[late], failed=True))
    assert (none.status, none.exit_code) == ("error", 124)
    headers = results(monkeypatch, FileResult("k", headers=("h", "g")), FileResult("l", headers=("h",)))
    assert headers.headers == ("h", "g")


def test_a_kernel_that_nobody_has_is_a_mistake() -> None:
    with pytest.raises(UsageError, match="no kernel matches 'ker'") as error:
        explain([file(kernel("kern"))], options("ker"))
    assert error.value.findings[0].help == ("did you mean 'kern'?",)
    with pytest.raises(UsageError) as error:
        explain([file()], options("zzz"))
    assert error.value.findings[0].help == ("the kernels: k",)
    assert [one.name for one in explain([file(kernel(), kernel("l"))], options("l*")).kernels] == ["l"]


def test_a_device_or_a_rule_that_does_not_exist_is_told_before_anything_is_read() -> None:
    missing = KernelFile("none.ptx")
    with pytest.raises(UsageError):
        explain([missing], options(device="x100"))
    with pytest.raises(UsageError, match="no rule is called 'XYZ'"):
        explain([missing], options(**{"rules.select": "XYZ"}))
