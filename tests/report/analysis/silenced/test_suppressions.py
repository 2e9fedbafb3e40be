"""Comments that silence findings: where they are found, and which lines they cover."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile
from warpsmith.report.analysis.silenced.suppressions import suppressions

_COMMENT = "// warpsmith: ignore[MEM001] we don't care"


def covered(text: str) -> list[tuple[int, int]]:
    return [(one.first, one.last) for one in suppressions(SourceFile("k.cu", text))]


def test_a_comment_on_a_line_of_its_own_covers_the_next_code() -> None:
    assert covered(f"a();\n{_COMMENT}\n\n// more\nb();\nc();") == [(2, 5)]
    assert covered(f"a(); {_COMMENT}\nb();") == [(1, 1)]
    assert covered(f"a();\n{_COMMENT}\n") == [(2, 4)]


def test_a_comment_of_several_lines_below_it_is_no_code() -> None:
    assert covered(f"{_COMMENT}\n/* one\n   two */\nb();") == [(1, 4)]


@pytest.mark.parametrize(
    "code",
    ["int n = 1'000;", 'auto s = R"x("\')x";', "char c = '\"';", "#include <a//b>", "// a\r", "#include <a/*b>\n"],
)
def test_it_is_found_behind_anything(code: str) -> None:
    assert len(covered(f"{code} {_COMMENT}\nb();")) == 1


@pytest.mark.parametrize("quoted", [f'"{_COMMENT}"', f'R"(" {_COMMENT})"', f'"a\\\n{_COMMENT}"'])
def test_in_a_string_it_is_none(quoted: str) -> None:
    assert covered(f"f({quoted});") == []
