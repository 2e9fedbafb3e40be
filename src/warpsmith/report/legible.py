"""Text of the user's, held one character a byte, among words of our own."""

from __future__ import annotations

from warpsmith.base.source import readable

__all__ = ["legible", "plain_expression", "short_expression"]

_LONGEST = 60


def legible(text: str) -> str:
    """Return a message as a person should read it: names that are held as bytes become letters, our own signs stay.

    >>> legible("caf\xc3\xa9"), legible("4\u00b7n"), legible("a \u2212 b")
    ('café', '4·n', 'a − b')
    """
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def plain_expression(expression: str) -> str:
    """Return a generated expression as a person would write it, without the casts against overflow."""
    return readable(expression.replace("(long long)", ""))


def short_expression(expression: str) -> str:
    """Return an expression that a line can hold; the launcher and the JSON report have the whole of it."""
    return expression if len(expression) <= _LONGEST else f"{expression[: _LONGEST - 4].rstrip()} ..."
