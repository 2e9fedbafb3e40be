"""`warpsmith analyze --throughput`."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.app.cli.commands.test_analyze_il import call
from tests.front.il.listings import PLAIN
from warpsmith.flows.explaining import throughput
from warpsmith.report.json_parts import schema

TEXT = "__global__ void copy(const float *x, float *y) { int i = blockIdx.x * 256 + threadIdx.x; y[i] = x[i]; }\n"


@pytest.fixture(autouse=True)
def no_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throughput, "find_tool", lambda _: None)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "k.cu").write_text(TEXT)
    (tmp_path / "p.il").write_text(PLAIN)
    return str(tmp_path / "k.cu"), str(tmp_path / "p.il")


def test_a_table_of_all_gpus_or_of_some(capsys: pytest.CaptureFixture[str], files: tuple[str, str]) -> None:
    code, out, err = call(capsys, "analyze", files[0], "--throughput")
    assert (code, err) == (0, "") and out.count("GeForce RTX") == 4 and "376,875" in out
    some = call(capsys, "analyze", files[0], "--throughput", "--device", "a100,h200")[1]
    assert "A100" in some and "H200" in some and "H100" not in some


def test_json_and_files(capsys: pytest.CaptureFixture[str], files: tuple[str, str], tmp_path: Path) -> None:
    out = call(capsys, "analyze", files[0], "--throughput", "--device", "h100", "--format", "json")[1]
    document = json.loads(out)
    jsonschema.validate(document, schema())
    assert document["throughput"][0]["kernel"] == "copy"
    kept = tmp_path / "kept.txt"
    call(capsys, "analyze", files[0], "--throughput", "--device", "h100", "--format", f"text={kept}")
    assert "376,875" in kept.read_text()


def test_programs_of_il_go_by_their_gpus(capsys: pytest.CaptureFixture[str], files: tuple[str, str]) -> None:
    assert "cycles/warp" in call(capsys, "analyze", files[1], "--device", "h100")[1]
    for option in ((), ("--throughput",)):
        assert "bundles" in call(capsys, "analyze", files[1], "--device", "hd3870", *option)[1]


def test_what_makes_no_sense(capsys: pytest.CaptureFixture[str], files: tuple[str, str]) -> None:
    two = call(capsys, "analyze", files[0], "--throughput", "--device", "hd3870,h100")
    assert two[0] == 2 and "hd3870 has bundles, and the others have none" in two[2]
    assert "have no format 'sarif'" in call(capsys, "analyze", files[0], "--throughput", "--format", "sarif")[2]
    assert "did you mean" in call(capsys, "analyze", files[0], "--throughput", "--device", "h10")[2]
    assert "names no file" in call(capsys, "analyze", "--throughput")[2]
    code, out, err = call(capsys, "analyze", files[0] + "x", "--throughput")
    assert code == 2 and "not read" in out and "error" in err
