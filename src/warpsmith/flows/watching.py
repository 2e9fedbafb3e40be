"""WATCH, what a proof lacks: assumptions that would make loops parallel are watched while the program runs.

    verdicts ──► candidates: no text refutes them, and granted they are all that is missing ──► a copy that watches
        run ──► never violated: offered, for the referee to test; violated: the witness

Invariant: nothing is granted here. That a run does not violate an assumption says nothing of another run: it is offered
with how often it was watched, and `warpsmith port --assume` tests it in the runs of the referee.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.errors import InputError, UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Unknown
from warpsmith.front.inputs import Source
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.remedies.assumptions import assumptions
from warpsmith.loops.remedies.watchable import find_accesses, find_spots
from warpsmith.poly.analyze import Facts, analyze
from warpsmith.poly.dependences.scalars import classify_scalars
from warpsmith.poly.facts import LoopFacts, PolyOptions
from warpsmith.poly.granted import names_in
from warpsmith.poly.openmp.apply_claims import apply_claims
from warpsmith.project.model import Project
from warpsmith.project.profile.model import Profile
from warpsmith.project.profile.run import RunRequest
from warpsmith.project.profile.watch import AssumptionWatch, Observation, WatchedPlace, WatchKind
from warpsmith.project.profile.watched_run import WatchedRun, watch_run
from warpsmith.tree.nodes import For
from warpsmith.tree.program import Assumption

__all__ = ["AssumptionCandidate", "candidates", "judge_seen", "watch_project"]

_KINDS: dict[str, WatchKind] = {"injective": "values", "noalias": "ranges", "parallel": "accesses"}
# one loop's candidates, and those of a project
_MOST_OF_LOOP, _MOST = 8, 200
# how much longer than the counted run the watched one may take
_SLOWER, _LEAST_SECONDS = 30, 60.0


class AssumptionCandidate(Struct, frozen=True):
    """Assumptions that together make a loop parallel, each with the watch for it."""

    loop: str
    span: Span
    assumptions: tuple[str, ...]
    watches: tuple[AssumptionWatch, ...]


def watch_project(
    project: Project, request: RunRequest, profile: Profile, front: FrontOptions, poly: PolyOptions
) -> Project:
    """Return the project with a finding for each candidate of a loop that ran: the run is repeated, and watched.

    Where the copy that watches cannot be built, a finding says so.
    """
    try:
        found = _watch(project, request, profile, front, poly)
    except UsageError as error:
        first = error.findings[0]
        message = f"no assumption was watched: {first.message}"
        found = [Finding("PRF009", "note", message, None, first.help)]
    return replace(project, findings=(*project.findings, *found))


def _watch(
    project: Project, request: RunRequest, profile: Profile, front: FrontOptions, poly: PolyOptions
) -> list[Finding]:
    found = [
        candidate
        for source in _sources(project)
        for candidate in candidates((source,), front, poly, lambda one: _ran(profile, one))
    ][:_MOST]
    if not found:
        return []
    watches = [watch for candidate in found for watch in candidate.watches]
    seconds = min(request.timeout_s, max(_LEAST_SECONDS, _SLOWER * profile.total_seconds))
    run = watch_run(replace(request, timeout_s=seconds), watches)
    return judge_seen(found, run)


def _sources(project: Project) -> Iterator[Source]:
    named: dict[str, Source] = {}
    for command in project.commands:
        if command.language in ("c", "c++"):
            named.setdefault(command.file, Source(command.file, command.arguments, command.language))
    yield from named.values()


def _ran(profile: Profile, loop: LoopFacts) -> bool:
    span = loop.loop.span
    known = profile.loops.get((str(Path(span.file.path).absolute()), span.line))
    return known is not None and known.iterations > 1


def candidates(
    sources: Sequence[Source], front: FrontOptions, poly: PolyOptions, wanted: Callable[[LoopFacts], bool]
) -> list[AssumptionCandidate]:
    """Return what would make loops of some files parallel and can be watched; nothing where they cannot be read."""
    try:
        loaded = load_program(sources, front)
    except InputError:
        return []
    facts = analyze(loaded.program, poly, apply_claims, front.timeout_s)
    found: list[AssumptionCandidate] = []
    for function in facts.functions:
        for known in function.loops:
            # a loop inside one that is parallel already gains nothing
            if _is_open(known) and wanted(known):
                found += _candidates_of(facts, known)
    return found


def _is_open(known: LoopFacts) -> bool:
    return isinstance(known.verdict, Unknown) and not isinstance(known.combined, Proved)


def _candidates_of(facts: Facts, known: LoopFacts) -> Iterator[AssumptionCandidate]:
    """Yield the weakest that is enough: one group of facts, all of them, what reasons ask for, no dependence at all."""
    single = [tuple(one.text for one in group) for group in assumptions(facts, known)]
    together = tuple(text for group in single for text in group)
    settling = tuple(text for reason in known.reasons for text in reason.settled_by)
    for group in (*single, together, settling, (f"parallel({known.id})",)):
        texts = tuple(dict.fromkeys(group))
        if not texts or len(texts) > _MOST_OF_LOOP:
            continue
        watches = tuple(w for text in texts if (w := _watch_for(facts, known, text)) is not None)
        if len(watches) == len(texts) and _is_enough(facts, known, texts):
            yield AssumptionCandidate(known.id, known.loop.span, texts, watches)
            return


def _watch_for(facts: Facts, known: LoopFacts, text: str) -> AssumptionWatch | None:
    """Return the watch for an assumption, None where not every use of what it names can be watched."""
    word = re.match(r"(\w+)\(", text)
    names = names_in(text)
    if names is None:
        return None
    span = known.loop.span
    place = str(Path(span.file.path).absolute()), span.start
    if word is None:
        return AssumptionWatch("condition", *place, text)
    spots = _spots(facts, known, word[1], names) if word[1] in _KINDS else None
    return None if spots is None else AssumptionWatch(_KINDS[word[1]], *place, text, spots)


def _spots(facts: Facts, known: LoopFacts, word: str, names: tuple[str, ...]) -> tuple[WatchedPlace, ...] | None:
    if word == "parallel":
        touched = find_accesses(facts.program, known.loop) if _shares_memory_only(facts, known) else None
        found = [WatchedPlace(t.span.start, t.span.end, int(t.role == "write")) for t in touched or ()]
        return tuple(found) if any(spot.side for spot in found) else None
    places = [find_spots(known.loop, name) for name in names]
    if not all(places):
        return None
    return tuple(WatchedPlace(one.start, one.end, side) for side, spans in enumerate(places) for one in spans or ())


def _shares_memory_only(facts: Facts, known: LoopFacts) -> bool:
    """Whether all that iterations may pass to each other lies in memory: no variable of the loop does."""
    if not isinstance(known.loop, For):
        return False
    roles = classify_scalars(facts.program, known.function, known.loop, facts.liveness(known.function), facts.summaries)
    return not (roles.carried or roles.reductions or roles.scans)


def _is_enough(facts: Facts, known: LoopFacts, texts: tuple[str, ...]) -> bool:
    """Whether the loop is proved where the assumptions hold."""
    given = tuple(Assumption(text, "granted") for text in texts)
    options = replace(facts.options, granted=(*facts.options.granted, *given))
    after = Facts.about(facts.program, options, apply_claims).loop(known.loop)
    return isinstance(after.verdict, Proved) or isinstance(after.combined, Proved)


# --- what is said of them


def judge_seen(found: Sequence[AssumptionCandidate], run: WatchedRun) -> list[Finding]:
    """Return a finding for each candidate that the run watched: what to assume, or what speaks against it. Nothing more
    is said of the loops inside one that would be parallel."""
    findings: list[Finding] = []
    number = 0
    free: list[str] = []
    for candidate in found:
        count = len(candidate.watches)
        seen = run.seen[number : number + count]
        number += count
        if any(candidate.loop.startswith(f"{outer}/") for outer in free):
            continue
        pairs = list(zip(candidate.assumptions, seen, strict=True))
        broken = next(((text, one) for text, one in pairs if one is not None and one.violated), None)
        if broken is not None:
            findings.append(_violated(candidate, broken[0], broken[1]))
        elif all(one is not None and one.executions and one.seen for one in seen):
            free.append(candidate.loop)
            findings.append(_never(candidate, [one for one in seen if one is not None], run))
    return findings


def _never(candidate: AssumptionCandidate, seen: list[Observation], run: WatchedRun) -> Finding:
    texts = " and ".join(candidate.assumptions)
    counts = min(seen, key=lambda one: one.seen)
    times = "1 execution" if counts.executions == 1 else f"{counts.executions:,} executions"
    lost = sum(one.lost for one in seen)
    tail = f"; {lost:,} accesses were not looked at" if lost else ""
    tail += "" if run.ended else "; the run was ended before its end"
    message = (
        f"{candidate.loop}: {texts} was not violated in {times} of the loop, {counts.seen:,} accesses watched{tail}"
    )
    options = " ".join(f"--assume '{text}'" for text in candidate.assumptions)
    return Finding("PRF007", "note", message, candidate.span, (f"if it always holds: warpsmith port … {options}",))


def _violated(candidate: AssumptionCandidate, text: str, seen: Observation) -> Finding:
    where = f"execution {seen.execution:,} of the loop"
    if text.startswith("parallel"):
        said = (
            f"iterations {seen.first} and {seen.second} of {where} touch one element, the latter in line {seen.value}"
        )
    elif seen.first < 0:
        said = f"it is false in {where}"
    elif text.startswith("injective"):
        name = (names_in(text) or ("the table",))[0]
        said = f"two elements of {name} are {seen.value}, used in iterations {seen.first} and {seen.second} of {where}"
    else:
        said = f"both touch the same memory: iterations {seen.first} and {seen.second} of {where}"
        said += f", {abs(seen.value)} bytes between the first that each touches"
    message = f"{candidate.loop}: {text} does not hold: {said}"
    return Finding("PRF008", "note", message, candidate.span, ())
