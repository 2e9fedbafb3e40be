"""Input files before they are parsed."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.findings import Finding
from warpsmith.front.clang.system_headers import own_headers
from warpsmith.front.inputs import BYTES_A_NODE, Input, Source, parser_arguments, read_input


def refused(source: Source, limit: int = 1000) -> tuple[str, str]:
    made = read_input(source, limit)
    assert isinstance(made, Finding) and made.help
    return made.rule, made.message


def test_a_file_is_read_with_its_language(tmp_path: Path) -> None:
    for name, language in {"a.c": "c", "a.H": "c", "b.CPP": "c++", "c.cu": "cuda", "d.hpp": "c++"}.items():
        path = tmp_path / name
        path.write_text("int x;\n")
        made = read_input(Source(str(path), ("-O2",)), 1000)
        assert isinstance(made, Input)
        assert (made.language, made.arguments, made.unsaved, made.file.text) == (language, ("-O2",), False, "int x;\n")
    made = read_input(Source(str(tmp_path / "a.c"), (), "c++", "int y;\n"), 1000)
    assert isinstance(made, Input) and (made.language, made.unsaved, made.file.text) == ("c++", True, "int y;\n")


def test_what_cannot_be_used_says_why(tmp_path: Path) -> None:
    assert refused(Source(str(tmp_path / "gone.c")))[1].endswith("gone.c does not exist")
    assert refused(Source(str(tmp_path)))[1].endswith("is a directory")
    path = tmp_path / "a.f90"
    path.write_text("end")
    assert refused(Source(str(path)))[1].endswith("the suffix .f90 says no language")
    assert refused(Source(str(path), (), "fortran"))[1].endswith("says no language")
    for text, words in {"a\0b": "it has zero bytes", " \n": "is empty"}.items():
        path.write_text(text)
        assert words in refused(Source(str(path), (), "c"))[1]
    path.write_bytes(b"x" * (BYTES_A_NODE * 10 + 1))
    assert refused(Source(str(path), (), "c"), 10)[0] == "INP003"
    assert isinstance(read_input(Source(str(path), (), "c"), 11), Input)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (("-I", "inc", "-DN=4", "-U", "M"), ["-Iinc", "-DN=4", "-UM"]),
        (("--std", "c99"), ["-std=c99"]),
        (("-std=c++20", "-O2", "-fno-ipa-sra", "-march=native"), ["-std=c++20"]),
        (("-isystem", "sys", "-funsigned-char", "-m32"), ["-isystemsys", "-funsigned-char", "-m32"]),
        (("-fopenmp",), ["-D_OPENMP=201511"]),
    ],
)
def test_options_that_say_how_text_is_read_reach_the_parser(given: tuple[str, ...], kept: list[str]) -> None:
    made = parser_arguments("c", given)
    assert all(word in made for word in kept)
    assert not {"-O2", "-fno-ipa-sra", "-march=native", "-fopenmp"} & set(made)
    assert ("-std=gnu17" in made) == (not any("std" in word for word in given))


def test_cuda_is_read_with_headers_of_ours() -> None:
    made = parser_arguments("cuda", ())
    assert made[:2] == ["-x", "cuda"] and "--cuda-host-only" in made and str(own_headers() / "cuda") in made
    assert made[:2] != parser_arguments("c++", ())[:2] and "--cuda-host-only" not in parser_arguments("c++", ())
