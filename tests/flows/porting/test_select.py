"""Loops are found by the line of the file that they stand in, a header as well, however the file is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.errors import UsageError
from warpsmith.flows.porting.select import find_loop
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import NOT_MADE, While
from warpsmith.tree.program import Program

HEADER = """\
template <class T> void zero(T *a, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = 0;
}
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    for folder in ("app", "lib"):
        (tmp_path / folder).mkdir()
    (tmp_path / "lib/zero.hpp").write_text(HEADER)
    (tmp_path / "lib/other.cpp").write_text('#include "zero.hpp"\n\nint one(int n) { while (n) n--; return n; }\n')
    (tmp_path / "app/main.cpp").write_text('#include "../lib/zero.hpp"\nint main() { double a[9]; zero(a, 9); }\n')
    monkeypatch.chdir(tmp_path / "app")
    return load_program(["../lib/other.cpp", "main.cpp"], FrontOptions()).program


@pytest.mark.parametrize("file", ["zero.hpp", "lib/zero.hpp", "../lib/zero.hpp", "../app/../lib/zero.hpp"])
def test_a_loop_of_a_header_is_what_its_template_makes(program: Program, file: str) -> None:
    loop = find_loop(program, f"{file}:3")
    assert loop.span.file.path.endswith("zero.hpp") and loop.span.line == 3
    assert not (isinstance(loop, While) and loop.reason == NOT_MADE)


def test_a_line_is_one_of_the_file_that_is_named(program: Program) -> None:
    assert isinstance(find_loop(program, "../lib/other.cpp:3"), While)
    with pytest.raises(UsageError, match=r"no loop starts at main\.cpp:3"):
        find_loop(program, "main.cpp:3")
