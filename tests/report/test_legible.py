"""Names that are held one character a byte become letters; our own signs stay."""

from __future__ import annotations

from warpsmith.report.legible import legible, plain_expression, short_expression


def test_bytes_become_letters() -> None:
    assert legible("caf\xc3\xa9") == "café"
    assert legible("plain") == "plain"


def test_what_is_no_utf_8_and_our_own_signs_stay() -> None:
    assert legible("caf\xe9") == "caf\xe9"
    assert legible("4·n → 3") == "4·n → 3"


def test_expressions() -> None:
    assert plain_expression("(long long)n * (long long)m") == "n * m"
    assert short_expression("x" * 60) == "x" * 60
    assert short_expression("x" * 61) == "x" * 56 + " ..."
    assert short_expression("x" * 55 + " " + "y" * 9) == "x" * 55 + " ..."
