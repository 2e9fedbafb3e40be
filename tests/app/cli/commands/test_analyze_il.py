"""`warpsmith analyze FILE.il`, and `simulate` of the same file."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.front.il.listings import PLAIN, TRANSLATED
from warpsmith.app.cli.commands import watch
from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith
from warpsmith.report.json_parts import schema


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run_guarded(warpsmith, list(words))
    done = capsys.readouterr()
    return code, done.out, done.err


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    for name, text in (("plain", PLAIN), ("translated", TRANSLATED), ("broken", PLAIN.replace("endmain\n", ""))):
        (tmp_path / f"{name}.il").write_text(text)
    return str(tmp_path / "plain.il"), str(tmp_path / "translated.il"), str(tmp_path / "broken.il")


def test_the_table_of_one_gpu(capsys: pytest.CaptureFixture[str], files: tuple[str, str, str]) -> None:
    code, out, err = call(capsys, "analyze", *files[:2], "--device", "hd3870")
    assert (code, err) == (0, "")
    assert "2.50    4,960" in out and "5.50    2,255" in out
    two = call(capsys, "analyze", files[0], "--device", "hd3870,hd4870")[1]
    assert "4,960" in two and "12,000" in two


def test_errors_have_their_line_and_leave_the_rest(
    capsys: pytest.CaptureFixture[str], files: tuple[str, str, str]
) -> None:
    code, out, err = call(capsys, "analyze", files[0], files[2], "--device", "hd3870")
    assert code == 3 and "2.50" in out and "error[ILT001] 'end' cannot stand here" in err
    assert call(capsys, "analyze", files[2])[0] == 2
    assert call(capsys, "analyze", files[0], files[2], "--allow-incomplete")[0] == 0


def test_json_and_bundles(capsys: pytest.CaptureFixture[str], files: tuple[str, str, str]) -> None:
    code, out, _ = call(capsys, "analyze", files[0], "--format", "json")
    document = json.loads(out)
    jsonschema.validate(document, schema())
    assert code == 0 and document["programs"][0]["generations"]["r600"]["bundles"] == 10
    assert "END_OF_PROGRAM" in call(capsys, "analyze", files[0], "--evidence", "full", "--device", "rv670")[1]


def test_what_makes_no_sense(capsys: pytest.CaptureFixture[str], files: tuple[str, str, str]) -> None:
    assert "name .il files alone" in call(capsys, "analyze", files[0], "k.cu")[2]
    assert "have no format 'sarif'" in call(capsys, "analyze", files[0], "--format", "sarif")[2]
    assert "no GPU of four or five slots 'h100'" in call(capsys, "analyze", files[0], "--device", "hd3870,h100")[2]


def test_the_same_file_is_simulated(capsys: pytest.CaptureFixture[str], files: tuple[str, str, str]) -> None:
    sizes = [f"--arg={name}={value}" for name, value in (("t0_width", 4), ("width", 4), ("height", 1))]
    arrays = ["--arg=t0=iota:f32[4]", "--arg=cb0=const:i32[12]=1", "--arg=o0=zeros:f32[4]"]
    code, out, err = call(capsys, "simulate", files[0], "--block", "4", "--grid", "1", *sizes, *arrays)
    assert code == 0 and "sample_resource(0)_sampler(0) r6, r2.x000" in out, err


def test_mistakes_are_told_at_every_change(
    capsys: pytest.CaptureFixture[str], files: tuple[str, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text is completed while it is watched: what is wrong is told first, then what it costs."""
    pauses: list[float] = []

    def write(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) > 1:
            raise KeyboardInterrupt
        Path(files[2]).write_text(PLAIN)

    monkeypatch.setattr(watch, "sleep", write)
    code, out, err = call(capsys, "analyze", files[2], "--device", "hd3870", "--watch")
    assert code == 130 and err.index("error[ILT001]") < err.index("changed: ") and "2.50" in out
