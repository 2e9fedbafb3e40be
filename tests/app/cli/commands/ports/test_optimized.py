"""`port --optimize`: what is asked for together, and what is printed and written."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.app.cli.runs import typed
from warpsmith.report.json_parts import schema

SOURCE = """
static double a[300][400], b[400][300];
int main(void)
{
    for (int i = 0; i < 300; i++)
        for (int j = 0; j < 400; j++)
            a[i][j] = 2 * b[j][i];
    return a[3][4] > 1.0;
}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text(SOURCE)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--budget", "3"), "--budget is about a search for a faster port"),
        (("--tried", "t.html"), "--tried is about a search for a faster port"),
        (("--optimize", "--survey"), "--optimize looks for steps, and --survey tries none"),
        (("--optimize", "--recipe", "r.toml"), "--optimize looks for steps, and --recipe tries none"),
        (("--optimize", "--tried", "t.txt"), "t.txt: what was tried is a page (.html)"),
        (("--optimize", "-p", "compile_commands.json"), "--optimize searches files, not projects"),
        (("--optimize", "--budget", "-1"), "is not in the range"),
        (("--optimize", "--model", "tables"), "--optimize tries all mappings by time, and --model tables takes one"),
        (("--model", "tables", "--survey"), "--survey maps no loop, and --model tables says how"),
        (("--model", "time", "--recipe", "r.toml"), "--model time looks for steps, and --recipe tries none"),
        (("--model", "lines", "--budget", "3"), "--budget is about a search for a faster port"),
        (("--model", "time", "-p", "compile_commands.json"), "--model time searches files, not projects"),
    ],
)
def test_what_does_not_fit_is_told_at_once(
    words: tuple[str, ...], said: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = typed(capsys, "port", "a.c", *words)
    assert code == 2 and said in out + err and [path.name for path in here.iterdir()] == ["a.c"]


def test_what_was_tried_is_printed_and_written(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    port = ("port", "a.c", "--all", "--verify", "off", "--optimize")
    code, out, _ = typed(capsys, *port, "--tried", "tried.html", "-o", "out", "--save-recipe", "best.toml")
    assert code == 0 and "predicted for the H100 SXM, not measured" in out and "searched  " in out
    assert "tried.html" in out and "map=main/i" in Path("tried.html").read_text()
    code, out, _ = typed(capsys, *port, "--json")
    document = json.loads(out)
    jsonschema.validate(document, schema())
    assert code == 0 and document["search"]["known_from_earlier"] == len(document["search"]["candidates"]) > 0
    written = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    typed(capsys, "port", "a.c", "--verify", "off", "--recipe", "best.toml", "-o", "again")
    assert {path.name: path.read_bytes() for path in Path("again").iterdir()} == written


def test_a_program_without_kernels_is_not_searched(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.c").write_text("int f(int n) { while (n & 3) n /= 3; return n; }\n")
    code, out, _ = typed(capsys, "port", "s.c", "--optimize", "--tried", "t.html")
    assert code == 0 and "searched" not in out and not Path("t.html").exists()


def test_a_model_maps_the_port(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    port = ("port", "a.c", "--all", "--verify", "off")
    code, out, _ = typed(capsys, *port, "--model", "tables", "--json")
    made = json.loads(out)
    jsonschema.validate(made, schema())
    (kernel,) = made["kernels"]
    assert code == 0 and "search" not in made
    # a[i][j] by t23, b[j][i] by t32: sixteen threads share a line of a, and no two one of b, as the print has it
    assert kernel["model"]["printed_lines_per_thread"] == 1 / 16 + 1
    assert [one["entry"] for one in kernel["model"]["mistakes"]] == ([] if kernel["block"][1] == 1 else ["t32"])
    assert "lines a thread as printed" in typed(capsys, *port, "--model", "tables")[1]


@pytest.mark.slow
def test_by_time_loops_go_on_other_axes_and_nothing_else_is_tried(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = typed(capsys, "port", "a.c", "--all", "--verify", "off", "--model", "time", "--json")
    made = json.loads(out)
    jsonschema.validate(made, schema())
    tried = [step for one in made["search"]["candidates"] for step in one["steps"]]
    assert code == 0 and tried and made["kernels"][0]["block"]
    assert all(step.startswith("map=") or step.endswith(",width=0") for step in tried)
