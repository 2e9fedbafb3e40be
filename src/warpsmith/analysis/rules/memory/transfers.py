"""MEM013: what a loop of host code allocates or copies anew in every iteration, though it is the same each time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.base.findings import Note
from warpsmith.tree.repeats import HostRepeat

__all__ = ["host_transfers"]

_CONDITIONS: Final = {
    ("in", "calls"): "{name} changes neither `{host}` nor what `{device}` leads to",
    ("in", "stores"): "what is stored through {name} is not in `{host}`",
    ("in", "names"): "no kernel of the loop writes what `{device}` leads to by another name",
    ("out", "calls"): "{name} does not read `{host}`",
    ("out", "reads"): "what is read through {name} is not in `{host}`",
}


def host_transfers(repeats: Iterable[HostRepeat]) -> Iterator[KernelFinding]:
    """Yield what is to be said of a file's host code."""
    for one in repeats:
        message, label, remedy = _words(one)
        conditions = tuple(
            _CONDITIONS[one.what, kind].format(
                name=f"`{name}`" if name else "what else the loop calls", host=one.host, device=one.device
            )
            for kind, name in one.conditions
        )
        yield KernelFinding(
            "MEM013", message, "conditional" if conditions else "proven", "", one.span,
            f"{one.callee} {one.device} {one.host}", label, conditions, related=(Note(one.loop, "the loop"),),
            help=(remedy,), impact=8.0,
        )  # fmt: skip


def _words(one: HostRepeat) -> tuple[str, str, str]:
    """Return what is said, what stands beside the caret, and what to do."""
    where = f"in every iteration of the loop of line {one.loop.line}"
    if one.what == "allocated":
        message = f"{one.device} is allocated and freed {where}, always with the same size"
        return message, "the same size each time", "allocate it before the loop, and free it after"
    if one.what == "in":
        message = f"{one.host} is copied to {one.device} {where}, and neither changes in between"
        return message, "the same bytes each time", "copy it once, before the loop"
    message = f"{one.device} is copied to {one.host} {where}, and nothing in the loop reads {one.host}"
    return message, "only the last copy counts", "copy it once, after the loop"
