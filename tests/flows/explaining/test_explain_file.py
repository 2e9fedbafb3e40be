"""One file of EXPLAIN: which kernels are examined, on which devices, and what fails alone."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.flows.ptx import file, kernel, settings_of
from warpsmith.analysis.counts import prediction
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.resources.resources import CompilerFigures
from warpsmith.base.findings import Finding
from warpsmith.base.time_limit import OutOfTimeError
from warpsmith.flows.explaining import explain_file as flow
from warpsmith.flows.explaining import registers
from warpsmith.flows.explaining.explain_file import FileResult, FileTask, explain_file
from warpsmith.kernels.shape import Launching
from warpsmith.kernels.units import KernelFile
from warpsmith.machine.devices import device


def task(*kernels: str, devices: tuple[str, ...] = ("h100",), **more: object) -> FileTask:
    made = FileTask(file(*kernels), tuple(map(device, devices)), Launching((64, 1, 1)), settings_of())
    return replace(made, **more)


def test_every_kernel_on_every_device() -> None:
    found = explain_file(task(kernel(), kernel("l"), devices=("h100", "a100")))
    assert [(one.name, one.device) for one in found.kernels] == [
        ("k", "h100"), ("k", "a100"), ("l", "h100"), ("l", "a100")
    ]  # fmt: skip
    assert (found.names, found.parameters, found.failed) == (["k", "l"], ["a", "n"], False)
    # what holds on both is reported once
    (one,) = (f for f in found.findings if f.finding.rule == "MEM001" and f.kernel == "k")
    assert one.devices == ("h100", "a100") and len(found.accesses) == 2


def test_only_the_kernels_that_are_asked_for() -> None:
    found = explain_file(task(kernel("aa"), kernel("ab"), kernel("b"), kernels=("a*",)))
    assert [one.name for one in found.kernels] == ["aa", "ab"] and found.names == ["aa", "ab", "b"]


def test_a_file_that_cannot_be_read() -> None:
    found = explain_file(task(wanted=KernelFile("none.ptx")))
    assert found.failed and [one.severity for one in found.diagnostics] == ["error"] and not found.kernels


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> FileResult:
    """Return what is found where the first of two kernels raises."""

    def raises(module: object, name: str, *more: object, **how: object) -> object:
        if name == "k":
            raise error
        return examine(module, name, *more, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(flow, "examine", raises)
    return explain_file(task(kernel(), kernel("l")))


def test_a_kernel_that_fails_is_a_diagnostic_and_the_others_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    for error, rule in ((OutOfTimeError(), "INP009"), (RecursionError(), "INP003")):
        with monkeypatch.context() as patch:
            found = failing(patch, error)
        assert ([one.rule for one in found.diagnostics], found.late) == ([rule], int(rule == "INP009"))
        assert [one.name for one in found.kernels] == ["l"] and not found.crashed
    crashed = failing(monkeypatch, ValueError("oops"))
    assert "oops" in crashed.crashed and "ValueError" in crashed.diagnostics[0].message
    assert [one.name for one in crashed.kernels] == ["l"]


def test_registers_are_those_that_ptxas_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registers, "assemble_ptx", lambda data, arch: {"k": CompilerFigures(77, 0)})
    assert [one.resources.registers for one in explain_file(task(ptxas=True)).kernels] == [77]
    assert explain_file(task()).kernels[0].resources.source == "estimate"
    lost = Finding("TOL001", "error", "no ptxas")
    monkeypatch.setattr(registers, "assemble_ptx", lambda data, arch: lost)
    found = explain_file(task(ptxas=True))
    assert found.diagnostics == [lost] and found.kernels[0].resources.source == "estimate"


def test_pictures_are_of_the_first_device() -> None:
    body = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 7; @%p1 bra L; st.global.u32 [%rd3], %r1; L:\n"
    found = explain_file(task(kernel(body=body), devices=("h100", "a100"), diagrams=True))
    assert [len(one.diagrams) for one in found.kernels] == [3, 0]
    assert explain_file(task(kernel(body=body))).kernels[0].diagrams == ()


def test_overloads_and_copies_have_fingerprints_of_their_own() -> None:
    found = explain_file(task(kernel(), kernel("l")))
    assert len({one.fingerprint for one in found.findings}) == len(found.findings)
    assert [one.fingerprint for one in found.findings] == [
        one.fingerprint for one in explain_file(task(kernel(), kernel("l"))).findings
    ]


def test_a_kernel_that_takes_too_long_to_count_has_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*given: object) -> None:
        raise OutOfTimeError

    monkeypatch.setattr(prediction, "predict_time", late)
    found = explain_file(task(times="launches"))
    assert found.kernels and not found.late
    assert all(one.predicted is not None and "time" in one.predicted.lacks[0] for one in found.kernels)
    monkeypatch.undo()
    assert all(one.predicted is None for one in explain_file(task()).kernels)
