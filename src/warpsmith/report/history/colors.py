"""Colors and patterns of a history: what a color says, a pattern says as well, in print and to who sees no red."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

__all__ = ["PAINTS", "Paint"]


class Paint(Struct, frozen=True):
    """A color with a pattern of lines or dots in another; colors as #rrggbb."""

    fill: str
    pattern: Literal["", "rising", "dots", "level"] = ""
    ink: str = ""


PAINTS: Final[Mapping[str, Paint]] = {
    "active": Paint("#ffffff"),
    "masked": Paint("#000000"),
    "stalled": Paint("#2f6fde", "rising", "#9dc0ff"),
    "ready": Paint("#d62f2f", "dots", "#ffd0d0"),
    "empty": Paint("#b9bec6", "level", "#d5d9df"),
    "frame": Paint("#f3f5f8"),
    "edge": Paint("#5b6470"),
    "hits": Paint("#1f9d55"),
    "misses": Paint("#e08a00"),
    "evictions": Paint("#8246af"),
    "slot0": Paint("#0b5cad"), "slot1": Paint("#d98200"), "slot2": Paint("#1f9d55"), "slot3": Paint("#b0307a"),
    "slot4": Paint("#6b4fd0"), "slot5": Paint("#8a6d00"), "slot6": Paint("#00848a"), "slot7": Paint("#5b6470"),
}  # fmt: skip
