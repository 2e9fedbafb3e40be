"""An analysis as JUnit XML: what fails is what fails the command."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from tests.report.analysis.samples import kernel, report, reported
from warpsmith.base.findings import Severity
from warpsmith.report.analysis.junit import analysis_junit


def root(gate: Severity | None = "warning", **changes: object) -> Xml.Element:
    return Xml.fromstring(analysis_junit(report(**changes), gate).partition("\n")[2])


def test_findings_at_the_gate_are_failures_and_the_others_output() -> None:
    found = root()
    (case,) = found.findall("testsuite[@name='src/k.cu']/testcase")
    (failure,) = case.findall("failure")
    assert failure.get("message") == "src/k.cu:3:1: warning[MEM001] uncoalesced store to out"
    assert failure.text is not None and failure.text.endswith("help: swap the loops")
    assert case.findtext("system-out") == "src/k.cu:5:1: note[DIV008] a bounds check"
    assert (found.get("tests"), found.get("failures"), found.get("errors"), found.get("time")) == (
        "2",
        "1",
        "1",
        "0.750",
    )


def test_gates() -> None:
    assert [root(gate).get("failures") for gate in ("note", "warning", "error", None)] == ["2", "1", "0", "0"]


def test_a_case_for_each_kernel_and_for_what_has_none() -> None:
    found = root(kernels=(kernel(), kernel("quiet")), findings=(reported(kernel=""), reported(kernel="lost")))
    suite = found.find("testsuite")
    assert suite is not None
    assert [case.get("name") for case in suite] == ["k", "quiet", "comments", "lost"]
    assert [suite.get(key) for key in ("tests", "failures", "errors")] == ["4", "2", "0"]


def test_what_could_not_be_read_is_an_error() -> None:
    (error,) = root().iter("error")
    assert (error.get("message"), error.get("type")) == ("src/k.cu:1:1: no such file", "INP001")
    assert not list(root(diagnostics=()).iter("error"))


def test_letters_that_xml_does_not_have() -> None:
    failure = next(root(findings=(reported(message="a\x00b\x1b<&>"),)).iter("failure"))
    assert (failure.get("message") or "").endswith("a\ufffdb\ufffd<&>")
