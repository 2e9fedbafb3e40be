"""`examples/recipes/`: the command line replays each on its program, ports that, and the referee passes it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from benchmarks.polybench.suite import FOLDER, odd

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

RECIPES = sorted((Path(__file__).parents[2] / "examples" / "recipes").glob("*.toml"))

# How many loops of the kernel function run on the device, in kernels or around them.
PORTED = {"adi": 5, "atax": 4, "bicg": 3, "correlation": 9, "doitgen": 5, "fdtd-apml": 4}
QUICK = ("doitgen",)


def test_the_six_preparations_are_there() -> None:
    assert [path.stem for path in RECIPES] == sorted(PORTED)


each_recipe = pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=() if path.stem in QUICK else pytest.mark.slow, id=path.stem) for path in RECIPES],
)


@pytest.mark.slow
@each_recipe
def test_a_recipe_is_replayed_ported_and_verified(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = FOLDER / f"{path.stem}.c"
    macros = [f"-D{name}={size}" for name, size in odd(program).items()]
    assert run_guarded(warpsmith, ["port", str(program), *macros, "--recipe", str(path), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["verify"]["status"] == "pass"
    assert sum(loop["ported"] for loop in report["loops"]) == PORTED[path.stem]


@each_recipe
def test_a_recipe_is_saved_as_it_was_replayed(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = FOLDER / f"{path.stem}.c"
    arguments = ["port", str(program), "--survey", "--recipe", str(path), "--save-recipe", "-"]
    assert run_guarded(warpsmith, arguments) == 0
    saved = capsys.readouterr().out
    assert _steps(saved) == _steps(path.read_text())


def _steps(text: str) -> list[str]:
    """Return the steps of a recipe, without comments and what stands before them."""
    bare = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    return [" ".join(part.split()) for part in bare.split("[[step]]")[1:]]
