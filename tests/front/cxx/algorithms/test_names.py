"""Which calls of the library are listed as loops of the program's, with their places."""

from __future__ import annotations

from pathlib import Path

from warpsmith.front.inputs import Source
from warpsmith.front.load import FrontOptions
from warpsmith.front.separate import parse_separately


def test_algorithms_are_listed_and_a_sort_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(
        "#include <algorithm>\n#include <numeric>\nint f(int *p, int n)\n{\n    std::fill(p, p + n, 1);\n"
        "    std::sort(p, p + n);\n    int s =\n        std::accumulate(p, p + n, 0);\n    return s;\n}\n"
    )
    (parsed,) = parse_separately([Source(str(path))], FrontOptions())
    assert [(place.form, place.function, place.span.line) for place in parsed.loops()] == [
        ("std::fill", "f", 5),
        ("std::accumulate", "f", 8),
    ]
