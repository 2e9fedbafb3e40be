"""Progress of a flow, for whoever watches it. Nothing depends on what the watcher does with it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

__all__ = ["Activity", "Progress", "ignore_progress"]


class Activity(Struct, frozen=True):
    """The stage that begins or goes on, the item that is worked on, and how many of `total` are done (0: unknown)."""

    stage: str
    item: str = ""
    done: int = 0
    total: int = 0


Progress = Callable[[Activity], None]


def ignore_progress(_: Activity) -> None:
    """Tell nobody."""
