"""Which files of a project are ported together, and where it is built from."""

from __future__ import annotations

from pathlib import Path

from warpsmith.flows.porting.targets import build_folder, inner_folders, target_commands
from warpsmith.project.model import CompileCommand, Project


def project(root: Path, built_in: Path, *files: str) -> Project:
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text("int x;\n")
    return Project(str(root), tuple(CompileCommand(str(root / file), str(built_in), "cc", ()) for file in files))


def test_the_build_file_may_stand_beside_what_it_compiles(tmp_path: Path) -> None:
    root = tmp_path / "code"
    app, build = root / "app", root / "app" / "build"
    build.mkdir(parents=True)
    made = project(root, build, "app/main.c", "shared/field.c")
    assert build_folder(made, str(root)) == "."  # nothing is found
    (app / "CMakeLists.txt").touch()
    (build / "Makefile").touch()
    (build / "CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={app}\n")
    assert build_folder(made, str(root)) == "app"
    (root / "Makefile").touch()
    assert build_folder(made, str(root)) == "."


def test_folders_that_compilers_ran_in_may_have_a_build_file(tmp_path: Path) -> None:
    root = tmp_path / "code"
    made = project(root, root / "omp", "omp/main.c", "shared/field.c")
    assert inner_folders(made, str(root)) == ()
    (root / "omp" / "Makefile").touch()
    (root / "shared" / "Makefile").touch()
    assert inner_folders(made, str(root)) == ("omp",)
    assert inner_folders(project(root, root, "omp/main.c"), str(root)) == ()


def test_a_folder_of_a_build_elsewhere_names_its_sources(tmp_path: Path) -> None:
    root, build = tmp_path / "code", tmp_path / "build"
    build.mkdir()
    made = project(root, build, "app/main.c", "shared/field.c")
    (root / "app" / "CMakeLists.txt").touch()
    assert build_folder(made, str(root)) == "."
    (build / "CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={root / 'app'}\n")
    assert build_folder(made, str(root)) == "app"


def test_files_of_other_languages_are_called_and_not_read(tmp_path: Path) -> None:
    made = project(tmp_path, tmp_path, "main.f90", "solve.c", "show.cpp")
    assert [Path(command.file).name for command in target_commands(made, None)] == ["solve.c", "show.cpp"]
