"""Rows as aligned columns: only the last one is wrapped."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from warpsmith.report import table
from warpsmith.report.table import table_text

LETTERS = "ab(c)-·é=<>[b]/  "


def _text(chosen: random.Random, longest: int, letters: str = LETTERS) -> str:
    return "".join(chosen.choice(letters) for _ in range(chosen.randrange(longest)))


@pytest.mark.parametrize("seed", range(150))
def test_lines_are_those_of_rich(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = random.Random(seed)
    monkeypatch.setenv("COLUMNS", str(chosen.choice((40, 60, 80, 100, 200))))
    count = chosen.randrange(1, 5)
    rows = [
        [*(_text(chosen, 12) for _ in range(count - 1)), _text(chosen, chosen.choice((10, 60, 250)))]
        for _ in range(chosen.randrange(1, 5))
    ]
    header = [f"h{number}" for number in range(count)] if chosen.random() < 0.5 else []
    own = table_text(rows, header)
    monkeypatch.setattr(table, "_is_simple", lambda cell: False)
    assert own == table_text(rows, header)


def test_the_last_column_is_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert table_text([("5", "for i", "no carried dependence, proven with all that is known")]).splitlines() == [
        "  5  for i  no carried dependence, proven",
        "            with all that is known",
    ]


@pytest.mark.parametrize("cell", ["中文", "a\tb", "a\nb", "e\u0301", "\u00ad"])
def test_characters_of_other_widths_are_measured(cell: str) -> None:
    first, second = table_text([(cell, "x"), ("longer", "x")]).splitlines()[-2:]
    assert second.startswith("  longer")
    assert first.endswith("x") or "\n" in cell


def test_plain_text_needs_no_library() -> None:
    code = "import sys; from warpsmith.report.table import *; print(table_text([('a', 'b')]), 'rich' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "  a  b False\n"


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
