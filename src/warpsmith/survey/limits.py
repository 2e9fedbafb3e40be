"""The limits and options of a survey, apart from its code: where all is remembered, no analysis is loaded."""

from __future__ import annotations

from msgspec import Struct, field

from warpsmith.front.load import FrontOptions
from warpsmith.poly.facts import PolyOptions

__all__ = ["SurveyLimits"]


class SurveyLimits(Struct, frozen=True):
    """`kept_bytes`: files of so many bytes together keep their trees; `poly`: how loops are judged."""

    front: FrontOptions = field(default_factory=FrontOptions)
    poly: PolyOptions = field(default_factory=PolyOptions)
    kept_bytes: int = 6_000_000
