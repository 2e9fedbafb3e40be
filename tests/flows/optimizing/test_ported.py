"""The port of the best steps: it is what their recipe makes, and what the referee rejects is not ported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.flows.optimizing.begun import OPTIONS, ROWS
from warpsmith.base.findings import Finding
from warpsmith.flows import port as flow
from warpsmith.flows.optimizing.optimize import OptimizeOptions
from warpsmith.flows.optimizing.ported import port_optimized
from warpsmith.flows.optimizing.shared import SearchEffort
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.flows.porting import prepare
from warpsmith.flows.porting.predicted import predict_port
from warpsmith.recipes.placement import recorded_steps
from warpsmith.recipes.writing import write_recipe
from warpsmith.run.verification import Status, Verification

QUICK = OptimizeOptions(budget=600, effort=SearchEffort(depth=1, tiles=0))


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep what is found for all tests; yield a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WARPSMITH_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield tmp_path_factory.mktemp("rows")


def asked(folder: Path, **more: object) -> PortResult:
    (folder / "a.c").write_text(ROWS)
    options = replace(PortOptions(offload=OPTIONS, verify=False), **more)
    return port_optimized([str(folder / "a.c")], options, QUICK)


def default(folder: Path, **more: object) -> PortResult:
    options = replace(PortOptions(offload=OPTIONS, verify=False), **more)
    return port([str(folder / "a.c")], options)


@pytest.fixture(scope="module")
def best(folder: Path) -> PortResult:
    return asked(folder)


def test_the_port_is_that_of_the_best_recipe(best: PortResult) -> None:
    found = best.search
    assert found is not None and found.steps and found.best < found.default
    predicted = predict_port(best.prepared, best.ported, OPTIONS)
    assert predicted is not None and predicted.copies is not None and predicted.copies.seconds is not None
    (kernel,) = predicted.kernels
    assert kernel.seconds is not None and found.best == pytest.approx(kernel.seconds + predicted.copies.seconds)
    (gain,) = found.gains
    assert gain.about == "rows/i" and gain.after == pytest.approx(kernel.seconds) and gain.before is not None
    assert gain.before > 1.1 * kernel.seconds


def test_its_recipe_makes_the_same_files(best: PortResult, folder: Path) -> None:
    steps = recorded_steps([applied.step for applied in best.prepared.applied], best.plan)
    recipe = folder / "best.toml"
    recipe.write_text(write_recipe(steps, (), ("a.c",)))
    replayed = default(folder, recipe=str(recipe))
    assert replayed.files == best.files != default(folder).files


@pytest.mark.parametrize("status", ["fail", "undecided"])
def test_a_best_that_the_referee_rejects_is_not_ported(
    status: Status, best: PortResult, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judge(prepared: object, written: object, options: PortOptions) -> Verification:
        reasons = (Finding("VER004", "error", "C differs at 7"),)
        return Verification(status=status, reasons=reasons) if options.chosen else Verification(status="pass")

    monkeypatch.setattr(flow, "_referee", judge)
    made = asked(folder, verify=True)
    assert made.search is not None and made.verification is not None
    if status == "fail":
        assert made.search.rejected == "C differs at 7" and not made.search.steps
        assert made.verification.status == "pass" and made.files != best.files
    else:
        assert not made.search.rejected and made.search.steps and made.files == best.files


def test_steps_of_the_user_stay_where_they_are(folder: Path) -> None:
    made = asked(folder, transforms=("map=rows/i,axes=x,block=512",))
    assert made.search is not None and not made.search.steps and made.plan is not None
    assert made.plan.fragments[0].kernel.block == (512, 1, 1)


def test_a_program_without_kernels_is_as_port_leaves_it(tmp_path: Path) -> None:
    path = tmp_path / "s.c"
    path.write_text("int f(int n) { while (n & 3) n /= 3; return n; }\n")
    for verify in (True, False):
        made = port_optimized([str(path)], PortOptions(verify=verify), QUICK)
        assert made.search is None and made.files == () and made.plan is not None and not made.plan.fragments


def test_a_best_whose_loop_cannot_be_written_is_not_ported(
    best: PortResult, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = prepare.plan_port

    def without(prepared: object, selected: object, options: object, **more: object) -> object:
        found, written = known(prepared, selected, options, **more)  # type: ignore[arg-type]
        left = getattr(options, "decided_only", False)
        plan = replace(written.port.plan, fragments=()) if left else written.port.plan
        return found, replace(written, port=replace(written.port, plan=plan))

    monkeypatch.setattr(flow, "plan_port", without)
    made = asked(folder)
    assert made.search is not None and made.search.rejected == "rows/i cannot be written as a kernel"
    assert best.search is not None and made.search.best == best.search.best and made.files == default(folder).files
