"""libclang's C interface, as far as it is declared here."""

from __future__ import annotations

import pytest

from warpsmith.front.clang.libclang import Library, load_library
from warpsmith.front.clang.process import library_path


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library(library_path())


def test_a_text_in_place_of_a_file(library: Library) -> None:
    index = library.createIndex(0, 0)
    unit = library.parse(index, "no such file \udcff.c", ["-x", "c", "-w"], 0, b"int a;\nint \xe4b;\n")
    assert unit is not None
    handle = library.getFile(unit, b"no such file \xff.c")
    assert library.path(handle) == "no such file \udcff.c"
    assert library.size(unit, handle) == 15
    assert library.place(library.getLocationForOffset(unit, handle, 11)) == (handle, 2, 11)
    library.disposeTranslationUnit(unit)
    library.disposeIndex(index)


def test_a_file_that_is_not_there_has_no_unit(library: Library) -> None:
    index = library.createIndex(0, 0)
    assert library.parse(index, "/nowhere/at/all.c", ["-x", "c"], 0, None) is None
    library.disposeIndex(index)


def test_only_what_is_declared_is_called(library: Library) -> None:
    with pytest.raises(AttributeError, match="getClangVersion"):
        library.getClangVersion()
    with pytest.raises(OSError, match="nowhere"):
        load_library("/nowhere/libclang.so")
