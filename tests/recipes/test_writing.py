"""Written recipes are read back as they were, and are the same bytes in every process."""

from __future__ import annotations

import os
import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from warpsmith.base.source import SourceFile
from warpsmith.catalogue import STEPS, Argument, Step, StepParameter, make, parameters
from warpsmith.recipes.reading import recipe_of
from warpsmith.recipes.writing import write_recipe

# what stands in a file: one character a byte
_TEXTS = st.text(max_size=100).map(lambda text: text.encode("utf-8", "replace").decode("latin-1"))
_NUMBERS = st.integers(-(2**63) + 1, 2**63 - 1)


def arguments(parameter: StepParameter) -> st.SearchStrategy[Argument]:
    kinds: dict[str, st.SearchStrategy[Argument]] = {
        "text": st.sampled_from(parameter.choices) if parameter.choices else _TEXTS,
        "number": _NUMBERS,
        "flag": st.booleans(),
        "texts": st.lists(_TEXTS, max_size=50).map(tuple),
        "numbers": st.lists(_NUMBERS, max_size=50).map(tuple),
    }
    return kinds[parameter.kind]


@st.composite
def steps(draw: st.DrawFn) -> Step:
    cls = draw(st.sampled_from(STEPS))
    given_ = {p.name: draw(arguments(p)) for p in parameters(cls) if p.default is None or draw(st.booleans())}
    return make(cls.name, given_)


@given(st.lists(steps(), max_size=4), st.lists(_TEXTS, max_size=4), st.lists(st.text(max_size=80), max_size=4))
@settings(deadline=None)
def test_a_written_recipe_is_read_back(listed: list[Step], assumed: list[str], inputs: list[str]) -> None:
    text = write_recipe(listed, assumed, (name.encode("utf-8", "replace").decode() for name in inputs))
    recipe = recipe_of(SourceFile("r.toml", text.encode().decode("latin-1")))
    assert [one.step for one in recipe.steps] == listed
    assert recipe.assumptions == tuple(dict.fromkeys(assumed))


def test_it_looks_as_a_person_would_write_it() -> None:
    wanted = [make("map", {"loop": "heat/i", "axes": ["y", "x"], "block": [32, 8]}), make("keep", {"loop": "heat/t"})]
    assert write_recipe(wanted, ["n >= 1"], ["src/heat.c", "main.c"]).splitlines()[1:] == [
        "recipe = 1",
        'inputs = ["heat.c", "main.c"]',
        'assume = ["n >= 1"]',
        "",
        "[[step]]",
        'name = "map"',
        'loop = "heat/i"',
        'axes = ["y", "x"]',
        "block = [32, 8]",
        "",
        "[[step]]",
        'name = "keep"',
        'loop = "heat/t"',
    ]


def test_a_long_list_takes_a_line_an_item() -> None:
    names = [f"file{number}.c" for number in range(1000)]
    text = write_recipe([], [], names)
    assert max(map(len, text.splitlines())) < 120
    assert recipe_of(SourceFile("r.toml", text)).inputs == tuple(names)


def test_the_bytes_do_not_depend_on_the_process() -> None:
    program = (
        "from warpsmith.catalogue import make; from warpsmith.recipes.writing import write_recipe;"
        "print(write_recipe([make('map', {'loop': 'f/i', 'axes': ['x']})], {'b': 1, 'a': 2}, ['x.c']), end='')"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(texts) == 1
