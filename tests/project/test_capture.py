"""Builds are run and watched: real ones, small."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from warpsmith.base.errors import InputError, UsageError
from warpsmith.project.capture import capture_build

MAKEFILE = """\
CC = gcc
run: main.o libk.a
\t$(CC) main.o -L. -lk -o run
libk.a: k.o
\tar rcs libk.a k.o
main.o: main.c k.h
\t$(CC) -Iinc -DN=4 -c main.c -o main.o
k.o: k.c k.h
\t$(CC) -O1 -c k.c
clean:
\trm -f *.o *.a run
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "Makefile").write_text(MAKEFILE)
    (folder / "k.h").write_text("int k(int);\n")
    (folder / "k.c").write_text('#include "k.h"\nint k(int n) { return n; }\n')
    (folder / "main.c").write_text('#include "k.h"\nint main(void) { return k(N) - 4; }\n')
    monkeypatch.chdir(folder)
    return folder


def test_a_make_build_with_an_archive(project: Path) -> None:
    found = capture_build(["make", "-j4"])
    assert found.root == str(project)
    assert {(c.file, c.arguments, c.output) for c in found.commands} == {
        (f"{project}/main.c", (f"-I{project}/inc", "-DN=4"), f"{project}/main.o"),
        (f"{project}/k.c", ("-O1",), f"{project}/k.o"),
    }
    assert [Path(c.file).name for c in found.target(f"{project}/run")] != []
    assert {Path(c.file).name for c in found.target(f"{project}/run")} == {"main.c", "k.c"}
    assert not found.findings
    # nothing but what the build itself writes
    assert {p.name for p in project.iterdir()} == {
        "Makefile", "k.h", "k.c", "main.c", "main.o", "k.o", "libk.a", "run",
    }  # fmt: skip


def test_calls_at_the_same_time_do_not_mix(project: Path) -> None:
    names = [f"f{n}" for n in range(40)]
    for name in names:
        (project / f"{name}.c").write_text(f"int {name};\n")
    objects = " ".join(f"{name}.o" for name in names)
    (project / "Makefile").write_text(f"all: {objects}\n%.o: %.c\n\tgcc -DNAME=$* -c $< -o $@\n")
    found = capture_build(["make", "-j8"])
    assert sorted(c.arguments for c in found.commands) == sorted((f"-DNAME={name}",) for name in names)


def test_nothing_is_compiled_when_all_is_up_to_date(project: Path) -> None:
    capture_build(["make"])
    with pytest.raises(InputError, match="make -B"):
        capture_build(["make"])
    assert len(capture_build(["make", "-B"]).commands) == 2


def test_a_build_that_writes_down_where_its_compiler_is(project: Path) -> None:
    found = capture_build(["sh", "-c", "make && command -v gcc > where.txt && echo new > other.txt"])
    (finding,) = found.findings
    assert finding.rule == "PRJ007" and "where.txt" in finding.message and "other.txt" not in finding.message


def test_in_the_folder_of_a_configured_build_cmake_is_what_helps(project: Path) -> None:
    (project / "CMakeCache.txt").touch()
    with pytest.raises(InputError) as found:
        capture_build(["true"])
    (said,) = found.value.findings[0].help
    assert f"cmake {project} -DCMAKE_EXPORT_COMPILE_COMMANDS=ON" in said


def test_a_part_that_is_up_to_date_is_told(project: Path) -> None:
    capture_build(["make"])
    (project / "main.o").unlink()
    found = capture_build(["make"])
    assert [c.file for c in found.commands] == [f"{project}/main.c"]
    (finding,) = found.findings
    assert finding.rule == "PRJ004"
    assert "libk.a" in finding.message


def test_a_failed_build_is_told_and_what_was_seen_is_kept(project: Path) -> None:
    (project / "main.c").write_text("this is no C\n")
    found = capture_build(["make", "-k"])
    assert {Path(c.file).name for c in found.commands} == {"main.c", "k.c"}
    assert [f.rule for f in found.findings] == ["PRJ006"]
    assert "exit code 2" in found.findings[0].message


def test_a_compiler_by_its_absolute_path_on_the_command_line_and_in_the_environment(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gcc = shutil.which("gcc")
    assert gcc is not None
    assert len(capture_build(["make", f"CC={gcc}"]).commands) == 2
    monkeypatch.setenv("CC", gcc)
    (project / "Makefile").write_text("all:\n\t$(CC) -c k.c\n")
    (found,) = capture_build(["make"]).commands
    assert (found.file, found.compiler) == (f"{project}/k.c", gcc)


def test_a_command_that_does_not_exist(project: Path) -> None:
    with pytest.raises(UsageError, match="no-such-tool"):
        capture_build(["no-such-tool", "-j4"])


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake")
@pytest.mark.slow
def test_cmake_is_left_alone_and_its_database_is_read(project: Path) -> None:
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(p C)\nadd_executable(run main.c k.c)\n"
        "target_compile_definitions(run PRIVATE N=4)\n"
    )
    found = capture_build(["sh", "-c", "cmake -B build >/dev/null && cmake --build build"])
    assert {(Path(c.file).name, c.arguments) for c in found.commands} == {("main.c", ("-DN=4",)), ("k.c", ("-DN=4",))}
    assert "warpsmith" not in (project / "build" / "CMakeCache.txt").read_text()


def test_the_wrappers_leave_words_as_they_are(project: Path) -> None:
    words = ["a b", "*", '"quoted"', "$HOME", "back\\slash", "", "-n", "%s"]
    echo = project / "gcc"
    echo.write_text('#!/bin/sh\nfor word in "$@"; do printf "<%s>" "$word"; done >> said\n')
    echo.chmod(0o755)
    path = os.environ["PATH"]
    os.environ["PATH"] = f"{project}:{path}"
    try:
        with pytest.raises(InputError):
            capture_build(["gcc", "-E", *words])
    finally:
        os.environ["PATH"] = path
    assert (project / "said").read_text() == "".join(f"<{word}>" for word in ["-E", *words])


def test_what_stands_before_the_compiler_finds_the_real_one_in_path(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # as `gcc` that is a link to ccache does: it goes on to the next gcc of PATH that is not itself
    links = tmp_path / "links"
    links.mkdir()
    before = f"""#!/bin/sh
test -n "$BEFORE" && exit 1
IFS=:
for folder in $PATH; do
    test "$folder" != "{links}" && test -x "$folder/gcc" && BEFORE=once exec "$folder/gcc" "$@"
done
"""
    (links / "gcc").write_text(before)
    (links / "gcc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{links}{os.pathsep}{os.environ['PATH']}")
    found = capture_build(["make"])
    assert not found.findings
    assert {Path(c.file).name for c in found.commands} == {"main.c", "k.c"}
