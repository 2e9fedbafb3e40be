"""Why a launch showed nothing: the loop that does not end and the number behind that, the access that goes astray."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.flows.witness.kernels import unit_of
from warpsmith.analysis.uniformity.facts import LaunchShape
from warpsmith.flows.witness import attempt
from warpsmith.flows.witness.attempt import FailedLaunch, Planned, try_launch
from warpsmith.flows.witness.made import make_arguments
from warpsmith.flows.witness.reason import reason_of

ENDLESS = """__global__ void k(int *a, int n, int m) {
    for (int i = 0; i < n;)
        for (int j = 0; j < 4; j++)
            a[threadIdx.x] = i;
    a[threadIdx.x] = m;
}"""
READS = """__global__ void k(int *a, int n) {
    while (a[threadIdx.x] != -7)
        a[threadIdx.x + 64] = n;
}"""
TWICE = """__global__ void k(int *a, int n, int m) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[threadIdx.x] += i;
}"""


def reason(folder: Path, text: str) -> str:
    """Return why the first launch of a kernel shows nothing."""
    unit = unit_of(folder, text)
    (kernel,) = (one for one in unit.module.functions if one.kernel)
    made = next(make_arguments(unit, kernel, 64, LaunchShape()))
    failed = try_launch(Planned(unit, kernel, (64, 1, 1), (1, 1, 1), 0, 32), made)
    assert isinstance(failed, FailedLaunch)
    return reason_of(kernel, failed, made.numbers, made.arrays)


@pytest.mark.parametrize("refused", ["", "the interpreter is to take it"])
def test_a_loop_that_does_not_end(refused: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt, "STEPS", 50_000)
    monkeypatch.setattr(attempt, "INTERPRETED", 20_000)
    if refused:
        monkeypatch.setattr(attempt, "why_refused", lambda *given: refused)
    said = reason(tmp_path, ENDLESS)
    assert "at lines 2 and 3 do not end" in said and said.endswith("where n is 128"), said
    assert reason(tmp_path, READS).endswith("where memory holds random numbers")
    both = reason(tmp_path, TWICE)
    assert both.endswith("where n is 128, m is 128"), both


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("a[(int)threadIdx.x - 3] = n;", "line 2 goes before the start of a"),
        ("for (int i = threadIdx.x; i < 9000000; i += 1024) a[i] = n;", "line 2 goes far behind the end of a"),
        ("__shared__ int s[4]; s[threadIdx.x] = n; a[0] = s[0];", "line 2 goes where there is no memory (4 bytes at"),
        ("*(int *)0 = n;", "line 2 goes where there is no memory"),
    ],
)
def test_an_access_that_goes_astray(body: str, said: str, tmp_path: Path) -> None:
    assert reason(tmp_path, f"__global__ void k(int *a, int n) {{\n    {body}\n}}").startswith(said)
