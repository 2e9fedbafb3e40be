"""Compiler calls are read as their compilers read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.project.command_line import CompilerCall, add_implied, commands_of, compiler_family, read_call

HOME = "/home/me/p"


def call(words: str, directory: str = HOME) -> CompilerCall:
    found = read_call(words.split(), directory)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("word", "family"),
    [
        ("gcc", "gcc"),
        ("/usr/bin/x86_64-linux-gnu-g++-12", "g++"),
        ("clang++-18", "clang++"),
        ("mpicc", "mpicc"),
        ("/usr/local/cuda/bin/nvcc", "nvcc"),
        ("gfortran-12", "gfortran"),
        ("ar", None),
        ("gcc-ar", None),
        ("mygcc.sh", None),
    ],
)
def test_a_compiler_is_known_by_its_name(word: str, family: str | None) -> None:
    assert compiler_family(word) == family


def test_folders_and_forced_headers_become_absolute_and_options_one_word_each(tmp_path: Path) -> None:
    (tmp_path / "force.h").write_text("")
    found = read_call(
        [
            "gcc",
            "-I",
            "inc",
            "-I../top",
            "-isystem",
            "sys",
            "-iquote",
            "q",
            "-include",
            "force.h",
            "-include",
            "std.h",
            "-D",
            "N=4",
            "-UX",
            "-std=c99",
            "-c",
            "a.c",
        ],
        str(tmp_path),
    )
    assert found is not None
    here = str(tmp_path)
    assert found.arguments == (
        f"-I{here}/inc", f"-I{tmp_path.parent}/top", f"-isystem{here}/sys", f"-iquote{here}/q",
        f"-include{here}/force.h", "-includestd.h", "-DN=4", "-UX", "-std=c99",
    )  # fmt: skip
    assert found.inputs == ((f"{here}/a.c", "c"),)


def test_what_names_dependency_files_or_is_for_the_linker_is_no_option_of_the_text() -> None:
    found = call("gcc -MD -MF a.d -MT a.o -O2 -Wall -Lx -lm -Wl,-z,now -shared -c -o out/a.o a.c")
    assert found.arguments == ("-O2", "-Wall")
    assert found.output == f"{HOME}/out/a.o"
    assert found.link_arguments == ("-Lx", "-lm", "-Wl,-z,now", "-shared")


def test_launchers_are_looked_through() -> None:
    for before in ("ccache", "env A=b CCACHE_DIR=/x", "distcc", "cmake -E __run_co_compile --launcher=x --"):
        assert call(f"{before} g++ -c a.cpp").compiler == "g++"


def test_languages_by_suffix_by_option_and_by_compiler() -> None:
    def languages(words: str) -> list[str | None]:
        return [language for _, language in call(words).inputs]

    assert languages("gcc -c a.c b.cpp c.C d.cu e.f90 f.o") == ["c", "c++", "c++", "cuda", None, None]
    assert languages("g++ -c a.c") == ["c++"]
    assert languages("gcc -x c++ -c a.c -x none b.c") == ["c++", "c"]
    assert languages("nvcc -x cu -c a.cpp") == ["cuda"]


def test_what_passes_through_nvcc_is_the_host_compilers() -> None:
    found = call("nvcc -arch sm_80 -gencode arch=compute_80,code=sm_80 -Xcompiler -fopenmp,-O3 -Xptxas -v -c a.cu")
    assert found.arguments == ("-fopenmp", "-O3")
    assert found.inputs == ((f"{HOME}/a.cu", "cuda"),)


def test_a_call_that_compiles_and_links_makes_commands_and_a_link() -> None:
    made, link = commands_of(call("gcc -DA a.c b.c k.o -L. -lk -o run"))
    assert [(c.file, c.output, c.arguments) for c in made] == [
        (f"{HOME}/a.c", f"{HOME}/run", ("-DA",)),
        (f"{HOME}/b.c", f"{HOME}/run", ("-DA",)),
    ]
    assert link is not None
    assert link.inputs == (f"{HOME}/a.c", f"{HOME}/b.c", f"{HOME}/k.o")


def test_preprocessing_and_questions_compile_nothing() -> None:
    for words in ("gcc -E a.c", "gcc -M a.c", "gcc --version", "gcc -v -dumpmachine", "gcc -c -fsyntax-only a.c"):
        assert commands_of(call(words)) == ((), None), words


def test_response_files_are_read_also_inside_each_other(tmp_path: Path) -> None:
    (tmp_path / "a.rsp").write_text('-DA="1 2" @b.rsp\n')
    (tmp_path / "b.rsp").write_text("-DB -I inc")
    found = read_call(["gcc", "@a.rsp", "@gone.rsp", "-c", "a.c"], str(tmp_path))
    assert found is not None
    assert found.arguments == ("-DA=1 2", "-DB", f"-I{tmp_path}/inc")
    assert found.missing == (str(tmp_path / "gone.rsp"),)


def test_a_response_file_that_names_itself_ends(tmp_path: Path) -> None:
    (tmp_path / "a.rsp").write_text("@a.rsp -DA")
    found = read_call(["gcc", "@a.rsp", "-c", "a.c"], str(tmp_path))
    assert found is not None
    assert found.missing


def test_an_mpi_compiler_says_what_it_adds(tmp_path: Path) -> None:
    tool = tmp_path / "mpicc"
    tool.write_text("#!/bin/sh\necho gcc -I/opt/mpi/include -pthread -Wl,-rpath -lmpi\n")
    tool.chmod(0o755)
    found = read_call([str(tool), "-c", "a.c"], HOME)
    assert found is not None
    assert add_implied(found).arguments == ("-I/opt/mpi/include", "-pthread")
    assert add_implied(call("gcc -c a.c")).arguments == ()
