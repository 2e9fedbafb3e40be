"""The result of a survey of a project, as data; text, JSON, SARIF and HTML are views of it.

SurveyReport = inputs, units, loops (ranked), blockers, findings, how much was read again
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct, field

from warpsmith.base.findings import Finding
from warpsmith.report.status import Status

__all__ = [
    "CATEGORIES",
    "PORTABLE",
    "Blocker",
    "Spot",
    "SurveyDependence",
    "SurveyLoop",
    "SurveyReason",
    "SurveyReport",
]


class Spot(Struct, frozen=True):
    """A place: lines and columns from 1, the end past its last byte."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class SurveyDependence(Struct, frozen=True):
    """Two accesses whose order matters, `source` first; see base/verdict.py."""

    kind: str
    variable: str
    source: Spot
    sink: Spot
    distance: tuple[int | None, ...]
    direction: tuple[str, ...]
    carried_by: str | None
    witness: str


class SurveyReason(Struct, frozen=True):
    """Why a loop is in its category."""

    rule: str
    text: str
    spot: Spot | None
    legal_if: tuple[str, ...] = ()
    dependence: SurveyDependence | None = None


class SurveyLoop(Struct, frozen=True):
    """One loop of the project's text. `spot` is all of it, `head` its first line; `units` are the files compiled in
    which it stands (several for a header's). `share` is the part of the program's work that runs inside it, between 0
    and 1, `own` the part that is in its body, inner loops and calls left out; `work` the estimate itself: operations,
    or seconds where `measured`. `steps`, as `--transform` takes them, are what the category rests on where it is not
    that of the loop as written. `construct` names what keeps it on the host, "" where nothing does: a parallel loop may
    call what the device does not have.

    Of a run: how often it was entered, its iterations and seconds, the `bytes` that they touch, those `copied` to a
    device and back where it is moved alone, the seconds that this saves, and those that it saves where its data are
    kept on the device."""

    id: str
    spot: Spot
    head: str
    function: str
    variable: str
    label: str
    depth: int
    category: str
    reasons: tuple[SurveyReason, ...]
    assumptions: tuple[tuple[str, str], ...]
    units: tuple[str, ...]
    steps: tuple[str, ...] = ()
    construct: str = ""
    share: float = 0.0
    own: float = 0.0
    work: float = 0.0
    measured: bool = False
    entries: float | None = None
    iterations: float | None = None
    seconds: float | None = None
    bytes: float | None = None
    copied: float | None = None
    gain_alone: float | None = None
    gain_kept: float | None = None

    @property
    def portable(self) -> bool:
        """Whether it can run on a device."""
        return self.category in PORTABLE and not self.construct

    @property
    def standing(self) -> str:
        """Its category, and whether it stays on the host all the same."""
        return f"{self.category}, on host" if self.category in PORTABLE and self.construct else self.category

    @property
    def worth(self) -> float:
        """What the ranking goes by: the seconds that moving it saves, its data kept on the device, or that it takes
        where nothing can be moved yet; its share of the work where nothing was measured."""
        if not self.measured or self.seconds is None:
            return self.share
        return self.seconds if self.gain_kept is None else max(0.0, self.gain_kept)


class Blocker(Struct, frozen=True):
    """Loops that the same construct keeps on the host; `share` of the program's work, one place."""

    construct: str
    count: int
    share: float
    example: Spot


class SurveyReport(Struct, frozen=True):
    """`loops` come with the most work first; `read` of `units` files were read again, the others are remembered. For
    `late` files there was no time: a finding says what to do."""

    inputs: tuple[str, ...]
    status: Status
    root: str
    units: int
    read: int
    lines: int
    loops: tuple[SurveyLoop, ...]
    blockers: tuple[Blocker, ...]
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    timing_s: Mapping[str, float] = field(default_factory=dict)
    late: tuple[str, ...] = ()

    @property
    def categories(self) -> Mapping[str, int]:
        """How many loops are in each category, in the order of how well they do."""
        counts = Counter(loop.category for loop in self.loops)
        return {name: counts[name] for name in CATEGORIES if counts[name]}

    @property
    def extent(self) -> str:
        """How much was surveyed, in words: a file that is compiled with two sets of options is one file."""
        files = len(set(self.inputs))
        compiled = f" ({self.units:,} compilations)" if self.units > files else ""
        loops = len(self.loops)
        return (
            f"{files:,} file{'' if files == 1 else 's'}{compiled}, {self.lines:,} lines, "
            f"{loops:,} loop{'' if loops == 1 else 's'}"
        )

    @property
    def measured(self) -> bool:
        """Whether the ranking rests on a run."""
        return any(loop.measured for loop in self.loops)


PORTABLE = ("parallel", "parallel-after", "reduction", "scan")
CATEGORIES = (*PORTABLE, "sequential", "unanalyzable")
