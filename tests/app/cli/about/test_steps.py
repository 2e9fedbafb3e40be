"""Steps and recipes on the command line: what is listed, applied, saved, replayed and refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from warpsmith.app.cli.about.steps import page_text
from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith
from warpsmith.catalogue import STEPS, describe, step_class
from warpsmith.report.port.json import schema

SOURCE = """void f(int n, int m, double a[n][m])
{
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            a[i][j] = 0.5 * a[i][j];
    for (int i = 1; i < n; i++)
        a[i][0] = 0.5 * a[i - 1][0] + a[i][0] * a[i][0];
}
"""


def run(*arguments: object) -> int:
    return run_guarded(warpsmith, [str(argument) for argument in arguments])


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "case.c"
    path.write_text(SOURCE)
    return path


def port(source: Path, *arguments: object) -> int:
    return run("port", source, "--verify", "off", *arguments)


def test_every_step_is_listed_with_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("steps") == 0
    out = capsys.readouterr().out
    names = [line.split()[0] for line in out.splitlines() if line[2] != " "]
    assert names == sorted(cls.name for cls in STEPS)


@pytest.mark.parametrize("cls", STEPS, ids=lambda cls: cls.name)
def test_a_step_has_a_page(cls: type, capsys: pytest.CaptureFixture[str]) -> None:
    name = next(step.name for step in STEPS if step is cls)
    assert run("steps", name) == 0
    out = capsys.readouterr().out
    page = describe(step_class(name))
    for part in (*page.title.split(), "before", "after", "--transform", f"{name}="):
        assert part in out
    for parameter in page.parameters:
        assert parameter.name in out
    for line in page.after.splitlines():
        assert line in out


def test_before_and_after_stand_side_by_side_where_there_is_room() -> None:
    page = describe(step_class("keep"))
    assert "before" + " " * 30 in page_text(page, 120)
    narrow = page_text(page, 60)
    assert narrow.index("\nbefore\n") < narrow.index("\nafter\n")


def test_steps_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("steps", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema())
    assert {step["name"] for step in document["steps"]} == {cls.name for cls in STEPS}
    assert run("steps", "map", "--json") == 0
    (page,) = json.loads(capsys.readouterr().out)["steps"]
    assert page["parameters"][0] == {"name": "loop", "kind": "text", "required": True}


@pytest.mark.parametrize("json_", [(), ("--json",)])
def test_a_step_that_there_is_not(json_: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("steps", "interchang", *json_) == 2
    captured = capsys.readouterr()
    assert "did you mean interchange" in captured.err
    if json_:
        jsonschema.validate(json.loads(captured.out), schema())


def test_a_transform_is_applied_and_saved(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = tmp_path / "r.toml"
    assert port(source, "--transform", "interchange=f/j", "--save-recipe", recipe) == 0
    out = capsys.readouterr().out
    assert "wrote" in out
    text = recipe.read_text()
    assert text.startswith("# written by warpsmith")
    assert 'name = "interchange"\nloop = "f/j"\n' in text
    assert 'name = "map"\nloop = "f/i"\naxes = ["y", "x"]\n' in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["case.c", "r.toml"]


def test_a_recipe_replays_to_identical_bytes(source: Path, tmp_path: Path) -> None:
    recipe, again = tmp_path / "r.toml", tmp_path / "again.toml"
    one, two = tmp_path / "one", tmp_path / "two"
    assert port(source, "--transform", "interchange=f/j", "--save-recipe", recipe, "-o", one) == 0
    assert port(source, "--recipe", recipe, "--save-recipe", again, "-o", two) == 0
    assert {p.name: p.read_bytes() for p in one.iterdir()} == {p.name: p.read_bytes() for p in two.iterdir()}
    assert again.read_text() == recipe.read_text()


def test_a_recipe_is_replayed_exactly(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = tmp_path / "r.toml"
    source.write_text(SOURCE.replace("0.5 * a[i - 1][0] + ", ""))
    recipe.write_text('recipe = 1\n[[step]]\nname = "map"\nloop = "f/j"\naxes = ["x"]\nblock = [64]\n')
    assert port(source, "--recipe", recipe, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema())
    assert [(kernel["mapping"], kernel["block"]) for kernel in document["kernels"]] == [({"j": "x"}, [64, 1, 1])]
    recipe.write_text("recipe = 1\n")
    assert port(source, "--recipe", recipe, "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["kernels"]) == 2, "a recipe that places nothing leaves it open"


def test_a_recipe_that_is_there_is_not_overwritten(source: Path, tmp_path: Path) -> None:
    recipe, gpu = tmp_path / "r.toml", tmp_path / "gpu"
    recipe.write_text("mine")
    assert port(source, "--save-recipe", recipe, "-o", gpu) == 2
    assert recipe.read_text() == "mine"
    assert not gpu.exists()
    assert port(source, "--save-recipe", recipe, "--force") == 0
    saved = recipe.read_text()
    assert port(source, "--save-recipe", recipe) == 0, "the same text is no other file"
    assert recipe.read_text() == saved


def test_a_recipe_that_cannot_be_written(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert port(source, "--save-recipe", tmp_path / "file" / "r.toml") == 2
    assert "r.toml cannot be written: file exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", (2, "r.toml:1:1")),
        ("\0\1\2", (2, "r.toml:1:1")),
        ("recipe = 1\n[[step]]\nname = 'interchang'\nloop = 'f/j'\n", (2, "r.toml:3:8")),
        ("recipe = 1\n[[step]]\nname = 'interchange'\nloop = 'f/k'\n", (2, "r.toml:3:8")),
        ("recipe = 1\n[[step]]\nname = 'offload'\nloop = 'f/i'\n", (1, "r.toml:3:8")),
        ("recipe = 1\n[[step]]\nname = 'interchange'\nloop = 'f/j'\n[[step]]\nname = 'keep'\n", (2, "r.toml:5:1")),
    ],
)
def test_a_bad_recipe_is_shown_and_nothing_is_written(
    text: str, expected: tuple[int, str], source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, place = expected
    recipe, gpu, saved = tmp_path / "r.toml", tmp_path / "gpu", tmp_path / "saved.toml"
    recipe.write_text(text)
    assert port(source, "--recipe", recipe, "-o", gpu, "--save-recipe", saved, "--json") == code
    captured = capsys.readouterr()
    assert place in captured.err
    assert "Traceback" not in captured.err
    document = json.loads(captured.out)
    jsonschema.validate(document, schema())
    assert document["diagnostics"][0]["rule"][:3] in ("RCP", "STP", "INP", "POR")
    assert not gpu.exists()
    assert not saved.exists()


def test_a_refused_transform_is_a_negative_answer(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert port(source, "--transform", "offload=f/i") == 1
    err = capsys.readouterr().err
    assert "step 1 of 1, offload=f/i, is refused" in err
    assert "a[i][0] = 0.5 * a[i - 1][0]" in err
    assert port(source, "--transform", "offload=f/i", "--explain-illegal") == 1
    err = capsys.readouterr().err
    assert "makes it legal" in err or "(checked)" in err


@pytest.mark.parametrize("option", ["tile", "interchange=", "nosuch=f/j", "interchange=f/j,by=3", "keep=g/i"])
def test_a_transform_that_makes_no_sense_is_usage(
    option: str, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert port(source, "--transform", option) == 2
    assert "error[" in capsys.readouterr().err


def test_a_replay_is_the_same_in_every_process(source: Path, tmp_path: Path) -> None:
    recipe, here = tmp_path / "r.toml", tmp_path / "here"
    assert port(source, "--transform", "interchange=f/j", "--save-recipe", recipe, "-o", here) == 0
    for seed in ("1", "31337"):
        there = tmp_path / seed
        words = ["port", source, "--verify", "off", "--recipe", recipe, "-o", there]
        subprocess.run(
            [sys.executable, "-m", "warpsmith", *map(str, words)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        )
        assert {p.name: p.read_bytes() for p in here.iterdir()} == {p.name: p.read_bytes() for p in there.iterdir()}
