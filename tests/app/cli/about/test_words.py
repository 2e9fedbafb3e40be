"""`explain` knows every word of loops, steps, assumptions and verdicts; `completion`, `diff` and `demo`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import jsonschema
import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith
from warpsmith.base.findings import Certainty
from warpsmith.catalogue import STEPS
from warpsmith.poly.facts import Category
from warpsmith.poly.granted import WORDS
from warpsmith.report.port.json import schema
from warpsmith.report.rules import load_rules, load_terms

IN_TABLES = ("parallel, on host", "asserted", "elsewhere", "masked", "hottest loop", "region")
OF_REFEREE = ("PASS", "FAIL", "undecided", "skipped")
ALL = [
    *get_args(Category), *get_args(Certainty), *WORDS, "guarded", "granted", *OF_REFEREE, *IN_TABLES,
    *(s.name for s in STEPS), *load_rules(), *load_terms(),
    *(word for term in load_terms().values() for word in term.see),
]  # fmt: skip
KERNEL = "__global__ void k(int *a)\n{\n    a[threadIdx.x * 32] = 1;\n}\n"
LOOP = "void f(int n, int *a)\n{\n    for (int i = 1; i < n; i++)\n        a[i] = 2;\n}\n"


def test_explain_knows_every_word(capsys: pytest.CaptureFixture[str]) -> None:
    unknown = [word for word in dict.fromkeys(ALL) if run_guarded(warpsmith, ["explain", word]) != 0]
    assert not unknown
    assert len(capsys.readouterr().out) > 20 * len(set(ALL))


@pytest.mark.parametrize("word", ["MEM001", "MEM", "scan", "tile"])
def test_explain_as_json(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_guarded(warpsmith, ["explain", word, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema())
    assert document.keys() & {"rules", "terms", "steps"}


def test_explain_guesses(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_guarded(warpsmith, ["explain", "injectiv"]) == 2
    assert "did you mean injective" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_guarded(warpsmith, ["completion", shell]) == 0
    assert "_WARPSMITH_COMPLETE" in capsys.readouterr().out
    monkeypatch.setenv("_WARPSMITH_COMPLETE", f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", "warpsmith sim")
    monkeypatch.setenv("COMP_CWORD", "sim" if shell == "fish" else "1")
    with pytest.raises(SystemExit):
        run_guarded(warpsmith, [])
    assert "simulate" in capsys.readouterr().out


def test_diff_of_sources_and_of_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.cu").write_text(KERNEL)
    Path("new.cu").write_text("\n" + KERNEL.replace(" * 32", ""))
    Path("old.c").write_text(LOOP)
    Path("new.c").write_text(LOOP.replace("2;", "a[i - 1] * a[i - 1];"))
    assert run_guarded(warpsmith, ["diff", "old.cu", "new.cu", "--isolated"]) == 0
    assert "- old.cu:3: " in capsys.readouterr().out
    assert run_guarded(warpsmith, ["diff", "new.cu", "old.cu", "--isolated", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema())
    assert "MEM001" in {one["rule"] for one in document["diff"]["new"]}
    assert run_guarded(warpsmith, ["diff", "old.c", "new.c"]) == 1
    assert "f/i: category parallel -> sequential" in capsys.readouterr().out
    for name in ("old", "new"):
        Path("k.cu").write_text(Path(f"{name}.cu").read_text())
        run_guarded(warpsmith, ["analyze", "k.cu", "--isolated", "--json", "--exit-zero"])
        Path(f"{name}.json").write_text(capsys.readouterr().out)
    assert run_guarded(warpsmith, ["diff", "old.json", "old.json"]) == 0
    assert "0 new, 0 gone" in capsys.readouterr().out
    assert run_guarded(warpsmith, ["diff", "new.json", "old.json"]) == 1
    Path("bad.json").write_text("{}")
    assert run_guarded(warpsmith, ["diff", "bad.json", "old.json"]) == 2
    assert run_guarded(warpsmith, ["diff", "none.cu", "old.json"]) == 2


def test_the_demo_ports_and_explains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_guarded(warpsmith, ["demo"]) == 0
    out = capsys.readouterr().out
    assert "PASS" in out
    assert "$ cd warpsmith-demo && warpsmith analyze gpu/heat_kernels.cu" in out
    assert (tmp_path / "warpsmith-demo" / "gpu" / "heat_kernels.cu").exists()
    assert run_guarded(warpsmith, ["demo"]) == 2
    assert "already exist" in capsys.readouterr().err
