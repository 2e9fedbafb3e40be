"""Redundant allocations and copies in the host code of a kernel's file: the same in every iteration of a loop."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from warpsmith.base.source import Span

__all__ = ["HostRepeat"]


class HostRepeat(Struct, frozen=True):
    """A call of host code that does the same in every iteration of `loop`: it allocates a block that is freed there,
    copies the same bytes in, or copies bytes out that nobody reads there.

    `device` and `host` are the user's names of the blocks; `conditions` are (kind, name) of what its function does not
    tell.
    """

    callee: str
    what: Literal["allocated", "in", "out"]
    device: str
    host: str
    conditions: tuple[tuple[str, str], ...]
    span: Span
    loop: Span
