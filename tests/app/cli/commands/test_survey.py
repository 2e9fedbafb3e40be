"""`warpsmith survey` as people call it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith
from warpsmith.base.time_limit import OutOfTimeError
from warpsmith.report.port.json import schema
from warpsmith.survey.unit import Desk

LOOPS = """void f(int n, double *a) {
    for (int i = 0; i < n; i++)
        a[i] = 0;
    while (a[n] > 0) n = (int)a[n];
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a build, in which the commands run."""
    (tmp_path / "a.c").write_text(LOOPS)
    (tmp_path / "main.c").write_text("void f(int, double *); int main(void) { return 0; }\n")
    (tmp_path / "Makefile").write_text("run: a.c main.c\n\tgcc a.c main.c -o run\nbad:\n\tgcc -c a.c\n\tfalse\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    return tmp_path


def run(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run_guarded(warpsmith, ["survey", "-j1", *words])
    out, err = capfd.readouterr()
    return code, out, err


def test_a_build_is_watched_and_its_output_is_not_mixed_with_ours(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capfd, "--json", "--", "make", "run")
    document = json.loads(out)
    jsonschema.validate(document, schema())
    assert code == 0
    assert "gcc a.c main.c -o run" in err
    assert document["survey"]["categories"] == {"parallel": 1, "unanalyzable": 1}
    assert {loop["span"]["file"] for loop in document["loops"]} == {"a.c"}
    # what was found is kept where it belongs, not in the project
    assert {path.name for path in folder.iterdir()} == {"a.c", "main.c", "Makefile", "run", "home"}
    assert list((folder / "home" / "warpsmith" / "survey").glob("*.json"))


def test_a_build_that_fails_is_incomplete(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capfd, "--", "make", "bad")
    assert code == 3
    assert "PRJ006" in err
    assert "2 loops" in out


def test_a_database_and_every_form(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    entry = {"directory": str(folder), "command": "gcc -c a.c", "file": "a.c"}
    (folder / "compile_commands.json").write_text(json.dumps([entry]))
    for form, start in (("json", "{"), ("sarif", "{"), ("html", "<!doctype html>"), ("text", "1 file, ")):
        assert run(capfd, "-p", ".", "--format", form, "-o", f"survey.{form}")[:2] == (0, "")
        assert (folder / f"survey.{form}").read_text().startswith(start)
    code, out, _ = run(capfd, "a.c", "--all", "--no-cache")
    assert code == 0
    assert "all 2 loops" in out


@pytest.mark.parametrize(
    "words", [[], ["a.c", "-p", "."], ["a.c", "--", "make"], ["gone.c"], ["-p", "gone"], ["--", "no-such-tool"]]
)
def test_what_makes_no_sense_is_said_with_a_remedy(
    folder: Path, capfd: pytest.CaptureFixture[str], words: list[str]
) -> None:
    code, out, err = run(capfd, *words)
    assert code == 2
    assert out == ""
    assert "help:" in err
    assert "Traceback" not in err


def test_errors_are_json_where_json_was_asked_for(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for words in (["--json"], ["--format", "json"], ["--format=json"]):
        code, out, _ = run(capfd, *words, "gone.c")
        document = json.loads(out)
        jsonschema.validate(document, schema())
        assert (code, document["status"]) == (2, "error")
    # a build's own options are not ours
    assert run(capfd, "--", "no-such-tool", "--json")[1] == ""


def test_help_names_the_ways_to_give_a_project() -> None:
    result: Result = CliRunner().invoke(warpsmith, ["survey", "--help"])
    assert "BUILD COMMAND" in result.output
    assert "-p PATH" in result.output


def test_a_file_without_an_answer_in_time(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*_: object) -> None:
        raise OutOfTimeError

    monkeypatch.setattr(Desk, "_analyze", late)
    code, out, err = run(capfd, "a.c", "--no-cache")
    assert code == 124 and "not in time (--timeout): a.c" in out and "a.c was not analyzed within 120 s" in err
    assert "raise --timeout" in err
    code, out, err = run(capfd, "a.c", "--no-cache", "--json", "--timeout", "60")
    document = json.loads(out)
    jsonschema.validate(document, schema())
    assert (
        code == 124
        and document["status"] == "incomplete"
        and document["survey"]["not_in_time"] == [str(folder / "a.c")]
    )
    assert "within 60 s" in document["diagnostics"][0]["message"]
    assert {loop["category"] for loop in document["loops"]} == {"unanalyzable"}
