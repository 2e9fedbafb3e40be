"""A file may have any name that a file system allows, for every command."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

# an option, a letter of two bytes, a blank, quotes, what shells and formats read, the end of a line, no UTF-8
NAME = os.fsdecode(b"-\xc3\xbc a\"b'$(x)%s{0}*?#&;\\\n\xff")
C = "void f(int n, double *a)\n{\n    for (int i = 0; i < n; i++)\n        a[i] = i;\n}\n"
MAIN = "int main(void) { static double a[100]; f(100, a); return (int)a[3]; }\n"
CUDA = "__global__ void k(int *a)\n{\n    a[threadIdx.x * 32] = 1;\n}\n"
STORED = "uncoalesced"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path(f"{NAME}.c").write_text(C + MAIN)
    Path(f"{NAME}.cu").write_text(CUDA)
    return tmp_path


def run(capfd: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_guarded(warpsmith, words) == 0, (words, capfd.readouterr())
    out, err = capfd.readouterr()
    assert "INT070" not in err
    return out


def test_port_writes_a_program_that_the_referee_accepts(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert "PASS" in run(capfd, "port", f"./{NAME}.c", "-o", f"out{NAME}")
    names = {path.name for path in Path(f"out{NAME}").iterdir()}
    assert len(names) == 3
    assert f"{NAME}.c" in names
    # what is generated has a name that every tool can be given
    assert all("\n" not in name and '"' not in name and name[0] == "_" for name in names - {f"{NAME}.c"})


def test_patches_and_recipes_name_the_file(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(capfd, "port", f"./{NAME}.c", "--verify", "off", "--patch", "p.patch")
    run(capfd, "port", f"./{NAME}.c", "--verify", "off", "--save-recipe", "r.toml")
    assert b"\\303\\274 a\\042b" in Path("p.patch").read_bytes()
    assert "ü a" in Path("r.toml").read_text("utf-8")


def test_surveys_and_loops(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for form in ("json", "sarif"):
        out = run(capfd, "survey", "-j1", "--no-cache", f"./{NAME}.c", "--format", form)
        assert json.loads(out)
        assert "ü a" in out or "%C3%BC" in out
    assert "parallel" in run(capfd, "explain", f"./{NAME}.c:3")


@pytest.mark.parametrize("form", ["json", "sarif", "html", "github", "junit"])
def test_kernels(form: str, here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = run(capfd, "analyze", "--isolated", f"./{NAME}.cu", "--format", form)
    assert STORED in out
    if form == "github":
        assert all(line.startswith("::") for line in out.splitlines())


def test_a_line_of_a_report_is_one_line(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for line in run(capfd, "analyze", "--isolated", f"./{NAME}.cu", "--format", "concise").splitlines():
        assert line.startswith("-ü a") or line.startswith("./-ü a")
    head = run(capfd, "port", "--survey", f"./{NAME}.c").splitlines()[0]
    assert head.endswith(".c: 2 loops in 2 functions") or ".c: 1 loop in" in head


def test_a_kernel_runs(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert "races" in run(capfd, "simulate", f"./{NAME}.cu", "--block", "32", "--arg", "a=zeros:i32[1024]")
