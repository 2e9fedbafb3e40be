"""The catalogue holds every step, and says of each what its class says."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import ClassVar, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.verdict import Verdict
from warpsmith.catalogue import (
    STEPS,
    Argument,
    ArgumentsError,
    Step,
    StepParameter,
    arguments_of,
    describe,
    make,
    parameters,
)
from warpsmith.poly.analyze import Facts
from warpsmith.tree.program import Program

SOURCE = Path(__file__).parent.parent / "src"
FOLDERS = (SOURCE / "warpsmith" / "loops" / "steps", SOURCE / "warpsmith" / "offload" / "steps")


def _is_step(value: object) -> bool:
    own = isinstance(value, type) and issubclass(value, Struct)
    return own and all(hasattr(value, name) for name in ("name", "check", "apply"))


def _steps_of(path: Path) -> list[type]:
    module = import_module(".".join(path.relative_to(SOURCE).with_suffix("").parts))
    return [v for v in vars(module).values() if _is_step(v) and v.__module__ == module.__name__]


def test_the_catalogue_holds_every_step_of_the_step_folders() -> None:
    found = {path: _steps_of(path) for folder in FOLDERS for path in folder.rglob("*.py")}
    assert not [path.name for path, steps in found.items() if len(steps) > 1], "one step a file"
    classes = {cls for steps in found.values() for cls in steps}
    assert classes == set(STEPS)
    assert len(STEPS) == len(set(STEPS)) == len({cls.name for cls in STEPS})


@pytest.mark.parametrize("cls", STEPS, ids=lambda cls: cls.name)
def test_a_step_is_named_as_its_file_and_frozen(cls: type[Step]) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", cls.name)
    assert Path(inspect.getfile(cls)).stem == cls.name.replace("-", "_")
    assert cls.__name__ == "".join(word.capitalize() for word in cls.name.split("-"))
    step = make(cls.name, {p.name: _some(p) for p in parameters(cls) if p.default is None})
    with pytest.raises(AttributeError, match="immutable"):
        setattr(step, parameters(cls)[0].name, "g/i")
    assert hash(step) == hash(replace(cast(Struct, step)))


@pytest.mark.parametrize("cls", STEPS, ids=lambda cls: cls.name)
def test_a_page_is_complete(cls: type[Step]) -> None:
    page = describe(cls)
    assert page.title.endswith(".")
    assert page.doc
    assert page.before.endswith("}\n")
    assert page.after.endswith("}\n")
    assert set(page.example) <= {p.name for p in page.parameters}
    assert {p.name for p in page.parameters if p.default is None} <= set(page.example)


def _some(parameter: StepParameter) -> Argument:
    defaults: dict[str, Argument] = {"text": "f/i", "number": 2, "flag": True, "texts": ("i",), "numbers": (2,)}
    return parameter.choices[0] if parameter.choices else defaults[parameter.kind]


def _arguments(parameter: StepParameter) -> st.SearchStrategy[Argument]:
    numbers = st.integers(-(2**63) + 1, 2**63 - 1)
    kinds: dict[str, st.SearchStrategy[Argument]] = {
        "text": st.sampled_from(parameter.choices) if parameter.choices else st.text(),
        "number": numbers,
        "flag": st.booleans(),
        "texts": st.lists(st.text()).map(tuple),
        "numbers": st.lists(numbers).map(tuple),
    }
    return kinds[parameter.kind]


# how long the alphabet of texts takes to load says something of the machine only
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_arguments_make_the_same_step_again(data: st.DataObject) -> None:
    cls = data.draw(st.sampled_from(STEPS))
    given_ = {
        p.name: data.draw(_arguments(p)) for p in parameters(cls) if p.default is None or data.draw(st.booleans())
    }
    step = make(cls.name, given_)
    kept = arguments_of(step)
    assert make(cls.name, kept) == step
    assert all(kept[p.name] != p.default for p in parameters(cls) if p.name in kept)


@pytest.mark.parametrize(
    ("name", "arguments", "key", "words"),
    [
        ("mpa", {}, "name", "did you mean map?"),
        ("", {}, "name", "lists them"),
        ("x" * 10_000, {}, "name", "no step is called"),
        ("map", {"loop": "f/i"}, None, "map needs axes"),
        ("map", {}, None, "map takes loop, axes, [block]"),
        ("map", {"loop": "f/i", "axis": ["x"]}, "axis", "did you mean axes?"),
        ("map", {"loop": 3, "axes": ["x"]}, "loop", "loop is a text, not the number 3"),
        ("map", {"loop": "f/i", "axes": "x"}, "axes", "not the text 'x'"),
        ("map", {"loop": "f/i", "axes": ["x", 1]}, "axes", "not a list with the number 1"),
        ("map", {"loop": "f/i", "axes": ["x"], "block": [True]}, "block", "not a list with true"),
        ("map", {"loop": "f/i", "axes": ["x"], "block": [1.5]}, "block", "not a list with the number 1.5"),
        ("map", {"loop": "f/i", "axes": ["x"], "block": [2**63]}, "block", "a list with a number of more than 64 bits"),
        ("map", {"loop": "f/i", "axes": ["x"], "block": 2**100_000}, "block", "a list of whole numbers"),
        ("map", {"loop": "f/i", "axes": {"x": 1}}, "axes", "not a table"),
        ("map", {"loop": None, "axes": ["x"]}, "loop", "loop is a text"),
    ],
)
def test_wrong_arguments_are_told_in_words(name: str, arguments: dict[str, object], key: str, words: str) -> None:
    with pytest.raises(ArgumentsError) as caught:
        make(name, arguments)
    assert words in str(caught.value)
    assert caught.value.key == key
    assert caught.value.exit_code == 2
    assert len(str(caught.value)) < 1000


class Odd(Struct, frozen=True):
    """Nothing."""

    name: ClassVar[str] = "odd"
    amount: float = 1.0

    def check(self, program: Program, facts: Facts) -> Verdict:
        raise NotImplementedError

    def apply(self, program: Program) -> Program:
        raise NotImplementedError


def test_a_field_that_no_recipe_can_hold_is_an_error_of_ours() -> None:
    with pytest.raises(TypeError, match="amount"):
        parameters(Odd)


def test_a_docstring_without_the_form_is_an_error_of_ours() -> None:
    with pytest.raises(ValueError, match="Odd"):
        describe(Odd)
