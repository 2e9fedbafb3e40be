"""The verdicts of all files joined by the places of loops: each place once, with its weight.

A header's loop has a verdict from every file that includes it, and a file with two sets of options has two: the one
that promises least is the loop's. So nothing is said of a loop that is false in one of its compilations.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from warpsmith.base.source import readable
from warpsmith.loops.effort import FunctionEffort
from warpsmith.machine.devices import device
from warpsmith.project.profile import LoopProfile, Profile
from warpsmith.report.constructs import construct
from warpsmith.report.ranking import Weights, weigh
from warpsmith.report.survey import CATEGORIES, Spot, SurveyDependence, SurveyLoop, SurveyReason
from warpsmith.survey.gain import GAIN_DEVICE, gain_of
from warpsmith.survey.plain import decode_effort
from warpsmith.tree.plain import Plain

__all__ = ["Answers", "joined_loops"]

Key = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Answers:
    """What is known of one file: its exports, and the verdicts on its loops with their efforts."""

    exports: Mapping[str, Plain]
    found: Mapping[str, Plain]


@dataclass(slots=True)
class _Joined:
    places: dict[Key, list[Plain]] = field(default_factory=dict)
    verdicts: dict[Key, Mapping[str, Plain]] = field(default_factory=dict)
    units: dict[Key, list[str]] = field(default_factory=dict)
    efforts: dict[str, FunctionEffort] = field(default_factory=dict)
    homes: dict[Key, tuple[str, int]] = field(default_factory=dict)


def joined_loops(answers: Sequence[Answers], root: str, profile: Profile | None) -> tuple[SurveyLoop, ...]:
    """Return every loop once, those with the most work first; paths are relative to `root` where they lie below it."""
    joined = _Joined()
    for answer in answers:
        _join(answer, joined, memory=profile is not None)
    weights = weigh(list(joined.efforts.values()))
    owned = [_own(key, joined, weights) for key in joined.places]
    everything = sum(owned) or 1.0
    loops = [
        _loop(key, joined, weights, (own / everything, root)) for key, own in zip(joined.places, owned, strict=True)
    ]
    if profile is not None:
        loops = [_measured(loop, profile, root) for loop in loops]
        loops = _with_gains(loops, joined, profile)
    ranked = sorted(loops, key=lambda one: (-one.worth, -one.depth, one.spot.file, one.spot.line, one.spot.column))
    return tuple(ranked)


def _join(answer: Answers, joined: _Joined, *, memory: bool) -> None:
    listed = [_list(place) for place in _list(answer.exports["loops"])]
    verdicts = {int(str(n)): v for n, v in map(_list, _list(answer.found["verdicts"]))}
    unit = str(_list(answer.exports["files"])[0])
    keys: list[Key] = []
    for number, place in enumerate(listed):
        key = _whole(str(place[0])), cast(int, place[1]), cast(int, place[2])
        keys.append(key)
        joined.places.setdefault(key, place)
        joined.units.setdefault(key, []).append(unit)
        verdict = cast("Mapping[str, Plain]", verdicts.get(number) or _unjudged(place))
        old = joined.verdicts.get(key)
        if old is None or _rank(verdict) > _rank(old):
            joined.verdicts[key] = verdict
    for plain, where in map(_list, _list(answer.found["efforts"])):
        effort = decode_effort(plain, memory=memory)
        joined.efforts.setdefault(effort.key, effort)
        for inner, number in enumerate(cast(list[int], where)):
            if number >= 0:
                joined.homes.setdefault(keys[number], (effort.key, inner))


def _rank(verdict: Mapping[str, Plain]) -> int:
    return CATEGORIES.index(str(verdict["category"]))


def _unjudged(place: list[Plain]) -> Mapping[str, Plain]:
    spot = [place[0], *_list(place[5])]
    reason: list[Plain] = ["INT070", "its file could not be analyzed", spot, None, []]
    return {
        "id": f"{place[4]}/{place[3]}", "label": place[3], "variable": "", "function": place[4], "depth": 1,
        "category": "unanalyzable", "reasons": [reason], "assumptions": [],
        "steps": [],
    }  # fmt: skip


def _own(key: Key, joined: _Joined, weights: Weights) -> float:
    """Return the share of all work that is a loop's own."""
    home = joined.homes.get(key)
    return (weights.own.get(home, 0.0) if home is not None else 0.0) / weights.total


def _loop(key: Key, joined: _Joined, weights: Weights, shown: tuple[float, str]) -> SurveyLoop:
    (own, root) = shown
    place, verdict = joined.places[key], joined.verdicts[key]
    reasons = tuple(_reason(_list(r), root) for r in _list(verdict["reasons"]))
    category, label = str(verdict["category"]), str(verdict["label"])
    home = joined.homes.get(key)
    inclusive = weights.inclusive.get(home, 0.0) if home is not None else 0.0
    return SurveyLoop(
        id=str(verdict["id"]),
        spot=_spot([place[0], *_list(place[5])], root),
        head=str(place[6]),
        function=str(verdict["function"]),
        variable=str(verdict["variable"]),
        label=label,
        depth=int(str(verdict["depth"])),
        category=category,
        reasons=reasons,
        assumptions=tuple((readable(str(text)), str(kind)) for text, kind in map(_list, _list(verdict["assumptions"]))),
        units=tuple(dict.fromkeys(_shown(unit, root) for unit in joined.units[key])),
        steps=tuple(map(str, _list(verdict["steps"]))),
        construct=construct(category, label, reasons),
        share=inclusive / weights.total,
        own=own,
        work=inclusive,
    )


def _measured(loop: SurveyLoop, profile: Profile, root: str) -> SurveyLoop:
    """Return a loop with what the run has shown of it; one that never ran is last, as is one that was not counted."""
    file, line = str(Path(root, loop.spot.file)), loop.spot.line
    found = profile.at(file, line, loop.spot.column)
    total = profile.total_seconds or 1.0
    if found is None:
        return replace(loop, share=0.0, own=0.0, work=0.0, measured=True)
    share = min(1.0, found.seconds / total)
    own = min(share, found.self_seconds / total)
    return replace(
        loop, share=share, own=own, work=found.seconds, measured=True, entries=float(found.entries),
        iterations=float(found.iterations), seconds=found.seconds, bytes=float(found.bytes),
    )  # fmt: skip


def _with_gains(loops: list[SurveyLoop], joined: _Joined, profile: Profile) -> list[SurveyLoop]:
    """Return the loops with what each would gain on a GPU, its copies paid."""
    machine = device(GAIN_DEVICE)
    places = {home: (key[0], place) for key, home in joined.homes.items() for place in [joined.places[key]]}
    made: list[SurveyLoop] = []
    for key, loop in zip(joined.places, loops, strict=True):
        home = joined.homes.get(key)
        if home is None or loop.entries is None:
            made.append(loop)
            continue

        def measured(number: int, function: str = home[0]) -> LoopProfile | None:
            found = places.get((function, number))
            return profile.at(found[0], *_line_and_column(found[1])) if found is not None else None

        gain = gain_of(joined.efforts[home[0]], home[1], measured, machine)
        moves = loop.category not in ("sequential", "unanalyzable")
        known = gain is not None and moves
        saved = gain.seconds if gain is not None and known else None
        made.append(replace(loop, bytes=gain.bytes if gain is not None else None, gain=saved))
    return made


def _line_and_column(place: list[Plain]) -> tuple[int, int]:
    spot = _list(place[5])
    return int(str(spot[0])), int(str(spot[1]))


def _reason(plain: list[Plain], root: str) -> SurveyReason:
    rule, text, spot, detail, legal_if = plain
    dependence = None if detail is None else _dependence(_list(detail), root)
    place = None if spot is None else _spot(_list(spot), root)
    helps = tuple(readable(str(entry)) for entry in _list(legal_if))
    return SurveyReason(str(rule), readable(str(text)), place, helps, dependence)


def _dependence(plain: list[Plain], root: str) -> SurveyDependence:
    kind, variable, source, sink, distance, direction, carried_by, witness = plain
    return SurveyDependence(
        kind=str(kind),
        variable=readable(str(variable)),
        source=_spot(_list(source), root),
        sink=_spot(_list(sink), root),
        distance=tuple(cast("list[int | None]", distance)),
        direction=tuple(map(str, _list(direction))),
        carried_by=None if carried_by is None else str(carried_by),
        witness=readable(str(witness)),
    )


def _spot(plain: Sequence[Plain], root: str) -> Spot:
    file, line, column, end_line, end_column = plain
    numbers = cast(tuple[int, int, int, int], (line, column, end_line, end_column))
    return Spot(_shown(str(file), root), *numbers)


@functools.lru_cache(maxsize=4096)
def _whole(path: str) -> str:
    return str(Path(path).absolute())


@functools.lru_cache(maxsize=4096)
def _shown(path: str, root: str) -> str:
    """Return a path as the user reads it: relative to the project where it lies in it."""
    whole = Path(path).absolute()
    return str(whole.relative_to(root)) if root and whole.is_relative_to(root) else str(whole)


def _list(plain: Plain) -> list[Plain]:
    assert isinstance(plain, list)
    return plain
