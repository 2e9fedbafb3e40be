"""`port`: what is asked for together, what is written, and the status of the report."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec.structs
import pytest

from tests.app.cli.runs import typed
from warpsmith.app.cli.commands.port import _names, _sizes, _status
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding, Severity
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.run.verification import Verification

SOURCE = "void f(int n, double *a)\n{\n    for (int i = 0; i < n; i++)\n        a[i] = 2 * a[i];\n}\n"
SERIAL = "void f(int n, double *a)\n{\n    for (int i = 1; i < n; i++)\n        a[i] = a[i - 1] * a[i - 1];\n}\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text(SOURCE)
    Path("s.c").write_text(SERIAL)
    return tmp_path


def test_sizes_are_whole_numbers() -> None:
    assert _sizes(("n=4096", " m = -3", "k= 0 ")) == {"n": 4096, "m": -3, "k": 0}
    assert _sizes(()) == {}
    for wrong in ("n", "n=", "n=4.5", "n=x", "n=--4", "n=-", "n=1e3"):
        with pytest.raises(UsageError, match="--arg takes NAME=VALUE with a whole number"):
            _sizes((wrong,))


def test_the_files_that_a_port_may_write() -> None:
    assert _names(("a.c",), single_file=False) == ["a.c", "a_kernels.cu", "a_kernels.h"]
    assert _names(("a.cpp",), single_file=True) == ["a.cu"]
    assert len(_names(("x/a.c", "x/b.c"), single_file=False)) == 6


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name the C files to port"),
        (("a.c", "--save-recipe", "-", "--json"), "two documents for one output: the recipe and the report"),
        (("a.c", "--save-recipe", "-", "--diff"), "two documents for one output: the recipe and the diff"),
        (("a.c", "--arg", "n"), "--arg takes NAME=VALUE"),
        (("a.c", "--arg", "n=--4"), "--arg takes NAME=VALUE"),
        (("a.c", "--timeline", "x.png"), "a timeline is a picture"),
    ],
)
def test_what_does_not_fit_is_told_at_once(
    words: tuple[str, ...], said: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = typed(capsys, "port", *words)
    assert code == 2 and said in out + err and sorted(p.name for p in here.iterdir()) == ["a.c", "s.c"]


def test_without_a_folder_nothing_is_written(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = typed(capsys, "port", "a.c", "--verify", "off", "--diff")
    assert code == 0 and out.startswith("--- ") and "+" in out and "f/i" in err
    assert {path.name for path in here.iterdir()} == {"a.c", "s.c"}


def test_a_folder_gets_the_port_and_a_recipe_its_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("port", "a.c", "--verify", "off", "-o", "out", "--save-recipe", "r.toml", "--json")
    code, out, _ = typed(capsys, *asked)
    report = json.loads(out)
    assert (code, report["status"], len(report["outputs"])) == (0, "ok", 4)
    assert Path("out/a.c").is_file() and Path("r.toml").is_file() and report["outputs"][-1] == "r.toml"
    assert typed(capsys, *asked)[0] == 2, "files that are there need --force"
    code, out, _ = typed(capsys, "port", "a.c", "--verify", "off", "--save-recipe", "-")
    assert code == 0 and out == Path("r.toml").read_text()
    code, out, _ = typed(capsys, "port", "a.c", "--survey", "-o", "out", "--json")
    assert code == 0 and json.loads(out)["command"] == "survey" and "outputs" not in json.loads(out)


def test_a_loop_that_was_asked_for_and_stays_is_a_negative_answer(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = typed(capsys, "port", "s.c", "--verify", "off", "--json", "--loop", "f/i")
    assert (code, json.loads(out)["status"]) == (1, "negative")
    code, out, _ = typed(capsys, "port", "s.c", "--verify", "off", "--json")
    assert (code, json.loads(out)["status"]) == (0, "ok")


def test_the_status_is_the_worst_of_all(here: Path) -> None:
    def told(severity: Severity) -> tuple[Finding, ...]:
        return (Finding("POR001", severity, "so it is"),)

    ready: PortResult = port(["a.c"], PortOptions(survey=True, verify=False))
    replace = msgspec.structs.replace
    assert _status(ready) == _status(replace(ready, findings=told("warning"))) == "ok"
    assert _status(replace(ready, findings=told("error"))) == "negative"
    assert _status(replace(ready, diagnostics=told("error"))) == "incomplete"
    late = (Finding("INP009", "warning", "not all loops were analyzed"),)
    assert _status(replace(ready, diagnostics=late)) == "incomplete"
    assert _status(replace(ready, verification=Verification("pass"))) == "ok"
    for word in ("undecided", "skipped"):
        assert _status(replace(ready, verification=Verification(word))) == "incomplete"
    failed = replace(ready, verification=Verification("fail"), diagnostics=told("error"))
    assert _status(failed) == "negative"


FEW = """
#include <stdio.h>
double a[15];
int main(void)
{
    for (int t = 0; t < 2000; t++) {
        for (int i = 0; i < 15; i++)
            a[i] = a[i] * 0.5 + 1.0;
        printf("%g", a[t % 15]);
    }
    return 0;
}
"""


def test_what_would_lose_stays_unless_all_is_asked_for(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("few.c").write_text(FEW)
    code, out, _ = typed(capsys, "port", "few.c", "--verify", "off")
    assert code == 0 and "note[POR009] main/t/i: it would lose: about" in out and "on h100" in out
    assert "Nothing was ported." in out
    code, out, _ = typed(capsys, "port", "few.c", "--verify", "off", "--device", "t4")
    assert code == 0 and "on t4" in out
    for words in (("--all",), ("--loop", "main/t/i")):
        _, out, _ = typed(capsys, "port", "few.c", "--verify", "off", *words)
        assert "ws_main_k1" in out and "POR009] main/t/i" not in out


def test_counts_of_a_run_decide(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loop = {"span": {"file": "a.c", "line": 3, "column": 5}, "weight": {"measured": {"entries": 2, "iterations": 80}}}
    Path("counts.json").write_text(json.dumps({"survey": {"root": str(here)}, "loops": [loop]}))
    _, out, _ = typed(capsys, "port", "a.c", "--verify", "off")
    assert "ws_f_k1" in out
    _, out, _ = typed(capsys, "port", "a.c", "--verify", "off", "--counts", "counts.json")
    assert "ws_f_k1" not in out and "note[POR009] f/i: it would lose" in out
    assert out.startswith("0 % of the work is in kernels (estimated from the counts of a run); stays: f/i")
    assert out.splitlines()[0].endswith("; --all ports it all the same")
    _, out, _ = typed(capsys, "port", "a.c", "--verify", "off", "--counts", "counts.json", "--all")
    assert "ws_f_k1" in out and "100 % of the work is in kernels (estimated from the counts of a run)" in out
    code, out, err = typed(capsys, "port", "a.c", "--counts", "a.c")
    assert code == 2 and "no report of a counted run" in out + err
