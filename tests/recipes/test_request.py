"""The user's request for steps: recipes are exact, options go on from there, and guards must be tested."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recipes.cases import TWO, prepared
from warpsmith.base.errors import RefusedError, UsageError
from warpsmith.loops.prepared import RunChange
from warpsmith.offload.plan import OffloadOptions
from warpsmith.poly.facts import PolyOptions
from warpsmith.recipes.request import StepRequest
from warpsmith.tree.program import Assumption
from warpsmith.tree.walk import statements_of

RECIPE = """recipe = 1
assume = ["n >= 1", "m >= 1"]
[[step]]
name = "{name}"
loop = "f/i"
"""


def recipe(folder: Path, name: str = "interchange") -> str:
    path = folder / "r.toml"
    path.write_text(RECIPE.format(name=name))
    return str(path)


def test_nothing_asked_for_is_nothing() -> None:
    asked = StepRequest.of(None, ())
    assert asked == StepRequest(()) and not asked.exact
    options = PolyOptions(granted=(Assumption("k >= 1", "granted"),))
    assert asked.poly(options) == options and not asked.offload(OffloadOptions()).decided_only


def test_options_alone_leave_the_port_automatic() -> None:
    asked = StepRequest.of(None, ("interchange=f/i", "keep=f/i#2"))
    assert [listed.step.name for listed in asked.steps] == ["interchange", "keep"]
    assert not asked.exact and not asked.granted
    assert not StepRequest.of(None, ("offload=f/i",)).offload(OffloadOptions()).decided_only


@pytest.mark.parametrize(
    ("name", "decided"), [("interchange", False), ("offload", True), ("map", True), ("keep", False)]
)
def test_a_recipe_that_places_loops_places_all_of_them(name: str, decided: bool, tmp_path: Path) -> None:
    path = recipe(tmp_path, name)
    if name == "map":
        Path(path).write_text(RECIPE.format(name=name) + 'axes = ["x"]\n')
    asked = StepRequest.of(path, ("keep=f/i#2",))
    assert asked.exact and [listed.step.name for listed in asked.steps] == [name, "keep"]
    assert asked.offload(OffloadOptions()).decided_only == decided


def test_what_a_recipe_grants_is_granted_once(tmp_path: Path) -> None:
    asked = StepRequest.of(recipe(tmp_path), ())
    given = PolyOptions(granted=(Assumption("m >= 1", "granted"), Assumption("k >= 1", "granted")))
    assert [a.text for a in asked.poly(given).granted] == ["m >= 1", "k >= 1", "n >= 1"]
    assert all(a.kind == "granted" for a in asked.granted)


def test_what_makes_no_sense_is_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        StepRequest.of(None, ("interchange",))
    with pytest.raises(UsageError):
        StepRequest.of(str(tmp_path / "missing.toml"), ())


def test_steps_are_applied_in_order(tmp_path: Path) -> None:
    before = prepared(tmp_path, TWO)
    assert StepRequest(()).apply_to(before) is before
    made = StepRequest.of(None, ("interchange=f/i",)).apply_to(before)
    assert [applied.step.name for applied in made.applied] == ["interchange"]
    with pytest.raises(RefusedError):
        StepRequest.of(None, ("offload=f/i#2",)).apply_to(before)


def test_a_guard_that_nothing_tests_is_refused(tmp_path: Path) -> None:
    program = prepared(tmp_path, TWO).original.program
    _, function = next(program.functions())
    run = statements_of(function.body)[:1]
    guards = (Assumption("n <= m", "guarded"), Assumption("k >= 1", "granted"), Assumption("m >= 2", "guarded"))
    change = RunChange(function.symbol, function, function, run, run, guards)
    asked = StepRequest.of(None, ("interchange=f/i",))
    with pytest.raises(RefusedError, match="only if n <= m and m >= 2, and nothing tests") as told:
        asked.check_tested([RunChange(function.symbol, function, function, (), run, guards), change])
    (finding,) = told.value.findings
    assert finding.help == ("--assume 'n <= m' asserts it", "--assume 'm >= 2' asserts it")
    assert finding.span is not None and finding.span.line == 3
    asked.check_tested([])
    asked.check_tested([RunChange(function.symbol, function, function, (), run, guards)])
    StepRequest(()).check_tested([change])
