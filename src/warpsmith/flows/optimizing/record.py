"""What a search has tried, written down as it goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warpsmith.flows.optimizing.kept import CandidateOutcome
from warpsmith.loops.step import Step, step_text
from warpsmith.report.searched import SearchCandidate

__all__ = ["SearchRecord", "candidate_of"]


class SearchRecord:
    """The candidates in the order in which they were tried, each by its question; `ended`: the budget was used up
    before all were."""

    def __init__(self) -> None:
        self.ended = False
        self._found: dict[str, SearchCandidate] = {}

    @property
    def candidates(self) -> tuple[SearchCandidate, ...]:
        """All of them, each once."""
        return tuple(self._found.values())

    def questions(self) -> Iterator[str]:
        """Yield what was asked."""
        return iter(self._found)

    def note(self, question: str, candidate: SearchCandidate) -> None:
        """Write down a candidate, unless it is there."""
        self._found.setdefault(question, candidate)


def candidate_of(
    about: str, after: Sequence[Step], steps: Sequence[Step], outcome: CandidateOutcome, more: float = 1.0
) -> SearchCandidate:
    """Return a candidate as it is reported: its `steps` after those of loops; it has so many times `more` sectors or
    instructions than what it would replace."""
    return SearchCandidate(
        about=about,
        after=tuple(step_text(step) for step in after),
        steps=tuple(step_text(step) for step in steps),
        seconds=outcome.seconds,
        bound=outcome.bound,
        more=more,
        refused=outcome.refused,
        why=outcome.why,
    )
