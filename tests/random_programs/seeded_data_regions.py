"""Slips in what is inserted for holds, which several suites plant to see that they find them."""

from __future__ import annotations

import pytest

from tests.emit.changed_part import change_part
from warpsmith.offload.regions import coherence, data_regions, needs

__all__ = ["freed_unseen", "no_end_at_a_return", "no_update_after_writes", "no_update_before_reads"]

Patch = pytest.MonkeyPatch


def no_update_before_reads(patch: Patch) -> None:
    """Host code reads what is newer on the device."""
    patch.setattr(coherence._Writer, "before", lambda *_: None)


def no_update_after_writes(patch: Patch) -> None:
    """Kernels read what is newer on the host."""
    real = coherence._Writer.place

    def place(self: coherence._Writer, need: needs.Need, *where: object) -> None:
        need.after.clear()
        real(self, need, *where)  # type: ignore[arg-type]  # handed on as it came

    patch.setattr(coherence._Writer, "place", place)


def no_end_at_a_return(patch: Patch) -> None:
    """A data region lasts on where control leaves it early."""
    patch.setattr(data_regions, "_leaving", lambda *_, **__: ())


def freed_unseen(patch: Patch) -> None:
    """Nobody is told of a block of the heap that dies."""
    tells = "    if (bytes > 0)\n        ws_data_dies(start, (long long)bytes, {});\n"
    change_part(patch, "heap.cu", (tells.format(0), ""), (tells.format(1), ""))
