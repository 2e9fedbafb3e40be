"""Pairs of programs (tests/poly/openmp/pairs): the wrong one is refuted or left open, its twin is not called wrong."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

import pytest

from tests.poly.analysis import program_of
from tests.poly.openmp.pairs import HEAD, Pair, functions, pairs
from warpsmith.base.verdict import Proved, Refuted, Verdict
from warpsmith.poly.analyze import Facts, analyze
from warpsmith.poly.claimed import regions_of
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.mapped import accessed
from warpsmith.poly.mapped.judge import judge_mapped
from warpsmith.poly.openmp import claims, lists
from warpsmith.poly.openmp.apply_claims import apply_claims
from warpsmith.poly.openmp.concurrency import nowait
from warpsmith.poly.openmp.concurrency.one_thread import in_the_way

KINDS = ("sharing", "aliases", "threads", "sync", "devices")
PAIRS = tuple((kind, pair) for kind in KINDS for pair in pairs(kind))


@functools.cache
def outcomes(kind: str) -> dict[tuple[str, bool], str]:
    """Return what is said of the pairs of a kind: refuted, open, guarded or proved, by title and whether it is the
    wrong one."""
    return judged(pairs(kind))


def judged(which: tuple[Pair, ...]) -> dict[tuple[str, bool], str]:
    """Judge pairs, all of them as functions of one file."""
    named = {f"{k}{'wr'[right]}": (pair, not right) for k, pair in enumerate(which) for right in (False, True)}
    text = HEAD + "\n".join(functions(pair, wrong=wrong, name=name) for name, (pair, wrong) in named.items())
    facts = analyze(program_of(text), PolyOptions(), apply_claims)
    said: dict[str, list[Verdict | None]] = {name: [] for name in named}
    for name, verdict in _verdicts(facts):
        said[re.fullmatch(r"\w+_(\d+[wr])", name)[1]].append(verdict)  # type: ignore[index]
    return {(pair.title, wrong): _together(said[name]) for name, (pair, wrong) in named.items()}


def _verdicts(facts: Facts) -> Iterator[tuple[str, Verdict | None]]:
    """Yield, by function, the verdicts on its pragmas; None for a region that one thread may not run."""
    for _, one in facts.program.functions():
        for loop in facts.of(one).loops:
            yield from ((one.symbol.name, claim.verdict) for claim in loop.claims)
        for region in regions_of(one):
            if region.directive.words == ("parallel",) and in_the_way(facts, one, region) is not None:
                yield one.symbol.name, None
    for data in judge_mapped(facts):
        yield data.root.symbol.name, data.verdict


def _together(verdicts: list[Verdict | None]) -> str:
    if any(isinstance(v, Refuted) for v in verdicts):
        return "refuted"
    if not verdicts or not all(isinstance(v, Proved) for v in verdicts):
        return "open"
    return "guarded" if any(v.assumptions for v in verdicts if isinstance(v, Proved)) else "proved"


@pytest.mark.parametrize(("kind", "pair"), PAIRS, ids=[pair.title for _, pair in PAIRS])
def test_the_wrong_one_is_not_accepted_and_the_right_one_not_refused(kind: str, pair: Pair) -> None:
    said = outcomes(kind)
    assert (said[pair.title, True], said[pair.title, False]) == (pair.wrong, pair.right)


def test_there_are_enough_and_none_is_accepted() -> None:
    assert len(PAIRS) > 120 and len({pair.title for _, pair in PAIRS}) == len(PAIRS)
    assert {pair.wrong for _, pair in PAIRS} == {"refuted", "open", "guarded"}, "a wrong one is never proved"
    assert {pair.right for _, pair in PAIRS} == {"proved", "open", "guarded"}, "a right one is never refuted"
    assert sum(pair.wrong == "refuted" for _, pair in PAIRS) > 60


# what is forgotten, and a pair that shows it
BUGS: dict[str, tuple[str, str, object, str, object]] = {
    "sections of reductions": ("sharing", "half of the histogram is reduced", lists, "find_unreduced", lambda *_: None),
    "the next round": (
        "sync", "the second loop of a time step does not wait", nowait, "find_phases", lambda *_a, **_k: ([], False)
    ),
    "sums that are not finished": (
        "sync", "a sum is read before all have added", nowait, "_unfinished", lambda *_: None
    ),
    "what one thread begins": ("threads", "master does not wait", claims, "find_begun", lambda *_: nowait.Answer()),
    "who is ordered": (
        "sync", "ordered parts of a loop that does not ask for order", claims._Question, "_keeps_order",
        lambda _, pair: all(one is not None for one in pair),
    ),
    "chunks": ("threads", "chunks of four, parts of five", claims, "_between_threads", lambda pair, *_: pair),
    "who reads a pointer": (
        "devices", "buffers change places on the host alone", accessed, "_is_own", lambda _: False
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_a_seeded_bug_is_seen(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, title, owner, name, instead = BUGS[bug]
    monkeypatch.setattr(owner, name, instead)
    (pair,) = (one for one in pairs(kind) if one.title == title)
    said = judged((pair,))
    assert (said[title, True], said[title, False]) != (pair.wrong, pair.right)
