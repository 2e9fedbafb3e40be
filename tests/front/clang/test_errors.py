"""What clang says is wrong with a text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from warpsmith.front.clang.errors import find_errors
from warpsmith.front.clang.kinds import SEVERITY_ERROR
from warpsmith.front.clang.libclang import load_library
from warpsmith.front.clang.process import library_path
from warpsmith.front.clang.wire import Diagnostic

Find = Callable[..., list[Diagnostic]]


@pytest.fixture(scope="module")
def find() -> Find:
    library = load_library(library_path())

    def find(text: bytes, *, notes: bool = False) -> list[Diagnostic]:
        index = library.createIndex(0, 0)
        unit = library.parse(index, "a.c", ["-x", "c", "-Wall"], 0, text)
        assert unit is not None
        found = find_errors(library, unit, notes=notes)
        library.disposeTranslationUnit(unit)
        library.disposeIndex(index)
        return found

    return find


def test_errors_are_found_and_warnings_are_not(find: Find) -> None:
    assert find(b"static int unused; int f(void) { }") == []
    (error,) = find(b"static int unused;\nint a = b;\n")
    severity, text, file, line, offset = error
    assert severity == SEVERITY_ERROR
    assert "undeclared identifier 'b'" in text
    assert (file, line, offset) == ("a.c", 2, 27)


def test_notes_name_their_place(find: Find) -> None:
    twice = b"int a;\nfloat a;\n"
    (short,), (long,) = find(twice), find(twice, notes=True)
    assert long[1].splitlines() == [short[1], "a.c:1: previous definition is here"]
