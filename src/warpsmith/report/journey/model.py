"""What came of a kernel on its way, stage by stage, as data.

Invariant: what could not be done has a reason: a stage in `problem`, a row in `why`; nothing is left out.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

from msgspec import Struct

__all__ = [
    "VERDICTS",
    "CallCounts",
    "FigureRow",
    "FindingRow",
    "FoundStage",
    "Journey",
    "LoopRow",
    "MachineRow",
    "MachineStage",
    "OriginRow",
    "OriginStage",
    "RewriteRow",
    "RewriteStage",
    "Stage",
    "StreamRow",
    "StreamStage",
    "TargetRow",
    "TargetStage",
    "Verdict",
    "WidthRow",
    "WidthStage",
]

Verdict = Literal["equal", "differs", "stopped", "undecided", "not run"]
VERDICTS: Final = get_args(Verdict)
"""`undecided`: it differs, and may be right all the same, since the order of threads matters."""


class Stage(Struct, frozen=True, kw_only=True):
    """`problem`: why the stage could not be; `seconds` that it took."""

    problem: str = ""
    seconds: float = 0.0


class LoopRow(Struct, frozen=True):
    """A loop of the C function, its category, and why."""

    line: int
    loop: str
    category: str
    why: str


class OriginRow(Struct, frozen=True):
    """A text that the computation is written in. `version`: what becomes of it, "" where it is compared only;
    `kernels` with `launches` of them; `written`: the kernels that `port` wrote, `why`: why there are none."""

    kind: str
    file: str
    text: str
    version: str = ""
    loops: tuple[LoopRow, ...] = ()
    kernels: tuple[str, ...] = ()
    launches: int = 0
    written: str = ""
    why: str = ""


class OriginStage(Stage, frozen=True, kw_only=True):
    """Where it comes from; `inputs`: the arguments of all runs, as people write them."""

    rows: tuple[OriginRow, ...] = ()
    inputs: tuple[str, ...] = ()


class FigureRow(Struct, frozen=True):
    """What `analyze` counts of a kernel; `cells`: see COLUMNS in report/analysis/numbers.py; `races`: in words."""

    version: str
    kernel: str
    cells: tuple[str, ...]
    races: str


class FindingRow(Struct, frozen=True):
    """A finding of `analyze`, those that matter most first."""

    version: str
    kernel: str
    rule: str
    severity: str
    certainty: str
    line: int
    message: str


class FoundStage(Stage, frozen=True, kw_only=True):
    """What `analyze` says."""

    figures: tuple[FigureRow, ...] = ()
    findings: tuple[FindingRow, ...] = ()


class CallCounts(Struct, frozen=True):
    """All launches of a version, counted: instructions of warps, the share of lanes that were active, sectors of global
    memory, passes of shared memory beyond the first."""

    launches: int
    warp_instructions: int
    efficiency: float
    sectors: int
    bank_conflicts: int


class RewriteRow(Struct, frozen=True):
    """What a version is rewritten to. `how`: the command that does it; `steps` that were taken, none where there is
    nothing to gain, which `why` says, as it says what is wrong; `after`: counted of what was rewritten, whose output is
    `verdict`; `detail`: what the search says of itself."""

    version: str
    how: str
    steps: tuple[str, ...] = ()
    why: str = ""
    before: CallCounts | None = None
    after: CallCounts | None = None
    verdict: Verdict | None = None
    detail: str = ""
    text: str = ""


class RewriteStage(Stage, frozen=True, kw_only=True):
    """What is gained by rewriting."""

    rows: tuple[RewriteRow, ...] = ()


class TargetRow(Struct, frozen=True):
    """A kernel for one target: its text, or why there is none."""

    version: str
    kernel: str
    target: str
    architecture: str
    lines: int = 0
    text: str = ""
    why: str = ""


class TargetStage(Stage, frozen=True, kw_only=True):
    """Each kernel for every target that `lower` has."""

    rows: tuple[TargetRow, ...] = ()


class MachineRow(Struct, frozen=True):
    """All launches of a version on a machine. `target`: whose text it runs, "" for the kernel IR; `elements` that were
    compared with the original's; those that `differ`, by `ulp` steps of floats at most; `why` it did not run, or how it
    differs."""

    version: str
    machine: str
    target: str
    verdict: Verdict
    elements: int = 0
    differ: int = 0
    ulp: int = 0
    why: str = ""
    seconds: float = 0.0


class MachineStage(Stage, frozen=True, kw_only=True):
    """Every machine on the same input. `reference`: whose output all others are compared with; `changed`: how many
    elements of the inputs it changes."""

    reference: str = ""
    changed: int = 0
    rows: tuple[MachineRow, ...] = ()


class WidthRow(Struct, frozen=True):
    """The longest launch of a kernel under a policy, with warps of so many lanes; `policy`: "" for the counts of
    `simulate` itself, which have the `sectors` of global memory; `why`: what is wrong with the run."""

    version: str
    kernel: str
    launch: int
    launches: int
    width: int
    policy: str
    warp_instructions: int = 0
    efficiency: float = 0.0
    sectors: int | None = None
    why: str = ""


class WidthStage(Stage, frozen=True, kw_only=True):
    """Simulated under widths and policies."""

    rows: tuple[WidthRow, ...] = ()


class StreamRow(Struct, frozen=True):
    """The program of Brook+ against another one on the same data."""

    against: str
    passes: int
    verdict: Verdict
    elements: int = 0
    differ: int = 0
    why: str = ""


class StreamStage(Stage, frozen=True, kw_only=True):
    """The program of Brook+."""

    rows: tuple[StreamRow, ...] = ()


class Journey(Struct, frozen=True):
    """One kernel through everything; `streams` is there for what has a program of Brook+."""

    subject: str
    origin: OriginStage
    found: FoundStage
    rewritten: RewriteStage
    written: TargetStage
    ran: MachineStage
    simulated: WidthStage
    streams: StreamStage | None = None

    @property
    def stages(self) -> tuple[Stage, ...]:
        """All stages in their order."""
        every = (self.origin, self.found, self.rewritten, self.written, self.ran, self.simulated, self.streams)
        return tuple(stage for stage in every if stage is not None)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What came of every comparison."""
        rewritten = (row.verdict for row in self.rewritten.rows if row.verdict is not None)
        streams = (row.verdict for row in (self.streams.rows if self.streams is not None else ()))
        return (*(row.verdict for row in self.ran.rows), *rewritten, *streams)

    @property
    def differs(self) -> bool:
        """Whether an output that was computed is not the original's."""
        return any(verdict in ("differs", "stopped") for verdict in self.verdicts)

    @property
    def exit_code(self) -> int:
        """1 where an output differs, 3 where nothing could be compared."""
        if self.differs:
            return 1
        return 0 if "equal" in self.verdicts else 3
