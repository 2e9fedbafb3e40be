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
