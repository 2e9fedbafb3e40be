"""Letters of three by five points, for pictures that are made of points: a digit of three bits a row, from the top."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

__all__ = ["WIDE", "points"]

WIDE: Final = 4
"""Points from one letter to the next."""
_SHAPES: Final = {
    "0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711", "5": "74717", "6": "74757", "7": "71111",
    "8": "75757", "9": "75717", "A": "25755", "B": "65656", "C": "34443", "D": "65556", "E": "74647", "F": "74644",
    "G": "34553", "H": "55755", "I": "72227", "J": "11152", "K": "55655", "L": "44447", "M": "57755", "N": "65555",
    "O": "25552", "P": "65644", "Q": "25563", "R": "65655", "S": "34216", "T": "72222", "U": "55557", "V": "55552",
    "W": "55775", "X": "55255", "Y": "55222", "Z": "71247", ":": "02020", ".": "00002", ",": "00024", "-": "00700",
    "%": "51245", "(": "12221", ")": "42224", "/": "11244", "'": "22000", "+": "02720", "=": "07070", "_": "00007",
    ";": "02024", "?": "71202", "&": "25256",
}  # fmt: skip


def points(text: str) -> Iterator[tuple[int, int]]:
    """Yield the points of a text, from its upper left corner; small letters are as large ones, others are blank."""
    for place, letter in enumerate(text.upper()):
        for y, row in enumerate(_SHAPES.get(letter, "00000")):
            for x in range(3):
                if int(row) >> 2 - x & 1:
                    yield place * WIDE + x, y
