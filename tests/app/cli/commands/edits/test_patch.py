"""A port inside a project, from the command line to programs that run: patches apply, build, and can be taken back."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.project.nvcc_stand_in import install
from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

MAKEFILE = """\
CC = gcc
CFLAGS = -O1 -Iinclude
prog: main.o solve.o other.o
\t$(CC) $(CFLAGS) -o $@ $^ -lm
%.o: src/%.c
\t$(CC) $(CFLAGS) $(SCALE) -c -o $@ $<
solve.o: SCALE = -DSCALE=3
other.o: SCALE = -DSCALE=5
"""
HEADER = "void solve(int n, double *restrict a, const double *restrict b);\ndouble other(int n, const double *a);\n"
MAIN = """\
#include <stdio.h>
#include <stdlib.h>
#include "solve.h"
#define FIRST 0
#include "detail.c"
int main(void)
{
    enum { n = 300 };
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    for (int i = 1; i < n; i++)
        b[i] = b[i - 1] = i;
    b[n - 1] = 7;
    a[0] = from_first(0);
    solve(n, a, b);
    printf("%g %g %g\\n", a[1], a[n - 1], other(n, a));
    free(a);
    free(b);
    return 0;
}
"""
# included, and not to be compiled by itself
DETAIL = "static double from_first(double x)\n{\n    return FIRST + x;\n}\n"
# two files with a static function of one name, each with a macro of its own from the command line
SOLVE = """\
#include "../include/solve.h"
static double scaled(double x)
{
    return SCALE * x;
}

void solve(int n, double *restrict a, const double *restrict b)
{
    for (int i = 0; i < n; i++)
        a[i] = scaled(b[i]);
    for (int i = 0; i < n; i++)
        a[i] += 1;
}
"""
OTHER = """\
#include "solve.h"
static double scaled(double x)
{
    return SCALE * x;
}

double other(int n, const double *a)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        if (scaled(a[i]) > most)
            most = scaled(a[i]);
    return most;
}"""
FILES = {
    "Makefile": MAKEFILE,
    "include/solve.h": HEADER,
    "src/main.c": MAIN,
    "src/detail.c": DETAIL,
    "src/solve.c": SOLVE,
    "src/other.c": OTHER,
}


def run(*arguments: str) -> int:
    return run_guarded(warpsmith, arguments)


def shell(folder: Path, *command: str, **environment: str) -> str:
    full = {**os.environ, **environment}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=full)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def fingerprint(folder: Path) -> str:
    """Return what a folder holds, times included."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        digest.update(f"{path.relative_to(folder)} {path.stat().st_mode} {path.stat().st_mtime_ns}".encode())
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()


def lay_out(folder: Path) -> str:
    """Write the project and, outside of it, its compile commands."""
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    scales = {"main": [], "solve": ["-DSCALE=3"], "other": ["-DSCALE=5"]}
    entries = [
        {
            "directory": str(folder),
            "file": f"src/{name}.c",
            "arguments": ["gcc", "-O1", "-Iinclude", *more, "-c", "-o", f"{name}.o", f"src/{name}.c"],
        }
        for name, more in scales.items()
    ]
    database = folder.with_suffix(".json")
    database.write_text(json.dumps(entries))
    return str(database)


def apply(folder: Path, patches: Path, *more: str) -> None:
    files = sorted(map(str, patches.glob("*.patch")), reverse="-R" in more)
    for file in files:
        shell(folder, "git", "apply", "--check", "--whitespace=error-all", *more, file)
        shell(folder, "git", "apply", *more, file)


@pytest.fixture(scope="module")
def ported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project and beside it, in `patches`, its port, which the referee has accepted."""
    base = tmp_path_factory.mktemp("project")
    folder = base / "p"
    database = lay_out(folder)
    before = fingerprint(folder)
    assert run("port", "-p", database, "--patch", str(base / "patches")) == 0
    assert fingerprint(folder) == before
    return folder


@pytest.fixture
def copy(ported: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "p"
    lay_out(folder)
    apply(folder, ported.parent / "patches")
    return folder


@pytest.mark.slow
def test_the_series_can_be_taken_back(copy: Path, ported: Path) -> None:
    assert (copy / "src/other.c").read_text() != OTHER
    apply(copy, ported.parent / "patches", "-R")
    assert {path: (copy / path).read_text() for path in FILES} == FILES
    assert not any((copy / "warpsmith").rglob("*.*"))


@pytest.mark.slow
def test_every_state_of_the_series_builds(ported: Path, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    lay_out(folder)
    plain = ""
    for patch in [None, *sorted((ported.parent / "patches").glob("*.patch"))]:
        if patch is not None:
            shell(folder, "git", "apply", str(patch))
        shell(folder, "make", "-s", "-B")
        printed = shell(folder, "./prog")
        plain = plain or printed
        assert printed == plain


def test_the_patched_project_runs_on_the_device_and_off_it(copy: Path, tmp_path: Path) -> None:
    plain = shell(copy, "make", "-s") + shell(copy, "./prog")
    nvcc = install(tmp_path / "bin")
    shell(copy, "make", "-s", "-B", "WARPSMITH=1", f"NVCC={nvcc}")
    report = tmp_path / "report"
    on = {"WARPSMITH_EMULATION_REPORT": str(report), "WARPSMITH_EMULATION_SCHEDULE": "1"}
    assert shell(copy, "./prog", **on) == plain
    # with the device gone, only a program that does not ask for it still runs
    none = {"WARPSMITH_EMULATION_MEMORY": "1"}
    assert subprocess.run(["./prog"], cwd=copy, env={**os.environ, **none}, capture_output=True, check=False).returncode
    assert shell(copy, "./prog", WARPSMITH_OFF="1", **none) == plain
    assert subprocess.run(
        ["./prog"], cwd=copy, env={**os.environ, **none, "WARPSMITH_OFF": "0"}, capture_output=True, check=False
    ).returncode


def test_edits_by_hand_are_merged(copy: Path, tmp_path: Path) -> None:
    kernels = copy / "warpsmith/solve_kernels.cu"
    kernels.write_text(kernels.read_text().replace("/* Kernels of", "/* tuned by hand */\n/* Kernels of", 1))
    source = copy / "src/solve.c"
    source.write_text(source.read_text().replace("a[i] += 1;", "a[i] += 2;"))
    database = tmp_path / "p.json"
    assert run("port", "-p", str(database), "--verify", "off", "--patch", str(tmp_path / "again")) == 0
    apply(copy, tmp_path / "again")
    text = kernels.read_text()
    assert "tuned by hand" in text
    assert "+= 2" in text
    assert "+= 1" not in text


def test_edits_that_conflict_are_named_and_nothing_is_written(
    copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernels = copy / "warpsmith/solve_kernels.cu"
    lines = kernels.read_text().split("\n")
    number = next(n for n, line in enumerate(lines) if "+= 1" in line)
    lines[number] = lines[number].replace("+= 1", "+= 1.0")
    kernels.write_text("\n".join(lines))
    source = copy / "src/solve.c"
    source.write_text(source.read_text().replace("a[i] += 1;", "a[i] += 2;"))
    before = fingerprint(copy)
    database = tmp_path / "p.json"
    assert run("port", "-p", str(database), "--verify", "off", "--patch", str(tmp_path / "again")) == 1
    said = capsys.readouterr().out
    assert f"solve_kernels.cu:{number + 1}" in said
    assert "PRJ013" in said
    assert fingerprint(copy) == before
    assert not (tmp_path / "again").exists()


def test_edits_inside_what_was_added_are_named(copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = copy / "src/solve.c"
    source.write_text(source.read_text().replace("if (!ws_solve_1(", "if (n > 100 || !ws_solve_1("))
    database = tmp_path / "p.json"
    assert run("port", "-p", str(database), "--verify", "off", "--patch", str(tmp_path / "again")) == 1
    assert "edited by hand" in capsys.readouterr().out


def test_a_port_that_changes_nothing_has_no_patch(copy: Path, tmp_path: Path) -> None:
    database = tmp_path / "p.json"
    assert run("port", "-p", str(database), "--verify", "off", "--patch", str(tmp_path / "again")) == 0
    assert not (tmp_path / "again").exists()


def test_one_loop_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    database = lay_out(folder)
    options = ("-p", database, "--verify", "off")
    assert run("port", *options, "--loop", "solve/i", "--patch", str(tmp_path / "one")) == 0
    apply(folder, tmp_path / "one")
    assert (folder / "src/other.c").read_text() == OTHER
    assert run("port", *options, "--loop", "src/other.c:10", "--patch", str(tmp_path / "two.patch")) == 0
    shell(folder, "git", "apply", str(tmp_path / "two.patch"))
    assert "!ws_other_1(" in (folder / "src/other.c").read_text()
    assert "!ws_solve_1(" in (folder / "src/solve.c").read_text()
    assert shell(folder, "make", "-s") + shell(folder, "./prog")


def test_a_failed_build_leaves_the_tree_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "p"
    database = lay_out(folder)
    (folder / "Makefile").write_text("prog:\n\ttouch touched; exit 1\n")
    before = fingerprint(folder)
    code = run("port", "-p", database, "--verify", "off", "--patch", str(tmp_path / "out.patch"))
    assert code == 0
    assert fingerprint(folder) == before
    said = capsys.readouterr().out
    assert "PRJ012" in said
    files = re.search(r"-DWARPSMITH: (.*)", said)
    assert files is not None and set(files[1].split()) == {"src/main.c", "src/other.c", "src/solve.c"}


def test_what_does_not_go_together_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = lay_out(tmp_path / "p")
    assert run("port", "-p", database, "a.c", "--patch", "x") == 2
    assert run("port", "-p", database, "-o", "x") == 2
    assert run("port", "-p", database, "--target", "nobody", "--patch", "x") == 2
    assert "there are: " in capsys.readouterr().err
