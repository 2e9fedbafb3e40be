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
