"""The worker process: an answer for every file, whatever happens to it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.front.conftest import Load
from tests.front.test_load import GOOD, refusal
from warpsmith.base.errors import InputError
from warpsmith.front.clang import process
from warpsmith.front.clang.wire import Dump, encode_dump
from warpsmith.front.load import FrontOptions, load_program


def test_a_crash_of_the_worker_is_a_finding_of_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in worker answers nothing and dies by a signal where a file is called crash.c."""
    real = process.worker_command()
    code = (
        "import sys, io, marshal, os\n"
        "data = sys.stdin.buffer.read()\n"
        "if 'crash.c' in marshal.loads(data)[1][0][0]: os.kill(os.getpid(), 11)\n"
        "class In: buffer = io.BytesIO(data)\n"
        "sys.stdin = In\n" + real[-1]
    )
    monkeypatch.setattr(process, "worker_command", lambda: [*real[:-1], code])
    for name in ("crash.c", "good.c"):
        (tmp_path / name).write_text(GOOD)
    loaded = load_program([str(tmp_path / "crash.c"), str(tmp_path / "good.c")], FrontOptions())
    assert [Path(unit.file.path).name for unit in loaded.program.units] == ["good.c"]
    (finding,) = loaded.findings
    assert finding.rule == "INP004"
    assert "the parser crashed on" in finding.message
    assert "signal 11" in finding.message


def test_what_the_parser_really_crashes_on_is_a_finding(load: Load) -> None:
    with pytest.raises(InputError) as caught:
        load("int f(int a) { return " + "- " * 100_000 + "a; }")
    assert caught.value.findings[0].rule == "INP004"


def test_a_worker_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "worker_command", lambda: [sys.executable, "-c", "import time; time.sleep(60)"])
    path = tmp_path / "case.c"
    path.write_text(GOOD)
    rule, message = refusal(path, FrontOptions(timeout_s=0.3))
    assert rule == "INP009"
    assert message.endswith("was not parsed within 0.3 s")


def test_an_answer_that_is_cut_off_is_none() -> None:
    whole = encode_dump(Dump([], ["a.c"], [True], b"", [], [], [], [], [], [], [], False, [], {}, []))
    framed = len(whole).to_bytes(8, "little") + whole
    assert [dump.files for dump in process._split(framed * 2)] == [["a.c"], ["a.c"]]
    assert len(process._split(framed + framed[:-1])) == len(process._split(framed + framed[:7])) == 1
    assert process._split(b"") == []


def test_without_time_left_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "worker_command", lambda: ["/nowhere"])
    request = ("a.c", ["-x", "c"], None, 10, False)
    assert process.parse_files([request, request], 0.0) == [process.Failed("time-out")] * 2
    assert process.parse_files([], 1.0) == []
