"""Figures that runs count: where the text leaves them open, and against it where it does not."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.analysis.derived import contradictions
from tests.app.cli.runs import typed
from tests.flows.witness.kernels import PAIRS, facts_of, text_of, unit_of
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.likely_block import examine_likely
from warpsmith.analysis.rules.figures import OpenFigures
from warpsmith.analysis.rules.judge import judge
from warpsmith.analysis.uniformity.facts import Count, KernelFacts, LaunchShape
from warpsmith.base.findings import Finding
from warpsmith.flows.witness.attempt import FIGURES, Attempt, try_launch
from warpsmith.flows.witness.budget import RunBudget, with_figures
from warpsmith.flows.witness.figures import count_figures, sums_of
from warpsmith.flows.witness.made import make_arguments
from warpsmith.flows.witness.plan import launch_plan, why_not
from warpsmith.kernels.shape import Launching, shape_of
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.machine.devices import device
from warpsmith.settings.read import Wanted, read_settings

SECONDS = 60
NOTHING_SAID = Launching()
ROOT = Path(__file__).parents[3]
CORPUS = sorted(
    path for folder in ("examples", "tests/analysis", "tests/cases") for path in (ROOT / folder).rglob("*.cu")
)

OPEN = """__global__ void k(float *out, const float *in, int n) {
    int j = threadIdx.x;
    for (int i = 0; i < threadIdx.x % 4; i++) j = j * 3 + 8;
    out[j] = in[INDEX];
}"""


def counted(folder: Path, text: str, launching: Launching | None = None) -> KernelFacts:
    """Return the facts of the one kernel of a text, with what runs count."""
    unit = unit_of(folder, text)
    facts = facts_of(unit, launching or Launching((64, 1, 1), (1, 1, 1)))
    return with_figures(unit, KernelFile(str(folder / "k.cu")), facts, RunBudget(SECONDS))


def test_what_the_text_leaves_open_is_counted(tmp_path: Path) -> None:
    facts = counted(tmp_path, OPEN.replace("INDEX", "threadIdx.x"))
    assert [access.sectors is None for access in facts.accesses] == [False, True], "loads are told by the text"
    (seen,) = facts.simulated.accesses.values()
    assert seen.certainty == "witnessed" and not seen.assumptions
    # by hand: of 4 lanes side by side one is at t, one at 3t+8, 9t+32, 27t+104
    places = [[t, 3 * t + 8, 9 * t + 32, 27 * t + 104][t % 4] for t in range(64)]
    sectors = sum(len({4 * place // 32 for place in places[w : w + 32]}) for w in (0, 32))
    (sums,) = seen.runs
    assert (sums.requests, sums.lanes, sums.sectors, sums.ideal) == (2, 64, sectors, 8)
    (found,) = (one for one in judge(facts) if one.rule == "MEM001")
    assert f"{sectors / 2:.1f} sectors per warp request on average (simulated), 4.0 would do" in found.message
    assert found.estimate is not None and found.estimate.basis.startswith("simulated")


def test_what_was_made_up_is_named(tmp_path: Path) -> None:
    facts = counted(tmp_path, OPEN.replace("out[j]", "out[j % n]").replace("INDEX", "threadIdx.x"))
    (seen,) = facts.simulated.accesses.values()
    assert (seen.certainty, seen.assumptions, len(seen.runs)) == ("conditional", ("n is 128",), 2)
    given = counted(
        tmp_path, OPEN.replace("out[j]", "out[j % n]").replace("INDEX", "threadIdx.x"),
        Launching((64, 1, 1), (1, 1, 1), arguments={"n": 100}),
    )  # fmt: skip
    (seen,) = given.simulated.accesses.values()
    assert (seen.certainty, seen.assumptions) == ("witnessed", ())


def test_random_memory_decides_no_figure(tmp_path: Path) -> None:
    by_memory = "__global__ void k(float *out, const int *in) { out[in[threadIdx.x] * 32] = 1; }"
    assert not counted(tmp_path, by_memory).simulated.accesses
    by_branch = """__global__ void k(float *out, const int *in) {
    if (in[threadIdx.x] > 5)
        out[threadIdx.x] = sqrtf(1.f * threadIdx.x) + expf(3.f);
}"""
    assert not counted(tmp_path, by_branch).simulated.branches
    guarded = OPEN.replace("out[j] = in[INDEX];", "if (in[threadIdx.x] > 0.5f) out[j] = 1;")
    (seen,) = counted(tmp_path, guarded).simulated.accesses.values()
    assert seen.assumptions == ("memory holds random numbers",) and seen.certainty == "conditional"


def test_banks_are_counted(tmp_path: Path) -> None:
    text = """__global__ void k(float *out) {
    __shared__ float s[2048];
    int j = threadIdx.x;
    for (int i = 0; i < 5 + threadIdx.x % 2; i++) j = j * 2 % 2048;
    s[j] = 1;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}"""
    facts = counted(tmp_path, text)
    (seen,) = (one for one in facts.simulated.accesses.values() if one.runs[0].conflicts)
    # by hand: even threads at 32 t, in bank 0, odd ones at 64 t modulo 2048, in bank 0
    places = [t * (32 if t % 2 == 0 else 64) % 2048 for t in range(64)]
    words = [len(set(places[w : w + 32])) for w in (0, 32)]
    assert seen.runs[0].ways == sum(words) / 2
    (found,) = (one for one in judge(facts) if one.rule == "MEM010")
    assert f"{sum(words) / 2:.1f}-way on average (simulated)" in found.message and found.certainty == "witnessed"


def test_branches_are_counted(tmp_path: Path) -> None:
    text = """__global__ void k(float *out, int n) {
    for (int i = 0; i < (int)sqrtf(1.f * threadIdx.x); i++) out[threadIdx.x] += sinf(i);
}"""
    facts = counted(tmp_path, text)
    (found,) = (one for one in judge(facts) if one.rule == "DIV003")
    # by hand: sqrt of 0 to 31 is up to 5, of 32 to 63 up to 7
    visits, parted, lanes = next(iter(facts.simulated.branches.values())).runs[0]
    assert (visits, lanes) == (6 + 8, sum(1 + int(t**0.5) for t in range(64)))
    assert f"and part {parted} times" in found.message and "simulated" in found.message
    calm = counted(tmp_path, text.replace("1.f * threadIdx.x", "1.f * (threadIdx.x / 32)"))
    assert [one.certainty for one in judge(calm) if one.rule == "DIV003"] in ([], ["heuristic"])


def test_the_command_counts_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = counted(tmp_path, OPEN.replace("INDEX", "threadIdx.x"))
    (seen,) = facts.simulated.accesses.values()
    command, *words = shlex.split(seen.replay)
    code, out, _ = typed(capsys, *words, "--json")
    rows = re.findall(r'"sectors": (\d+)', out)
    assert (command, code) == ("warpsmith", 0) and str(seen.runs[0].sectors) in rows


# --- the derived is the simulated


def _wrong(
    unit: KernelUnit, path: str, met: Counter[str], break_: int = 0, launching: Launching = NOTHING_SAID
) -> Iterator[str]:
    """Yield what is derived of the kernels of a file and not counted; `break_`: added to each derived figure."""
    settings = read_settings(Wanted())
    for kernel in (one for one in unit.module.functions if one.kernel and one.blocks):
        shape = shape_of(kernel, kernel.name, launching, settings, unit.launches.get(kernel.name))

        def of(shape: LaunchShape, name: str = kernel.name) -> KernelFacts:
            return examine(unit.module, name, shape, device("sm_80"))

        facts = examine_likely(kernel, shape, of)
        plan = launch_plan(unit, KernelFile(path), facts, FIGURES)
        # not all blocks are run of a grid that is given: figures that hang on its size are those of the one that is
        facts = of(replace(facts.shape, grid=plan.grid))
        sizes = [] if why_not(unit, facts) else list(make_arguments(unit, kernel, plan.threads, shape))
        if break_:
            facts = _moved(facts, break_)
        for made in sizes[:2]:
            tried = try_launch(plan.planned, made)
            if isinstance(tried, Attempt) and tried.counts is not None:
                met["launches"] += 1
                numbers = {name: int(text) for name, text in made.numbers.items() if text.lstrip("-").isdigit()}
                found = contradictions(facts, sums_of(tried.counts), tried.counts.blocks, numbers, met)
                yield from (f"{kernel.name} with {made.numbers}: {text}" for text in found)


def _moved(facts: KernelFacts, by: int) -> KernelFacts:
    """Return facts with figures that are wrong by a number."""

    def move(count: Count | None) -> Count | None:
        return None if count is None else Count(count.least + by, count.most + by)

    moved = tuple(
        replace(a, sectors=move(a.sectors), sectors_aligned=move(a.sectors_aligned),
                sectors_whole=move(a.sectors_whole), bank_ways=move(a.bank_ways))
        for a in facts.accesses
    )  # fmt: skip
    return replace(facts, accesses=moved)


@pytest.mark.slow
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_what_is_derived_is_what_is_counted(path: Path) -> None:
    unit = read_unit(KernelFile(str(path)))
    if not isinstance(unit, Finding):
        assert not (bad := list(_wrong(unit, path.name, Counter()))), bad[:3]


@pytest.mark.parametrize("name", PAIRS)
def test_what_is_derived_of_textbook_kernels_is_what_is_counted(name: str, tmp_path: Path) -> None:
    met: Counter[str] = Counter()
    unit, launching = unit_of(tmp_path, text_of(name, races=False)), Launching((64, 1, 1))
    assert not list(_wrong(unit, "k.cu", met, launching=launching)) and met["launches"] and met["sectors"]
    assert list(_wrong(unit, "k.cu", Counter(), -1, launching)), "figures that are too low are seen"
    if met["exact"]:
        assert list(_wrong(unit, "k.cu", Counter(), 1, launching)), "and those that are too high"


def test_nothing_is_believed_instead_of_what_is_derived(tmp_path: Path) -> None:
    facts = counted(tmp_path, "__global__ void k(float *a) { a[threadIdx.x] = a[2 * threadIdx.x + 1]; }")
    assert not facts.simulated.accesses, "the text tells all"
    # were it counted all the same, and differently, no finding would rest on it
    store = facts.accesses[-1]
    lie = count_figures(
        unit_of(tmp_path, OPEN.replace("INDEX", "threadIdx.x")), KernelFile("k.cu"),
        facts_of(unit_of(tmp_path, OPEN.replace("INDEX", "threadIdx.x")), Launching((64, 1, 1), (1, 1, 1))),
        OpenFigures(), SECONDS,
    )  # fmt: skip
    assert not lie.accesses, "nothing was wanted"
    scattered = next(iter(counted(tmp_path, OPEN.replace("INDEX", "threadIdx.x")).simulated.accesses.values()))
    told = replace(facts, simulated=replace(facts.simulated, accesses={store.instruction: scattered}))
    assert [one for one in judge(told) if "simulated" in one.message] == []
