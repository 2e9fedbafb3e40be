"""A change of the user's text that mends a finding."""

from __future__ import annotations

from msgspec import Struct

from warpsmith.base.source import Edit

__all__ = ["Fix"]


class Fix(Struct, frozen=True):
    """`title` says what it does; `edits` stand in the order of the text and do not overlap; `safe`: no result of the
    program changes, not by a bit."""

    title: str
    edits: tuple[Edit, ...]
    safe: bool
