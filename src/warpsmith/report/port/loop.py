"""One loop explained: its category, every reason with its dependence, and what would change it."""

from __future__ import annotations

from warpsmith.base.findings import Finding, Note, render_finding
from warpsmith.base.source import readable
from warpsmith.base.verdict import Dependence, Reason
from warpsmith.report.model import LoopEntry

__all__ = ["loop_text"]


def loop_text(loop: LoopEntry) -> str:
    """Return the explanation of `loop`."""
    lines = [f"{loop.span}: loop {loop.id} ({loop.label}), depth {loop.depth}: {loop.category}"]
    for reason in loop.reasons:
        lines.append(_reason_text(reason, loop))
    for text, kind in loop.assumptions:
        promise = (
            "tested at run time; the original loop runs where it fails" if kind == "guarded" else "you asserted it"
        )
        lines.append(f"   = assumes: {readable(text)} ({promise})")
    if loop.holds_at:
        sizes = ", ".join(f"{readable(name)} = {value}" for name, value in loop.holds_at.items())
        lines.append(f"   = holds, for example, for {sizes}")
    return "\n".join(lines)


def _reason_text(reason: Reason, loop: LoopEntry) -> str:
    dependence = reason.dependence
    if dependence is None:
        finding = Finding(reason.rule, "note", reason.text, reason.span or loop.span, help=reason.legal_if)
        return render_finding(finding)
    sink = Note(dependence.sink, _roles(dependence)[1])
    finding = Finding(reason.rule, "note", reason.text, dependence.source, reason.legal_if, (sink,))
    details = [
        f"   = {dependence.kind} dependence of {dependence.variable}: distance ({_distance(dependence)}), "
        f"direction ({', '.join(dependence.direction)}), carried by {dependence.carried_by or 'no loop'}",
        f"   = witness: {readable(dependence.witness)}",
    ]
    return "\n".join([render_finding(finding), *details])


def _roles(dependence: Dependence) -> tuple[str, str]:
    return {
        "flow": ("written here", "read here, in a later iteration"),
        "anti": ("read here", "written here, in a later iteration"),
        "output": ("written here", "written again here, in a later iteration"),
    }[dependence.kind]


def _distance(dependence: Dependence) -> str:
    return ", ".join("varies" if entry is None else str(entry) for entry in dependence.distance)
