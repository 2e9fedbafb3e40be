"""`examples/recipes/`: each is replayed on its program step by step, and what comes out does what the program does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchmarks.polybench.suite import FOLDER, odd

from warpsmith.flows.step_check import verify_steps
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.prepared import Prepared
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.recipes.reading import read_recipe
from warpsmith.recipes.replay import apply_steps
from warpsmith.run.verification import VerifyOptions
from warpsmith.tree.nodes import For
from warpsmith.tree.walk import walk

RECIPES = sorted((Path(__file__).parents[2] / "examples" / "recipes").glob("*.toml"))

# How many loops the kernel function has before and after.
LOOPS = {
    "adi": (7, 9),
    "atax": (4, 6),
    "bicg": (3, 6),
    "correlation": (9, 10),
    "doitgen": (5, 11),
    "fdtd-apml": (4, 8),
}


def test_the_six_preparations_are_there() -> None:
    assert [path.stem for path in RECIPES] == sorted(LOOPS)


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_is_replayed_and_verified(path: Path) -> None:
    program = FOLDER / f"{path.stem}.c"
    macros = tuple(f"-D{name}={size}" for name, size in odd(program).items())
    loaded = load_program([str(program)], FrontOptions(arguments=macros))
    facts = analyze(loaded.program, PolyOptions())
    recipe = read_recipe(str(path))
    prepared = apply_steps(Prepared(facts, facts), recipe.steps)
    assert len(prepared.applied) == len(re.findall(r"^\[\[step\]\]$", path.read_text(), re.MULTILINE))

    kernel = f"kernel_{path.stem.replace('-', '_')}"
    counted = []
    for version in (facts.program, prepared.program):
        (function,) = (f for _, f in version.functions() if f.symbol.name == kernel)
        counted.append(sum(isinstance(node, For) for node in walk(function)))
    assert tuple(counted) == LOOPS[path.stem]

    verification = verify_steps(prepared, VerifyOptions())
    assert verification.status == "pass", verification.reasons
