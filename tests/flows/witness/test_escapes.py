"""Accesses that runs see outside of arrays of known size: how certain that is, and of what nothing is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.flows.witness.kernels import facts_of, unit_of
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.rules.judge import judge
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.analysis.uniformity.simulated import Escaped
from warpsmith.flows.witness import escapes
from warpsmith.flows.witness.budget import RunBudget, with_figures, with_witnesses
from warpsmith.flows.witness.escapes import keep_certain
from warpsmith.kernels.shape import Launching, shape_of
from warpsmith.kernels.units import KernelFile
from warpsmith.machine.devices import device
from warpsmith.settings.read import Wanted, read_settings

TEXT = """__global__ void k(const int *in, float *out, int n, float x) {
    __shared__ float s[64];
    int t = threadIdx.x, j = t;
    for (int i = 0; i < (int)sqrtf(1.f * t); i++) j = j + 3;
    BODY
    __syncthreads();
    out[t] = s[63 - t];
}"""
"""j goes up to 63 + 3 * 7 = 84: the first j that is 64 or more is thread 46's, 46 + 3 * 6."""


def run(folder: Path, body: str, runs: float = 60) -> tuple[KernelFacts, RunBudget]:
    unit = unit_of(folder, TEXT.replace("BODY", body))
    facts, budget = facts_of(unit, Launching((64, 1, 1), (1, 1, 1))), RunBudget(runs)
    file = KernelFile(str(folder / "k.cu"))
    return with_figures(unit, file, with_witnesses(unit, file, facts, budget), budget), budget


@pytest.mark.parametrize(
    ("body", "certainty", "assumptions"),
    [
        ("s[j] = 1;", "witnessed", ()),
        ("if (n > 3) s[j] = 1;", "heuristic", ("n is 128",)),
        ("if (in[t] < 99) s[j] = 1;", "conditional", ("memory holds random numbers",)),
        ("s[j % n] = 1;", "heuristic", ("n is 128",)),
        ("s[j + in[t]] = 1;", "heuristic", ("memory holds random numbers",)),
    ],
)
def test_how_certain_it_is(body: str, certainty: str, assumptions: tuple[str, ...], tmp_path: Path) -> None:
    facts, budget = run(tmp_path, body)
    (seen,) = facts.simulated.escapes
    assert (seen.certainty, seen.assumptions, seen.variable, seen.size) == (certainty, assumptions, "s", 256)
    (found,) = (one for one in judge(facts) if one.rule == "MEM020")
    assert found.certainty == certainty and found.at_most == ("error" if certainty == "witnessed" else "warning")
    assert found.replay.startswith("warpsmith simulate") and f"to see it: {found.replay}" in found.help
    assert certainty == "heuristic" or not budget.without, "a finding is no note as well"


def test_who_it_is(tmp_path: Path) -> None:
    (found,) = (one for one in judge(run(tmp_path, "s[j] = 1;")[0]) if one.rule == "MEM020")
    (row,) = found.evidence[0].rows
    thread, byte = int(row[0].strip("()").split(",")[0]), int(row[2])
    assert byte == 4 * (thread + 3 * int(thread**0.5)) >= 256, "by hand"
    assert found.message.startswith("store to s outside of its 256 bytes: thread (")


@pytest.mark.parametrize("body", ["s[j % 64] = 1;", "out[j] = 1; s[t] = 2;", "if (n < 0) s[j] = 1;", "s[t] = in[j];"])
def test_who_stays_inside(body: str, tmp_path: Path) -> None:
    facts, _ = run(tmp_path, body)
    assert not facts.simulated.escapes and not [one for one in judge(facts) if one.rule == "MEM020"]


def test_a_local_array_and_one_of_a_size_that_nobody_gives(tmp_path: Path) -> None:
    local, _ = run(tmp_path, "float r[70]; for (int i = 0; i < 70; i++) r[i] = i * x; s[t] = r[j];")
    (seen,) = local.simulated.escapes
    assert seen.size == 280 and seen.offset >= 280
    made, _ = run(tmp_path, "extern __shared__ float d[]; d[j + 100] = 1; s[t] = d[j + 100];")
    assert not made.simulated.escapes, "as much as it takes is given"


def test_a_slice_that_forgets_memory_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(escapes, "_is_far_fetched", lambda found, made: False)
    (seen,) = run(tmp_path, "s[j + in[t]] = 1;")[0].simulated.escapes
    assert seen.certainty == "conditional"


def test_the_most_certain_is_kept(tmp_path: Path) -> None:
    (sure,) = run(tmp_path, "s[j] = 1;")[0].simulated.escapes
    doubtful = Escaped(sure.instruction, "s", 256, 300, (1, 0, 0), (0, 0, 0), "heuristic", ("n is 8",), "")
    assert keep_certain([doubtful, sure]) == keep_certain([sure, doubtful]) == (sure,)


def test_a_block_that_nobody_gives_is_no_reason(tmp_path: Path) -> None:
    text = TEXT.replace("BODY", "s[j] = 1;")
    unit = unit_of(tmp_path, text)
    settings = read_settings(Wanted({}, None, files=False, environment=False))
    (kernel,) = (one for one in unit.module.functions if one.kernel)
    guessed = examine(unit.module, "k", shape_of(kernel, "k", Launching(), settings, None), device("sm_80"))
    assert guessed.block_assumed
    budget = RunBudget(60)
    seen = with_figures(unit, KernelFile(str(tmp_path / "k.cu")), guessed, budget)
    assert {one.certainty for one in seen.simulated.escapes} == {"heuristic"}
