"""Slips planted in a file of the run time that ports carry."""

from __future__ import annotations

import pytest

from warpsmith.emit import parts

__all__ = ["change_part"]


def change_part(patch: pytest.MonkeyPatch, name: str, *changes: tuple[str, str]) -> None:
    """Let ports carry another text of the part `name`: each of `changes` is an old text, which stands there, and what
    takes its place."""
    real = parts._text
    text = real(name)
    for old, new in changes:
        assert old in text, f"{name} has no {old!r}"
        text = text.replace(old, new)
    patch.setattr(parts, "_text", lambda asked: text if asked == name else real(asked))
