"""The table of all operations of GCN by their names, encodings left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from warpsmith.simt.gcn.ops.branches import BRANCHES
from warpsmith.simt.gcn.ops.compare import COMPARISONS
from warpsmith.simt.gcn.ops.conversions import CONVERSIONS
from warpsmith.simt.gcn.ops.floats import FLOATS
from warpsmith.simt.gcn.ops.integers import INTEGERS
from warpsmith.simt.gcn.ops.lanes import LANES
from warpsmith.simt.gcn.ops.memory import MEMORY
from warpsmith.simt.gcn.ops.op import GcnOp
from warpsmith.simt.gcn.ops.scalar import SCALAR
from warpsmith.simt.gcn.ops.waits import WAITS

__all__ = ["OPERATIONS"]

OPERATIONS: Final[Mapping[str, GcnOp]] = {
    **SCALAR, **INTEGERS, **FLOATS, **CONVERSIONS, **COMPARISONS, **LANES, **MEMORY, **BRANCHES, **WAITS,
}  # fmt: skip
