"""CMake projects gain one line, after configuring has shown that it builds both programs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.project.buildfiles.projects import apply, project, run
from warpsmith.project.buildfiles.cmake import edit_cmake

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
    edit = edit_cmake(shutil.copytree(folder, tmp_path / "copy"), ["solver.c"], "warpsmith", run)
    assert edit is not None
    assert edit.texts["CMakeLists.txt"] == CMAKE + "include(warpsmith/targets.cmake)\n"
    apply(edit, folder)
    for options, expected in (((), 3), (("-DWARPSMITH=ON", f"-DWARPSMITH_NVCC={folder / 'nvcc'}"), 5)):
        build = folder / f"build{expected}"
        subprocess.run(["cmake", "-S", ".", "-B", str(build), *options], cwd=folder, check=True, capture_output=True)
        subprocess.run(["cmake", "--build", str(build)], check=True, capture_output=True)
        assert subprocess.run([str(build / "prog")], check=False).returncode == expected


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
@pytest.mark.parametrize(
    ("text", "sources"),
    [
        (None, ["solver.c"]),
        (CMAKE, ["missing.c"]),
        (CMAKE.replace("solver.c", "gone.c"), ["solver.c"]),
        (CMAKE + "message(FATAL_ERROR no)\n", ["solver.c"]),
    ],
    ids=["no CMakeLists.txt", "another file", "a file that is gone", "broken"],
)
def test_what_is_not_understood_is_left_alone(text: str | None, sources: list[str], tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "", "Makefile")
    if text is not None:
        (folder / "CMakeLists.txt").write_text(text)
    assert edit_cmake(folder, sources, "warpsmith", run) is None
    assert not (folder / "warpsmith" / "targets.cmake").exists()
    assert text is None or (folder / "CMakeLists.txt").read_text() == text
