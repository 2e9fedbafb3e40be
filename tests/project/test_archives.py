"""Archiver calls: what they put together, and which of them put nothing together."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.project.archives import read_archive

HOME = "/home/me/p"


@pytest.mark.parametrize(
    ("words", "output", "members"),
    [
        ("ar rcs libk.a a.o sub/b.o", "libk.a", ["a.o", "sub/b.o"]),
        ("ar -rcs libk.a a.o", "libk.a", ["a.o"]),
        ("gcc-ar qc out/../libk.a ./a.o", "libk.a", ["a.o"]),
        ("ar --plugin=x rcs libk.a a.o", "libk.a", ["a.o"]),
        # the member that others stand before or behind is no member of this call
        ("ar rb old.o libk.a a.o", "libk.a", ["a.o"]),
        ("ar ra old.o libk.a a.o b.o", "libk.a", ["a.o", "b.o"]),
        ("ar r libk.a", "libk.a", []),
    ],
)
def test_what_is_put_together(words: str, output: str, members: list[str]) -> None:
    made = read_archive(words.split(), HOME)
    assert made is not None and (made.directory, made.compiler) == (HOME, words.split()[0])
    assert (made.output, list(made.inputs)) == (f"{HOME}/{output}", [f"{HOME}/{name}" for name in members])


@pytest.mark.parametrize(
    "words", ["ar t libk.a", "ar --version", "ar rcs", "ar x libk.a", "ar d libk.a a.o", "ar p libk.a", "ar"]
)
def test_what_adds_nothing(words: str) -> None:
    assert read_archive(words.split(), HOME) is None


def test_names_in_a_file_and_absolute_ones(tmp_path: Path) -> None:
    (tmp_path / "names").write_text("a.o\nb.o\n")
    made = read_archive(["ar", "rcs", "/lib/k.a", "@names"], str(tmp_path))
    assert made is not None and made.output == "/lib/k.a"
    assert made.inputs == (f"{tmp_path}/a.o", f"{tmp_path}/b.o")
