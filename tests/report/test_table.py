"""Rows as aligned columns: only the last one is wrapped."""

from __future__ import annotations

import pytest

from warpsmith.report.table import table_text


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert table_text([("a", "bb"), ("ccc", "d")]).split("\n") == ["  a    bb", "  ccc  d"]
    assert table_text([("a", "b")], header=("first", "x")).split("\n") == ["  first  x", "  a      b"]


def test_short_rows_are_filled() -> None:
    assert table_text([("a",), ("b", "c", "d")]).split("\n") == ["  a", "  b  c  d"]


def test_the_last_column_is_wrapped_to_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = table_text([("place", "word " * 20)]).split("\n")
    assert len(lines) > 1 and max(map(len, lines)) <= 44
    assert all(line.startswith("         word") for line in lines[1:])


def test_it_never_gets_narrower_than_it_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    (line,) = table_text([("x" * 50, "y" * 30)]).split("\n")
    assert line == f"  {'x' * 50}  {'y' * 30}"


def test_markup_of_the_users_is_text() -> None:
    assert "[red]a[i]" in table_text([("[red]a[i]", "b")])
