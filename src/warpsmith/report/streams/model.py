"""A run of host code over streams as data."""

from __future__ import annotations

from msgspec import Struct

from warpsmith.base.findings import Finding
from warpsmith.report.simulation.model import OutputRow
from warpsmith.report.status import Status

__all__ = ["PassRow", "StreamReport"]


class PassRow(Struct, frozen=True):
    """One call of a kernel: its line, what it got as it was called, how many threads ran, and what their lanes did."""

    kernel: str
    line: int
    arguments: tuple[str, ...]
    height: int
    width: int
    warp_instructions: int
    lane_instructions: int


class StreamReport(Struct, frozen=True):
    """A run of function `host` of a file."""

    input: str
    host: str
    status: Status
    exit_code: int
    passes: tuple[PassRow, ...]
    outputs: tuple[OutputRow, ...]
    findings: tuple[Finding, ...] = ()
