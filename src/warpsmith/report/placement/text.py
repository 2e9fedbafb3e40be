"""Where a policy puts the arrays of each nest, for people.

placed by dpomap, for NVIDIA: 16,384 bytes of shared memory a block (GeForce GTS 250)
  nest  array    pattern    by dpomap   in the port  why
  f/i   A[i][k]  row-major  shared row  shared tile  a row is used again; 0 of 16,384 bytes are taken; removes
                                                     redundant access
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from warpsmith.base.source import readable
from warpsmith.report.placed import ArrayRow, PolicyReport
from warpsmith.report.table import table_text

__all__ = ["placement_text"]

_VENDORS: Final = {"nvidia": "NVIDIA", "amd": "AMD"}


def placement_text(found: PolicyReport) -> str:
    """Return what a policy has decided."""
    vendor = _VENDORS[found.platform]
    head = f"placed by {found.policy}, for {vendor}: {found.capacity:,} bytes of shared memory a block ({found.device})"
    rows = [row for nest in found.nests for row in _rows(nest.loop, nest.rows)]
    if not rows:
        return f"{head}\n  no nest has arrays that it could place"
    return f"{head}\n" + table_text(rows, ("nest", "array", "pattern", f"by {found.policy}", "in the port", "why"))


def _rows(loop: str, rows: Sequence[ArrayRow]) -> Iterator[tuple[str, ...]]:
    for place, row in enumerate(rows):
        said = row.placed.rule
        if row.placed.overflows:
            said += ", and less is left than it takes, which the algorithm does not ask"
        if row.removes_redundant_access:
            said += "; removes redundant access"
        if row.why:
            said += f"; not in shared memory: {row.why}" if "shared" in row.placed.location else f"; but {row.why}"
        nest = readable(loop) if place == 0 else ""
        pattern = ", ".join(row.classes)
        array = f"{row.reference} and {row.more} more" if row.more else row.reference
        yield nest, readable(array), pattern, row.placed.location, row.ported, readable(said)
