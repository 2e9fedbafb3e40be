"""A program's files as the referee takes them: which options they need."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from warpsmith.emit.files import OutputFile
from warpsmith.flows.port import PortOptions, port
from warpsmith.flows.porting.sources import (
    kernel_arguments,
    meaningful,
    project_headers,
    sources_of,
    unit_arguments,
    with_own_folders,
)
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.program import Program


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (("-O2", "-g", "-Wall", "-o", "x", "-c"), ()),
        (("-I", "a", "-DX=1", "-U", "Y", "-Ib"), ("-I", "a", "-DX=1", "-U", "Y", "-Ib")),
        (("-std=c11", "--std", "c++17", "-ansi"), ("-std=c11", "--std", "c++17", "-ansi")),
        (("-fopenmp", "-fwrapv", "-fPIC", "-pthread"), ("-fopenmp", "-fwrapv", "-pthread")),
        (("-include", "a.h", "-isystem", "s", "-MD", "-MF", "x.d"), ("-include", "a.h", "-isystem", "s")),
        (("-D",), ("-D", "")),
    ],
)
def test_options_that_say_what_a_program_means(given: tuple[str, ...], kept: tuple[str, ...]) -> None:
    assert meaningful(given) == kept


def test_generated_kernels_have_no_options() -> None:
    files = (OutputFile("a_kernels.cu", ""), OutputFile("mine.cu", ""), OutputFile("a.c", ""))
    assert kernel_arguments(files, {"mine.cu": ("-DX",)}) == {"a_kernels.cu": ()}


def test_folders_of_a_project_are_those_of_its_copy(tmp_path: Path) -> None:
    inside, outside = tmp_path / "p" / "include", tmp_path / "other"
    given = (f"-I{inside}", "-DX", f"-I{outside}")
    assert with_own_folders(given, str(tmp_path / "p"), "copy") == ("-Icopy/include", *given)
    assert with_own_folders(given, str(tmp_path / "p")) == ("-Iinclude", *given)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("p")
    (folder / "own.h").write_text("static inline int twice(int x) { return 2 * x; }\n")
    (folder / "a.c").write_text('#include <stdlib.h>\n#include "own.h"\nint f(int x) { return twice(x) * K; }\n')
    return load_program([str(folder / "a.c")], FrontOptions(arguments=("-O2", "-DK=3"))).program


def test_a_program_goes_with_its_own_options_and_folder(program: Program) -> None:
    (unit,) = program.units
    folder = str(Path(unit.file.path).parent)
    found = sources_of(program, (OutputFile("a.c", ""), OutputFile("k.cu", "")), captured=True)
    assert (found.arguments, found.directory) == (("-DK=3",), folder)
    assert unit_arguments(unit)[-1] == f"-I{folder}" and "-O2" not in unit_arguments(unit)
    assert list(found.own.values()) == [unit_arguments(unit), ()]


def test_headers_of_the_project_and_no_others(program: Program) -> None:
    root = os.path.realpath(Path(program.units[0].file.path).parent)
    assert [(file.path, "twice" in file.text) for file in project_headers(program, root)] == [("own.h", True)]
    assert list(project_headers(program, os.path.join(root, "below"))) == []  # noqa: PTH118


@pytest.mark.parametrize(
    ("type", "body", "bits"),
    [
        ("float", "y = y * 0.5f + a[i]; b[i] = y;", 32),
        ("double", "y = y * 0.5 + a[i]; b[i] = y;", 64),
        ("float", "y += a[i]; b[i] = y;", 32),
        ("float", "y += a[i];", 64),
        ("float", "b[i] = y + a[i];", 0),
    ],
)
def test_how_wide_what_is_combined_in_another_order_is(type: str, body: str, bits: int, tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(
        f"{type} f(int n, const float *restrict a, double *restrict b) "
        f"{{ {type} y = 1; for (int i = 0; i < n; i++) {{ {body} }} return y; }}\n"
    )
    result = port([str(path)], PortOptions(verify=False))
    assert result.ported is not None
    assert sources_of(result.ported.candidate, (), captured=True).reordered_bits == bits
