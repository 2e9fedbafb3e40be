"""-o, --force, --timeout, --json and the configuration mean one thing to every command."""

from __future__ import annotations

import json
import os
import signal
import threading
from contextlib import nullcontext
from pathlib import Path

import jsonschema
import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith
from warpsmith.base.progress import Activity
from warpsmith.report.port.json import schema
from warpsmith.settings.model import load_keys

KERNEL = "__global__ void k(int *a, int n)\n{\n    for (int i = 0; i < n; i++)\n        a[threadIdx.x * 32] = i;\n}\n"
C = "void f(int n, double *restrict a)\n{\n    for (int i = 0; i < n; i++)\n        a[i] = i;\n}\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text(KERNEL)
    Path("a.c").write_text(C)
    return tmp_path


def run(*words: str) -> int:
    return run_guarded(warpsmith, words)


# --- -o


@pytest.mark.parametrize("words", [("rules",), ("explain", "MEM001"), ("analyze", "k.cu"), ("diff", "k.cu", "k.cu")])
def test_results_go_to_a_file(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*words, "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert run("-o", "new/r.json", *words, "--json") == 0
    assert capsys.readouterr().out == ""
    for one in (written := json.loads(Path("new/r.json").read_text()), printed):
        one.pop("timing_s", None)
    assert written == printed
    assert run(*words, "-o", "new/r.json") == 2
    assert "new/r.json already exists; nothing was written" in capsys.readouterr().err
    assert run(*words, "-o", "new/r.json", "--force") == 0
    assert not Path("new/r.json").read_text().startswith("{")


def test_what_fails_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("analyze", "none.cu", "--format", "concise", "-o", "r.txt") == 2
    assert not Path("r.txt").exists()
    for path, word in (("/dev/full", "no space"), (".", "it is a folder"), ("a.c/r", "a.c is no folder")):
        assert run("rules", "-o", path) == 2
        assert word in capsys.readouterr().err
    assert run("rules", "MEM", "-o", "-") == 0
    assert "MEM001" in capsys.readouterr().out
    for words in (("port", "a.c"), ("demo",), ("config", "init"), ("baseline", "write", "k.cu")):
        assert run(*words, "-o", "-") == 2
    assert not Path("-").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("port", "a.c", "--patch", "-"),
        ("port", "a.c", "--patch", "p.patch", "-o", "gpu"),
        ("analyze", "k.cu", "--unsafe-fixes"),
        ("port", "a.c", "--timeline", "copies.png"),
        ("survey", "--save-commands", "-", "--", "true"),
        ("simulate", "k.cu", "--out", "a=-"),
        ("baseline", "write", "k.cu", "--baseline", "-"),
        ("rules", "--log-file", "-"),
        ("survey", "a.c", "--cache-dir", "a.c"),
        ("analyze", ""),
        ("port", "a.c", ""),
        ("verify", "a.c", "--", ""),
        ("explain", ""),
    ],
)
def test_a_place_that_is_none_is_refused_at_once(
    words: tuple[str, ...], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*words) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("error[")) == ("", 1)
    assert sorted(path.name for path in here.iterdir()) == ["a.c", "k.cu"]


# --- --timeout


@pytest.mark.parametrize(
    "words",
    [
        ("analyze", "k.cu"),
        ("baseline", "write", "k.cu"),
        ("diff", "k.cu", "k.cu"),
        ("port", "a.c"),
        ("simulate", "k.cu", "--block", "32"),
        ("survey", "-j1", "a.c", "--no-cache"),
        ("verify", "a.c", "--", "a.c"),
    ],
)
def test_out_of_time_is_124(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--timeout", "0.001", *words) == 124
    err = capsys.readouterr().err
    assert "was not parsed within 0.001 s" in err
    assert "raise --timeout" in err


def test_a_run_of_a_kernel_is_stopped(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["simulate", "k.cu", "--block", "32", "--arg", "a=zeros:i32[1024]", "--arg", "n=2000000000", "--json"]
    assert run(*words, "--max-steps", "1000000000000", "--timeout", "1") == 124
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema())
    assert [one["rule"] for one in document["diagnostics"]] == ["INP009"]


def test_a_run_that_is_interrupted_tells_what_was_counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def progress(work: Activity) -> None:
        if "visits of lanes" in work.item:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()

    monkeypatch.setattr("warpsmith.app.cli.commands.simulate.watch_progress", lambda: nullcontext(progress))
    words = ["simulate", "k.cu", "--block", "32", "--arg", "a=zeros:i32[1024]", "--arg", "n=2000000000", "--json"]
    # a shell lets what it runs in the background ignore SIGINT
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        code = run(*words, "--max-steps", "1000000000000", "--timeout", "300", "--out", "a=a.npy")
    finally:
        signal.signal(signal.SIGINT, before)
    assert code == 130
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema())
    assert [one["rule"] for one in document["diagnostics"]] == ["INT001"]
    assert document["status"] == "incomplete"
    assert document["simulation"]["lane_instructions"] > 100_000
    assert not Path("a.npy").exists()


@pytest.mark.parametrize("said", ["nan", "inf", "-1", "0", "1e30", "x"])
def test_a_time_that_no_timer_takes(said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rules", "--timeout", said) == 2
    assert "above 0" in capsys.readouterr().err
    Path("warpsmith.toml").write_text(f"timeout = {said if said != 'x' else '[]'}\n")
    assert run("analyze", "k.cu") == 2
    assert "'timeout' must be a number above 0" in capsys.readouterr().err


# --- the configuration


COMMANDS = [
    ("analyze", "k.cu"),
    ("port", "--survey", "a.c"),
    ("simulate", "k.cu"),
    ("survey", "-j1", "a.c"),
    ("verify", "a.c", "--", "a.c"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('fial-on = "error"', "did you mean 'fail-on'?"),
        ('fail-on = "warnings"', "did you mean 'warning'?"),
        ('assume = ["garbage(("]', "'assume' of the configuration: 'garbage((' is not of a form that is known"),
        ('[kernels."x*"]\nassume = ["n"]', "'n' is not of a form that is known"),
        ("device = []", "names no GPU model"),
        ("rules = 3", "'rules' must be a table"),
    ],
)
def test_every_command_reads_it(
    words: tuple[str, ...], text: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("pyproject.toml").write_text("[tool.warpsmith]\n" + text.replace("[kernels", "[tool.warpsmith.kernels"))
    assert run(*words) == 2
    assert told in capsys.readouterr().err


def test_a_variable_that_makes_no_sense(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in (("WARPSMITH_FAIL_ON", "warnings"), ("WARPSMITH_TIMEOUT", "nan"), ("WARPSMITH_DEVCE", "sm_80")):
        with monkeypatch.context() as changed:
            changed.setenv(name, value)
            for words in COMMANDS:
                assert run(*words) == 2
                assert name in capsys.readouterr().err
                assert run("--isolated", "--timeout", "0.001", *words) == 124


def test_device_time_and_assumptions_reach_ports_and_runs(capsys: pytest.CaptureFixture[str]) -> None:
    Path("warpsmith.toml").write_text(
        'device = ["sm_90", "sm_80"]\nassume = ["n >= 4", "zz >= 1"]\n'
        '[kernels."k*"]\nblock = [64]\ngrid = 2\nargs = { n = 3, unheard = 4 }\n'
    )
    assert run("simulate", "k.cu", "--arg", "a=zeros:i32[2048]", "--check", "none", "--json") == 0
    found = json.loads(capsys.readouterr().out)["simulation"]
    assert found["device"] == "h100"
    assert (found["launch"]["block"], found["launch"]["grid"]) == ([64, 1, 1], [2, 1, 1])
    assert found["launch"]["arguments"][0] == "n=3"
    assert run("port", "a.c", "--verify", "off", "--save-recipe", "r.toml") == 0
    assert 'assume = ["n >= 4"]' in Path("r.toml").read_text()


def test_sizes_are_of_variables_that_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    Path("b.c").write_text(C.replace("int n", "int count").replace("< n", "< count"))
    assert run("port", "--survey", "b.c", "--arg", "cuont=4") == 2
    assert "did you mean 'count'?" in capsys.readouterr().err


# --- --json


def test_every_command_has_its_document(capsys: pytest.CaptureFixture[str]) -> None:
    Path("b.cu").write_text(KERNEL)
    given = ("--block", "64", "--json")
    for words, code, told in (
        (("baseline", "write", "k.cu", *given), 0, {"path": "warpsmith-baseline.json", "taken": 1, "kept": 0}),
        (("baseline", "check", "k.cu", *given), 0, {"path": "warpsmith-baseline.json", "new": 0, "known": 1}),
        (("baseline", "check", "k.cu", "b.cu", *given), 1, {"path": "warpsmith-baseline.json", "new": 1, "known": 1}),
        (("baseline", "prune", "k.cu", *given), 0, {"path": "warpsmith-baseline.json", "removed": 0, "kept": 1}),
    ):
        assert run(*words) == code
        document = json.loads(capsys.readouterr().out)
        jsonschema.validate(document, schema())
        assert document["baseline"] == told
        assert len(document.get("findings", ())) == told.get("new", 0)
    assert run("baseline", "show", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema())
    assert [one["rule"] for one in document["baseline"]["entries"]] == ["MEM001"]
    assert run("config", "init", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema())
    assert document["outputs"] == ["warpsmith.toml"]
    assert run("config", "show", "--json") == 0
    assert set(load_keys()) <= set(json.loads(capsys.readouterr().out))
