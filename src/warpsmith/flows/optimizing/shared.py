"""What the parts of one search share."""

from __future__ import annotations

from msgspec import Struct

from warpsmith.analysis.counts.prediction import TIE
from warpsmith.flows.optimizing.budget import Budget
from warpsmith.flows.optimizing.kept import KeptOutcomes
from warpsmith.flows.optimizing.record import SearchRecord
from warpsmith.flows.optimizing.setting import Setting
from warpsmith.flows.optimizing.times import KernelTimes

__all__ = ["SearchEffort", "Shared"]


class SearchEffort(Struct, frozen=True):
    """How far a search goes: ports that are gone on from at each level (`width`), levels (`depth`), how many times as
    long what it leaves must take (`least`: a model of this kind cannot tell apart what is nearer), and for how many
    `tiles` several iterations a thread are tried. `mappings_only`: nests keep to axes and blocks, and to the tiles that
    they have."""

    width: int = 3
    depth: int = 2
    least: float = TIE
    tiles: int = 2
    mappings_only: bool = False


class Shared(Struct, frozen=True):
    """How ports are planned and timed, what came of candidates, and what is left of the time."""

    setting: Setting
    times: KernelTimes
    answers: KeptOutcomes
    record: SearchRecord
    budget: Budget
    effort: SearchEffort
