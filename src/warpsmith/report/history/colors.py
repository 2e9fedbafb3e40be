"""Colors and patterns of a history: what a color says, a pattern says as well, in print and to who sees no red."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

__all__ = ["HEAT_STEPS", "PAINTS", "Paint"]


class Paint(Struct, frozen=True):
    """A color with a pattern of lines or dots in another; colors as #rrggbb."""

    fill: str
    pattern: Literal["", "rising", "dots", "level"] = ""
    ink: str = ""


HEAT_STEPS: Final = 16
_ANCHORS: Final = ((0x00, 0x22, 0x4E), (0x43, 0x4E, 0x6C), (0x7D, 0x7C, 0x78), (0xBB, 0xAF, 0x71), (0xFE, 0xE8, 0x38))
"""Of cividis (Nuñez, Anderton, Renslow 2018), which who sees no red reads alike: dark is little."""


def _heat(step: int) -> str:
    at = step / (HEAT_STEPS - 1) * (len(_ANCHORS) - 1)
    low = min(int(at), len(_ANCHORS) - 2)
    parts = (a + (b - a) * (at - low) for a, b in zip(_ANCHORS[low], _ANCHORS[low + 1], strict=True))
    return "#" + "".join(f"{round(part):02x}" for part in parts)


PAINTS: Final[Mapping[str, Paint]] = {
    **{f"heat{step}": Paint(_heat(step)) for step in range(HEAT_STEPS)},
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
