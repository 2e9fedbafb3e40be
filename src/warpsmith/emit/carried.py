"""The run time that a port carries, of the parts in `runtime/`: a check of CUDA calls in every kernel file; device
memory, copies and tables once a program; and what host text needs to know of them."""

from __future__ import annotations

from msgspec import Struct

from warpsmith.emit.parts import RuntimeText, select
from warpsmith.emit.words import Support

__all__ = ["RuntimeNeeds", "apart_text", "check_text", "declarations", "pool_prototypes", "pool_text", "run_time"]


class RuntimeNeeds(Struct, frozen=True):
    """What a program's run time has besides device memory and copies: the table of what is `present`, that of the
    `allocations` that it asks for, where `rows` start, and which rows `vectors` are; the `switch` that
    turns a port in the user's files off; memory of the program's own that is `managed`, which host and device
    share, or `pinned`: page-locked; copies that `overlap` other work."""

    present: bool = False
    allocations: bool = False
    rows: bool = False
    vectors: bool = False
    switch: bool = False
    managed: bool = False
    pinned: bool = False
    overlap: bool = False

    def features(self, support: Support) -> frozenset[str]:
        """Return them by the names that `runtime/` has for them."""
        chosen = {
            "PRESENT": self.present or self.managed,
            "ALLOCATIONS": self.allocations or self.managed or self.pinned,
            "GIVEN": self.managed or self.pinned,
            "MANAGED": self.managed,
            "PINNED": self.pinned,
            "OVERLAP": self.overlap,
            "ROWS": self.allocations and self.rows,
            "VECTORS": self.allocations and self.vectors,
            "SWITCH": self.switch,
            # the program has words of ours in its text: it is a port itself
            "OTHER_ALLOCATIONS": support.prefix != "ws",
        }
        return frozenset(name for name, wanted in chosen.items() if wanted)


def check_text(support: Support, needs: RuntimeNeeds) -> str:
    """Return the check of CUDA calls; every kernel file has its own."""
    return _part("check.cu", support, needs).text


def apart_text(support: Support) -> str:
    """Return the comparison of addresses that guards call; every kernel file that asks has its own."""
    return _part("apart.cu", support, RuntimeNeeds()).text


def run_time(support: Support, needs: RuntimeNeeds) -> RuntimeText:
    """Return all of the run time, the check included; its first line says whose it is."""
    return _part("runtime.cu", support, needs)


def pool_text(support: Support, needs: RuntimeNeeds) -> RuntimeText:
    """Return the run time for a file that has the check already; one kernel file of a program has it."""
    return select("runtime.cu", needs.features(support), prefix=support.prefix, before={"check.cu"})


def pool_prototypes(support: Support) -> str:
    """Return what a launcher that needs device memory of its own must have seen of the pool."""
    return _part("pool.h", support, RuntimeNeeds()).text


def declarations(support: Support, needs: RuntimeNeeds) -> str:
    """Return what host text needs to know of the run time, as C and C++; it may stand in several headers."""
    return _part("runtime.h", support, needs).text


def _part(name: str, support: Support, needs: RuntimeNeeds) -> RuntimeText:
    return select(name, needs.features(support), prefix=support.prefix)
