"""What a survey may do, apart from what does it: where all is remembered, no analysis is loaded."""

from __future__ import annotations

from dataclasses import dataclass, field

from warpsmith.front.load import FrontOptions
from warpsmith.poly.facts import PolyOptions

__all__ = ["StepsEffort", "SurveyLimits"]


@dataclass(frozen=True, slots=True)
class StepsEffort:
    """What may be tried in one file: on so many loops in all, in nests of at most so many references."""

    loops: int = 400
    references: int = 600


@dataclass(frozen=True, slots=True)
class SurveyLimits:
    """`kept_bytes`: files of so many bytes together keep their trees; `poly`: how loops are judged; `steps`: how much
    is tried where they are not understood."""

    front: FrontOptions = field(default_factory=FrontOptions)
    poly: PolyOptions = field(default_factory=PolyOptions)
    steps: StepsEffort = field(default_factory=StepsEffort)
    kept_bytes: int = 6_000_000
