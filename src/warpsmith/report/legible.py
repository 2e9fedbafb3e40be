"""Text of the user's, held one character a byte, among words of our own."""

from __future__ import annotations

__all__ = ["legible"]


def legible(text: str) -> str:
    """Return a message as a person should read it: names that are held as bytes become letters, our own signs stay.

    >>> legible("caf\xc3\xa9"), legible("4\u00b7n"), legible("a \u2212 b")
    ('café', '4·n', 'a − b')
    """
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text
