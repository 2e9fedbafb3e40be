"""A step that somebody asked for, and where."""

from __future__ import annotations

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.loops.step import Step

__all__ = ["ListedStep"]


class ListedStep(Struct, frozen=True):
    """A step with the place that asks for it: its name in a recipe; None where it was an option."""

    step: Step
    span: Span | None = None
