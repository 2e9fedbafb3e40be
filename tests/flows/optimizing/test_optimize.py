"""`port --optimize` from outside: the best recipe, what is said of it, and what another run makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.flows.optimizing.begun import ALL, OPTIONS, ROWS
from tests.flows.porting.test_gain import ported
from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.flows.optimizing import optimize as flow
from warpsmith.flows.optimizing.budget import Budget
from warpsmith.flows.optimizing.optimize import OptimizedPort, OptimizeOptions, optimize
from warpsmith.flows.optimizing.shared import SearchEffort
from warpsmith.flows.optimizing.structures import Structure
from warpsmith.flows.port import PortResult
from warpsmith.loops.step import step_text
from warpsmith.offload.plan import OffloadOptions

QUICK = OptimizeOptions(budget=600, keep=False, effort=SearchEffort(depth=1, tiles=0))
# one is the size of the launch, the other that of a loop in each thread
SIZED = """
void sweep(int n, int m, double *restrict x, const double *restrict y) {
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++)
            x[i] += y[k];
}
"""


def optimized(made: PortResult, options: OffloadOptions = OPTIONS, wanted: OptimizeOptions = QUICK) -> OptimizedPort:
    assert made.ported is not None
    return optimize(made.prepared, made.ported, None, options, wanted)


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep what is found for all tests; yield a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WARPSMITH_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield tmp_path_factory.mktemp("rows")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> OptimizedPort:
    return optimized(ported(ROWS, tmp_path_factory.mktemp("whole"), ALL))


def test_equal_input_has_an_equal_answer(whole: OptimizedPort, tmp_path: Path) -> None:
    again = optimized(ported(ROWS, tmp_path, ALL))
    assert whole.search == again.search and whole.search.steps and whole.search.best < whole.search.default
    assert tuple(step_text(step) for step in again.steps) == whole.search.steps


def test_a_search_that_the_budget_ends_goes_on_in_the_next_run(
    whole: OptimizedPort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPSMITH_CACHE_DIR", str(tmp_path / "cache"))
    made = ported(ROWS, tmp_path, ALL)
    runs = [optimized(made, wanted=replace(QUICK, keep=True, budget=0.0))]
    assert runs[0].search.ended and not runs[0].steps and not runs[0].search.candidates
    # a clock that goes on by one whenever it is asked: so many candidates a run
    monkeypatch.setattr(flow, "Budget", lambda seconds: Budget(seconds, count().__next__))
    while runs[-1].search.ended and len(runs) < 30:
        runs.append(optimized(made, wanted=replace(QUICK, keep=True, budget=3.0 * len(runs))))
    tried = [len(run.search.candidates) for run in runs]
    assert len(runs) > 2 and tried == sorted(tried)
    # what one run has found is known to the next
    assert all(after.search.earlier >= before for before, after in zip(tried, runs[1:], strict=False))
    assert runs[-1].search.steps == whole.search.steps and runs[-1].search.candidates == whole.search.candidates
    again = optimized(made, wanted=replace(QUICK, keep=True))
    assert again.search.earlier == len(again.search.candidates) == len(whole.search.candidates)


def test_sizes_that_nothing_tells_are_assumed_and_named(tmp_path: Path) -> None:
    made = ported(SIZED, tmp_path, ALL)
    found = optimized(made)
    assert dict(found.search.assumed) == {"n": 4096, "m": 4096} and found.search.default > 0
    given = OffloadOptions(gain=ALL, sizes={"n": 300})
    known = optimized(ported(SIZED, tmp_path, ALL, sizes={"n": 300}), given)
    assert dict(known.search.assumed) == {"m": 4096} and known.search.default < found.search.default


def test_a_kernel_without_a_time_stays_and_says_why(tmp_path: Path) -> None:
    text = "void f(const int *restrict m, double *restrict x) { for (int i = 0; i < 4000; i++) {0} }".replace(
        "{0}", "for (int j = 0; j < m[i]; j++) x[i] += j;"
    )
    found = optimized(ported(text, tmp_path, ALL))
    assert not found.steps
    ((region, why),) = found.search.lacking
    assert region == "f/i" and why.startswith("it lacks what is loaded in `for (int j = 0;")


def test_a_port_that_its_own_steps_do_not_make_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = ported(ROWS, tmp_path, ALL)

    def refuse(*_: object) -> Structure:
        raise RefusedError(Finding("STP001", "error", "it is right only if its guard holds"))

    monkeypatch.setattr(flow, "start", refuse)
    found = optimized(made)
    assert not found.steps and found.search.lacking == (("the port", "it is right only if its guard holds"),)


def test_a_refused_step_says_which_and_why(tmp_path: Path) -> None:
    text = ROWS.replace("void rows", "static double s[9];\nvoid chain(void) {\n    for (int i = 0; i < 8; i++)\n"
                           "        s[i] = 1.0;\n    for (int i = 0; i < 8; i++)\n        s[i] = s[7 - i] + s[i];\n}\n"
                           "void rows")  # fmt: skip
    found = optimized(ported(text, tmp_path, ALL))
    (fused,) = [one for one in found.search.candidates if one.steps == ("fuse=chain/i",)]
    assert fused.refused and fused.seconds is None and "dependence" in fused.why
    assert not any("fuse" in step_text(step) for step in found.steps)
