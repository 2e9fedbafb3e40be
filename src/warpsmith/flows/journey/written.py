"""Each kernel for every target that `lower` has; what a target cannot take says why."""

from __future__ import annotations

from collections.abc import Mapping

from warpsmith.flows.journey.origin import Begun
from warpsmith.flows.journey.reasons import reason_text
from warpsmith.flows.journey.versions import Version
from warpsmith.flows.lower import TARGETS, Target, lower_unit
from warpsmith.report.journey.model import TargetRow, TargetStage
from warpsmith.report.lowering.model import TargetColumn

__all__ = ["ORDER", "Texts", "write_targets"]

Texts = Mapping[tuple[str, str], TargetColumn]
"""What was written, by kernel and target."""
ORDER: tuple[Target, ...] = ("ptx", "sass", "gcn", "avx512", "mask", "il", "pseudo", "brook", "llvm")
assert set(ORDER) == set(TARGETS)


def write_targets(begun: Begun, texts: dict[str, Texts]) -> TargetStage:
    """Return every kernel for every target; the texts of each version are put into `texts`, for the machines."""
    for version in begun.versions:
        texts[version.name] = {
            (kernel.name, column.target): column
            for kernel in version.kernels
            for column in lower_unit(version.unit, kernel, ORDER).columns
        }
    return TargetStage(
        rows=tuple(
            _row(version, kernel, column)
            for version in begun.versions
            for (kernel, _), column in texts[version.name].items()
        )
    )


def _row(version: Version, kernel: str, column: TargetColumn) -> TargetRow:
    row = (version.name, version.names[kernel], column.target, column.architecture)
    if column.listing is None:
        assert column.refused is not None
        return TargetRow(*row, why=reason_text(column.refused))
    return TargetRow(*row, len(column.listing.lines), column.listing.text)
