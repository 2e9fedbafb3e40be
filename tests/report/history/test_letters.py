"""Letters of points."""

from __future__ import annotations

import string

from warpsmith.report.history.letters import points


def picture(text: str) -> list[str]:
    found = set(points(text))
    return ["".join("#" if (x, y) in found else "." for x in range(3)) for y in range(5)]


def test_letters_stand_upright_and_one_behind_the_other() -> None:
    assert picture("L") == ["#..", "#..", "#..", "#..", "###"]
    assert picture("7") == ["###", "..#", "..#", "..#", "..#"]
    assert list(points("  i")) == [(x + 8, y) for x, y in points("I")]


def test_all_letters_and_digits_differ() -> None:
    shapes = {tuple(picture(letter)) for letter in string.ascii_uppercase + string.digits}
    assert len(shapes) == 36 and not any(points("\u00e9"))
