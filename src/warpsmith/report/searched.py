"""A search for a faster port as data: what was tried, what came of it, and what the best port has otherwise."""

from __future__ import annotations

from msgspec import Struct

from warpsmith.machine.devices import Device

__all__ = ["PortSearch", "SearchCandidate", "SearchGain"]


class SearchCandidate(Struct, frozen=True):
    """What a search has tried: `steps` after the steps of loops `after`, all as `--transform` takes them. `about`: the
    nest whose `seconds` are predicted, "" for all of the port's. None: there is no time, and `why`; `refused`: a step
    is not proved. `more`: how many times as many sectors or instructions it has as what it would replace."""

    about: str
    after: tuple[str, ...]
    steps: tuple[str, ...]
    seconds: float | None
    bound: str = ""
    more: float = 1.0
    refused: bool = False
    why: str = ""


class SearchGain(Struct, frozen=True):
    """A part of a port that the winner of a search has otherwise than the default: what both are predicted to take,
    and by which steps. `about`: a nest, "copies", "host" or "loops"."""

    about: str
    before: float | None
    after: float | None
    steps: tuple[str, ...] = ()


class PortSearch(Struct, frozen=True):
    """A search for a faster port, all of it predicted: the seconds of the `default` port and of the `best`, which takes
    `steps` (none: the default is kept). `ended`: the `budget` of seconds was used up first; `earlier`: outcomes that an
    earlier search had found; `assumed`: sizes that nothing tells; `lacking`: nests without a time, and why; `rejected`:
    why the best was not ported all the same."""

    device: Device
    default: float
    best: float
    steps: tuple[str, ...]
    gains: tuple[SearchGain, ...]
    candidates: tuple[SearchCandidate, ...]
    budget: float
    ended: bool
    earlier: int
    assumed: tuple[tuple[str, int], ...] = ()
    lacking: tuple[tuple[str, str], ...] = ()
    rejected: str = ""
