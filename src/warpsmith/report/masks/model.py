"""What a run of assembly text shows: the mask before each instruction of one wave, and what arrays hold then."""

from __future__ import annotations

from msgspec import Struct

from warpsmith.base.findings import Finding
from warpsmith.report.simulation.model import OutputRow

__all__ = ["MaskReport", "MaskStep"]


class MaskStep(Struct, frozen=True):
    """One instruction that was executed: its line and text, and the active lanes before it, bit 0 the first."""

    line: int
    text: str
    mask: int


class MaskReport(Struct, frozen=True, eq=False):
    """A run: `lanes` of a wave, the `waves` of the launch, `instructions` of all of them; `steps` of the wave that is
    shown, the first ones."""

    title: str
    machine: str
    lanes: int
    waves: int
    instructions: int
    shown: str
    steps: tuple[MaskStep, ...]
    executed: int
    outputs: tuple[OutputRow, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def exit_code(self) -> int:
        """0; 1 where the program did what it must not, 3 where it was stopped."""
        codes = {finding.rule for finding in self.findings if finding.severity == "error"}
        return 3 if "ASM003" in codes else 1 if codes else 0
