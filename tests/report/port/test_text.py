"""The claims of a report are what a run has shown."""

from __future__ import annotations

import pytest

from warpsmith.base.findings import Finding, Severity
from warpsmith.base.source import SourceFile, Span
from warpsmith.report.model import Hottest, LoopEntry, Moved, Report
from warpsmith.report.port.text import port_text, verification_text
from warpsmith.run.verification import LiveOut, Verification

_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
_FILE = SourceFile("a.c", "for (i)\nfor (j)\nfor (k)\n")


def loop(line: int, kernel: str | None) -> LoopEntry:
    span = Span(_FILE, _FILE.offset(line), _FILE.offset(line) + 7)
    return LoopEntry(f"f/{line}", span, "f", "i", "for i", 1, "parallel", kernel is not None, kernel, (), ())


def closing(verify: Verification | None, *kernels: str | None) -> str:
    entries = tuple(loop(line, kernel) for line, kernel in enumerate(kernels, start=1))
    return port_text(Report("port", ("a.c",), "ok", loops=entries, verify=verify), "").splitlines()[-1]


def test_the_hottest_loop_of_which_no_kernel_was_launched_does_not_run_on_the_device() -> None:
    entry = loop(1, "k1")
    hottest, moved = Hottest(entry.id, entry.span, 0.5, True), Moved(0.5, "trip counts and depth")
    for launches, said in (({"k1_kernel": 1}, "the hottest loop with it: "), ({}, "never launched in the run: ")):
        verdict = Verification("undecided", launches=launches)
        report = Report("port", ("a.c",), "ok", loops=(entry,), verify=verdict, hottest=hottest, moved=moved)
        assert port_text(report, "").splitlines()[0].endswith(f"{said}{entry.id} (line 1, 50 %)")


def test_errors_alone_where_it_is_to_be_quiet() -> None:
    findings = tuple(Finding(f"POR{n:03}", severity, f"an {severity}") for n, severity in enumerate(_SEVERITIES))
    report = Report("port", ("a.c",), "ok", findings=findings)
    whole, quiet = port_text(report, ""), port_text(report, "", quiet=True)
    assert all(f"an {severity}" in whole for severity in _SEVERITIES)
    assert "an error" in quiet and "an warning" not in quiet and "an note" not in quiet


@pytest.mark.parametrize(
    ("verify", "kernels", "said"),
    [
        (Verification("pass", launches={"k1_kernel": 1, "k2_kernel": 3}), ("k1", "k2"), "Ported 2 of 2 loops."),
        (Verification("pass", launches={"k1_kernel": 1}), ("k1", None), "Ported 1 of 2 loops (1 stays on the host)."),
        (Verification("undecided", launches={"k1_kernel": 1}), ("k1", None, "k2"),
         "Ported 1 of 3 loops (1 stays on the host; 1 never launched in the run: line 3)."),
        (Verification("undecided", launches={}), ("k1",), "Ported 0 of 1 loop (1 never launched in the run: line 1)."),
        (None, ("k1", None), "Kernels for 1 of 2 loops (not run; 1 stays on the host)."),
        (Verification("skipped"), ("k1", "k2"), "Kernels for 2 of 2 loops (not run)."),
    ],
)  # fmt: skip
def test_only_what_a_run_has_launched_is_ported(
    verify: Verification | None, kernels: tuple[str | None, ...], said: str
) -> None:
    assert closing(verify, *kernels).startswith(said)


def test_elements_are_counted_compared_and_left_out() -> None:
    rows = (
        LiveOut("f/i", 1, "a", 1024, "type", 0.0, 0.0, 0, None, 4, 1020),
        LiveOut("f/i", 1, "s", 1, "type", 0.0, 0.0, 0, None, 1),
    )
    verdict = Verification("undecided", live_out=rows, tolerance="not needed: equal where it is compared")
    lines = verification_text(verdict).splitlines()
    assert lines[0].startswith("verify  UNDECIDED")
    assert lines[1].strip() == "2 objects, 5 elements compared (1,020 left out), equal where it is compared, no races"
