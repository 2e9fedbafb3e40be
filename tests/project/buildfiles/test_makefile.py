"""Makefiles: each edit is one line, tried before it is made, and builds both programs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.project.buildfiles.projects import apply, exit_code, project, run
from tests.sampling import one_in
from warpsmith.project.buildfiles.makefile import edit_makefiles, makefile_in

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
ONE_VARIABLE = """\
CC = gcc
CC_FLAGS = -g -O2
all: prog
prog: main.o solver.o
\t$(CC) $(CC_FLAGS) main.o solver.o -o prog -lm
main.o: main.c
\t$(CC) $(CC_FLAGS) main.c -c
solver.o: solver.c
\t$(CC) $(CC_FLAGS) solver.c -c
"""
NO_FLAGS = """\
C_C = gcc
prog: ./main.o ./solver.o
\t$(C_C) ./main.o ./solver.o -lm -o prog
./main.o: main.c
\t$(C_C) main.c -c -o ./main.o -O3
./solver.o: solver.c
\t$(C_C) solver.c -c -o ./solver.o -O3
"""
OTHER_NAME = """\
CC = gcc
CC_FLAGS = -g
all: program
program:
\t$(CC) $(CC_FLAGS) main.c solver.c -o prog
clean:
\trm -f prog
"""
UNDERSTOOD = {
    "one variable for both": ONE_VARIABLE,
    "the compiler alone": NO_FLAGS,
    "explicit": EXPLICIT,
    "implicit": IMPLICIT,
    "archive": ARCHIVE,
    "wildcard": WILDCARD,
    "one call": ONE_CALL,
    "windows": IMPLICIT.replace("\n", "\r\n").replace("^ -lm\r", "^ -lm"),
}


@pytest.mark.parametrize("name", one_in(3, UNDERSTOOD))
def test_one_line_builds_both_programs(name: str, tmp_path: Path) -> None:
    folder = project(tmp_path / "p", UNDERSTOOD[name])
    edit = edit_makefiles(shutil.copytree(folder, tmp_path / "copy"), ["solver.c"], "warpsmith", run)
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


def test_a_target_that_has_another_name_than_its_program(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", OTHER_NAME)
    edit = edit_makefiles(shutil.copytree(folder, tmp_path / "copy"), ["solver.c"], "warpsmith", run)
    assert edit is not None
    apply(edit, folder)
    for arguments, code in (((), 3), (("WARPSMITH=1", f"NVCC={folder / 'nvcc'}", "NVCCFLAGS="), 5), ((), 3)):
        assert exit_code(folder, *arguments) == code


def test_make_in_folders_below(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "all:\n\t$(MAKE) -C src\nclean:\n\t$(MAKE) -C src clean\n")
    (folder / "src").mkdir()
    for name in ("main.c", "solver.c"):
        (folder / name).rename(folder / "src" / name)
    (folder / "src" / "Makefile").write_text("CFLAGS = -O1\n../prog: main.o solver.o\n\t$(CC) $(CFLAGS) -o $@ $^\n")
    edit = edit_makefiles(shutil.copytree(folder, tmp_path / "copy"), ["src/solver.c"], "warpsmith", run)
    assert edit is not None
    assert set(edit.texts) == {"src/Makefile", "warpsmith/rules-src.mk"}
    apply(edit, folder)
    assert exit_code(folder, "WARPSMITH=1", f"NVCC={folder / 'nvcc'}", "NVCCFLAGS=") == 5


def test_the_makefile_that_make_reads(tmp_path: Path) -> None:
    assert makefile_in(tmp_path) is None
    for name in ("Makefile", "makefile", "GNUmakefile"):
        (tmp_path / name).write_text("all:\n")
        assert makefile_in(tmp_path) == tmp_path / name
    assert edit_makefiles(tmp_path / "none", ["a.c"], "warpsmith", run) is None


def test_what_is_refused_leaves_the_copy_as_it_was(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "prog: main.c solver.c\n\tgcc -O2 -o prog main.c solver.c -lm\n")
    before = (folder / "Makefile").read_text()
    assert edit_makefiles(folder, ["solver.c"], "warpsmith", run) is None
    assert edit_makefiles(folder, ["missing.c"], "warpsmith", run) is None
    assert (folder / "Makefile").read_text() == before
