"""The measure of what a port adds to its owner's text."""

from __future__ import annotations

from pathlib import Path

from benchmarks.host_text import Row, count_unformatted, find_added, measure, write_table

_LOOP = "void f(int n, double *a)\n{\n    for (int i = 0; i < n; i++)\n        a[i] = i;\n}\n"


def test_lines_that_only_moved_to_the_right_are_the_users() -> None:
    new = _LOOP.replace("    for", "    if (!g())\n        for").replace("        a[i]", "            a[i]")
    assert find_added(_LOOP, new) == [3]
    assert find_added(_LOOP, _LOOP) == []


def test_added_lines_that_clang_format_changes() -> None:
    text = _LOOP.replace("{\n    for", "{\n    g( n );\n    h(n);\n    for")
    assert count_unformatted(text, [3, 4]) == 1
    assert count_unformatted(text, [4]) == 0


def test_a_program_is_measured(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(_LOOP)
    row = measure(str(tmp_path / "a.c"))
    assert row is not None and (row.kernels, row.lines, row.unformatted) == (1, 1, 0)
    (tmp_path / "b.c").write_text("int f(void) { return 1; }\n")
    assert measure(str(tmp_path / "b.c")) is None
    assert (
        list(write_table([row]))[-1] == f"1 programs: 1.0 lines a kernel in the median, {row.columns} columns at most"
    )
    assert list(write_table([Row("x.c", 2, 8, 200, 3), row]))[1].split() == ["x.c", "2", "8", "4.0", "200", "3"]


def test_a_call_in_place_is_a_line_as_well(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(_LOOP)
    row = measure(str(tmp_path / "a.c"), in_place=True)
    assert row is not None and (row.kernels, row.lines, row.unformatted) == (1, 1, 0)
