"""`warpsmith simulate --clocks`: programs of the mask ISA and kernels, their histories, and what is wrong with them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

EXAMPLES = Path(__file__).parents[4] / "examples"


def _mask(folder: Path, text: str) -> str:
    file = folder / "test.mask"
    file.write_text(text)
    return str(file)


def test_a_program_with_clocks_and_its_histories(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = _mask(tmp_path, "mov r0.x, lane_id\nmul.u32 r1.x, thread_id, u(4)\nst u0, r1.x, r0.x\nret\n")
    words = [file, "--clocks", "--machine", "cdna", "--block", "64", "--arg", "u0=zeros:u32[64]"]
    assert run_guarded(warpsmith, ["simulate", *words]) == 0
    assert capsys.readouterr().out.startswith("test.mask: ")
    for form, start in (("html", b"<!doctype html>"), ("svg", b"<svg"), ("png", b"\x89PNG"), ("perfetto", b"{")):
        out = tmp_path / f"out.{form}"
        assert run_guarded(warpsmith, ["simulate", *words, "--timeline", f"{form}={out}"]) == 0
        assert out.read_bytes().startswith(start)
    capsys.readouterr()
    assert run_guarded(warpsmith, ["simulate", *words, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["instructions"] == 4


@pytest.mark.parametrize(
    ("text", "words", "code", "told"),
    [
        ("pop_mask\n", [], 1, "test.mask:1:1: error[MSK003]"),
        ("A: jmp A\n", ["--max-clocks", "99"], 3, "is still running here after 99 clocks"),
        ("jmp B\n", [], 2, "there is no label 'B'"),
        ("ret\n", ["--machine", "voltaa"], 2, "did you mean volta?"),
        ("ret\n", ["--timeline", "png"], 2, "name a file"),
        ("ret\n", ["--timeline", "gif"], 2, "the forms: off, ascii, json, html, svg, png, perfetto"),
        ("ret\n", ["--block", "8,8"], 2, "one dimension"),
        ("ret\n", ["--machine", "example,isue=4"], 2, "did you mean issue?"),
        ("ret\n", ["--range", "5-2"], 2, "for example --range 100-199"),
        ("ret\n", ["--range", "9"], 2, "for example --range 100-199"),
        ("ret\n", ["--range", "1-9"], 2, "there is no clock 1: the run takes 1"),
        ("ret\n", ["--range", "0-9", "--timeline", "perfetto"], 2, "leave --range out"),
        ("ld r0.x, t0, u(0)\nret\n", [], 2, "nothing is bound to t0"),
    ],
)
def test_what_is_wrong_with_a_program_or_a_machine_is_told(
    text: str, words: list[str], code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with TemporaryDirectory() as folder:
        assert run_guarded(warpsmith, ["simulate", _mask(Path(folder), text), *words]) == code
    said = capsys.readouterr().err
    assert told in said and "Traceback" not in said


def test_lines_of_a_program_of_the_mask_isa_by_lost_lane_clocks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = _mask(tmp_path, "push_mask L\nmask_nz lane_id\nmov r0.x, u(1)\npop_mask\nL:\nret\n")
    assert run_guarded(warpsmith, ["simulate", file, "--profile"]) == 0
    out = capsys.readouterr().out
    assert "no wave" in out and "all      2  100.0 %           2" in out and out.endswith("mask_nz lane_id\n")
    assert run_guarded(warpsmith, ["simulate", file, "--profile", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["profile"]["lost"] == 2


def test_a_script_steps_through_clocks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _mask(tmp_path, "push_mask L\nmask_nz lane_id\nmov r0.x, u(1)\npop_mask\nL:\nret\n")
    monkeypatch.setattr("sys.stdin", io.StringIO("next 2\nback\ncontinue\n"))
    assert run_guarded(warpsmith, ["simulate", file, "-i"]) == 0
    out = capsys.readouterr().out
    assert "> next 2\nclock 2\n" in out and "> back\nclock 1\n" in out and "the run is over: 5 clocks" in out
    assert run_guarded(warpsmith, ["simulate", file, "--break", "3"]) == 2
    assert "with -i, `until LINE` and `change SLOT` stop a .mask program" in capsys.readouterr().err
    assert run_guarded(warpsmith, ["simulate", file, "-i", "--json"]) == 2


def test_clocks_are_for_files_that_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    for file in ("none.cu", "none.mask"):
        assert run_guarded(warpsmith, ["simulate", file, "--clocks"]) == 2
        assert f"{file} " in capsys.readouterr().err


def test_a_kernel_has_clocks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(EXAMPLES / "manual" / "countdown.cu")
    words = ["simulate", file, "--clocks", "--block", "32", "--arg", "n=32", "--arg", "v=iota:i32[32]"]
    assert run_guarded(warpsmith, [*words, "--machine", "example,issue=1"]) == 0
    assert capsys.readouterr().out.startswith("countdown.cu: ")
    assert run_guarded(warpsmith, [*words, "--timeline", f"graph={tmp_path / 'graph.svg'}"]) == 0
    assert "LOOP_2" in (tmp_path / "graph.svg").read_text()
    assert run_guarded(warpsmith, ["simulate", str(EXAMPLES / "reduction.cu"), "--clocks", "--arg", "n=64"]) == 2


def test_some_clocks_of_a_changed_machine_are_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = _mask(tmp_path, "mov r0.x, lane_id\n" * 40 + "ret\n")
    words = ["simulate", file, "--machine", "example,issue=1,scheduler=oldest", "--block", "64", "--range", "10-19"]
    assert run_guarded(warpsmith, [*words, "--timeline", "svg"]) == 0
    drawn = capsys.readouterr().out
    assert (
        "1 group of 64 threads on the machine of figures 1 to 3: 4 waves of width 32, 2 ALUs, issue 1, oldest" in drawn
    )
    assert "Clocks 10 to 19 of 82." in drawn
    assert run_guarded(warpsmith, words) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[3:5] == ["slot 0      ##########", "slot 1      rrrrrrrrrr"] and told[7] == "clocks 10 to 19"
    assert run_guarded(warpsmith, [*words, "--timeline", f"html={tmp_path / 'run.html'}"]) == 0
    assert "&#34;shown&#34;:[10,20]" in (tmp_path / "run.html").read_text()


@pytest.mark.parametrize("asked", [["-i"], ["--timeline", "graph=g.svg"]])
def test_what_follows_lanes_is_refused_where_waves_are_formed_anew(
    asked: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.mask").write_text("mov r0.x, u(1)\nret\n")
    assert run_guarded(warpsmith, ["simulate", "k.mask", "--machine", "example,formation=homes", *asked]) == 2
    err = capsys.readouterr().err
    assert "threads change waves" in err and "formation=none" in err
    assert not (tmp_path / "g.svg").exists()
