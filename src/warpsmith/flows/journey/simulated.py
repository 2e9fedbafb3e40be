"""The longest launch of each kernel under widths and policies, as `simulate --warp --policy` counts it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
from msgspec.structs import replace

from warpsmith.base.clock import Clock
from warpsmith.base.errors import WarpsmithError
from warpsmith.flows.journey.followed import FollowedCall, FollowedVersions, longest_calls
from warpsmith.flows.journey.origin import Begun
from warpsmith.flows.journey.reasons import reason_of
from warpsmith.flows.journey.versions import Version
from warpsmith.flows.simulate import SimulateOptions, simulate_unit
from warpsmith.report.journey.model import WidthRow, WidthStage
from warpsmith.report.simulation.model import PolicyRow, SimulationReport
from warpsmith.simt.policies.machine import POLICIES

__all__ = ["WIDTHS", "simulate_widths"]

WIDTHS: Final = (8, 16, 32, 64)
_SHORT: Final = 10_000
"""Instructions of lanes below which a launch is interpreted seven times before it is machine code once."""


def simulate_widths(begun: Begun, followed: FollowedVersions) -> WidthStage:
    """Return the counters of every launch."""
    rows: list[WidthRow] = []
    for version in begun.versions:
        for one in longest_calls(followed.of(version)):
            rows += _rows(version, one)
    return WidthStage(rows=tuple(rows), problem="; ".join(followed.why))


def _rows(version: Version, one: FollowedCall) -> Iterator[WidthRow]:
    with TemporaryDirectory() as folder:
        options = SimulateOptions(
            version.names[one.call.kernel], one.call.launch.block, one.call.launch.grid,
            (*one.call.texts, *_arrays(one, folder)), one.call.launch.shared,
            max_steps=one.call.launch.max_steps, policies=POLICIES,
            engine="" if one.done.totals.lane_instructions < _SHORT else "compiled",
        )  # fmt: skip
        for width in WIDTHS:
            row = WidthRow(version.name, options.kernel, one.number, len(version.calls), width, "")
            try:
                report = simulate_unit(version.unit, version.file.path, replace(options, warp=width), Clock())
            except WarpsmithError as error:
                yield replace(row, why=reason_of(error))
                continue
            yield _counted(row, report)
            yield from (_under(row, policy) for policy in report.policies)


def _arrays(one: FollowedCall, folder: str) -> Iterator[str]:
    """Yield the arrays of a launch as arguments: files of what they hold before it."""
    for parameter, name in one.call.arrays.items():
        place = Path(folder, f"{name}.npy")
        np.save(place, one.before[name])
        yield f"{parameter}=@{place}"


def _counted(row: WidthRow, report: SimulationReport) -> WidthRow:
    """Return the counters of the run without a policy."""
    wrong = [one.finding.message for one in report.mistakes] or [one.message for one in report.diagnostics]
    assert report.work is not None
    sectors = sum(one.sectors for one in report.memory)
    why = wrong[0] if report.exit_code else ""
    return replace(
        row,
        warp_instructions=report.work.warp_instructions,
        efficiency=report.work.efficiency,
        sectors=sectors,
        why=why,
    )


def _under(row: WidthRow, found: PolicyRow) -> WidthRow:
    """Return what a policy makes of it."""
    why = found.stopped or (f"{', '.join(found.differs)} differs" if found.differs else "")
    share = found.lane_instructions / found.issued_slots if found.issued_slots else 0.0
    return replace(row, policy=found.policy, warp_instructions=found.warp_instructions, efficiency=share, why=why)
