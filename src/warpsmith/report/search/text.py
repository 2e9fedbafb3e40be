"""A search for a faster port, for people.

searched  86 candidates, predicted for the H100 SXM, not measured
          1.03 ms as `port` makes it, 940 us with other steps: 1.09 times as fast
  part    default  best     steps
  f/i#2   101 us   11.6 us  map=f/i#2,axes=y:x,block=16:16 shared-tile=f/i#2/j/k
  f/i#2   candidate                          predicted
          map=f/i#2,axes=y:x,block=16:16 …   11.6 us    latency: 64 of 64 warps resident (taken)

All times are predictions; the JSON report and the page have every candidate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from warpsmith.base.source import readable
from warpsmith.report.analysis.predicted import seconds_text
from warpsmith.report.searched import PortSearch, SearchCandidate, SearchGain
from warpsmith.report.table import table_text

__all__ = ["about_text", "candidate_groups", "gain_row", "is_taken", "outcome_text", "search_text", "summary_lines"]

_NOTED: Final = 1.05
_SHOWN: Final = 3
"""Candidates of a part that are printed."""


def search_text(found: PortSearch) -> str:
    """Return the summary, and the best candidates of each part."""
    lines = [f"{'searched' if at == 0 else '':10}{line}" for at, line in enumerate(summary_lines(found))]
    tables = []
    if found.gains:
        tables.append(table_text([gain_row(gain) for gain in found.gains], ("part", "default", "best", "steps")))
    rows = [row for _, group in candidate_groups(found) for row in _rows(found, group)]
    if rows:
        tables.append("tried, the fastest of each part\n" + table_text(rows, ("part", "predicted", "steps")))
    return "\n".join([*lines, *tables])


def summary_lines(found: PortSearch) -> Iterator[str]:
    """Yield what came of the search."""
    refused = sum(candidate.refused for candidate in found.candidates)
    turned = f", {refused} of them refused" if refused else ""
    yield f"{_count(len(found.candidates))}{turned}; predicted for the {found.device.title}, not measured"
    yield _result(found)
    if found.rejected:
        yield readable(f"the best is not ported: {found.rejected}; this is the default port")
    if found.assumed:
        sizes = ", ".join(f"{name} = {value}" for name, value in found.assumed)
        given = " ".join(f"--arg {name}=NUMBER" for name, _ in found.assumed)
        yield readable(f"it counted on {sizes}, which nothing tells: {given} gives better ones")
    for region, why in found.lacking:
        yield readable(f"{region} has no time and stays as it is: {why}")
    if found.earlier:
        yield f"{found.earlier} outcomes were known from an earlier search"
    if found.ended:
        yield (
            f"the budget of {found.budget:g} s ended it: the same command goes on from here, --budget SECONDS gives it "
            "more"
        )


def _result(found: PortSearch) -> str:
    default = seconds_text(found.default)
    if not found.gains:
        return f"{default} as `port` makes it: nothing tried is clearly faster"
    times = f"{found.default / found.best:.2f} times as fast" if found.best else ""
    return f"{default} as `port` makes it, {seconds_text(found.best)} with other steps: {times}"


def gain_row(gain: SearchGain) -> tuple[str, str, str, str]:
    """Return a part of the port: what it took, what it takes, by which steps."""
    before, after = (seconds_text(s) if s is not None else "-" for s in (gain.before, gain.after))
    return readable(gain.about), before, after, readable(" ".join(gain.steps))


def candidate_groups(found: PortSearch) -> Iterator[tuple[str, list[SearchCandidate]]]:
    """Yield the candidates of whole ports, then of each nest, the fastest first and refused ones last."""
    order = {about: at for at, about in enumerate(dict.fromkeys(one.about for one in found.candidates))}

    def rank(one: SearchCandidate) -> tuple[bool, int, bool, float]:
        return bool(one.about), order[one.about], one.seconds is None, one.seconds or 0.0

    ranked = sorted(found.candidates, key=rank)
    yield from ((about, list(group)) for about, group in groupby(ranked, key=lambda one: one.about))


def about_text(about: str) -> str:
    """Return what a candidate is about."""
    return readable(about) if about else "all"


def _rows(found: PortSearch, group: Sequence[SearchCandidate]) -> Iterator[tuple[str, ...]]:
    timed = [one for one in group if one.seconds is not None]
    refused = [one for one in group if one.refused]
    for one in (*timed[:_SHOWN], *([] if timed else refused[:1])):
        taken = " (taken)" if is_taken(found, one) else ""
        steps = readable(" ".join((*one.after, *one.steps)))
        words = outcome_text(one)
        bound = f": {words}" if words else ""
        yield (
            about_text(one.about),
            seconds_text(one.seconds) if one.seconds is not None else "-",
            (f"{steps}{bound}{taken}"),
        )


def outcome_text(candidate: SearchCandidate) -> str:
    """Return what binds a candidate, or why there is no time."""
    if candidate.seconds is not None:
        more = f"{candidate.more:.1f} times the sectors or instructions" if candidate.more > _NOTED else ""
        return ", ".join(filter(None, (candidate.bound, more)))
    return readable(f"refused: {candidate.why}" if candidate.refused else candidate.why)


def is_taken(found: PortSearch, candidate: SearchCandidate) -> bool:
    """Whether the best port has the steps of a candidate."""
    loops = next((gain.steps for gain in found.gains if gain.about == "loops"), ())
    if not candidate.about:
        return bool(loops) and (*candidate.after, *candidate.steps) == loops
    gain = next((gain for gain in found.gains if gain.about == candidate.about), None)
    return (
        gain is not None
        and bool(gain.steps)
        and set(gain.steps) <= set(candidate.steps)
        and (candidate.seconds is not None and candidate.seconds == gain.after)
    )


def _count(number: int) -> str:
    return f"{number:,} candidate{'' if number == 1 else 's'}"
