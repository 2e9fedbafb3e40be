"""Build files: each edit is one line, tried before it is made; what is not understood is left alone."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from warpsmith.project.buildfiles.buildfile import edit_build, lines_to_add
from warpsmith.project.buildfiles.makefile import MakeEdit

EXPLICIT = """\
CC = gcc
OBJS = main.o solver.o
all: prog
prog: $(OBJS)
\t$(CC) $(CFLAGS) -o prog $(OBJS) $(LIBS)
main.o: main.c
\t$(CC) $(CFLAGS) -c main.c
solver.o: solver.c
\t$(CC) $(CFLAGS) -c solver.c
clean:
\trm -f prog $(OBJS)
"""
IMPLICIT = "prog: main.o solver.o\n\t$(CC) -o $@ $^ -lm\n"
NO_VARIABLES = "prog: main.c solver.c\n\tgcc -O2 -o prog main.c solver.c -lm\n"
ARCHIVE = """\
prog: main.o libsolve.a
\t$(CC) $(CFLAGS) main.o -L. -lsolve $(LDLIBS) -o prog
libsolve.a: solver.o
\tar rcs $@ $^
%.o: %.c
\t$(CC) $(CFLAGS) -c $< -o $@
"""
WILDCARD = """\
SRC := $(wildcard *.c)
OBJ := $(SRC:.c=.o)
MYFLAGS = -O2
prog: $(OBJ)
\t@echo linking
\t@$(CC) $(MYFLAGS) $(OBJ) -o $@
%.o: %.c
\t@$(CC) $(MYFLAGS) -c $< -o $@
"""
ONE_CALL = "CFLAGS = -O2\nprog: main.c solver.c\n\t$(CC) $(CFLAGS) main.c solver.c -o $@ $(LDLIBS)"
UNDERSTOOD = {
    "explicit": EXPLICIT,
    "implicit": IMPLICIT,
    "archive": ARCHIVE,
    "wildcard": WILDCARD,
    "one call": ONE_CALL,
    "windows": IMPLICIT.replace("\n", "\r\n").replace("^ -lm\r", "^ -lm"),
}
MAIN = "int solve(void);\nint main(void)\n{\n    return solve();\n}\n"
SOLVER = """#ifdef WARPSMITH
int on_gpu(void);
int solve(void) { return on_gpu(); }
#else
int solve(void) { return 3; }
#endif
"""
KERNELS = 'extern "C" int on_gpu(void) { return 5; }\n'
# what a compiler of kernels would do, with the same words
NVCC = """#!/bin/sh
for word; do case $word in -O3|-Xcompiler) ;; *) set -- "$@" "$word";; esac; shift; done
exec g++ -x c++ "$@"
"""


def run(command: Sequence[str], folder: Path) -> tuple[int, str]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def project(folder: Path, makefile: str, name: str = "Makefile") -> Path:
    (folder / "warpsmith").mkdir(parents=True)
    for path, text in {"main.c": MAIN, "solver.c": SOLVER, "warpsmith/s.cu": KERNELS, name: makefile}.items():
        (folder / path).write_bytes(text.encode())
    nvcc = folder / "nvcc"
    nvcc.write_text(NVCC)
    nvcc.chmod(0o755)
    return folder


def apply(edit: MakeEdit, folder: Path) -> None:
    for path, text in edit.texts.items():
        (folder / path).write_bytes(text.encode("latin-1"))


def exit_code(folder: Path, *arguments: str) -> int:
    made = subprocess.run(["make", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    return subprocess.run([str(folder / "prog")], check=False).returncode


@pytest.mark.parametrize("name", UNDERSTOOD)
def test_one_line_builds_both_programs(name: str, tmp_path: Path) -> None:
    folder = project(tmp_path / "p", UNDERSTOOD[name])
    edit = edit_build(shutil.copytree(folder, tmp_path / "copy"), ["solver.c"], "warpsmith", run)
    assert edit is not None
    assert set(edit.texts) == {"Makefile", "warpsmith/rules.mk"}
    gained = len(edit.texts["Makefile"].splitlines()) - len(UNDERSTOOD[name].splitlines())
    assert 0 < gained <= 5
    assert edit.texts["Makefile"].startswith(UNDERSTOOD[name].rstrip())
    apply(edit, folder)
    assert exit_code(folder) == 3
    # nothing of one kind of build stays in the other, and who only asks what would be made changes nothing
    on = ("WARPSMITH=1", f"NVCC={folder / 'nvcc'}", "NVCCFLAGS=")
    assert exit_code(folder, "-n", *on) == 3
    assert exit_code(folder, *on) == 5
    assert exit_code(folder) == 3
    assert exit_code(folder, *on) == 5
    assert subprocess.run(["make", "-q", *on], cwd=folder, check=False).returncode == 0


@pytest.mark.parametrize(
    "makefile",
    [
        NO_VARIABLES,
        "prog:\n\t./build.sh\n",
        "prog: main.o\n\tcc -o prog main.o\n",
        "prog:\n\t$(error broken)\n",
        "a: b: c:\n",
    ],
    ids=["no variables", "script", "other files", "broken", "no makefile"],
)
def test_what_is_not_understood_is_left_alone(makefile: str, tmp_path: Path) -> None:
    folder = project(tmp_path / "p", makefile)
    assert edit_build(folder, ["solver.c"], "warpsmith", run) is None
    assert (folder / "Makefile").read_text() == makefile


def test_the_lines_to_add_name_the_files() -> None:
    said = "\n".join(lines_to_add(["src/a.c"], "warpsmith"))
    assert "-DWARPSMITH: src/a.c" in said
    assert "warpsmith/*.cu" in said


def test_make_in_folders_below(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "all:\n\t$(MAKE) -C src\nclean:\n\t$(MAKE) -C src clean\n")
    (folder / "src").mkdir()
    for name in ("main.c", "solver.c"):
        (folder / name).rename(folder / "src" / name)
    (folder / "src" / "Makefile").write_text("CFLAGS = -O1\n../prog: main.o solver.o\n\t$(CC) $(CFLAGS) -o $@ $^\n")
    edit = edit_build(shutil.copytree(folder, tmp_path / "copy"), ["src/solver.c"], "warpsmith", run)
    assert edit is not None
    assert set(edit.texts) == {"src/Makefile", "warpsmith/rules-src.mk"}
    apply(edit, folder)
    assert exit_code(folder, "WARPSMITH=1", f"NVCC={folder / 'nvcc'}", "NVCCFLAGS=") == 5


CMAKE = """\
cmake_minimum_required(VERSION 3.13)
project(p C)
add_library(solve STATIC solver.c)
add_executable(prog main.c)
target_link_libraries(prog solve m)
"""


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_cmake_gains_one_line(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", CMAKE, "CMakeLists.txt")
    edit = edit_build(shutil.copytree(folder, tmp_path / "copy"), ["solver.c"], "warpsmith", run)
    assert edit is not None
    assert edit.texts["CMakeLists.txt"] == CMAKE + "include(warpsmith/targets.cmake)\n"
    apply(edit, folder)
    for options, expected in (((), 3), (("-DWARPSMITH=ON", f"-DWARPSMITH_NVCC={folder / 'nvcc'}"), 5)):
        build = folder / f"build{expected}"
        subprocess.run(["cmake", "-S", ".", "-B", str(build), *options], cwd=folder, check=True, capture_output=True)
        subprocess.run(["cmake", "--build", str(build)], check=True, capture_output=True)
        assert subprocess.run([str(build / "prog")], check=False).returncode == expected
