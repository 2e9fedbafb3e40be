"""Findings of rules: a sentence at a place, how sure it is, what shows it, and what to do.

KernelFinding = rule message certainty kernel span subject label assumptions why related evidence estimate help cause
Evidence      = title, columns, rows                    lane → address, warp → mask, block → threads
Estimate      = metric value unit basis                 a model's number, never a measurement
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from msgspec import Struct

from warpsmith.base.findings import Certainty, Note, Severity
from warpsmith.base.source import Span

__all__ = ["MODEL", "Estimate", "EvidenceTable", "KernelFinding", "Why", "why_of"]

MODEL = "model, not a measurement"


class EvidenceTable(Struct, frozen=True):
    """A small table that shows what is claimed."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Estimate(Struct, frozen=True):
    """What it costs: `value` of `unit`, worked out on the `basis` named."""

    metric: str
    value: float
    unit: str
    basis: str = MODEL

    @property
    def text(self) -> str:
        """The estimate as a phrase."""
        return f"{self.metric} {self.value:g} {self.unit} ({self.basis})"


class Why(Struct, frozen=True):
    """One step from a finding back to its source; the span is None where the step has no place in the text."""

    text: str
    span: Span | None = None


class KernelFinding(Struct, frozen=True):
    """One finding. `subject` is what it is about, in words that do not change when lines move; `label` stands beside
    the caret; `impact` orders findings: how many times the work or traffic that would do; `times`: how many
    instructions of this place it holds for (an unrolled loop has several); `replay`: the command that shows it, where
    it was seen in a run; `at_most`: how severe it may be, whatever its rule says (`judge`
    decides); `cause`: findings of a rule and a kernel that have the same one are mended together."""

    rule: str
    message: str
    certainty: Certainty
    kernel: str
    span: Span | None
    subject: str
    label: str = ""
    assumptions: tuple[str, ...] = ()
    why: tuple[Why, ...] = ()
    related: tuple[Note, ...] = ()
    evidence: tuple[EvidenceTable, ...] = ()
    estimate: Estimate | None = None
    help: tuple[str, ...] = ()
    impact: float = 1.0
    times: int = 1
    replay: str = ""
    at_most: Severity = "error"
    cause: str = ""


def why_of(texts: Sequence[str], places: Sequence[Span | None]) -> tuple[Why, ...]:
    """Return the chain of a fact, steps that say nothing new left out."""
    steps: list[Why] = []
    for said, place in zip_longest(texts, places[: len(texts)]):
        text = said
        if said.startswith("%"):
            # a value of ours: the user's words for it, else the name of the variable that it is of
            text = _quote_user(place) if place is not None else f"`{said[1:].partition('.')[0]}`"
        if not steps or (steps[-1].text, str(steps[-1].span)) != (text, str(place)):
            steps.append(Why(text, place))
    return tuple(steps)


def _quote_user(place: Span) -> str:
    """Return the user's own words for a value that has no name of theirs."""
    words = " ".join(place.text.split())
    return f"`{words}`" if len(words) <= _LONGEST else f"`{words[: _LONGEST - 1]}…`"


_LONGEST = 48
