"""How much of a program's work a port moves, and what of it stays: the first line of the summary.

    99 % of the work is in kernels (estimated …), the hottest loop with it: lu/j (line 15, 90 %); stays: lu/k (line 12,
    1 %): carries a flow dependence on A; …

The figures are estimates (shares.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from warpsmith.base.source import readable
from warpsmith.offload.gain.shares import HostTimes
from warpsmith.report.json_parts import Json, span_json
from warpsmith.report.model import LoopEntry, Moved
from warpsmith.report.port.shares import basis_of, loop_shares
from warpsmith.report.port.staying import NOT_NAMED
from warpsmith.tree.nodes import Function

__all__ = ["moved_json", "moved_text", "moved_work"]

_WORTH: Final = 0.01
"""A loop with less of the work is not named."""


def moved_work(
    functions: Sequence[Function], entries: Sequence[LoopEntry], times: HostTimes | None = None
) -> Moved | None:
    """Return the share of the work in kernels, and the loop on the host with the most work of its own; None where there
    is no loop."""
    found = loop_shares(functions, entries, times)
    if not found:
        return None
    moved, basis = min(1.0, sum(one.share for one in found if _is_moved(one.entry))), basis_of(times)
    staying = [one for one in found if not _is_moved(one.entry) and one.share >= _WORTH]
    if not staying:
        return Moved(moved, basis)
    most = max(staying, key=lambda one: (one.share, -one.entry.span.start))
    return Moved(moved, basis, most.entry, most.share, _find_cause(most.entry, entries))


def _is_moved(entry: LoopEntry) -> bool:
    """Whether the device does what a loop's body does."""
    return entry.ported or entry.statements_ported


def _find_cause(stays: LoopEntry, entries: Sequence[LoopEntry]) -> LoopEntry:
    """Return the loop that keeps another one on the host: where OpenMP's threads run it, the one that they share."""
    reason = stays.reasons[0] if stays.reasons else None
    if reason is None or reason.rule != "POR008" or reason.span is None:
        return stays
    threaded = reason.span
    inside = [entry for entry in entries if threaded.contains(entry.span) and not entry.ported]
    return min(inside, key=lambda entry: (entry.span.start, entry.depth), default=stays)


def moved_text(moved: Moved, hottest: str = "", *, ran: bool) -> str:
    """Return the summary's first line; `hottest`: what it says of the hottest loop where that has a kernel; `ran`:
    kernels were launched, and do not only exist."""
    where = "runs on the device" if ran else "is in kernels"
    line = f"{_percent(moved.share)} of the work {where} (estimated from {moved.basis}){hottest}"
    stays = moved.stays
    if stays is None:
        return line
    why = f": {readable(stays.reasons[0].text)}" if stays.reasons else ""
    share = _percent(moved.stays_share)
    return f"{line}; stays: {stays.id} (line {stays.span.line}, {share}){why}; {_help(stays, moved.ask or stays)}"


def _help(entry: LoopEntry, ask: LoopEntry) -> str:
    """Return what would change that a loop stays, or who says it: the explanation of `ask`."""
    place = f"{entry.span.file.path}:{entry.span.line}"
    if entry.reasons and entry.reasons[0].text == NOT_NAMED:
        return f"--loop {place} asks for it"
    if entry.reasons and entry.reasons[0].legal_if:
        return readable(entry.reasons[0].legal_if[0])
    return f"`warpsmith explain {ask.span.file.path}:{ask.span.line}` says what would help"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def moved_json(moved: Moved) -> Json:
    """Return the same as JSON."""
    stays = moved.stays
    found: Json = {"share": round(moved.share, 4), "basis": "estimate"}
    if stays is not None:
        found["stays"] = {
            "loop": stays.id,
            "span": span_json(stays.span),
            "share": round(moved.stays_share, 4),
            "why": stays.reasons[0].text if stays.reasons else "",
            "help": _help(stays, moved.ask or stays),
        }
    return found
