"""The verdicts of all files joined by the places of loops: each place once, with its weight.

A header's loop has a verdict from every file that includes it, and a file with two sets of options has two: the one
that promises least is the loop's. So nothing is said of a loop that is false in one of its compilations.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.source import readable
from warpsmith.loops.search.effort import FunctionEffort
from warpsmith.machine.devices import device
from warpsmith.project.profile.model import LoopProfile, Profile
from warpsmith.report.port.ranking import Weights, weigh
from warpsmith.report.survey.constructs import construct
from warpsmith.report.survey.model import CATEGORIES, Spot, SurveyDependence, SurveyLoop, SurveyReason
from warpsmith.survey.callgraph import CallGraph, Key
from warpsmith.survey.gain import GAIN_DEVICE, Gain, gain_of
from warpsmith.survey.plain import decode_effort
from warpsmith.tree.plain import Plain

__all__ = ["FileAnswers", "joined_loops"]

Home = tuple[str, int]
"""A loop in a function: the function's key in the call graph, and the loop's number in it."""


class FileAnswers(Struct, frozen=True):
    """What is known of one file: its exports, the verdicts on its loops with their efforts, and the numbers of the
    programs that it goes into. `late`: there was no time for verdicts."""

    exports: Mapping[str, Plain]
    found: Mapping[str, Plain]
    programs: frozenset[int] = frozenset()
    late: bool = False


class _Joined(Struct):
    places: dict[Key, list[Plain]] = field(default_factory=dict)
    verdicts: dict[Key, Mapping[str, Plain]] = field(default_factory=dict)
    units: dict[Key, list[str]] = field(default_factory=dict)
    graph: CallGraph = field(default_factory=CallGraph)
    efforts: dict[str, FunctionEffort] = field(default_factory=dict)
    homes: dict[Key, list[Home]] = field(default_factory=dict)
    """A text that is compiled several times, as a template's, is several loops."""


def joined_loops(answers: Sequence[FileAnswers], root: str, profile: Profile | None) -> tuple[SurveyLoop, ...]:
    """Return every loop once, those with the most work first; paths are relative to `root` where they lie below it."""
    joined = _Joined()
    for answer in answers:
        _join(answer, joined, memory=profile is not None)
    for effort, places in joined.graph.functions():
        joined.efforts[effort.key] = effort
        for number, key in enumerate(places):
            if key is not None:
                joined.homes.setdefault(key, []).append((effort.key, number))
    weights = weigh(list(joined.efforts.values()))
    loops = [_loop(key, joined, weights, root) for key in joined.places]
    if profile is not None:
        total = profile.busy_seconds or 1.0
        loops = [_measure_loop(loop, profile, root, total) for loop in loops]
        loops = _with_gains(loops, joined, profile)
    ranked = sorted(loops, key=lambda one: (-one.worth, -one.depth, one.spot.file, one.spot.line, one.spot.column))
    return tuple(ranked)


def _join(answer: FileAnswers, joined: _Joined, *, memory: bool) -> None:
    listed = [_list(place) for place in _list(answer.exports["loops"])]
    verdicts = {int(str(n)): v for n, v in map(_list, _list(answer.found["verdicts"]))}
    unit = str(_list(answer.exports["files"])[0])
    keys: list[Key] = []
    for number, place in enumerate(listed):
        key = _whole(str(place[0])), cast(int, place[1]), cast(int, place[2])
        keys.append(key)
        joined.places.setdefault(key, place)
        joined.units.setdefault(key, []).append(unit)
        verdict = cast("Mapping[str, Plain]", verdicts.get(number) or _find_unjudged(place, late=answer.late))
        old = joined.verdicts.get(key)
        if old is None or _rank(verdict) > _rank(old):
            joined.verdicts[key] = verdict
    joined.graph.programs.append(answer.programs)
    for plain, where in map(_list, _list(answer.found["efforts"])):
        numbers = cast(list[int], where)
        places = tuple(keys[number] if number >= 0 else None for number in numbers)
        joined.graph.add(len(joined.graph.programs) - 1, decode_effort(plain, memory=memory), places)


def _rank(verdict: Mapping[str, Plain]) -> int:
    return CATEGORIES.index(str(verdict["category"]))


def _find_unjudged(place: list[Plain], *, late: bool) -> Mapping[str, Plain]:
    spot = [place[0], *_list(place[5])]
    reason: list[Plain] = ["INT070", "its file could not be analyzed", spot, None, []]
    if late:
        reason = ["INP009", "its file was not analyzed in time", spot, None, ["raise --timeout"]]
    return {
        "id": f"{place[4]}/{place[3]}", "label": place[3], "variable": "", "function": place[4], "depth": 1,
        "category": "unanalyzable", "reasons": [reason], "assumptions": [],
        "steps": [],
    }  # fmt: skip


def _loop(key: Key, joined: _Joined, weights: Weights, root: str) -> SurveyLoop:
    place, verdict = joined.places[key], joined.verdicts[key]
    reasons = tuple(_reason(_list(r), root) for r in _list(verdict["reasons"]))
    category, label = str(verdict["category"]), str(verdict["label"])
    homes = joined.homes.get(key, ())
    inclusive = min(weights.total, sum(weights.inclusive[home] for home in homes))
    own = min(inclusive, sum(weights.own[home] for home in homes))
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
        units=tuple(dict.fromkeys(_show_path(unit, root) for unit in joined.units[key])),
        steps=tuple(map(str, _list(verdict["steps"]))),
        construct=construct(category, label, reasons),
        share=inclusive / weights.total,
        own=own / weights.total,
        work=inclusive,
    )


def _measure_loop(loop: SurveyLoop, profile: Profile, root: str, total: float) -> SurveyLoop:
    """Return a loop with what the run has shown of it; one that never ran is last, as is one that was not counted."""
    file, line = _whole(str(Path(root, loop.spot.file))), loop.spot.line
    found = profile.at(file, line, loop.spot.column)
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
    places = {home: (key[0], joined.places[key]) for key, homes in joined.homes.items() for home in homes}
    made: list[SurveyLoop] = []
    for key, loop in zip(joined.places, loops, strict=True):
        homes = joined.homes.get(key, ())
        if not homes or loop.entries is None:
            made.append(loop)
            continue
        # counters are a place's, so that any of its compilations tells
        home = homes[0]

        def measure_loop(number: int, function: str = home[0]) -> LoopProfile | None:
            found = places.get((function, number))
            return profile.at(found[0], *_line_and_column(found[1])) if found is not None else None

        gain = gain_of(joined.efforts[home[0]], home[1], measure_loop, machine)
        made.append(loop if gain is None else _with_gain(loop, gain))
    return made


def _with_gain(loop: SurveyLoop, gain: Gain) -> SurveyLoop:
    """Return a loop with what it moves, and what it gains where it can be moved."""
    loop = replace(loop, bytes=gain.bytes, copied=gain.copied)
    return replace(loop, gain_alone=gain.alone, gain_kept=gain.kept) if loop.portable else loop


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
    return Spot(_show_path(str(file), root), *numbers)


@functools.lru_cache(maxsize=4096)
def _whole(path: str) -> str:
    """Return the one path of a file, whatever `..` and links it was reached by."""
    return os.path.realpath(path)


@functools.lru_cache(maxsize=4096)
def _show_path(path: str, root: str) -> str:
    """Return a path as the user reads it: relative to the project where it lies in it, by a link's name if need be."""
    real, named = Path(_whole(path)), Path(os.path.normpath(Path(path).absolute()))
    if not root:
        return str(real)
    for place, folder in ((real, _whole(root)), (named, root)):
        if place.is_relative_to(folder):
            return str(place.relative_to(folder))
    return str(real)


def _list(plain: Plain) -> list[Plain]:
    assert isinstance(plain, list)
    return plain
