"""Predicted times of ports: which launches there are, with which sizes, and what is not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.flows.porting.test_gain import ported
from warpsmith.analysis.resources.resources import CompilerFigures
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.flows.porting import predicted
from warpsmith.flows.porting.predicted import predict_port
from warpsmith.front.cuda.nvrtc import PtxText
from warpsmith.offload.plan import GainOptions, OffloadOptions
from warpsmith.report.model import KernelPrediction, PortPrediction

CHAIN = """
#include <stdio.h>
#define N 3000
static double u[N], v[N];
static void step(int n, double *restrict to, const double *restrict from) {
    for (int i = 0; i < n; i++) to[i] += from[i];
}
int main(void) {
    int n = N;
    for (int t = 0; t < 50; t++) { step(n, u, v); step(n - 1, v, u); }
    printf("%g", u[3]);
    return 0;
}
"""
LU = """
void lu(int n, double *A) {
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++) A[i * n + k] /= A[k * n + k];
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++) A[i * n + j] -= A[i * n + k] * A[k * n + j];
    }
}
"""
ALL = GainOptions(everything=True)


def predict(text: str, folder: Path, sizes: Mapping[str, int] | None = None, *, ptxas: bool = False) -> PortPrediction:
    options = OffloadOptions(gain=ALL, sizes=sizes)
    made = ported(text, folder, ALL, sizes=sizes)
    found = predict_port(made.prepared, made.ported, options, ptxas=ptxas)
    assert found is not None
    return found


def kernel(text: str, folder: Path, sizes: Mapping[str, int] | None = None) -> KernelPrediction:
    (found,) = predict(text, folder, sizes).kernels
    return found


def test_constants_of_the_text_are_sizes_of_every_call(tmp_path: Path) -> None:
    found = predict(CHAIN, tmp_path)
    (one,) = found.kernels
    assert (one.launches, one.guessed, one.sizes, one.unknown) == (100, False, (("n", 3000),), ())
    assert one.time is not None and one.time.grid == (12, 1, 1) and one.time.exact
    assert one.time.prediction is not None and one.seconds is not None
    assert one.seconds == pytest.approx(100 * one.time.prediction.seconds, rel=0.01)
    assert found.copies is not None and found.copies.bytes == pytest.approx(4 * 8 * 3000, rel=0.3)
    assert found.device.name == "h100" and one.source == "estimate" and one.registers >= 8


def test_three_places_of_a_loop_stand_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = predict(LU, tmp_path, {"n": 3000})
    monkeypatch.setattr(predicted, "_STRATA", tuple((at + 0.5) / 60 for at in range(60)))
    monkeypatch.setattr(predicted, "_MOST_LAUNCHES", 60)
    many = predict(LU, tmp_path, {"n": 3000})
    for one, other in zip(few.kernels, many.kernels, strict=True):
        assert one.launches == 3000 and one.seconds == pytest.approx(other.seconds, rel=0.1)
    largest = few.kernels[1]
    assert largest.sizes == (("k", 500), ("n", 3000))
    assert largest.time is not None and largest.time.prediction is not None
    assert largest.time.prediction.binding == "memory"
    # each of (n - k)^2 numbers is read and written
    moved = largest.time.prediction.traffic.memory_bytes
    assert moved == pytest.approx(2 * 8 * 2499**2, rel=0.05)


def test_sizes_that_nothing_tells_are_named(tmp_path: Path) -> None:
    for one in predict(LU, tmp_path).kernels:
        assert (one.unknown, one.seconds, one.time) == (("n",), None, None)


def test_what_cannot_be_counted_is_lacking(tmp_path: Path) -> None:
    text = "void f(int n, const int *restrict m, double *restrict x) {{ for (int i = 0; i < {0}; i++) {1} }}"
    loaded = kernel(text.format(4000, "for (int j = 0; j < m[i]; j++) x[i] += j;"), tmp_path)
    assert loaded.seconds is None
    assert loaded.lacks[0] == "what is loaded in `for (int j = 0; j < m_gpu[i]; j++) x_value + ...`"
    given = kernel(text.format(4000, "for (int j = 0; j < n; j++) x[i] += j;"), tmp_path)
    assert given.seconds is None and given.lacks[0].startswith("the argument n")
    scan = kernel("void f(double *x) { for (int i = 1; i < 9000; i++) x[i] += x[i - 1]; }", tmp_path)
    assert scan.lacks == ("the three kernels of its running values",)


def test_what_a_branch_loads_makes_the_time_one_at_most(tmp_path: Path) -> None:
    text = (
        "void f(const double *restrict m, double *restrict x) { for (int i = 0; i < 4000; i++) if (m[i] > 1) x[i]++; }"
    )
    one = kernel(text, tmp_path)
    assert one.seconds is not None and one.time is not None
    assert one.time.forks == ("what is loaded in `if (m_gpu[i] > 1) x_gpu[i]++;`",)


def test_a_loop_that_does_not_run_launches_nothing(tmp_path: Path) -> None:
    one = kernel("void f(int n, double *x) { for (int i = 5; i < n; i++) x[i] = i; }", tmp_path, {"n": 5})
    assert one.lacks == ("a launch with threads",)


def test_a_guess_is_not_a_number_of_launches(tmp_path: Path) -> None:
    text = "void f(int t, int n, double *x) {{ {} for (int i = 0; i < n; i++) x[i] += x[i] * 0.5 + t; }}"
    for around, guessed in (("while (t-- > 3)", True), ("", False), ("for (int k = 0; k < n % t; k++)", True)):
        assert kernel(text.format(around), tmp_path, {"n": 70_000}).guessed == guessed, around


def test_a_reduction_is_finished_by_one_more_launch(tmp_path: Path) -> None:
    one = kernel("double f(const double *x) { double s = 0; for (int i = 0; i < 500000; i++) s += x[i]; return s; }",
                 tmp_path)  # fmt: skip
    assert one.launches == 2 and one.time is not None and one.time.prediction is not None
    assert one.time.grid == (1024, 1, 1)
    assert one.seconds == pytest.approx(one.time.prediction.seconds + 4e-6)


def test_ptxas_is_asked_for_registers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def compiled(file: SourceFile, arguments: object, names: Sequence[str], arch: str) -> PtxText:
        asked.append((tuple(names), arch))
        return PtxText("ptx", {"ws_step_k1_kernel": "_Z4step"}, ())

    monkeypatch.setattr(predicted, "compile_to_ptx", compiled)
    monkeypatch.setattr(predicted, "assemble_ptx", lambda text, arch: {"_Z4step": CompilerFigures(77, 0)})
    (one,) = predict(CHAIN, tmp_path, ptxas=True).kernels
    assert (one.registers, one.source) == (77, "ptxas") and asked == [(("ws_step_k1_kernel",), "sm_90")]
    assert one.time is not None and one.time.occupancy is not None and one.time.occupancy.warps < 64
    missing = Finding("INP001", "warning", "--ptxas: ptxas is not installed: registers are estimates")
    monkeypatch.setattr(predicted, "assemble_ptx", lambda text, arch: missing)
    found = predict(CHAIN, tmp_path, ptxas=True)
    assert found.problems == (missing,) and found.kernels[0].source == "estimate"
    monkeypatch.setattr(predicted, "compile_to_ptx", lambda *given: Finding("INP004", "note", "NVRTC is missing"))
    (problem,) = predict(CHAIN, tmp_path, ptxas=True).problems
    assert problem.message == "--ptxas: NVRTC is missing"


def test_indices_have_the_type_that_the_launcher_chooses(tmp_path: Path) -> None:
    text = """void f(int n, int m, double a[n][m], const double *restrict b) {
    for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) a[i][k] = 2 * b[k]; }"""
    for n, wide in ((50_000, False), (800_000, True)):
        one = kernel(text, tmp_path, {"n": n, "m": 4000})
        assert one.time is not None and one.time.work is not None and one.seconds is not None
        threads = n * 4000 / 32
        # a product of 64 bits is four instructions, one of 32 is one
        assert (one.time.work.instructions.multiply > 6 * threads) == wide


def test_a_port_without_kernels_has_no_times(tmp_path: Path) -> None:
    none = ported("int f(int n) { while (n & 3) n /= 3; return n; }", tmp_path, ALL)
    assert predict_port(none.prepared, none.ported, OffloadOptions(gain=ALL)) is None


def test_time_that_is_up_is_lacking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object, **__: object) -> None:
        # one prediction may be over before the timer ticks
        while True:
            pass

    monkeypatch.setattr(predicted, "_SECONDS", 0.01)
    monkeypatch.setattr(predicted, "predict_launch", endless)
    assert [one.lacks for one in predict(CHAIN, tmp_path).kernels] == [("time",)]
