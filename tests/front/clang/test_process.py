"""The worker process: an answer for every file, whatever happens to it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.front.conftest import Load, function
from tests.front.test_load import GOOD, refusal
from warpsmith.base.errors import InputError
from warpsmith.front.clang import process
from warpsmith.front.clang.wire import Dump
from warpsmith.front.load import FrontOptions, load_program


def test_a_crash_of_the_worker_is_a_finding_of_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in worker answers nothing and dies by a signal where a file is called crash.c."""
    real = process.worker_command()
    code = (
        "import marshal, os\n"
        "given = marshal.loads\n"
        "def loads(data):\n"
        "    if 'crash.c' in str(given(data)): os.kill(os.getpid(), 11)\n"
        "    return given(data)\n"
        "marshal.loads = loads\n" + real[-1]
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


def test_the_worker_is_kept_while_it_sees_what_we_see(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are those of the folder that we are in, and headers those that the environment names."""
    for name in ("one", "two"):
        (tmp_path / name / "include").mkdir(parents=True)
        (tmp_path / name / "case.c").write_text(f'#include "own.h"\n{GOOD.replace(" f(", f" {name}(")}')
        (tmp_path / name / "include" / "own.h").write_text("")
    workers = set()
    for name in ("one", "two"):
        monkeypatch.chdir(tmp_path / name)
        monkeypatch.setenv("CPATH", str(tmp_path / name / "include"))
        for _ in range(2):
            loaded = load_program(["case.c"], FrontOptions())
            assert function(loaded, name).symbol.name == name
            assert loaded.program.units[0].headers == (str(tmp_path / name / "include" / "own.h"),)
            worker = process._parser()._worker
            assert worker is not None
            workers.add(worker._process.pid)
    assert len(workers) == 2


def test_a_worker_that_was_ended_while_it_waited_crashed_on_nothing(load: Load) -> None:
    load(GOOD)
    worker = process._parser()._worker
    assert worker is not None
    worker._process.kill()
    worker._process.wait()
    assert function(load(GOOD)).symbol.name == "f"


def test_an_answer_that_came_too_late_is_not_that_to_the_next_question(tmp_path: Path) -> None:
    path = tmp_path / "case.c"

    def asked(text: str, seconds: float) -> Dump | process.Failed:
        path.write_text(text)
        (answer,) = process.parse_files([(str(path), ["-x", "c"], None, 1_000_000, False)], seconds)
        return answer

    assert isinstance(asked(GOOD, 60), Dump)
    long = "".join(GOOD.replace(" f(", f" f{number}(") for number in range(10_000))
    assert asked(long, 0.02) == process.Failed("time-out")
    answer = asked(GOOD.replace(" f(", " g("), 60)
    assert isinstance(answer, Dump)
    assert [row[1] for row in answer.declared if row[1] in ("f", "g", "f0")] == ["g"]


def test_an_answer_that_is_cut_off_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in worker ends in the middle of its answer."""
    cut = "import sys, os; sys.stdout.buffer.write(bytes([9, 0, 0, 0, 0, 0, 0, 0, 1])); sys.exit('no more')"
    monkeypatch.setattr(process, "worker_command", lambda: [sys.executable, "-c", cut])
    answers = process.parse_files([("a.c", ["-x", "c"], None, 10, False)] * 2, 60)
    assert answers == [process.Failed("crash", "no more")] * 2


def test_without_time_left_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "worker_command", lambda: ["/nowhere"])
    request = ("a.c", ["-x", "c"], None, 10, False)
    assert process.parse_files([request, request], 0.0) == [process.Failed("time-out")] * 2
    assert process.parse_files([], 1.0) == []
