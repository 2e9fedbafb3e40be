"""Recipes that cannot be read: every one is told with its line, its column and what to write instead."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from warpsmith.base.errors import UsageError
from warpsmith.base.source import SourceFile
from warpsmith.catalogue import make
from warpsmith.recipes.layout import LONGEST_LINE
from warpsmith.recipes.reading import LARGEST, Recipe, read_recipe, recipe_of

STEP = '\n[[step]]\nname = "keep"\nloop = "f/i"\n'
MAP = '\n[[step]]\nname = "map"\nloop = "f/i"\naxes = ["x"]\n'


def read(text: str | bytes) -> Recipe:
    data = text.encode() if isinstance(text, str) else text
    return recipe_of(SourceFile("r.toml", data.decode("latin-1")))


def refused(text: str | bytes) -> UsageError:
    with pytest.raises(UsageError) as caught:
        read(text)
    assert caught.value.exit_code == 2
    return caught.value


def test_a_recipe_is_read() -> None:
    text = """\ufeff# by hand
recipe = 1
inputs = ["heat.c"]   # for information
assume = [
    "n >= 1",  # granted
    'injective(idx)',
]

[[step]]
name = "map"
"loop" = 'f/i'
axes = ["y", "x",]
block = [0x20, 8]

[[ step ]]
loop = \"\"\"f/\\u0069\"\"\"
name = '''keep'''
"""
    recipe = read(text)
    assert [listed.step for listed in recipe.steps] == [
        make("map", {"loop": "f/i", "axes": ["y", "x"], "block": [32, 8]}),
        make("keep", {"loop": "f/i"}),
    ]
    assert recipe.assumptions == ("n >= 1", "injective(idx)")
    assert recipe.inputs == ("heat.c",)
    spans = [listed.span for listed in recipe.steps]
    assert [(span.line, span.text) for span in spans if span] == [(10, '"map"'), (17, "'''keep'''")]


def test_names_of_any_script_are_held_as_source_text_is() -> None:
    recipe = recipe_of(
        SourceFile("r.toml", ("recipe = 1\n" + STEP.replace("f/i", "größe/i")).encode().decode("latin-1"))
    )
    (listed,) = recipe.steps
    assert listed.step == make("keep", {"loop": "größe/i".encode().decode("latin-1")})


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (b"\x7fELF\x00\x01", "1:5", "no text in UTF-8|zero byte"),
        ("recipe = 1\n\0", "2:1", "zero byte"),
        (b"recipe = 1\n# \xff\n", "2:3", "UTF-8"),
        ("", "1:1", "empty"),
        (" \n\t\n", "1:1", "empty"),
        ("# nothing\n", "1:1", "version"),
        (STEP, "1:1", "version"),
        ("recipe = 2\n", "1:10", "format 2; this warpsmith reads 1"),
        ("recipe = 1.0\n", "1:10", "whole number"),
        ("recipe = true\n", "1:10", "whole number"),
        ("recipe = 1\nrecipe = 1\n", "2:1", "stands twice"),
        ("recipe = 1\nassume = 'n >= 1'\n", "2:10", "list of texts"),
        ("recipe = 1\nassume = ['a', 3]\n", "2:16", "list of texts"),
        ("recipe = 1\nasume = []\n", "2:1", "did you mean assume?"),
        ("recipe = 1\nstep = 3\n", "2:1", "steps are tables"),
        ("recipe = 1\n[step]\nname = 'keep'\n", "2:1", r"write \[\[step\]\]"),
        ("recipe = 1\n[[steps]]\nname = 'keep'\n", "2:1", "did you mean step?"),
        ("recipe = 1\n[[step]]\nloop = 'f/i'\n", "2:1", "the step has no name"),
        ("recipe = 1\n[[step]]\nname = 3\n", "3:8", "name is a text"),
        ("recipe = 1\n[[step]]\nname = 'keeep'\nloop = 'f/i'\n", "3:8", "did you mean keep?"),
        ("recipe = 1\n[[step]]\nname = 'keep'\n", "2:1", "keep needs loop"),
        ("recipe = 1\n[[step]]\nname = 'keep'\nlop = 'f/i'\n", "4:1", "did you mean loop?"),
        ("recipe = 1\n[[step]]\nname = 'keep'\nloop = 1\n", "4:8", "loop is a text, not the number 1"),
        ("recipe = 1\n[[step]]\nname = 'keep'\nloop = 'f/i'\nloop = 'f/j'\n", "5:1", "stands twice"),
        ("recipe = 1\n" + STEP + "assume = []\n", "6:1", r"before the first \[\[step\]\]"),
        ("recipe = 1\n" + MAP + "block = [1, 2.5]\n", "7:9", "a list with the number 2.5"),
        ("recipe = 1\n" + MAP + "block = 1979-05-27\n", "7:9", "not a date"),
        ("recipe = 1\n" + MAP + "block = nan\n", "7:9", "not the number nan"),
        ("recipe = 1\n" + MAP + f"block = [{2**64}]\n", "7:9", "more than 64 bits"),
        ("recipe = 1\n" + MAP + f"block = [{'9' * 3900}]\n", "7:9", "more than 64 bits"),
        ("recipe = 1\n" + MAP + f"block = [0x{'f' * 3900}]\n", "7:9", "more than 64 bits"),
        ("recipe = 1\n[[step]\nname = 'keep'\n", "2:7", r"(?i)expected"),
        ("recipe = 1\n[[step]]\nname = keep\n", "3:8", "invalid value"),
        ("recipe = 1\n[[step]]\nname = 'keep\n", "3:8", "(?i)expected|found"),
        ("recipe = 1\n[[step]]\nname 'keep'\n", "3:6", "expected '='"),
        ('recipe = 1\n[[step]]\nname = "a\\qb"\n', "3:", "escape|unescaped"),
        ('recipe = 1\n[[step]]\nname = "\\ud800"\n', "3:", "unicode|not a"),
        ("recipe = 1\nassume = ['a'\n", "2:14", "unclosed array"),
        ("recipe = 1 2\n", "1:12", "expected newline"),
        ("recipe = 1\nstep.name = 'keep'\n", "2:1", "no dotted keys"),
        ("recipe = 1\n[a.b]\n", "2:2", "no dotted keys"),
        ("recipe = 1\nstep = [{name = 'keep'}]\n", "2:9", "no inline tables"),
        ("recipe = 1\nassume = [['a']]\n", "2:11", "no lists in lists"),
        ("recipe = 1\n" + "a" * 5000 + " = 1\n", "2:1", "5004 bytes"),
        ("recipe = 1\nassume = ['''" + "a\n" * 1000 + "''']\n", "2:11", "2000 characters"),
        ("recipe = 1\n" + STEP.replace("f/i", "i" * 1001), "5:8", "1001 characters"),
        ("recipe = 1\n\x01 = 1\n", "2:1", "(?i)invalid"),
        ("recipe = 1\n" + "[" * 3000, "2:3", "(?i)invalid|lists"),
        ("recipe = 1\nassume = " + "[" * 3000, "2:11", "no lists in lists"),
        ('recipe = 1\n"" = 1\n', "2:1", "no key ''"),
    ],
)
def test_what_cannot_be_read_is_shown(text: str | bytes, place: str, words: str) -> None:
    error = refused(text)
    assert str(error.findings[0].span).startswith(f"r.toml:{place}")
    assert re.search(words, str(error)), str(error)
    assert "^" in str(error)


def test_every_wrong_step_is_named_up_to_a_limit() -> None:
    error = refused("recipe = 1\n" + STEP.replace("keep", "keeep") * 3)
    assert [finding.span.line for finding in error.findings if finding.span] == [4, 8, 12]
    assert len(refused("recipe = 1\n" + STEP.replace("keep", "keeep") * 1000).findings) == 20


def test_an_earlier_key_is_shown_beside_the_second() -> None:
    (note,) = refused("recipe = 1\nrecipe = 1\n").findings[0].related
    assert (note.span.line, note.text) == (1, "first here")


def test_ten_thousand_steps_are_read_quickly() -> None:
    start = time.perf_counter()
    recipe = read("recipe = 1\n" + STEP * 10_000)
    assert time.perf_counter() - start < 10
    assert len(recipe.steps) == 10_000


@pytest.mark.parametrize(
    "line",
    [
        ".".join(["a"] * (LONGEST_LINE // 2)) + " = 1\n",
        "[" + ".".join(["a"] * (LONGEST_LINE // 2 - 1)) + "]\n",
        'assume = ["""' + '"' * (LONGEST_LINE - 20) + "\n",
        "'" * LONGEST_LINE + "\n",
        "assume = [" + "1," * (LONGEST_LINE // 2 - 10) + "\n",
        "# " + "[" * (LONGEST_LINE - 10) + "\n",
    ],
    ids=["dotted", "header", "quotes", "texts", "items", "comment"],
)
def test_texts_made_to_be_slow_are_refused_quickly(line: str) -> None:
    start = time.perf_counter()
    refused(("recipe = 1\n" + line * (LARGEST // len(line)))[:LARGEST].replace("recipe = 1", "recipe = 3"))
    assert time.perf_counter() - start < 10


def test_files_that_are_none(tmp_path: Path) -> None:
    large = tmp_path / "large.toml"
    large.write_text("recipe = 1\n" + "# x\n" * (LARGEST // 4))
    for path, words in (
        (tmp_path, "is a directory"),
        (tmp_path / "none.toml", "no such file"),
        (tmp_path / "a\0b", "null byte"),
        (large, f"at most {LARGEST}"),
    ):
        with pytest.raises(UsageError) as caught:
            read_recipe(str(path))
        assert words in str(caught.value)
        assert caught.value.findings[0].rule == "RCP001"
