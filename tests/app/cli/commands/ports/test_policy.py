"""`port --policy`: what is asked for together, and what is printed."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.app.cli.runs import typed
from tests.flows.placing.test_dpomap import PRODUCT
from warpsmith.report.json_parts import schema


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text(PRODUCT)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--survey",), "--policy dpomap says where arrays are, and --survey does not ask"),
        (("--optimize",), "--policy dpomap says where arrays are, and --optimize does not ask"),
        (("--recipe", "r.toml"), "--policy dpomap says where arrays are, and --recipe does not ask"),
        (("--model", "time"), "--policy dpomap and --model time both choose the steps of a port"),
        (("-p", "compile_commands.json"), "--policy dpomap places the arrays of files, not of projects"),
    ],
)
@pytest.mark.usefixtures("here")
def test_what_does_not_fit_is_told_at_once(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = typed(capsys, "port", "a.c", "--policy", "dpomap", *words)
    assert code == 2 and said in out + err


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_where_arrays_are_is_printed_and_in_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    port = ("port", "a.c", "--all", "--verify", "off", "--policy", "dpomap", "--device", "gts250")
    code, out, _ = typed(capsys, *port)
    assert (
        code == 0
        and "placed by dpomap, for NVIDIA: 16,384 bytes" in out
        and "A, B in shared tiles of 16" in " ".join(out.split())
    )
    made = json.loads(typed(capsys, *port, "--json")[1])
    jsonschema.validate(made, schema())
    assert made["placement"]["platform"] == "nvidia" and "placement" not in json.loads(
        typed(capsys, *port[:5], "--json")[1]
    )
