"""`warpsmith experiment`: a table, a document, a chart, and what cannot be done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

COUNTDOWN = str(Path(__file__).parents[4] / "examples" / "manual" / "countdown.cu")
LAUNCH = ("--block", "32", "--grid", "1", "--arg", "n=32")


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run_guarded(warpsmith, ["experiment", *words])
    done = capsys.readouterr()
    return code, done.out, done.err


def test_inputs_are_compared_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chart = tmp_path / "c.svg"
    inputs = ("--input", "equal: v=const:i32[n]=20", "--input", "one: v=each:i32[n]=(i==7)*20")
    code, out, err = call(capsys, "input", COUNTDOWN, *LAUNCH, *inputs, "--chart", str(chart))
    assert code == 0, err
    rows = {line.split()[0]: line.split() for line in out.splitlines()[2:5]}
    assert rows["equal"][-2:] == ["20", "640"] and rows["one"][-2:] == ["20", "20"]
    assert chart.read_text().startswith("<svg ")
    code, out, _ = call(
        capsys, "width", COUNTDOWN, *LAUNCH, "--arg", "v=iota:i32[n]", "--values", "4,8", "--format", "json"
    )
    assert [point["value"] for point in json.loads(out)["experiment"]["points"]] == ["4", "8"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("input", COUNTDOWN, *LAUNCH, "--input", "v=3"), "--input takes"),
        (("input", COUNTDOWN, *LAUNCH, "--input", "a: v=iota:i32[n]", "--input", "a: v=iota:i32[n]"), "given twice"),
        (("depth", COUNTDOWN), "'depth' is not one of"),
        (("width", "none.cu"), "does not exist"),
        (("width", COUNTDOWN, *LAUNCH, "--arg", "v=each:i32[n]=1/0"), "divides by zero"),
        (("width", COUNTDOWN, *LAUNCH, "--arg", "v=each:i32[n]=m"), "nothing gives m"),
        (("width", COUNTDOWN, *LAUNCH, "--arg", "v=libc:i32[n]:below=0"), "libc makes integers"),
    ],
)
def test_what_cannot_be_done_is_said(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, *words)
    assert code == 2 and said in err and not out, err
    code, out, _ = call(capsys, *words, "--format", "json")
    assert code == 2


def test_a_program_of_the_mask_isa_is_compared_by_clocks(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(Path(__file__).parents[4] / "examples" / "mask" / "loop.mask")
    words = ("width", file, "--block", "64", "--arg", "u0=zeros:u32[64]", "--values", "8,16")
    code, out, err = call(capsys, *words, "--machine", "example,lanes_per_alu=8")
    assert code == 0 and out.splitlines()[2].split()[:2] == ["width", "clocks"], err
    code, _, err = call(capsys, "width", "none.mask", "--block", "8")
    assert code == 2 and "cannot be read" in err
    code, _, err = call(capsys, "width", file, "--block", "8,8")
    assert code == 2 and "one dimension" in err
