"""Predicted times, as they are reported: records alone, so that who prints them need not import what counts."""

from __future__ import annotations

from msgspec import Struct

from warpsmith.analysis.uniformity.facts import Dim
from warpsmith.machine.occupancy import Occupancy
from warpsmith.machine.time.predict import Prediction
from warpsmith.machine.time.work import LaunchWork

__all__ = ["BlockChoice", "PredictedTime"]


class PredictedTime(Struct, frozen=True):
    """`prediction` None: what it lacks is in `lacks`. `exact`: the counts under it are those of a run, else `looked_at`
    blocks stand for all. `forks`: what decides the branches that all lanes are taken to go both ways at; `alike`: what
    decides addresses, and is taken to be the same everywhere."""

    block: Dim
    grid: Dim | None
    prediction: Prediction | None = None
    work: LaunchWork | None = None
    exact: bool = False
    looked_at: int = 0
    lacks: tuple[str, ...] = ()
    occupancy: Occupancy | None = None
    forks: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()


class BlockChoice(Struct, frozen=True):
    """The same threads in blocks of other shapes, the fastest first; the first `ties` are too close to tell apart.
    `why`: none is tried. A thread is taken to hold as many registers in all of them."""

    choices: tuple[PredictedTime, ...] = ()
    why: str = ""
    ties: int = 0
